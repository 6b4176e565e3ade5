/* SPDX-License-Identifier: MIT */
/* Measures times by events, and fills memory with random data, because zeros would run faster than
 * real data. */
#include "engine/measure/stopwatch.h"
#include "engine/device/device-private.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>

gboolean
lig_stopwatch_init (LigStopwatch *self, LigDevice *device, GError **error)
{
  const LigBackend *calls = lig_device_calls (device);
  LigBackendDevice *handle = lig_device_handle (device);
  *self = (LigStopwatch){.device = device};
  LigStatus status = calls->event_new (handle, &self->begin);
  if (status == LIG_OK)
    status = calls->event_new (handle, &self->end);
  return lig_device_check (device, status, _ ("making events"), error);
}

void
lig_stopwatch_clear (LigStopwatch *self)
{
  if (!self->device)
    return;
  const LigBackend *calls = lig_device_calls (self->device);
  calls->event_free (lig_device_handle (self->device), self->begin);
  calls->event_free (lig_device_handle (self->device), self->end);
  *self = (LigStopwatch){0};
}

gboolean
lig_stopwatch_start (LigStopwatch *self, GError **error)
{
  LigDevice *device = self->device;
  return lig_device_check (device,
                           lig_device_calls (device)->record (
                             lig_device_handle (device), self->begin, lig_device_stream (device)),
                           _ ("timing"), error);
}

gboolean
lig_stopwatch_stop (LigStopwatch *self, double *seconds, GError **error)
{
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  LigStatus status = calls->record (handle, self->end, lig_device_stream (self->device));
  if (status == LIG_OK)
    status = calls->wait_event (handle, self->end);
  if (status == LIG_OK)
    status = calls->elapsed (handle, self->begin, self->end, seconds);
  return lig_device_check (self->device, status, _ ("timing"), error);
}

double
lig_now (void)
{
  return (double) g_get_monotonic_time () * 1e-6;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

double
lig_median (double *values, guint count)
{
  qsort (values, count, sizeof *values, compare);
  return values[count / 2];
}

gboolean
lig_fill_random (LigDevice *device, void *memory, gint64 size, LigDtype dtype, GError **error)
{
  enum { PIECE = 1 << 20 };
  gsize bytes = (gsize) size * lig_dtype_size (dtype), piece = PIECE * lig_dtype_size (dtype);
  const LigBackend *calls = lig_device_calls (device);
  if (!lig_dtype_has (dtype, LIG_DTYPE_COMPUTES | LIG_DTYPE_QUANTIZED))
    return lig_device_check (
      device,
      calls->fill (lig_device_handle (device), memory, 0, bytes, lig_device_stream (device)),
      _ ("filling"), error);
  gsize count = MIN ((gsize) size, PIECE);
  g_autofree float *values = g_new (float, count);
  g_autofree guint8 *narrow = g_malloc (MIN (bytes, piece));
  guint32 state = 1;
  for (gsize i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = (float) (gint32) state * 0x1p-31f;
  }
  lig_narrow (dtype, values, narrow, count);
  for (gsize at = 0; at < bytes; at += piece)
    if (!lig_device_upload (device, (char *) memory + at, narrow, MIN (piece, bytes - at), error))
      return FALSE;
  return TRUE;
}
