/* SPDX-License-Identifier: MIT */
/* The outcome of a loss or of the accuracy, a reduction of one value per row. */
#pragma once

#include "kernels/classes.h"
#include "kernels/cuda/loss.cuh"

namespace lig
{
/* The running sums, if the workspace cannot hold the values of all rows at once. */
struct Totals {
  double sum;
  long long counted;
};

/* The per-row values, and the outcome: their sum, or their mean over the counted rows. */
struct Outcome {
  Totals *carried;
  float *values;
  const int32_t *targets;
  int64_t rows, ignored;
  bool first, last, mean;
  Target y, count;
};

/* Completes the sum over rows. Runs in one threadblock. */
__device__ inline void
conclude (const Outcome &o)
{
  double sum = 0;
  long long counted = 0;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < o.rows; i += blockDim.x) {
    sum += (double) o.values[i];
    counted += o.targets[i] != o.ignored;
  }
  sum = block_total (sum);
  counted = block_total (counted);
  if (threadIdx.x > 0)
    return;
  if (!o.first) {
    sum += o.carried->sum;
    counted += o.carried->counted;
  }
  *o.carried = {sum, counted};
  if (o.last && o.y.data)
    o.y.set (0, o.mean ? counted ? (float) (sum / (double) counted) : 0 : (float) sum);
  if (o.last && o.count.data)
    o.count.set (0, (float) counted);
}

/* Completes the sum over rows from the values of other threadblocks. */
static __global__ void
__launch_bounds__ (MAX_THREADS) conclude_rows (Outcome outcome)
{
  conclude (outcome);
}

/* Calls `f (first, outcome)` for as many rows at a time as the workspace can hold values for, and
 * completes the sum. `f` launches a kernel and returns the number of its threadblocks: a single
 * threadblock completes the sum itself. */
template <class F>
static LigStatus
over_rows (LigLaunch *launch, const LigOperand *targets, Outcome outcome, int64_t rows, F f)
{
  const int64_t reserved = 64, max = (LIG_WORKSPACE_SIZE - reserved) / sizeof (float);
  outcome.carried = (Totals *) launch->workspace;
  outcome.values = (float *) ((char *) launch->workspace + reserved);
  int64_t first = 0;
  do {
    outcome.targets = (const int32_t *) targets->data + first;
    outcome.rows = rows - first < max ? rows - first : max;
    outcome.first = first == 0;
    outcome.last = first + outcome.rows >= rows;
    if (outcome.rows == 0 || f (first, outcome) > 1)
      conclude_rows<<<1, MAX_THREADS, 0, stream (launch)>>> (outcome);
    first += outcome.rows;
  } while (first < rows);
  return LIG_LAUNCHED (launch);
}

/* Returns the launch's parameters, or the defaults. */
static LigCrossEntropyParams
parameters (const LigLaunch *launch)
{
  const LigCrossEntropyParams *params = (const LigCrossEntropyParams *) launch->params;
  return params ? *params : LigCrossEntropyParams{-100, 0};
}
} /* namespace lig */
