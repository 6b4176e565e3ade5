/* SPDX-License-Identifier: MIT */
/* Values of parameters as text that a person types, and back. */
#pragma once

#include <ligature/op.h>

G_BEGIN_DECLS

/* (transfer full): empty for what is left out or was never given. */
char *lig_param_to_text (const LigParam *param, const GValue *value);

/**
 * lig_param_from_text:
 * @value: (out): an uninitialized #GValue as lig_op_set_value() takes it; it stays so where the
 *   parameter is left out. What is not understood is a string: the engine then says what is wanted.
 */
void lig_param_from_text (const LigParam *param, const char *text, GValue *value);

gboolean lig_param_value_equal (const GValue *a, const GValue *b);

/* The next number up (1) or down (-1) that a person may want: 1, 2, 5 of each decade for what is
 * small or far from its end, an eighth of a size; within the range. */
double lig_param_step (const LigParam *param, double value, int direction);

G_END_DECLS
