/* SPDX-License-Identifier: MIT */
/* A race of algorithms for one product, on random data of its own: how long each takes, whether all
 * come to the same result, and which is the fastest. */
#pragma once

#include "kernels/cuda/product/algorithms.h"

enum { LIG_MOST_KEPT = 16, LIG_MOST_ROUNDS = 9 };

typedef struct {
  cublasLtMatmulAlgo_t algorithm;
  cudaGraphExec_t graph; /* so many launches of it */
  float microseconds;    /* of one launch */
  float rounds[LIG_MOST_ROUNDS];
} LigTrialAlgorithm;

typedef struct {
  LigProducts *products;
  LigProductEntry *entry;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  char *memory;
  LigProductCall calls[2]; /* taken in turn, so that not all of a small product is in the cache */
  int n_calls;
  int launches;
  bool lost;                             /* the device does not answer any more */
  bool no_memory;                        /* for a trial, or for comparing what wins */
  LigTrialAlgorithm kept[LIG_MOST_KEPT]; /* the first that ran, then the fastest in no order */
  int n_kept;
  char *expected; /* what the first one's result is, and room for what a comparison finds */
  float best;     /* microseconds of the fastest; INFINITY: none ran */
  double busy;    /* seconds that the device worked; the caller may set it back */
} LigTrial;

/* Seconds of a clock that only goes forwards. */
double lig_trial_clock (void);

/* `trial` is zeroed. Whatever comes of it, it is to be closed. */
bool lig_trial_open (LigTrial *trial, LigProducts *products, LigProductEntry *entry);
void lig_trial_close (LigTrial *trial);

/* A first impression, in microseconds: INFINITY if the algorithm does not run, and a rough time if
 * it is far behind. It is kept if it is one of the fastest. */
float lig_trial_run (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm);

/* Keeps the result of the first algorithm: only who comes to the same one can win then. */
bool lig_trial_expect (LigTrial *trial);

/* The fastest by its median of several rounds that gives the same bits twice; null if nothing can
 * be said. */
const LigTrialAlgorithm *lig_trial_decide (LigTrial *trial);
