/* SPDX-License-Identifier: MIT */
/* Times what a device does between two places of its stream, by the device's own events. */
#pragma once

#include "engine/device/device-private.h"

G_BEGIN_DECLS

typedef struct {
  LigDevice *device; /* unowned */
  void *begin, *end;
} LigStopwatch;

gboolean lig_stopwatch_init (LigStopwatch *self, LigDevice *device, GError **error);
void lig_stopwatch_clear (LigStopwatch *self);

/* Stopping waits for the device and tells what went wrong on it since. */
gboolean lig_stopwatch_start (LigStopwatch *self, GError **error);
gboolean lig_stopwatch_stop (LigStopwatch *self, double *seconds, GError **error);

/* Seconds on the host's clock, for budgets. */
double lig_now (void);

/* The middle of `count` values, which are sorted. */
double lig_median (double *values, guint count);

/* Fills device memory with random numbers in (-1, 1), repeated every 4 MiB; integers with zeros,
 * which every vocabulary has. */
gboolean
lig_fill_random (LigDevice *device, void *memory, gint64 size, LigDtype dtype, GError **error);

G_END_DECLS
