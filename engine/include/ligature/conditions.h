/* SPDX-License-Identifier: MIT */
/* Measurement conditions: whether other programs, reduced clocks or a wide spread make measured
 * times unreliable. */
#pragma once

#include <ligature/device.h>
#include <ligature/spread.h>

G_BEGIN_DECLS

/**
 * LigDisturbance:
 * @LIG_DISTURBANCE_LOAD: other programs used CPUs that the measurement needed
 * @LIG_DISTURBANCE_SHARED: other programs used the GPU before the measurement
 * @LIG_DISTURBANCE_CLOCKS: the device reduced its clocks
 * @LIG_DISTURBANCE_SPREAD: the quartiles of the step time are further apart than on an idle machine
 *
 * Reasons to distrust measured times, as flags.
 */
typedef enum { /*< flags >*/
               LIG_DISTURBANCE_LOAD = 1 << 0,
               LIG_DISTURBANCE_SHARED = 1 << 1,
               LIG_DISTURBANCE_CLOCKS = 1 << 2,
               LIG_DISTURBANCE_SPREAD = 1 << 3
} LigDisturbance;

/**
 * LigConditions:
 * @cpus: the number of the machine's CPUs
 * @load: the load average of the last minute before the measurement; negative if unknown
 * @others: the number of CPUs that other programs kept busy during the measurement; negative
 *   if unknown
 * @shared: the fraction of time, from 0 to 1, in which the GPU was busy before the measurement;
 *   negative if unknown
 * @step: the spread of the time of a whole step
 * @synchronous: whether the kernels run on the CPUs
 * @clocks: the reason why the device reduced its clocks; empty if it did not
 * @disturbances: the reasons to distrust the times, flags of #LigDisturbance
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
  double began[3]; /* in seconds: the clock, the CPU time of all processes, that of this process */
} LigConditions;

/**
 * lig_conditions_judge: (skip)
 * @self: conditions
 *
 * Sets the disturbances from the other fields. Other programs disturb if they keep half a CPU busy,
 * or all CPUs but one if a GPU runs the kernels; if their use is unknown, if the load average is at
 * least half the CPUs, or all of them for a GPU. A GPU is shared if it was busy for more than 5 %
 * of the time. The spread is wide if the quartiles are more than 10 % of the median apart. Reduced
 * clocks always count.
 *
 * Returns: the disturbances
 */
LIG_API unsigned lig_conditions_judge (LigConditions *self);

/**
 * lig_conditions_to_text: (skip)
 * @self: conditions that were judged
 *
 * Returns: (transfer full) (nullable): a translated clause for each disturbance, without a full
 *   stop: `other programs kept 1.6 of 2 CPUs busy`; %NULL if there is none
 */
LIG_API char *lig_conditions_to_text (const LigConditions *self);

G_END_DECLS
