/* SPDX-License-Identifier: MIT */
/* The demands of built-in kernels that follow from their params: operations (LigKernel.flops) and
 * scratch memory (LigKernel.scratch), which kernel-list.h names. */
#pragma once

#include <ligature/kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

double lig_attention_flops (const LigOperand *operands, const void *params);
double lig_attention_backward_flops (const LigOperand *operands, const void *params);
double lig_joint_flops (const LigOperand *operands, const void *params);

int64_t lig_attention_backward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_joint_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_collective_scratch (const LigLaunch *launch, LigBackendKind backend);

/* Returns the number of elements of which each of the peers reduces its piece; the last pieces may
 * be shorter or empty. Pieces begin at cache lines. */
int64_t lig_collective_piece (int64_t size, int peers);

/* Returns the number of rows of a chunk of linear_cross_entropy. */
int64_t lig_joint_chunk (const LigOperand *x, const LigOperand *weight, LigBackendKind backend);

#ifdef __cplusplus
}
#endif
