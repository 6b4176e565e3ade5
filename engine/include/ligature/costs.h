/* SPDX-License-Identifier: MIT */
/* The costs of kernels on a device beyond its peak rates: measured by lig_device_measure(), kept in
 * device descriptions, used to predict the times of plans. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * LigCost:
 * @LIG_COST_NORM: normalizations of rows
 * @LIG_COST_NORM_GRADIENT: their gradients, with the sums over rows
 * @LIG_COST_SUMS: sums over rows, the gradient of a bias
 * @LIG_COST_ACTIVATION_SUMS: gradients of activations with the sums over rows
 * @LIG_COST_VECTOR: additions of a bias to rows, with or without an activation
 * @LIG_COST_LOSS: losses
 * @LIG_COST_LOSS_GRADIENT: gradients of losses
 * @LIG_COST_GATHERED_SUMS: gradients of embeddings
 * @LIG_COST_ELEMENTS: all other kernels except matmuls
 * @LIG_COST_MATMUL_BIAS: a bias added by a matmul; this cost and those below are added to that of
 *   the bare matmul of the same shape
 * @LIG_COST_MATMUL_GELU: GELU computed by a matmul, which also saves the sum before it
 * @LIG_COST_MATMUL_ADD: a residual added by a matmul
 * @LIG_COST_MATMUL_GELU_GRADIENT: the gradient of GELU computed by a matmul
 * @LIG_COST_MATMUL_GELU_SUMS: the same, with the sums over rows
 * @LIG_COST_MATMUL_SUMS: the gradient of a bias computed by the matmul of its weight gradient
 * @LIG_COST_WIDE_BIAS: as @LIG_COST_MATMUL_BIAS, for fp32 matmuls; the kinds below repeat those
 *   above for fp32 in the same order
 * @LIG_COST_WIDE_GELU: GELU
 * @LIG_COST_WIDE_ADD: a residual
 * @LIG_COST_WIDE_GELU_GRADIENT: the gradient of GELU
 * @LIG_COST_WIDE_GELU_SUMS: the same, with the sums over rows
 * @LIG_COST_WIDE_SUMS: the gradient of a bias
 * @LIG_N_COSTS: the number of kinds
 *
 * A kind of kernel whose costs are measured.
 */
typedef enum {
  LIG_COST_NORM,
  LIG_COST_NORM_GRADIENT,
  LIG_COST_SUMS,
  LIG_COST_ACTIVATION_SUMS,
  LIG_COST_VECTOR,
  LIG_COST_LOSS,
  LIG_COST_LOSS_GRADIENT,
  LIG_COST_GATHERED_SUMS,
  LIG_COST_ELEMENTS,
  LIG_COST_MATMUL_BIAS,
  LIG_COST_MATMUL_GELU,
  LIG_COST_MATMUL_ADD,
  LIG_COST_MATMUL_GELU_GRADIENT,
  LIG_COST_MATMUL_GELU_SUMS,
  LIG_COST_MATMUL_SUMS,
  LIG_COST_WIDE_BIAS,
  LIG_COST_WIDE_GELU,
  LIG_COST_WIDE_ADD,
  LIG_COST_WIDE_GELU_GRADIENT,
  LIG_COST_WIDE_GELU_SUMS,
  LIG_COST_WIDE_SUMS,
  LIG_N_COSTS
} LigCost;

/**
 * LIG_COST_SIZES:
 *
 * The number of sizes at which each kind is measured: 2^18 bytes, and eight times more at each
 * further size.
 */
#define LIG_COST_SIZES 4

/**
 * LIG_COST_AREAS:
 *
 * The number of result sizes at which matmuls are measured: 2^14 elements, and eight times more at
 * each further size.
 */
#define LIG_COST_AREAS 5

/**
 * LIG_COST_DEPTHS:
 *
 * The number of depths at which matmuls are measured: 64, and four times as many at each further
 * depth.
 */
#define LIG_COST_DEPTHS 5

/**
 * LigAttentionCost:
 * @LIG_ATTENTION_FORWARD: attention, by cuDNN or by the built-in kernel, whichever is faster
 * @LIG_ATTENTION_BACKWARD: its gradient, with sums in a fixed order
 * @LIG_ATTENTION_BUILT_IN_FORWARD: attention that cuDNN cannot compute, with dropout for example
 * @LIG_ATTENTION_BUILT_IN_BACKWARD: its gradient
 * @LIG_N_ATTENTION_COSTS: the number of kinds
 *
 * A kind of attention whose times are measured.
 */
typedef enum {
  LIG_ATTENTION_FORWARD,
  LIG_ATTENTION_BACKWARD,
  LIG_ATTENTION_BUILT_IN_FORWARD,
  LIG_ATTENTION_BUILT_IN_BACKWARD,
  LIG_N_ATTENTION_COSTS
} LigAttentionCost;

/**
 * LIG_ATTENTION_LENGTHS:
 *
 * The number of lengths at which attention is measured: 256, and four times as many at each further
 * length. There are always 8192 rows and 16 heads, and the mask is causal.
 */
#define LIG_ATTENTION_LENGTHS 3

/**
 * LIG_ATTENTION_SIZES:
 *
 * The number of measured times of each #LigAttentionCost: by length with a head dim of 64, then by
 * length with 128.
 */
#define LIG_ATTENTION_SIZES (2 * LIG_ATTENTION_LENGTHS)

/**
 * LIG_MIXED_COSTS:
 *
 * The number of kinds of matmuls that add an fp32 bias to a 16-bit result: those from
 * %LIG_COST_MATMUL_BIAS to %LIG_COST_MATMUL_ADD.
 */
#define LIG_MIXED_COSTS 3

/**
 * LigDeviceCosts:
 * @known: whether the device's costs are known; if not, all other fields are 0
 * @kernels: by #LigCost and size: the seconds beyond those of copying the kernel's bytes; of a
 *   matmul's kinds, beyond the bare matmul, by the bytes of the result, or of the incoming
 *   gradient for %LIG_COST_MATMUL_SUMS
 * @matmuls: by result size and depth: the seconds of a bf16 matmul
 * @wide_matmuls: the same for fp32
 * @attention: by #LigAttentionCost and size: the seconds of bf16 attention; 0 if unknown, as in
 * older descriptions
 * @mixed: by the kinds of %LIG_MIXED_COSTS and size: as @kernels, but with an fp32 bias; 0 if
 * unknown
 *
 * The costs of kernels on a device. Times between the measured sizes are interpolated.
 */
typedef struct {
  gboolean known;
  double kernels[LIG_N_COSTS * LIG_COST_SIZES];
  double matmuls[LIG_COST_AREAS * LIG_COST_DEPTHS];
  double wide_matmuls[LIG_COST_AREAS * LIG_COST_DEPTHS];
  double attention[LIG_N_ATTENTION_COSTS * LIG_ATTENTION_SIZES];
  double mixed[LIG_MIXED_COSTS * LIG_COST_SIZES];
} LigDeviceCosts;

G_END_DECLS
