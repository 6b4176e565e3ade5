/* SPDX-License-Identifier: MIT */
/* The kernels that compute attention: cuDNN's or the built-in one. On a GPU both are timed when a
 * case first runs, and the faster one is kept.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/plan.h>

G_BEGIN_DECLS

/**
 * LigAttentionTimes: (skip)
 * @words: the case in words: the direction, the type, the rows, the heads and the mask
 * @known: whether the choice is made; otherwise both kernels are timed when the case first runs
 * @cudnn: whether cuDNN runs, rather than the built-in kernel
 * @cudnn_seconds: the measured time of a launch by cuDNN; NaN if it was not measured
 * @built_in_seconds: the measured time of a launch of the built-in kernel; NaN if it was not
 *   measured
 * @reason: (nullable): why the built-in kernel runs without a comparison
 *
 * The choice between cuDNN and the built-in kernel for one case of attention.
 */
typedef struct {
  char *words;
  gboolean known;
  gboolean cudnn;
  double cudnn_seconds;
  double built_in_seconds;
  char *reason;
} LigAttentionTimes;

/**
 * lig_attention_times_free: (skip)
 * @self: (nullable): the choice to free
 *
 * Frees a choice.
 */
LIG_API void lig_attention_times_free (LigAttentionTimes *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigAttentionTimes, lig_attention_times_free)

/**
 * lig_attention_times_name: (skip)
 * @self: a choice
 *
 * Returns: (transfer full): the case for people, translated: `attention, forward: bf16, batch 16,
 *   1024 queries and keys, 12 query and 12 key heads of 64, causal mask`
 */
LIG_API char *lig_attention_times_name (const LigAttentionTimes *self);

/**
 * lig_attention_times_describe: (skip)
 * @self: a choice
 *
 * Returns: (transfer full): which kernel runs, with both times or the reason, translated: `cuDNN
 *   runs: it takes 305 µs, the built-in kernel 536 µs`
 */
LIG_API char *lig_attention_times_describe (const LigAttentionTimes *self);

/**
 * lig_plan_get_attention: (skip)
 * @self: a plan
 * @step: the index of a step
 *
 * Returns which kernel computes an attention step. The choice comes from a comparison on a device
 * of that name, made in this process or kept in the plan's tuning store, or from a feature that
 * cuDNN lacks; otherwise it is not yet known.
 *
 * Returns: (transfer full) (nullable): the choice; %NULL if the step is not attention
 */
LIG_API LigAttentionTimes *lig_plan_get_attention (LigPlan *self, guint step);

G_END_DECLS
