/* SPDX-License-Identifier: MIT */
/* Conditions: whether other programs, reduced clocks or a wide spread make measured times
 * doubtful. */
#pragma once

#include <ligature/device.h>
#include <ligature/spread.h>

G_BEGIN_DECLS

/**
 * LigDisturbance:
 * @LIG_DISTURBANCE_LOAD: other programs kept CPUs busy that the measurement needed
 * @LIG_DISTURBANCE_SHARED: other programs used the GPU before the measurement
 * @LIG_DISTURBANCE_CLOCKS: the device reduced its clocks
 * @LIG_DISTURBANCE_SPREAD: the quartiles of a step are further apart than on an idle machine
 *
 * Reasons for doubting measured times, as flags.
 */
typedef enum { /*< flags >*/
               LIG_DISTURBANCE_LOAD = 1 << 0,
               LIG_DISTURBANCE_SHARED = 1 << 1,
               LIG_DISTURBANCE_CLOCKS = 1 << 2,
               LIG_DISTURBANCE_SPREAD = 1 << 3
} LigDisturbance;

/**
 * LigConditions:
 * @cpus: the number of CPUs of the machine
 * @load: the load average of the last minute before the measurement; negative if unknown
 * @others: the number of CPUs that other programs kept busy during the measurement; negative
 *   if unknown
 * @shared: the share of time in which the GPU was busy before the measurement, 1 for all of it;
 *   negative if unknown
 * @step: the spread of a whole step
 * @synchronous: whether the CPUs themselves run the kernels
 * @clocks: the reason why the device reduced its clocks; empty if it did not
 * @disturbances: the reasons for doubting the times, flags of #LigDisturbance
 *
 * The conditions of a measurement.
 */
typedef struct {
  int cpus;
  double load, others, shared;
  LigSpread step;
  gboolean synchronous;
  char clocks[64];
  unsigned disturbances;
  /*< private >*/
  double began[3]; /* seconds: the clock, the use of all CPUs, the use by this process */
} LigConditions;

/**
 * lig_conditions_judge: (skip)
 * @self: conditions
 *
 * Sets the disturbances from the other fields: others kept half a CPU busy, or all but one if
 * a GPU runs the kernels; where their use is unknown, a load of half the CPUs, or of all of
 * them; a GPU that was busy for more than 5 % of the time; reduced clocks; quartiles that are more
 * than 10 % of the median apart.
 *
 * Returns: the disturbances
 */
LIG_API unsigned lig_conditions_judge (LigConditions *self);

/**
 * lig_conditions_to_text: (skip)
 * @self: conditions that were judged
 *
 * Returns: (transfer full) (nullable): a translated sentence for each disturbance, without a full
 *   stop after the last; %NULL without any
 */
LIG_API char *lig_conditions_to_text (const LigConditions *self);

G_END_DECLS
