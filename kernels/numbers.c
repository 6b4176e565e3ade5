/* SPDX-License-Identifier: MIT */
/* Integers like those of real data, with which kernels are timed: with zeros all rows would have
 * one expert, or none. */
#include "kernels/demands.h"
#include <ligature/params-experts.h>

/* The groups have equally many rows. The operands begin with rows. */
void
lig_grouped_numbers (const LigOperand *operands, const void *params, int index, int32_t *to)
{
  const LigOperand *rows = &operands[0], *offsets = &operands[index];
  int64_t count = rows->columns > 0 ? rows->size / rows->columns : 0, groups = offsets->size - 1;
  (void) params;
  for (int64_t g = 0; g < offsets->size; g++)
    to[g] = (int32_t) (groups > 0 ? count * g / groups : 0);
}

/* Fills in experts: all equally often, those of a row different, those of neighbours, too. */
static void
spread (const LigOperand *operand, int64_t experts, int32_t *to)
{
  int64_t top_k = operand->columns > 0 ? operand->columns : 1;
  for (int64_t i = 0; i < operand->size && experts > 0; i++) {
    int64_t row = i / top_k;
    to[i] = (int32_t) ((row * 7919 + row / experts + i % top_k) % experts);
  }
}

/* The third operand is x, with a column for each expert. */
void
lig_router_numbers (const LigOperand *operands, const void *params, int index, int32_t *to)
{
  (void) params;
  spread (&operands[index], operands[2].columns, to);
}

void
lig_permute_numbers (const LigOperand *operands, const void *params, int index, int32_t *to)
{
  const LigPermuteParams *permutation = params;
  spread (&operands[index], permutation ? permutation->experts : 1, to);
}

/* Fills in places: a permutation that separates neighbours. */
void
lig_place_numbers (const LigOperand *operands, const void *params, int index, int32_t *to)
{
  int64_t count = operands[index].size, step = count % 7919 != 0 ? 7919 : 1;
  (void) params;
  for (int64_t i = 0; i < count; i++)
    to[i] = (int32_t) (i * step % count);
}
