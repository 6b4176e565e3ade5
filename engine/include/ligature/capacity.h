/* SPDX-License-Identifier: MIT */
/* Capacity: the largest batch, and the longest context, with which a plan fits its device, and the
 * time per token on the way there. Nothing is allocated, and the device may only be described.
 *
 * Threads: any thread may call these functions. */
#pragma once

#include <ligature/error.h>

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigPlan LigPlan;
typedef struct _LigDevice LigDevice;
typedef struct _LigTuning LigTuning;

/**
 * LigCapacityAxis:
 * @LIG_CAPACITY_BATCH: the first axis of the input, on all data ranks
 * @LIG_CAPACITY_POSITIONS: the second axis of an input of tokens
 */
typedef enum { LIG_CAPACITY_BATCH, LIG_CAPACITY_POSITIONS } LigCapacityAxis;

/**
 * LigCapacityPoint: (skip)
 * @length: the length of the axis
 * @seconds: the time of a step; NaN: unknown
 * @per_row: the time per token, or per row of an input without tokens; NaN: unknown
 * @mfu: the model FLOP/s utilization; NaN: unknown
 * @memory: the bytes of device memory that the plan needs
 * @fits: whether the device has as much
 *
 * A plan with another length of one axis.
 */
typedef struct {
  gint64 length;
  double seconds, per_row, mfu, memory;
  gboolean fits;
} LigCapacityPoint;

/**
 * LigCapacity: (skip)
 * @axis: the axis
 * @present: its length in the plan
 * @largest: the largest length that fits; 0: not even a length of 1 does
 * @points: (element-type LigCapacityPoint): by length: powers of two, the current and the largest
 *   length, and the first power of two that does not fit
 * @tokens: whether rows are tokens
 * @limit: (nullable): why longer plans were not tried although @largest fits: another reason than
 *   memory, such as the length of a position embedding
 *
 * The lengths of an axis that fit.
 */
typedef struct {
  LigCapacityAxis axis;
  gint64 present, largest;
  GArray *points;
  gboolean tokens;
  char *limit;
} LigCapacity;

/**
 * lig_capacity_free: (skip)
 * @self: (nullable): a capacity
 *
 * Frees it.
 */
LIG_API void lig_capacity_free (LigCapacity *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCapacity, lig_capacity_free)

/**
 * lig_capacity_find: (skip)
 * @plan: a plan
 * @axis: an axis
 * @device: (nullable): another device of the same name, for a thread of its own; %NULL: the plan's
 * @optimizer: (nullable): the name of an optimizer whose state and update are included, empty for
 * the default one; %NULL: the plan's, if it has one
 * @tuning: (nullable): measured times, which replace predictions; nothing is measured
 * @cancellable: (nullable): ends the search; the points found so far are returned
 *
 * Compiles the plan with other lengths of an axis.
 *
 * Returns: (transfer full) (nullable): the capacity; %NULL if the input has no such axis
 */
LIG_API LigCapacity *lig_capacity_find (LigPlan *plan,
                                        LigCapacityAxis axis,
                                        LigDevice *device,
                                        const char *optimizer,
                                        const LigTuning *tuning,
                                        GCancellable *cancellable);

G_END_DECLS
