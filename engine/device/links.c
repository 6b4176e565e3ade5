/* SPDX-License-Identifier: MIT */
/* Measures the links between the devices of ranks that join, so that plans know what an exchange
 * costs: each rank sends to the next one, which takes as long as the slowest link does. */
#include "engine/device/links.h"

#include <ligature/kernels.h>
#include <ligature/params.h>

#include <glib/gi18n-lib.h>

/* Small exchanges are bound by latency, large ones by bandwidth. */
#define SMALL_BYTES 256
#define LARGE_BYTES (4 << 20)

typedef struct {
  LigDevice *device;
  const LigPeers *peers;
  char *memory; /* the data that is sent, then that which is received */
} Links;

static gboolean
exchange (Links *self, gsize bytes, int times, GError **error)
{
  const LigRingParams params = {{self->peers->count, LIG_REDUCE_SUM, LIG_GROUP_ALL}, 0};
  const gint64 size = (gint64) (bytes / sizeof (float));
  const LigOperand operands[] = {{self->memory, size, size, LIG_FP32},
                                 {self->memory + LARGE_BYTES, size, size, LIG_FP32}};
  LigLaunch launch = {.operands = operands,
                      .params = &params,
                      .peers = self->peers,
                      .stream = lig_device_stream (self->device),
                      .device = lig_device_handle (self->device)};
  LigKernelFunc function = lig_device_function (self->device, lig_kernel_find ("ring_exchange"));
  LigStatus status = LIG_OK;
  for (int i = 0; i < times && status == LIG_OK; i++)
    status = function (&launch);
  if (status == LIG_OK)
    status = lig_device_calls (self->device)->wait (launch.device, launch.stream);
  return lig_device_check (self->device, status, _ ("measuring the links of ranks"), error);
}

/* Returns the least seconds of an exchange in some rounds; the first one also waits for the ranks
 * that are late. */
static double
time_exchange (Links *self, gsize bytes, GError **error)
{
  enum { ROUNDS = 5, TIMES = 4 };
  double least = G_MAXDOUBLE;
  for (int round = 0; round < ROUNDS; round++) {
    gint64 begun = g_get_monotonic_time ();
    if (!exchange (self, bytes, TIMES, error))
      return 0;
    double seconds = (double) (g_get_monotonic_time () - begun) * 1e-6 / TIMES;
    least = round > 0 ? MIN (least, seconds) : least;
  }
  return MAX (least, 1e-7);
}

gboolean
lig_links_measure (LigDevice *device, const LigPeers *peers, LigFabric *fabric, GError **error)
{
  Links self = {.device = device, .peers = peers};
  self.memory = lig_device_allocate (device, 2 * LARGE_BYTES, error);
  double small = self.memory ? time_exchange (&self, SMALL_BYTES, error) : 0;
  double large = small > 0 ? time_exchange (&self, LARGE_BYTES, error) : 0;
  lig_device_release (device, self.memory);
  if (large <= 0)
    return FALSE;
  const LigFabricLink link = {LARGE_BYTES / MAX (large - small, 1e-9), small};
  *fabric = (LigFabric){.devices = peers->count, .inside = link, .between = link};
  return TRUE;
}
