/* SPDX-License-Identifier: MIT */
/* The definitions of attention that every backend shares: the keys that a query sees, and the ALiBi
 * slopes. See LigAttentionParams. */
#pragma once

#include "kernels/formulas.h"
#include "kernels/log-sums.h"
#include <ligature/params-attention.h>

/* Sets the keys [first, end) that query i of a row sees, before documents restrict them. The row
 * has `keys` keys, which is its length if it has one; the first `queries` of its queries count,
 * with a memory all of them. */
LIG_FORMULA void
lig_attention_visible (const LigAttentionParams *params,
                       int32_t queries,
                       int32_t keys,
                       int32_t i,
                       int32_t *first,
                       int32_t *end)
{
  int32_t shift = params->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? keys - queries : 0;
  int64_t at = (int64_t) i + shift, low = 0, high = keys;
  if (params->mask != LIG_MASK_NONE)
    high = at + 1;
  else if (params->window > 0)
    high = at + params->window;
  if (params->window > 0)
    low = at - params->window + 1;
  high = high > keys ? keys : high;
  low = low < 0 ? 0 : low;
  if (i >= queries || high <= low)
    low = high = 0;
  *first = (int32_t) low;
  *end = (int32_t) high;
}

/* Returns the slope of a head, see LigAttentionParams.alibi. */
LIG_FORMULA float
lig_attention_slope (int32_t head, int32_t heads)
{
  int32_t power = 1;
  while (2 * power <= heads)
    power *= 2;
  double exponent =
    head < power ? -8.0 * (head + 1) / power : -4.0 * (2 * (head - power) + 1) / power;
  return (float) exp2 (exponent);
}

/* Returns the slope of a head of this process; 0 without ALiBi. */
LIG_FORMULA float
lig_attention_own_slope (const LigAttentionParams *params, int32_t head)
{
  int32_t heads = params->all_heads > 0 ? params->all_heads : params->heads;
  return params->alibi ? lig_attention_slope (params->first_head + head, heads) : 0;
}

/* Returns the number of keys of an unsharded row, which determines the indices of the weights. */
LIG_FORMULA int64_t
lig_attention_width (const LigAttentionParams *params)
{
  return params->whole > 0 ? params->whole : params->memory_length;
}

/* Returns the position of a query in the unsharded row. */
LIG_FORMULA int64_t
lig_attention_query_position (const LigAttentionParams *params, int64_t i)
{
  return i + (i < params->query_half ? params->query_shift[0] : params->query_shift[1]);
}

LIG_FORMULA int64_t
lig_attention_key_position (const LigAttentionParams *params, int64_t j)
{
  return j + (j < params->key_half ? params->key_shift[0] : params->key_shift[1]);
}

/* Returns the index of the first weight of a head of a row among those of all processes. */
LIG_FORMULA uint64_t
lig_attention_first_weight (const LigAttentionParams *params, int64_t row, int32_t head)
{
  int64_t heads = params->all_heads > 0 ? params->all_heads : params->heads;
  int64_t length = params->whole > 0 ? params->whole : params->length;
  return (uint64_t) (row * heads + params->first_head + head) * (uint64_t) length *
         (uint64_t) lig_attention_width (params);
}
