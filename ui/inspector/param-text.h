/* SPDX-License-Identifier: MIT */
/* Converts values of parameters to text and back. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/* Returns: (transfer full): the text; empty for an omitted parameter. */
char *lig_param_to_text (const LigParam *param, const GValue *value);

/**
 * lig_param_from_text:
 * @value: (out): a #GValue for lig_op_set_value(), uninitialized on entry; it remains uninitialized
 *   if the text is empty. Malformed text becomes a string, so that the engine's error names the
 *   right form.
 */
void lig_param_from_text (const LigParam *param, const char *text, GValue *value);

gboolean lig_param_value_equal (const GValue *a, const GValue *b);

/* Returns a convenient next number up (1) or down (-1), within the range: 1, 2, 5 of each decade
 * for small numbers and wide ranges, steps of an eighth for sizes. */
double lig_param_step (const LigParam *param, double value, int direction);

G_END_DECLS
