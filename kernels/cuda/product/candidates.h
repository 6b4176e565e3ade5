/* SPDX-License-Identifier: MIT */
/* What cuBLASLt could compute a product with: proposals of its heuristic and variations of them. */
#pragma once

#include "kernels/cuda/product/trial.h"

enum { LIG_MOST_PROPOSED = 32 };

/* Fills in algorithms that serve, at most `most`, in the heuristic's order. */
int lig_candidates_propose (LigProducts *products,
                            LigProductEntry *entry,
                            cublasLtMatmulAlgo_t *algorithms,
                            int most);

/* Whether the library takes it for this product, the workspace suffices and the sum is exact. */
bool lig_candidate_serves (const LigProducts *products,
                           LigProductEntry *entry,
                           const cublasLtMatmulAlgo_t *algorithm);

/* Rows and columns of a tile by its number (tiles.c); false if only a newer library has it. */
bool lig_tile_size (uint32_t id, int *rows, int *columns);

/* Whether variations are tried for a product at all, once its best proposal is timed. */
bool lig_candidates_can_widen (const LigTrial *trial);

/* Runs variations of what the trial has kept, until lig_trial_clock() is past the deadline
 * (variations.c). */
void lig_candidates_widen (LigTrial *trial, double deadline);
