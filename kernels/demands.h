/* SPDX-License-Identifier: MIT */
/* The demands of built-in kernels that follow from their params: operations and scratch memory. */
#pragma once

#include <ligature/kernels.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sets LigKernel.flops and LigKernel.scratch of a kernel of the list in demands.c. */
void lig_kernel_declare (LigKernel *kernel);

/* Returns the number of rows of a chunk of linear_cross_entropy. */
int64_t lig_joint_chunk (const LigOperand *x, const LigOperand *weight, LigBackendKind backend);

#ifdef __cplusplus
}
#endif
