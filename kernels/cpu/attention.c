/* SPDX-License-Identifier: MIT */
/* Attention of packed rows, one query at a time. */
#include "kernels/cpu/attention.h"

/* Computes y and lse. */
LigStatus
LIG_CPU (attention) (LigLaunch *launch)
{
  const LigOperand *o = launch->operands;
  LigAttention a;
  LigStatus status = lig_attention_prepare (&a, launch, o);
  if (status != LIG_OK)
    return status;
  const LigAttentionParams *p = a.params;
#pragma omp parallel for schedule(static)
  for (int64_t n = 0; n < a.batch * p->heads * p->length; n++) {
    LigAttentionRow r = lig_attention_row (&a, n);
    float most = -INFINITY, sum = 0, out[MOST_FEATURES] = {0};
    for (int32_t j = r.first; j < r.end; j++)
      if (lig_attention_sees (&a, &r, j)) {
        float s = lig_attention_score (&a, &r, j, NULL);
        float factor = s > most ? expf (most - s) : 1;
        most = s > most ? s : most;
        float e = expf (s - most);
        sum = sum * factor + e;
        e *= lig_attention_kept (&a, &r, j);
        for (int32_t d = 0; d < p->features; d++)
          out[d] =
            out[d] * factor + e * lig_attention_at (a.values, r.value + j * a.values->columns + d);
      }
    for (int32_t d = 0; d < p->features; d++)
      out[d] = sum > 0 ? out[d] / sum : 0;
    lig_narrow (o[4].dtype, out, lig_at (&o[4], r.out), (size_t) p->features);
    if (o[5].data)
      ((float *) o[5].data)[n] = sum > 0 ? most + logf (sum) : 0;
  }
  return LIG_OK;
}
