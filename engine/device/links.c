/* SPDX-License-Identifier: MIT */
/* Measures the links between the devices of joining ranks, so that plans know the costs of
 * collectives: times all-reduces, which take as long as the slowest link. */
#include "engine/device/links.h"
#include <ligature/kernels.h>
#include <ligature/params-collective.h>

#include <glib/gi18n-lib.h>

/* Small collectives are bound by latency, large ones by bandwidth. */
#define SMALL_BYTES 256
#define LARGE_BYTES (4 << 20)
#define LARGE_BYTES_OF_ACCELERATOR (64 << 20)

/* The thread blocks of NCCL's collectives on GPUs that are connected by NVLink. */
#define MULTIPROCESSORS_OF_ACCELERATOR 24

typedef struct {
  LigDevice *device;
  const LigPeers *peers;
  LigCollectiveParams params;
  gsize max;    /* the bytes of the largest collective */
  char *memory; /* the data, then the scratch memory of its sums */
} Links;

/* Describes a collective of `bytes` bytes; `operands` has room for two. */
static LigLaunch
describe (const Links *self, gsize bytes, LigOperand *operands)
{
  const gint64 size = (gint64) (bytes / sizeof (float));
  operands[0] = operands[1] = (LigOperand){self->memory, size, size, LIG_FP32};
  return (LigLaunch){.operands = operands,
                     .params = &self->params,
                     .peers = self->peers,
                     .scratch = self->memory ? self->memory + self->max : NULL,
                     .stream = lig_device_stream (self->device),
                     .device = lig_device_handle (self->device)};
}

static gboolean
collective (Links *self, gsize bytes, int times, GError **error)
{
  LigOperand operands[2];
  LigLaunch launch = describe (self, bytes, operands);
  LigKernelFunc function = lig_device_function (self->device, lig_kernel_find ("all_reduce"));
  LigStatus status = LIG_OK;
  for (int i = 0; i < times && status == LIG_OK; i++)
    status = function (&launch);
  if (status == LIG_OK)
    status = lig_device_calls (self->device)->wait (launch.device, launch.stream);
  return lig_device_check (self->device, status, _ ("measuring the links of ranks"), error);
}

/* Sums of uninitialized memory could be subnormal numbers, which are slow. */
static gboolean
clear (Links *self, gsize bytes, GError **error)
{
  LigStatus status = lig_device_calls (self->device)
                       ->fill (lig_device_handle (self->device), self->memory, 0, bytes,
                               lig_device_stream (self->device));
  return lig_device_check (self->device, status, _ ("measuring the links of ranks"), error);
}

/* Returns the minimum seconds of a collective over several rounds; the first round also waits for
 * late ranks. */
static double
time_exchange (Links *self, gsize bytes, GError **error)
{
  enum { ROUNDS = 5, TIMES = 4 };
  double min = G_MAXDOUBLE;
  for (int round = 0; round < ROUNDS; round++) {
    gint64 begun = g_get_monotonic_time ();
    if (!collective (self, bytes, TIMES, error))
      return 0;
    double seconds = (double) (g_get_monotonic_time () - begun) * 1e-6 / TIMES;
    min = round > 0 ? MIN (min, seconds) : min;
  }
  return MAX (min, 1e-7);
}

gboolean
lig_links_measure (LigDevice *device, const LigPeers *peers, LigFabric *fabric, GError **error)
{
  gboolean accelerator = lig_device_has (device, LIG_DEVICE_ACCELERATOR);
  Links self = {.device = device,
                .peers = peers,
                .params = {peers->count, LIG_REDUCE_SUM, LIG_GROUP_ALL},
                .max = accelerator ? LARGE_BYTES_OF_ACCELERATOR : LARGE_BYTES};
  LigOperand operands[2];
  const LigLaunch largest = describe (&self, self.max, operands);
  gsize all =
    self.max + (gsize) lig_device_count_scratch (device, lig_kernel_find ("all_reduce"), &largest);
  self.memory = lig_device_allocate (device, all, error);
  if (!self.memory || !clear (&self, all, error)) {
    lig_device_release (device, self.memory);
    return FALSE;
  }
  double small = time_exchange (&self, SMALL_BYTES, error);
  double large = small > 0 ? time_exchange (&self, self.max, error) : 0;
  lig_device_release (device, self.memory);
  if (large <= 0)
    return FALSE;
  double travelled = 2 * (double) self.max * (peers->count - 1) / peers->count;
  const LigFabricLink link = {travelled / MAX (large - small, 1e-9), 0};
  /* In plans a collective also synchronizes with other lanes: that time comes from descriptions. */
  small = MAX (small, fabric->start);
  *fabric = (LigFabric){.devices = peers->count,
                        .multiprocessors = accelerator ? MULTIPROCESSORS_OF_ACCELERATOR : 0,
                        .start = small,
                        .inside = link,
                        .between = link};
  return TRUE;
}
