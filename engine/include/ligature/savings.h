/* SPDX-License-Identifier: MIT */
/* Savings: changes of a plan that would take less time or less memory. Each is compiled as a whole
 * plan and compared with the current one, so that both figures are those of the step: a change in a
 * block counts in all its repetitions, and recomputation, conversions and the update are included.
 *
 * Threads: any thread may find savings; lig_saving_apply() edits the sequence, so it must be called
 * on the thread that owns the sequence. */
#pragma once

#include <ligature/error.h>

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;
typedef struct _LigDevice LigDevice;
typedef struct _LigSequence LigSequence;
typedef struct _LigTuning LigTuning;

/**
 * LigSavingKind:
 * @LIG_SAVING_FIX: an edit after which a rejected fusion applies, a #LigFix; the value is its
 * number
 * @LIG_SAVING_POLICY: fusions are chosen with the policy that the value names
 * @LIG_SAVING_RECIPE: operands of matmuls are quantized with the recipe that the value names
 * @LIG_SAVING_DTYPE: activations and parameters have the types that the value names, `bf16:fp32`
 * @LIG_SAVING_RECOMPUTE: the backward pass recomputes the values that the value names
 * @LIG_SAVING_BATCH: the batch has the length that the value gives
 * @LIG_SAVING_SHARD: the state of the optimizer is sharded among the ranks
 */
typedef enum {
  LIG_SAVING_FIX,
  LIG_SAVING_POLICY,
  LIG_SAVING_RECIPE,
  LIG_SAVING_DTYPE,
  LIG_SAVING_RECOMPUTE,
  LIG_SAVING_BATCH,
  LIG_SAVING_SHARD,
} LigSavingKind;

/**
 * LigSaving: (skip)
 * @title: the change, translated: `Force backward-linear-bias-gelu at 2.0.0 in 12 groups`
 * @detail: (nullable): why it is not so now, or what else it changes, translated
 * @value: what it changes to, see #LigSavingKind
 * @seconds: the difference in the time of a step, negative if it saves time, for as many rows as
 *   now; NaN: unknown
 * @memory: the difference in the bytes of device memory, negative if it saves memory
 * @step: the seconds of the step with it; NaN: unknown
 * @needed: the bytes of device memory that it then needs
 * @measured: whether the times were measured; otherwise they are predicted
 * @fits: whether the memory then suffices
 *
 * A change that saves time or memory.
 */
typedef struct _LigSaving {
  LigSavingKind kind;
  char *title, *detail, *value;
  double seconds, memory;
  double step, needed;
  gboolean measured, fits;
} LigSaving;

/**
 * lig_saving_free: (skip)
 * @self: (nullable): a saving
 *
 * Frees it.
 */
LIG_API void lig_saving_free (LigSaving *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigSaving, lig_saving_free)

/**
 * lig_saving_kind_name: (skip)
 * @kind: a kind
 *
 * Returns: (transfer none): its name in JSON, `recompute`
 */
LIG_API const char *lig_saving_kind_name (LigSavingKind kind);

/**
 * lig_saving_list: (skip)
 * @plan: a plan
 * @device: (nullable): another device of the same name, for a thread of its own; %NULL: the plan's
 * @tuning: (nullable): measured times, which replace predictions; nothing is measured
 * @cancellable: (nullable): ends the search
 *
 * Finds what would save most. Changes that save less than a thousandth of the time and of the
 * memory are omitted. Fixes are tried for plans of at most 20,000 ops, the twelve best of them.
 *
 * Returns: (transfer full): an array of #LigSaving: those that save time, the largest first, then
 *   those that only save memory; if the plan does not fit its device, those with which it fits come
 *   before all others
 */
LIG_API GPtrArray *lig_saving_list (LigPlan *plan,
                                    LigDevice *device,
                                    const LigTuning *tuning,
                                    GCancellable *cancellable);

/**
 * lig_saving_is_edit: (skip)
 * @self: a saving
 *
 * Returns: whether lig_saving_apply() can make it; %FALSE for a change of a compile option
 */
LIG_API gboolean lig_saving_is_edit (const LigSaving *self);

/**
 * lig_saving_apply: (skip)
 * @self: a saving
 * @plan: the plan for which it was found
 * @sequence: the sequence that was compiled, or a copy of it
 *
 * Makes the change in the sequence; recomputation becomes a setting of its `train` object.
 *
 * Returns: %FALSE with an error set if it is not an edit, or the sequence has no such op
 */
LIG_API gboolean lig_saving_apply (const LigSaving *self,
                                   LigPlan *plan,
                                   LigSequence *sequence,
                                   GError **error);

/* --- Texts --------------------------------------------------------------------------------- */

/**
 * lig_saving_time_text: (skip)
 * @self: a saving
 *
 * Returns: (transfer full): the difference in time, `−3.80 ms`, `≈ −3.80 ms` if it is predicted,
 *   translated `same` without one, `–` if it is unknown
 */
LIG_API char *lig_saving_time_text (const LigSaving *self);

/**
 * lig_saving_memory_text: (skip)
 * @self: a saving
 *
 * Returns: (transfer full): the difference in memory, `+24.2 GB`, or translated `same`
 */
LIG_API char *lig_saving_memory_text (const LigSaving *self);

G_END_DECLS
