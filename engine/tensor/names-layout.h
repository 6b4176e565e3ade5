/* SPDX-License-Identifier: MIT */
/* How the elements of another program's tensors are ordered, and how they are quantized. */
#pragma once

#include "engine/tensor/names.h"

G_BEGIN_DECLS

/* Swaps the axes of matrices, if a rule does so: the last two of the shape. */
LigShape lig_layout_turn (const LigNameRule *rule, const LigShape *shape);

/* Returns whether the rows that a rule's tensors have can be ordered as the rule says. */
gboolean lig_layout_fits (const LigNameRule *rule, const LigShape *shape);

/* Returns whether a rule orders elements differently from the parameter. */
gboolean lig_layout_differs (const LigNameRule *rule);

/* Copies elements of `size` bytes in the other program's order to that of the parameter, in which
 * they have the shape; with `back` in the other direction. */
void lig_layout_copy (const LigNameRule *rule,
                      const LigShape *shape,
                      gsize size,
                      gboolean back,
                      gconstpointer from,
                      gpointer to);

/* Returns the shape of the blocks, or of the scales, of a parameter in MXFP4. */
LigShape lig_mxfp4_shape (const LigShape *parameter, gboolean scales);

/* Returns (transfer full) the values of blocks and their scales in bf16, which has them exactly. */
LigTensor *lig_mxfp4_read (const LigTensor *blocks, const LigTensor *scales, GError **error);

G_END_DECLS
