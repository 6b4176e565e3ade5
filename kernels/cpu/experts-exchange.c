/* SPDX-License-Identifier: MIT */
/* The places of the rows that ranks with different experts exchange, see kernels/kernel-list.h. */
#include "kernels/cpu/rows.h"
#include <ligature/params-experts.h>

#define REJECTED \
  "experts: operands that do not fit together, or of another type; pass what the signature names"

/* Returns whether the params divide a number of experts over ranks. */
static bool
fits (const LigExchangeParams *params, int64_t experts)
{
  return params && params->ranks > 0 && params->limit > 0 && experts >= params->ranks &&
         experts <= LIG_MAX_EXPERTS && experts % params->ranks == 0;
}

/* Sends the rows of the experts of a rank: the first ones, as many as fit. */
static void
send_to (const LigLaunch *launch, const LigExchangeParams *params, int rank)
{
  const LigOperand *o = launch->operands, *places = &o[1];
  const int32_t *offsets = o[0].data;
  int32_t *to = places->data, *sizes = o[2].data;
  int64_t experts = (o[0].size - 1) / params->ranks, sent = 0, all = 0;
  for (int64_t e = rank * experts; e < (rank + 1) * experts; e++) {
    int64_t first = lig_min (offsets[e] > 0 ? offsets[e] : 0, places->size);
    int64_t end = lig_min (offsets[e + 1] > first ? offsets[e + 1] : first, places->size);
    int64_t count = lig_min (end - first, params->limit - sent);
    for (int64_t i = 0; to && i < count; i++)
      to[first + i] = (int32_t) (rank * (int64_t) params->limit + sent + i);
    if (sizes)
      sizes[e] = (int32_t) count;
    sent += count;
    all += end - first;
  }
  if (o[3].data)
    ((float *) o[3].data)[rank] = (float) (all - sent);
}

/* Finds the places of the rows that this rank sends. */
LigStatus
LIG_CPU (exchange_sent) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *offsets = &o[0], *places = &o[1];
  const LigExchangeParams *params = launch->params;
  if (!fits (params, offsets->size - 1) || offsets->dtype != LIG_INT32 ||
      !lig_has_type (places, LIG_INT32) || !lig_has_type (&o[2], LIG_INT32) ||
      !lig_has_type (&o[3], LIG_FP32) || (o[2].data && o[2].size != offsets->size - 1) ||
      (o[3].data && o[3].size != params->ranks))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  for (int64_t i = 0; places->data && i < places->size; i++)
    ((int32_t *) places->data)[i] = -1;
  for (int rank = 0; rank < params->ranks; rank++)
    send_to (launch, params, rank);
  return LIG_OK;
}

/* Finds the places of the rows that arrived, in the order of this rank's experts, then of the
 * ranks. */
LigStatus
LIG_CPU (exchange_received) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands, *sizes = &o[0], *places = &o[1], *offsets = &o[2];
  const LigExchangeParams *params = launch->params;
  if (!fits (params, sizes->size) || sizes->dtype != LIG_INT32 ||
      !lig_has_type (places, LIG_INT32) || !lig_has_type (offsets, LIG_INT32) ||
      (places->data && places->size != params->ranks * (int64_t) params->limit) ||
      (offsets->data && offsets->size != sizes->size / params->ranks + 1))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  const int32_t *arrived = sizes->data;
  int32_t *to = places->data, *first = offsets->data, used[LIG_MAX_EXPERTS] = {0};
  int64_t experts = sizes->size / params->ranks, row = 0;
  for (int64_t e = 0; e < experts; e++) {
    if (first)
      first[e] = (int32_t) row;
    for (int rank = 0; rank < params->ranks; rank++) {
      int64_t count = lig_min (arrived[rank * experts + e], params->limit - used[rank]);
      for (int64_t i = 0; i < count; i++, row++)
        if (to)
          to[row] = (int32_t) (rank * (int64_t) params->limit + used[rank] + i);
      used[rank] += count > 0 ? (int32_t) count : 0;
    }
  }
  if (first)
    first[experts] = (int32_t) row;
  for (; to && row < places->size; row++)
    to[row] = -1;
  return LIG_OK;
}

/* Moves a number for each row. */
LigStatus
LIG_CPU (exchange_numbers) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *places = &launch->operands[1];
  const LigOperand *y = &launch->operands[2];
  const LigExchangeParams *params = launch->params;
  bool scatter = params && params->scatter;
  if (!lig_has_type (x, LIG_FP32) || y->dtype != LIG_FP32 || places->dtype != LIG_INT32 ||
      (scatter ? x->data && places->size != x->size : places->size != y->size))
    return LIG_FAIL (launch, LIG_UNSUPPORTED, REJECTED);
  const float *from = x->data, absent = params ? params->absent : 0;
  const int32_t *at = places->data;
  float *to = y->data;
  if (scatter)
    memset (to, 0, (size_t) y->size * sizeof *to);
  int64_t end = scatter ? y->size : from ? x->size : INT32_MAX;
  for (int64_t i = 0; i < places->size; i++) {
    bool placed = at[i] >= 0 && at[i] < end;
    if (!scatter)
      to[i] = placed ? (from ? from[at[i]] : absent) : 0;
    else if (placed)
      to[at[i]] = from ? from[i] : absent;
  }
  return LIG_OK;
}
