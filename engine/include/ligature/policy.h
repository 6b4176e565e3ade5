/* SPDX-License-Identifier: MIT */
/* The policy that chooses fusions, and the values that the backward pass recomputes. The functions
 * may be called from any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct _LigDevice LigDevice;

typedef enum { LIG_POLICY_NONE, LIG_POLICY_ALL, LIG_POLICY_MEASURED, LIG_POLICY_DEFAULT } LigPolicy;

/**
 * lig_policy_name:
 * @policy: a policy
 *
 * Returns: (transfer none): `none`, `all`, `measured` or `default`
 */
LIG_API const char *lig_policy_name (LigPolicy policy);

/**
 * lig_policy_from_name:
 * @name: `none`, `all` or `measured`
 * @policy: (out): set if the name is one of these
 *
 * Returns: whether the name is one of these
 */
LIG_API gboolean lig_policy_from_name (const char *name, LigPolicy *policy);

/**
 * lig_policy_for:
 * @policy: a policy
 * @device: a device
 *
 * Returns: the policy that applies to the device: @policy, or the device's default for
 *   %LIG_POLICY_DEFAULT
 */
LIG_API LigPolicy lig_policy_for (LigPolicy policy, LigDevice *device);

/**
 * LigRecompute:
 * @LIG_RECOMPUTE_NONE: the forward pass saves all values that the backward pass reads
 * @LIG_RECOMPUTE_CHEAP: the backward pass recomputes outputs of ops other than matmuls and
 *   attention, such as norms and activations, from values that are saved anyway
 * @LIG_RECOMPUTE_ALL: the backward pass recomputes all values inside each repetition of a block, or
 *   inside a macro, from the inputs of that repetition or macro; elsewhere as %LIG_RECOMPUTE_CHEAP
 * @LIG_RECOMPUTE_DEFAULT: `recompute` in the sequence's `train` object, otherwise
 *   %LIG_RECOMPUTE_NONE
 *
 * The values that the backward pass recomputes, so that they need no memory between the passes
 * (activation checkpointing). Values that would not lower peak memory are saved nevertheless, as
 * are small ones, such as the statistics of norms.
 */
typedef enum {
  LIG_RECOMPUTE_NONE,
  LIG_RECOMPUTE_CHEAP,
  LIG_RECOMPUTE_ALL,
  LIG_RECOMPUTE_DEFAULT
} LigRecompute;

/**
 * lig_recompute_name:
 * @recompute: the values to recompute
 *
 * Returns: (transfer none): `none`, `cheap`, `all` or `default`
 */
LIG_API const char *lig_recompute_name (LigRecompute recompute);

/**
 * lig_recompute_from_name:
 * @name: `none`, `cheap` or `all`
 * @recompute: (out): set if the name is one of these
 *
 * Returns: whether the name is one of these
 */
LIG_API gboolean lig_recompute_from_name (const char *name, LigRecompute *recompute);

G_END_DECLS
