/* SPDX-License-Identifier: MIT */
/* The second stage of every sum over rows: partial sums of fixed blocks are added in order. */
#include "kernels/cpu/cpu.h"

void
LIG_CPU (reduce_partials) (const float *partials,
                           int64_t blocks,
                           int64_t stride,
                           int64_t width,
                           const LigOperand *target,
                           bool accumulate)
{
  int64_t pieces = (width + LIG_PIECE - 1) / LIG_PIECE;
#pragma omp parallel for schedule(static) if (blocks * width > 65536)
  for (int64_t piece = 0; piece < pieces; piece++) {
    float sum[LIG_PIECE], old[LIG_PIECE];
    int64_t first = piece * LIG_PIECE;
    int64_t count = lig_piece (width, first);
    if (accumulate)
      memcpy (sum, lig_load (target, first, count, old), (size_t) count * sizeof *sum);
    else
      memset (sum, 0, sizeof sum);
    for (int64_t block = 0; block < blocks; block++)
      for (int64_t i = 0; i < count; i++)
        sum[i] += partials[block * stride + first + i];
    float *out = lig_stage (target, first, sum);
    if (out != sum)
      memcpy (out, sum, (size_t) count * sizeof *sum);
    lig_commit (target, first, count, out);
  }
}
