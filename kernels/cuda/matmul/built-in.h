/* SPDX-License-Identifier: MIT */
/* The built-in matmuls, for compute capability 9.0: 16-bit operands, with all epilogues of
 * LigMatmul, overlapped with the mainloop of other tiles. */
#pragma once

#include "kernels/cuda/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether lig_built_in_matmul() supports the matmul on this device. */
bool lig_built_in_matmul_serves (const LigLaunch *launch, const LigMatmul *matmul);

/* Launches the matmul; sums of the result are computed in a fixed order. */
LigStatus lig_built_in_matmul (LigLaunch *launch, const LigMatmul *matmul);

/* An alternative implementation of the same matmul. */
typedef LigStatus (*LigMatmulWay) (LigLaunch *launch, const LigMatmul *matmul);

/* Returns whether the built-in matmul is faster than the alternative: by a stored choice, or, in a
 * warm-up run, by timing both on random data, on which their results must agree
 * (built-in-choice.c). */
bool lig_built_in_matmul_wins (LigLaunch *launch, const LigMatmul *matmul, LigMatmulWay other);

#ifdef __cplusplus
}
#endif
