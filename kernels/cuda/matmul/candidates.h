/* SPDX-License-Identifier: MIT */
/* The algorithms with which cuBLASLt can compute a matmul: the proposals of its heuristic and
 * variations of them. */
#pragma once

#include "kernels/cuda/matmul/trial.h"

enum { LIG_MAX_PROPOSED = 32 };

/* Writes at most `max` algorithms that support the matmul, in the heuristic's order; returns their
 * number. */
int lig_candidates_propose (LigMatmuls *matmuls,
                            LigMatmulEntry *entry,
                            cublasLtMatmulAlgo_t *algorithms,
                            int max);

/* Returns whether the library accepts the algorithm for this matmul, the workspace suffices, and
 * the reduction is deterministic in fp32. */
bool lig_candidate_serves (const LigMatmuls *matmuls,
                           LigMatmulEntry *entry,
                           const cublasLtMatmulAlgo_t *algorithm);

/* Sets the rows and columns of a tile given its id (tiles.c); false if only a newer library has
 * it. */
bool lig_tile_size (uint32_t id, int *rows, int *columns);

/* Returns whether variations are worth trying for a matmul, given the time of its best proposal. */
bool lig_candidates_can_widen (const LigTrial *trial);

/* Runs variations of the algorithms that the trial has kept, until lig_trial_clock() reaches the
 * deadline (variations.c). */
void lig_candidates_widen (LigTrial *trial, double deadline);
