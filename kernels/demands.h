/* SPDX-License-Identifier: MIT */
/* The resource demands of built-in kernels that depend on their params: operations
 * (LigKernel.flops) and scratch memory (LigKernel.scratch), as named in kernel-list.h. */
#pragma once

#include <ligature/launch.h>

#ifdef __cplusplus
extern "C" {
#endif

double lig_attention_flops (const LigOperand *operands, const void *params);
double lig_attention_cached_flops (const LigOperand *operands, const void *params);
double lig_attention_backward_flops (const LigOperand *operands, const void *params);
double lig_quantized_flops (const LigOperand *operands, const void *params);
double lig_joint_flops (const LigOperand *operands, const void *params);
double lig_grouped_flops (const LigOperand *operands, const void *params);
double lig_grouped_weight_flops (const LigOperand *operands, const void *params);
double lig_grouped_fp8_flops (const LigOperand *operands, const void *params);

int64_t lig_attention_forward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_attention_backward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_input_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_linear_weight_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_grouped_gated_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_grouped_gated_backward_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_joint_scratch (const LigLaunch *launch, LigBackendKind backend);
int64_t lig_collective_scratch (const LigLaunch *launch, LigBackendKind backend);

/* Returns the number of rows that a grouped matmul is expected to multiply, of those of its first
 * operand. */
int64_t lig_grouped_rows (const LigOperand *rows, const void *params);

/* LigKernel.numbers of the kernels of mixtures of experts: groups, experts and places that are
 * spread over the whole range. */
#define LIG_NUMBERS(name) \
  void lig_##name##_numbers (const LigOperand *operands, const void *params, int index, \
                             double exponent, int32_t *to)
LIG_NUMBERS (grouped);
LIG_NUMBERS (router);
LIG_NUMBERS (permute);
LIG_NUMBERS (exchange);
LIG_NUMBERS (place);

/* Returns the number of elements in the piece that each peer reduces; the last pieces may be
 * shorter or empty. Pieces begin at cache-line boundaries. */
int64_t lig_collective_piece (int64_t size, int peers);

/* Returns the number of rows of a chunk of linear_cross_entropy. */
int64_t lig_joint_chunk (const LigOperand *x, const LigOperand *weight, LigBackendKind backend);

/* Returns the stride between the rows of a chunk's logits, in elements. */
int64_t lig_joint_stride (int64_t classes, LigDtype dtype, LigBackendKind backend);

/* Returns the row stride, in elements, of a copy whose rows are 16-byte aligned: without that
 * alignment, matmuls cannot use the tensor memory accelerator (TMA). */
int64_t lig_padded_stride (int64_t columns, LigDtype dtype);

/* Returns the number of rows or columns that are copied at once in this way. */
int64_t lig_padded_rows (int64_t rows, int64_t columns, LigDtype dtype);
int64_t lig_padded_columns (int64_t rows, int64_t columns, LigDtype dtype);

#ifdef __cplusplus
}
#endif
