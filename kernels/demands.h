/* SPDX-License-Identifier: MIT */
/* The demands of built-in kernels that follow from their params: operations (LigKernel.flops) and
 * scratch memory (LigKernel.scratch), which kernel-list.h names. */
#pragma once

#include <ligature/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

double lig_attention_flops (const LigOperand *operands, const void *params);
double lig_attention_backward_flops (const LigOperand *operands, const void *params);
double lig_quantized_flops (const LigOperand *operands, const void *params);
double lig_joint_flops (const LigOperand *operands, const void *params);

int64_t lig_attention_forward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_attention_backward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_input_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_weight_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_joint_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_collective_scratch (const LigLaunch *launch, LigBackendKind backend);

/* Returns the number of elements of which each of the peers reduces its piece; the last pieces may
 * be shorter or empty. Pieces begin at cache lines. */
int64_t lig_collective_piece (int64_t size, int peers);

/* Returns the number of rows of a chunk of linear_cross_entropy. */
int64_t lig_joint_chunk (const LigOperand *x, const LigOperand *weight, LigBackendKind backend);

/* Returns the number of elements from one row of a chunk's logits to the next. */
int64_t lig_joint_stride (int64_t classes, LigDtype dtype, LigBackendKind backend);

/* Returns the number of elements from one row to the next of a copy whose rows begin at 16-byte
 * boundaries: without that, matmuls cannot use the tensor memory accelerator. */
int64_t lig_padded_stride (int64_t columns, LigDtype dtype);

/* Returns the number of rows, or of columns, of which such copies are made at once. */
int64_t lig_padded_rows (int64_t rows, int64_t columns, LigDtype dtype);
int64_t lig_padded_columns (int64_t rows, int64_t columns, LigDtype dtype);

#ifdef __cplusplus
}
#endif
