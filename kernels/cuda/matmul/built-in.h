/* SPDX-License-Identifier: MIT */
/* The built-in matmuls, for compute capability 9.0: 16-bit operands, and everything that
 * LigMatmul asks for after the matmul while other tiles are multiplied. */
#pragma once

#include "kernels/cuda/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether lig_built_in_matmul() serves the matmul on this device. */
bool lig_built_in_matmul_serves (const LigLaunch *launch, const LigMatmul *matmul);

/* Launches the matmul; sums, which come from the result alone, are added up in a fixed order. */
LigStatus lig_built_in_matmul (LigLaunch *launch, const LigMatmul *matmul);

/* Another way to compute the same matmul. */
typedef LigStatus (*LigMatmulWay) (LigLaunch *launch, const LigMatmul *matmul);

/* Returns whether the built-in matmul is faster than the other way: by a stored choice, or, in a
 * warm-up, by a race of both on random data, in which their results must agree (built-in-choice.c).
 */
bool lig_built_in_matmul_wins (LigLaunch *launch, const LigMatmul *matmul, LigMatmulWay other);

#ifdef __cplusplus
}
#endif
