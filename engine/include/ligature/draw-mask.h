/* SPDX-License-Identifier: MIT */
/* A small picture of an attention mask, and its description. */
#pragma once

#include <ligature/draw.h>

G_BEGIN_DECLS

/**
 * lig_draw_mask:
 * @canvas: a canvas
 * @colours: its colours
 * @op: an attention op, or a macro that contains one
 * @tokens: the number of tokens of its input, to which the window is scaled; 0 if it is not known
 * @width: the width in pixels
 * @height: the height in pixels
 *
 * Draws the keys that a few example queries attend to, as squares. Padding and document boundaries
 * are drawn at example places.
 *
 * Returns: %FALSE for an op without a mask, for which nothing is drawn
 */
LIG_API gboolean lig_draw_mask (LigCanvas *canvas,
                                const LigColours *colours,
                                LigOp *op,
                                gint64 tokens,
                                double width,
                                double height);

/**
 * lig_mask_describe:
 * @op: an op
 *
 * Returns: (transfer full) (nullable): a sentence without a full stop that says which keys a query
 *   attends to; %NULL for an op without a mask
 */
LIG_API char *lig_mask_describe (LigOp *op);

G_END_DECLS
