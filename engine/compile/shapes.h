/* SPDX-License-Identifier: MIT */
/* The shapes of one op. */
#pragma once

#include "engine/graph/problems.h"

/* Infers the shapes of a part whose inputs are guessed, or that has an error, which is then
 * collected; marks the guessed aspects of the outputs. */
unsigned lig_guess_shapes (LigGraph *graph, int index, LigInfer *infer);

/* Sets a part's length that depends on the input of its macro. */
gboolean lig_infer_size (LigGraph *graph, int index, GError **error);

/* Runs `infer` for one part: presets the shapes, and checks the results. */
void lig_infer_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer);
gboolean
lig_infer_shapes (const LigGraph *graph, const LigPart *part, LigInfer *infer, GError **error);

/* Return the shape and the type of an extra output that a shape rule has set, by default those of
 * y; the shape of an extra input. */
const LigShape *lig_infer_output_shape (const LigInfer *infer, int slot);
LigDtype lig_infer_output_dtype (const LigInfer *infer, int slot);
const LigShape *lig_infer_input_shape (const LigInfer *infer, int slot);

/* Finds the length that a part has for the features of the macro's input. */
gboolean lig_part_size_find (
  const LigPartSize *size, const LigOpInfo *info, gint64 features, gint64 *length, GError **error);
