/* SPDX-License-Identifier: MIT */
/* Column sums that accompany matmuls (linear.cu): as a separate kernel, and the choice whether
 * cuBLASLt's epilogue computes them. */
#pragma once

#include "kernels/cuda/common/columns.cuh"
#include "kernels/cuda/matmul/matmul.h"

namespace lig
{
/* Returns the matmul without its sums. */
inline LigMatmul
without_sums (LigMatmul job)
{
  if (job.sums != LIG_NO_SUMS)
    job.vector = LigMatrix{};
  job.sums = LIG_NO_SUMS;
  return job;
}

/* Computes the sums of a matrix's columns. */
inline LigStatus
sum_matrix (
  LigLaunch *launch, const LigMatrix &from, int64_t rows, int64_t columns, const LigMatrix &to)
{
  LigOperand source = {from.data, rows * columns, columns, from.dtype};
  LigOperand target = {to.data, columns, columns, to.dtype};
  return sum_rows (launch, &source, &target);
}

/* Computes only the sums, from the result or the left operand in memory. */
inline LigStatus
sum_apart (LigLaunch *launch, const LigMatmul &job)
{
  return job.sums == LIG_SUMS_OF_LEFT
           ? sum_matrix (launch, job.left, job.depth, job.rows, job.vector)
           : sum_matrix (launch, job.result, job.rows, job.columns, job.vector);
}

/* Captures the sums `times` times in succession as a graph; returns null if that fails. */
inline cudaGraphExec_t
capture_sums (LigLaunch *launch, const LigMatmul &job, int times)
{
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  bool good = true;
  if (cudaStreamBeginCapture (stream (launch), cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    return nullptr;
  for (int i = 0; i < times && good; i++)
    good = sum_apart (launch, job) == LIG_OK;
  if (cudaStreamEndCapture (stream (launch), &graph) == cudaSuccess && good && graph &&
      cudaGraphInstantiate (&ready, graph, 0) != cudaSuccess)
    ready = nullptr;
  if (graph)
    cudaGraphDestroy (graph);
  return ready;
}

/* Returns the microseconds of the separate sums; 0 if they cannot be timed. They are written where
 * this launch will write its own. They run once before, because loading a kernel cannot be
 * captured. */
inline double
time_sums (const LigLaunch *launch, const LigMatmul &job)
{
  enum { TIMES = 10 };
  LigLaunch copy = *launch;
  cudaStream_t side = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaGraphExec_t sums = nullptr;
  float milliseconds = 0;
  if (sum_apart (&copy, job) == LIG_OK && cudaStreamSynchronize (stream (launch)) == cudaSuccess &&
      cudaStreamCreateWithFlags (&side, cudaStreamNonBlocking) == cudaSuccess &&
      cudaEventCreate (&begin) == cudaSuccess && cudaEventCreate (&end) == cudaSuccess) {
    copy.stream = side;
    sums = capture_sums (&copy, job, TIMES);
  }
  if (sums) {
    cudaGraphLaunch (sums, side);
    cudaEventRecord (begin, side);
    cudaGraphLaunch (sums, side);
    cudaEventRecord (end, side);
    if (cudaEventSynchronize (end) == cudaSuccess)
      cudaEventElapsedTime (&milliseconds, begin, end);
    cudaGraphExecDestroy (sums);
  }
  if (begin)
    cudaEventDestroy (begin);
  if (end)
    cudaEventDestroy (end);
  if (side)
    cudaStreamDestroy (side);
  cudaGetLastError ();
  return milliseconds * 1000.0 / TIMES;
}

/* Times the sums while no other process measures on the device, and keeps the faster variant: fused
 * or separate. Returns whether they are fused. */
inline bool
compare_sums (LigLaunch *launch, const LigMatmul &job, double together, double alone)
{
  LigChoices choices = launch->device->choices;
  if (choices.begin)
    choices.begin (choices.guard);
  int apart = lig_matmul_answer (launch, &job, LIG_SUMS_APART);
  double sums = apart < 0 ? time_sums (launch, job) : 0;
  if (choices.end)
    choices.end (choices.guard);
  if (sums <= 0)
    return apart <= 0;
  lig_matmul_keep_answer (launch, &job, LIG_SUMS_APART, alone + sums < together,
                          min (alone + sums, together));
  return alone + sums >= together;
}

/* Returns whether the matmul computes the sums as well. cuBLASLt's epilogues with sums can take
 * longer than matmul and sums one after the other, so a warm-up run compares both. */
inline bool
takes_sums (LigLaunch *launch, const LigMatmul &job)
{
  if (!job.result.data)
    return true;
  if (launch->accumulate || job.vector.dtype != job.result.dtype)
    return false;
  int apart = lig_matmul_answer (launch, &job, LIG_SUMS_APART);
  if (apart >= 0 || !launch->autotune)
    return apart <= 0;
  LigMatmul bare = without_sums (job);
  double together = lig_matmul_microseconds (launch, &job);
  double alone = lig_matmul_microseconds (launch, &bare);
  return !(together > 0 && alone > 0) || compare_sums (launch, job, together, alone);
}
} /* namespace lig */
