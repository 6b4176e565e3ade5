/* SPDX-License-Identifier: MIT */
/* The gradient of attention, one weight at a time. */
#include "kernels/cpu/attention.h"

typedef struct {
  LigAttention a;
  const LigOperand *dy, *y, *lse, *dx, *dvalues;
} Backward;

/* Returns the weight of a key, and sets its dropout factor and the gradient of the product. */
static float
weigh (const Backward *b, const LigAttentionRow *r, int32_t j, float *kept, float *gradient)
{
  float slope, lse = ((const float *) b->lse->data)[r->number / b->a.params->memory_length];
  float p = expf (lig_attention_score (&b->a, r, j, &slope) - lse), dp = 0, delta = 0;
  *kept = lig_attention_kept (&b->a, r, j);
  for (int32_t d = 0; d < b->a.params->features; d++) {
    float dy = lig_attention_at (b->dy, r->out + d);
    dp += dy * lig_attention_at (b->a.values, r->value + j * b->a.values->columns + d);
    delta += dy * lig_attention_at (b->y, r->out + d);
  }
  *gradient = p * (*kept * dp - delta) * slope;
  return p;
}

static void
query_gradient (const Backward *b, int64_t n)
{
  float sum[MOST_FEATURES] = {0}, kept, gradient;
  LigAttentionRow r = lig_attention_row (&b->a, n);
  for (int32_t j = r.first; j < r.end; j++)
    if (lig_attention_sees (&b->a, &r, j)) {
      weigh (b, &r, j, &kept, &gradient);
      for (int32_t d = 0; d < b->a.params->features; d++)
        sum[d] += gradient * lig_attention_at (b->a.values, r.key + j * b->a.values->columns + d);
    }
  lig_narrow (b->dx->dtype, sum, lig_at (b->dx, r.query), (size_t) b->a.params->features);
}

static void
key_gradient (const Backward *b, int64_t n)
{
  const LigAttentionParams *p = b->a.params;
  float keys[MOST_FEATURES] = {0}, values[MOST_FEATURES] = {0}, kept, gradient;
  int32_t j = (int32_t) (n % p->memory_length), heads = p->heads / p->kv_heads;
  int64_t batch = n / p->memory_length / p->kv_heads, group = n / p->memory_length % p->kv_heads;
  LigAttentionRow r = {0};
  for (int64_t head = group * heads; head < (group + 1) * heads; head++)
    for (int32_t i = 0; i < p->length; i++) {
      r = lig_attention_row (&b->a, (batch * p->heads + head) * p->length + i);
      if (!lig_attention_sees (&b->a, &r, j))
        continue;
      float weight = weigh (b, &r, j, &kept, &gradient);
      for (int32_t d = 0; d < p->features; d++) {
        keys[d] += gradient * lig_attention_at (b->a.x, r.query + d);
        values[d] += weight * kept * lig_attention_at (b->dy, r.out + d);
      }
    }
  int64_t row = j * b->a.values->columns;
  lig_narrow (b->dvalues->dtype, keys, lig_at (b->dvalues, r.key + row), (size_t) p->features);
  lig_narrow (b->dvalues->dtype, values, lig_at (b->dvalues, r.value + row), (size_t) p->features);
}

/* Computes dx and dmemory. */
LigStatus
LIG_CPU (attention_backward) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigOperand inputs[] = {o[1], o[2], o[3], o[4]};
  Backward b = {.dy = &o[0], .y = &o[5], .lse = &o[6], .dx = &o[7]};
  LigStatus status = lig_attention_prepare (&b.a, launch, inputs);
  if (status != LIG_OK)
    return status;
  const LigAttentionParams *p = b.a.params;
  b.dvalues = b.a.cross ? &o[8] : &o[7];
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < b.a.batch * p->heads * p->length; n++)
    if (b.dx->data)
      query_gradient (&b, n);
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < b.a.batch * p->kv_heads * p->memory_length; n++)
    if (b.dvalues->data)
      key_gradient (&b, n);
  return LIG_OK;
}
