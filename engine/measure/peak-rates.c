/* SPDX-License-Identifier: MIT */
/* Measures a device's peak rates on random data: how fast it copies, multiplies and starts a
 * kernel.
 */
#include "engine/device/device-private.h"
#include "engine/measure/kernel-costs.h"
#include "engine/measure/lock.h"
#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"
#include <ligature/kernels.h>
#include <ligature/tuning.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* State shared by all measurements: memory for the operands, a workspace, a stopwatch. */
typedef struct {
  LigDevice *device;
  LigStopwatch watch;
  char *memory, *workspace;
  gsize bytes; /* size of `memory` */
  gint64 side; /* rows and columns of the matrices */
  gboolean quickly;
} Bench;

static gboolean
launch (Bench *bench, const char *name, LigOperand *operands, gboolean tf32, GError **error)
{
  const LigKernel *kernel = lig_kernel_find (name);
  LigLaunch one = {
    .operands = operands,
    .workspace = bench->workspace,
    .stream = lig_device_stream (bench->device),
    .device = lig_device_handle (bench->device),
    .tf32 = tf32,
    .autotune = !bench->quickly, /* without a search the library's first algorithm is used */
  };
  LigStatus status = lig_device_function (bench->device, kernel) (&one);
  if (status == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("measuring %s failed: %s"), name,
               one.where ? one.where : _ ("it cannot run here"));
  return FALSE;
}

/* Measures the seconds of one launch: the best of several samples, each of a few launches in a row
 * after a pause, because a peak rate is the speed of a device that has not heated up. */
static gboolean
time_kernel (Bench *bench,
             const char *name,
             LigOperand *operands,
             guint repeat,
             double *seconds,
             GError **error)
{
  enum { SAMPLES = 7, QUICK_SAMPLES = 3, REST = 100000 };
  int samples = bench->quickly ? QUICK_SAMPLES : SAMPLES;
  *seconds = G_MAXDOUBLE;
  if (!bench->quickly)
    g_usleep (REST);
  for (int i = -1; i < samples; i++) {
    double taken;
    if (!lig_stopwatch_start (&bench->watch, error))
      return FALSE;
    for (guint j = 0; j < repeat; j++)
      if (!launch (bench, name, operands, FALSE, error))
        return FALSE;
    if (!lig_stopwatch_stop (&bench->watch, &taken, error))
      return FALSE;
    if (i >= 0)
      *seconds = MIN (*seconds, taken / repeat);
  }
  return TRUE;
}

static gboolean
measure_copy (Bench *bench, LigDeviceFacts *facts, GError **error)
{
  gint64 size = (gint64) (bench->bytes / 2 / sizeof (float));
  LigOperand operands[] = {{bench->memory, size, size, LIG_FP32},
                           {bench->memory + bench->bytes / 2, size, size, LIG_FP32}};
  double seconds;
  if (!time_kernel (bench, "convert", operands, 4, &seconds, error))
    return FALSE;
  facts->copy = (double) bench->bytes / seconds;
  return TRUE;
}

/* Measures the rate of square matmuls, the faster of two sizes: larger ones may be limited by
 * power. */
static gboolean
measure_rate (Bench *bench, LigDtype dtype, double *rate, GError **error)
{
  for (gint64 side = bench->side; side >= bench->side / 2; side /= 2) {
    gsize step = (gsize) (side * side) * lig_dtype_size (dtype);
    LigOperand matmul[] = {{bench->memory, side * side, side, dtype},
                           {bench->memory + step, side * side, side, dtype},
                           {bench->memory + 2 * step, side * side, side, dtype}};
    double seconds;
    if (!lig_fill_random (bench->device, bench->memory, 2 * side * side, dtype, error) ||
        !time_kernel (bench, "linear", matmul, 2, &seconds, error))
      return FALSE;
    *rate = MAX (*rate, 2 * (double) (side * side * side) / seconds);
  }
  return TRUE;
}

static gboolean
measure_matmuls (Bench *bench, LigDeviceFacts *facts, GError **error)
{
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    /* Types without kernels have no rate, even if the data sheet lists one. */
    facts->matmul[i] = 0;
    if (lig_dtype_is_floating ((LigDtype) i) &&
        !measure_rate (bench, (LigDtype) i, &facts->matmul[i], error))
      return FALSE;
  }
  return TRUE;
}

/* Measures the launch time of a kernel by scaling a single element many times. */
static gboolean
measure_launch (Bench *bench, LigDeviceFacts *facts, GError **error)
{
  LigOperand operands[] = {{bench->memory, 1, 1, LIG_FP32}, {bench->memory, 1, 1, LIG_FP32}};
  const LigBackend *calls = lig_device_calls (bench->device);
  LigBackendDevice *handle = lig_device_handle (bench->device);
  void *stream = lig_device_stream (bench->device), *graph = NULL;
  enum { LAUNCHES = 100 };
  double seconds = 0;
  LigStatus status = calls->capture (handle, stream);
  if (!lig_device_check (bench->device, status, _ ("capturing"), error))
    return FALSE;
  gboolean fine = TRUE;
  for (int i = 0; i < LAUNCHES && fine; i++)
    fine = launch (bench, "scale", operands, FALSE, error);
  status = calls->capture_end (handle, stream, &graph);
  fine = fine && lig_device_check (bench->device, status, _ ("capturing"), error);
  for (int i = 0; i < 3 && fine; i++)
    fine = lig_stopwatch_start (&bench->watch, error) &&
           lig_device_check (bench->device, calls->replay (handle, graph, stream), _ ("launching"),
                             error) &&
           lig_stopwatch_stop (&bench->watch, &seconds, error);
  calls->graph_free (handle, graph);
  if (fine)
    facts->launch = seconds / LAUNCHES;
  return fine;
}

