/* SPDX-License-Identifier: MIT */
/* Phrases for ops, groups and accepted ops, named by the rows that the user sees. */
#pragma once

#include "engine/reasons/explain.h"

/* All texts are (transfer full) and translated. */

/* Returns the op's name and row: `GELU at 3`, `Bias of Linear at 2`. An op that is in a later
 * repetition of a block than the op @from is `Layer norm at 0.0.1 of the next repetition`. */
char *lig_reasons_name_op (const LigReasonCase *self, int index, int from);

/* Returns the ops of a group by their short names: `Linear + bias + GELU`, backward
 * `GELU's gradient + Linear's input gradient`. */
char *lig_reasons_title (
  const LigReasonCase *self, const LigReasonFusion *fusion, LigPass pass, int first, int count);

/* Returns the accepted ops, grouped by kind: `an activation or a gated unit`. @names: (array
 * zero-terminated=1) */
char *lig_reasons_name_needs (const char *const *names);
