/* SPDX-License-Identifier: MIT */
/* The shapes of one op. */
#pragma once

#include "engine/graph/problems.h"

/* Finds the shapes of a part whose inputs are guessed, or that has an error, which is then
 * collected; the outputs get the marks for what is guessed. */
unsigned lig_guess_shapes (LigGraph *graph, int index, LigInfer *infer);

/* Sets a part's length that follows from the input of its macro. */
gboolean lig_infer_size (LigGraph *graph, int index, GError **error);

/* Does the work of `infer` for one part: presets the shapes, and checks them. */
void lig_infer_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer);
gboolean
lig_infer_shapes (const LigGraph *graph, const LigPart *part, LigInfer *infer, GError **error);

/* Returns the shape and the type of an extra output that a shape rule has set, those of y if it has
 * not; the shape of an extra input. */
const LigShape *lig_infer_output_shape (const LigInfer *infer, int slot);
LigDtype lig_infer_output_dtype (const LigInfer *infer, int slot);
const LigShape *lig_infer_input_shape (const LigInfer *infer, int slot);

/* Finds the length that a part has for the features of the macro's input. */
gboolean lig_part_size_find (
  const LigPartSize *size, const LigOpInfo *info, gint64 features, gint64 *length, GError **error);