/* Copies page-locked memory several times in a row to a device with its own memory. */
static gboolean
time_uploads (Bench *bench, const void *from, gsize bytes, double *seconds, GError **error)
{
  enum { COPIES = 8 };
  const LigBackend *calls = lig_device_calls (bench->device);
  LigStatus status = LIG_OK;
  if (!lig_stopwatch_start (&bench->watch, error))
    return FALSE;
  for (int i = 0; i < COPIES && status == LIG_OK; i++)
    status = calls->copy (lig_device_handle (bench->device), bench->memory, from, bytes,
                          lig_device_stream (bench->device));
  if (!lig_device_check (bench->device, status, _ ("uploading"), error) ||
      !lig_stopwatch_stop (&bench->watch, seconds, error))
    return FALSE;
  *seconds /= COPIES;
  return TRUE;
}

/* Measures the rate at which batches are copied to the device. */
static gboolean
measure_upload (Bench *bench, LigDeviceFacts *facts, GError **error)
{
  enum { SAMPLES = 3 };
  const LigBackend *calls = lig_device_calls (bench->device);
  LigBackendDevice *handle = lig_device_handle (bench->device);
  gsize bytes = MIN ((gsize) 64 << 20, bench->bytes);
  void *from = NULL;
  double best = G_MAXDOUBLE, seconds;
  if (!lig_device_has (bench->device, LIG_DEVICE_STAGES))
    return TRUE;
  LigStatus status = calls->allocate_host (handle, bytes, &from);
  gboolean fine = lig_device_check (bench->device, status, _ ("uploading"), error);
  if (fine)
    memset (from, 1, bytes);
  for (int i = 0; i < SAMPLES && fine; i++) {
    fine = time_uploads (bench, from, bytes, &seconds, error);
    best = fine ? MIN (best, seconds) : best;
  }
  if (from)
    calls->release_host (handle, from);
  if (fine)
    facts->upload = (double) bytes / best;
  return fine;
}

/* Chooses more memory than any cache holds, and matrices that keep every core busy. */
static void
choose_sizes (Bench *bench, const LigDeviceFacts *facts)
{
  gboolean large = lig_device_has (bench->device, LIG_DEVICE_ACCELERATOR);
  gsize cache = (gsize) CLAMP (facts->l2, 16 << 20, 128 << 20);
  bench->bytes = (gsize) (large ? 2048 : 256) << 20;
  bench->side = large ? 8192 : 1024;
  if (bench->quickly) {
    bench->bytes = large ? (gsize) 1 << 30 : 4 * cache;
    bench->side /= 2;
  }
}

/* Measures the launch time of a device without graphs as the time of a step of one element. */
static gboolean
measure_step (Bench *bench, LigDeviceFacts *facts, GError **error)
{
  LigOperand operands[] = {{bench->memory, 1, 1, LIG_FP32}, {bench->memory, 1, 1, LIG_FP32}};
  return time_kernel (bench, "scale", operands, 100, &facts->launch, error);
}

static gboolean
measure (LigDevice *device, gboolean quickly, GError **error)
{
  LigDeviceFacts found = *lig_device_get_facts (device);
  if (!lig_device_calls (device)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 _ ("%s is only described; it cannot be measured"), lig_device_get_name (device));
    return FALSE;
  }
  Bench bench = {.device = device, .quickly = quickly};
  choose_sizes (&bench, &found);
  lig_device_calls (device)->enter (lig_device_handle (device));
  bench.memory = lig_device_allocate (device, bench.bytes, error);
  bench.workspace = bench.memory ? lig_device_allocate (device, LIG_WORKSPACE_SIZE, error) : NULL;
  lig_measuring_begin (device);
  gboolean fine = bench.workspace && lig_stopwatch_init (&bench.watch, device, error) &&
                  lig_fill_random (device, bench.memory, (gint64) (bench.bytes / sizeof (float)),
                                   LIG_FP32, error) &&
                  measure_copy (&bench, &found, error) && measure_upload (&bench, &found, error) &&
                  measure_matmuls (&bench, &found, error) &&
                  (lig_device_calls (device)->capture ? measure_launch (&bench, &found, error)
                                                      : measure_step (&bench, &found, error));
  lig_stopwatch_clear (&bench.watch);
  lig_device_release (device, bench.workspace);
  lig_device_release (device, bench.memory);
  fine = fine && (quickly || lig_measure_costs (device, &found, error));
  lig_measuring_end (device);
  if (!fine)
    return FALSE;
  found.measured = TRUE;
  lig_device_set_facts (device, &found);
  return TRUE;
}

gboolean
lig_device_measure (LigDevice *self, GError **error)
{
  return measure (self, FALSE, error);
}

gboolean
lig_device_measure_quickly (LigDevice *self, GError **error)
{
  return measure (self, TRUE, error);
}
