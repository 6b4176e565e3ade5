/* SPDX-License-Identifier: MIT */
/* Numbered devices: those of backends in modules. */
#include "engine/device/backend.h"
#include "kernels/times.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* Sets the peak rates of a GPU that is not measured yet to those of the shipped description with
 * its name. Without one the peak rates stay unknown, and nothing is predicted. */
static void
assume_peak_rates (LigDeviceFacts *facts)
{
  LigDeviceFacts like;
  if (!lig_description_find (facts, &like))
    return;
  facts->copy = like.copy;
  facts->launch = like.launch;
  facts->upload = like.upload;
  facts->costs = like.costs;
  memcpy (facts->matmul, like.matmul, sizeof facts->matmul);
}

static void
describe (LigDevice *self)
{
  LigBackendFacts from;
  self->calls->describe (self->handle, &from);
  self->facts = (LigDeviceFacts){.capability = from.capability,
                                 .multiprocessors = from.multiprocessors,
                                 .memory = from.memory,
                                 .l2 = from.l2};
  g_strlcpy (self->facts.name, from.name, sizeof self->facts.name);
  g_strlcpy (self->facts.libraries, from.libraries, sizeof self->facts.libraries);
  g_strlcpy (self->id, from.id, sizeof self->id);
  assume_peak_rates (&self->facts);
}

/* The stream for collectives is made when the device joins others. */
static gboolean
make_streams (LigDevice *self)
{
  static const LigLane lanes[] = {LIG_LANE_MAIN, LIG_LANE_SIDE, LIG_LANE_COPY};
  for (guint i = 0; i < G_N_ELEMENTS (lanes); i++)
    if (self->calls->stream_new (self->handle, &self->streams[lanes[i]]) != LIG_OK)
      return FALSE;
  return TRUE;
}

gboolean
lig_numbered_try (LigDevice *self, int number, char *why, gsize size)
{
  const char *reason;
  g_free (self->name);
  self->name = g_strdup_printf ("%s:%d", self->backend->info.name, number);
  self->calls = lig_module_load (self->backend, &reason);
  if (!self->calls) {
    g_strlcpy (why, reason, size);
    return FALSE;
  }
  if (self->calls->open (number, &self->handle, why, size) != LIG_OK)
    return FALSE;
  if (make_streams (self)) {
    describe (self);
    lig_times_mark ("device");
    return TRUE;
  }
  g_strlcpy (why, self->calls->message (self->handle), size);
  return FALSE;
}

gboolean
lig_numbered_open (LigDevice *self, const char *rest, GError **error)
{
  char why[512] = "";
  int number = rest ? (int) g_ascii_strtoull (rest, NULL, 10) : 0;
  if (lig_numbered_try (self, number, why, sizeof why))
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("%s cannot be used: %s"), self->name, why);
  return FALSE;
}

int
lig_numbered_count (const LigBackendTable *backend, char *why, gsize size)
{
  const char *reason;
  const LigBackend *calls = lig_module_load (backend, &reason);
  if (calls)
    return MAX (0, calls->count (why, size));
  g_strlcpy (why, reason, size);
  return 0;
}
