/* SPDX-License-Identifier: MIT */
/* Measures the time between two points of a device's stream, by the device's own events. */
#pragma once

#include <ligature/dtype.h>
#include <ligature/error.h>

typedef struct _LigDevice LigDevice;

G_BEGIN_DECLS

typedef struct {
  LigDevice *device; /* unowned */
  void *begin, *end;
} LigStopwatch;

gboolean lig_stopwatch_init (LigStopwatch *self, LigDevice *device, GError **error);
void lig_stopwatch_clear (LigStopwatch *self);

/* Starts and stops the time. Stopping waits for the device, and fails with any error that happened
 * on it since the start. */
gboolean lig_stopwatch_start (LigStopwatch *self, GError **error);
gboolean lig_stopwatch_stop (LigStopwatch *self, double *seconds, GError **error);

/* Returns the seconds of the host's monotonic clock, for time limits. */
double lig_now (void);

/* Returns the median of `count` values, which it sorts in place. */
double lig_median (double *values, guint count);

/* Fills device memory with random numbers in (-1, 1), repeated every 4 MiB; integers with zeros,
 * which are valid in every vocabulary. */
gboolean
lig_fill_random (LigDevice *device, void *memory, gint64 size, LigDtype dtype, GError **error);

G_END_DECLS
