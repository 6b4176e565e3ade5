/* SPDX-License-Identifier: MIT */
/* The memory of a case of attention. */
#include "kernels/cuda/attention/cudnn-case.h"

/* Returns bytes up to the next boundary of 256. */
static int64_t
rounded (int64_t bytes)
{
  return (bytes + 255) / 256 * 256;
}

LigCudnnSpace
lig_cudnn_case_space (const LigCudnnCase *one)
{
  int64_t rows = one->batch * one->heads * one->length;
  LigCudnnSpace space = {0, 0, 0};
  if (one->backward)
    space.sums = rounded (rows * 4);
  if (one->backward && !one->ordered)
    space.dquery = rounded (rows * one->features * 4);
  return space;
}
