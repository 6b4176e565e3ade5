/* SPDX-License-Identifier: MIT */
/* A comparison of algorithms for one matmul, on random data: the time of each, whether their
 * results agree, and the fastest. */
#pragma once

#include "kernels/cuda/matmul/algorithms.h"

enum { LIG_MAX_TRIALS = 16, LIG_MAX_ROUNDS = 9 };

typedef struct {
  cublasLtMatmulAlgo_t algorithm;
  cudaGraphExec_t graph; /* several launches of it */
  float microseconds;    /* of one launch */
  float rounds[LIG_MAX_ROUNDS];
} LigTrialAlgorithm;

typedef struct {
  LigMatmuls *matmuls;
  LigMatmulEntry *entry;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  char *memory;
  LigMatmulCall
    calls[2]; /* used alternately, so that not all operands of a small matmul are in cache */
  int n_calls;
  int launches;
  bool lost;                              /* the device does not respond anymore */
  bool no_memory;                         /* for the trial, or to compare the fastest */
  LigTrialAlgorithm kept[LIG_MAX_TRIALS]; /* the first that ran, then the fastest in any order */
  int n_kept;
  char *expected; /* the result of the first one, after the numbers that a comparison finds */
  float best;     /* microseconds of the fastest; INFINITY if none ran */
  double busy;    /* seconds of device time; the caller may reset it */
} LigTrial;

/* Returns the seconds of a monotonic clock. */
double lig_trial_clock (void);

/* Allocates memory, stream and events for a zero-initialized trial. The caller closes it even after
 * a failure. */
bool lig_trial_open (LigTrial *trial, LigMatmuls *matmuls, LigMatmulEntry *entry);
void lig_trial_close (LigTrial *trial);

/* Times an algorithm and returns its microseconds: INFINITY if it does not run, an approximate time
 * if it is much slower than the best. It is kept if it is one of the fastest. */
float lig_trial_run (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm);

/* Saves the result of the first algorithm: afterwards only algorithms that agree with it can be
 * chosen. */
bool lig_trial_expect (LigTrial *trial);

/* Returns the algorithm with the smallest median of several rounds that computes the same bits
 * twice; null if there is none. On a power-limited device, the times of long matmuls at steady
 * clocks decide among the fastest (steady.h). */
const LigTrialAlgorithm *lig_trial_decide (LigTrial *trial);
