/* SPDX-License-Identifier: MIT */
/* Draws tokens from logits, on the host or on a device. */
#include "engine/device/device-private.h"
#include "engine/inference/sampler.h"
#include "kernels/sample.h"
#include <ligature/error.h>
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <string.h>

G_STATIC_ASSERT (sizeof (LigSampled) == LIG_SAMPLE_CHANCES * sizeof (gint32));

gboolean
lig_sampling_check (const LigSampling *self, GError **error)
{
  const struct {
    const char *name;
    double value, min, max;
  } numbers[] = {
    {"temperature", self->temperature, 0, 100},
    {"top-k", (double) self->top_k, 0, G_MAXINT32},
    {"top-p", self->top_p, 0, 1},
    {"min-p", self->min_p, 0, 1},
    {"repetition", self->repetition, 0.01, 100},
    {"max", (double) self->max_tokens, 0, G_MAXINT32},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!(numbers[i].value >= numbers[i].min && numbers[i].value <= numbers[i].max)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("%s is %g, expected a number from %g to %g"), numbers[i].name,
                   numbers[i].value, numbers[i].min, numbers[i].max);
      return FALSE;
    }
  return TRUE;
}

/* Returns the settings of a row for the kernel. */
static LigSampleSettings
describe_row (const LigSampling *self, gint32 seen, guint64 position)
{
  return (LigSampleSettings){.temperature = (float) self->temperature,
                             .top_p = (float) self->top_p,
                             .min_p = (float) self->min_p,
                             .repetition = (float) self->repetition,
                             .top_k = (gint32) self->top_k,
                             .seen = self->repetition != 1 ? seen : -1,
                             .seed = self->seed,
                             .position = position};
}

void
lig_sampling_draw (const LigSampling *self,
                   const float *logits,
                   gsize count,
                   const guint8 *seen,
                   guint64 position,
                   LigSampled *sampled)
{
  LigSampleSettings row = describe_row (self, seen ? 0 : -1, position);
  LigOperand operands[] = {
    {(void *) logits, (gint64) count, (gint64) count, LIG_FP32},
    {&row, LIG_SAMPLE_SETTINGS, LIG_SAMPLE_SETTINGS, LIG_INT32},
    {(void *) seen, (gint64) count, (gint64) count, LIG_UINT8},
    {sampled, LIG_SAMPLE_CHANCES, LIG_SAMPLE_CHANCES, LIG_INT32},
    {NULL, 1, 1, LIG_INT32},
  };
  LigLaunch launch = {.operands = operands};
  *sampled = (LigSampled){{0, 0}, {{0, 0}}};
  lig_host_function (lig_kernel_find ("sample")) (&launch);
}

/* --- On a device --------------------------------------------------------------------------- */

/* The draws of one run. */
typedef struct {
  LigSampleSettings *settings, *device_settings; /* one a row, on the host and on the device */
  LigSampled *sampled, *device_sampled;
  void *drawn; /* the event after the copy to the host */
} Place;

struct _LigSampler {
  LigDevice *device;
  guint rows;
  gint64 vocabulary;
  Place places[LIG_SAMPLER_PLACES];
  gint32 *tokens; /* on the device, those drawn last */
  char *seen;     /* rows x vocabulary on the device; null until it is needed */
};

/* Allocates memory on the device and, for copies, on the host. */
static gboolean
allocate (LigSampler *self, gsize bytes, gpointer host, gpointer device, GError **error)
{
  void **there = device, **here = host;
  *there = lig_device_allocate (self->device, bytes, error);
  const LigBackend *calls = lig_device_calls (self->device);
  return *there &&
         lig_device_check (self->device,
                           calls->allocate_host (lig_device_handle (self->device), bytes, here),
                           _ ("allocating memory for draws"), error);
}

static gboolean
prepare (LigSampler *self, Place *place, GError **error)
{
  const LigBackend *calls = lig_device_calls (self->device);
  return allocate (self, self->rows * sizeof *place->settings, &place->settings,
                   &place->device_settings, error) &&
         allocate (self, self->rows * sizeof *place->sampled, &place->sampled,
                   &place->device_sampled, error) &&
         lig_device_check (self->device,
                           calls->event_new (lig_device_handle (self->device), &place->drawn),
                           _ ("allocating memory for draws"), error);
}

LigSampler *
lig_sampler_new (LigDevice *device, guint rows, gint64 vocabulary, GError **error)
{
  LigSampler *self = g_new0 (LigSampler, 1);
  self->device = g_object_ref (device);
  self->rows = rows;
  self->vocabulary = vocabulary;
  self->tokens = lig_device_allocate (device, rows * sizeof *self->tokens, error);
  gboolean good = self->tokens != NULL;
  for (guint i = 0; i < LIG_SAMPLER_PLACES && good; i++)
    good = prepare (self, &self->places[i], error);
  if (good)
    return self;
  lig_sampler_free (self);
  return NULL;
}

static void
release (LigSampler *self, Place *place)
{
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  if (place->drawn) {
    /* Copies to host memory may be in progress. */
    calls->wait_event (handle, place->drawn);
    calls->event_free (handle, place->drawn);
  }
  if (place->settings)
    calls->release_host (handle, place->settings);
  if (place->sampled)
    calls->release_host (handle, place->sampled);
  lig_device_release (self->device, place->device_settings);
  lig_device_release (self->device, place->device_sampled);
}

void
lig_sampler_free (LigSampler *self)
{
  if (!self)
    return;
  for (guint i = 0; i < LIG_SAMPLER_PLACES; i++)
    release (self, &self->places[i]);
  lig_device_release (self->device, self->tokens);
  lig_device_release (self->device, self->seen);
  g_object_unref (self->device);
  g_free (self);
}

/* Copies the tokens that the texts have, for those with a penalty. */
static LigStatus
send_seen (LigSampler *self, const LigDraw *draws, guint n, GError **error)
{
  const LigBackend *calls = lig_device_calls (self->device);
  gsize width = (gsize) self->vocabulary;
  LigStatus status = LIG_OK;
  for (guint i = 0; i < n && status == LIG_OK; i++) {
    if (!draws[i].seen || draws[i].sampling->repetition == 1)
      continue;
    if (!self->seen &&
        !(self->seen = lig_device_allocate (self->device, self->rows * width, error)))
      return LIG_OUT_OF_MEMORY;
    status = calls->copy (lig_device_handle (self->device), self->seen + i * width, draws[i].seen,
                          width, lig_device_stream (self->device));
  }
  return status;
}

/* Enqueues the draws and the copies to the device and back. */
static LigStatus
enqueue (
  LigSampler *self, Place *place, const void *logits, LigDtype dtype, const LigDraw *draws, guint n)
{
  const LigBackend *calls = lig_device_calls (self->device);
  LigBackendDevice *handle = lig_device_handle (self->device);
  void *stream = lig_device_stream (self->device);
  gint64 settings = LIG_SAMPLE_SETTINGS, chances = LIG_SAMPLE_CHANCES, width = self->vocabulary;
  LigOperand operands[] = {
    {(void *) logits, n * width, width, dtype},
    {place->device_settings, n * settings, settings, LIG_INT32},
    {self->seen, self->rows * width, width, LIG_UINT8},
    {place->device_sampled, n * chances, chances, LIG_INT32},
    {self->tokens, n, 1, LIG_INT32},
  };
  LigLaunch launch = {.operands = operands, .stream = stream, .device = handle};
  for (guint i = 0; i < n; i++)
    place->settings[i] =
      describe_row (draws[i].sampling, draws[i].seen ? (gint32) i : -1, draws[i].position);
  LigStatus status = calls->copy (handle, place->device_settings, place->settings,
                                  n * sizeof *place->settings, stream);
  if (status == LIG_OK)
    status = lig_device_function (self->device, lig_kernel_find ("sample")) (&launch);
  if (status == LIG_OK)
    status = calls->copy (handle, place->sampled, place->device_sampled, n * sizeof *place->sampled,
                          stream);
  return status == LIG_OK ? calls->record (handle, place->drawn, stream) : status;
}

gboolean
lig_sampler_begin (LigSampler *self,
                   guint place,
                   const void *logits,
                   LigDtype dtype,
                   const LigDraw *draws,
                   guint n,
                   GError **error)
{
  const LigBackend *calls = lig_device_calls (self->device);
  calls->enter (lig_device_handle (self->device));
  LigStatus status = send_seen (self, draws, n, error);
  if (error && *error)
    return FALSE;
  if (status == LIG_OK)
    status = enqueue (self, &self->places[place], logits, dtype, draws, n);
  return lig_device_check (self->device, status, _ ("drawing tokens"), error);
}

gboolean
lig_sampler_end (LigSampler *self, guint place, guint n, LigSampled *sampled, GError **error)
{
  const LigBackend *calls = lig_device_calls (self->device);
  LigStatus status =
    calls->wait_event (lig_device_handle (self->device), self->places[place].drawn);
  if (!lig_device_check (self->device, status, _ ("drawing tokens"), error))
    return FALSE;
  memcpy (sampled, self->places[place].sampled, n * sizeof *sampled);
  return TRUE;
}

const void *
lig_sampler_get_tokens (const LigSampler *self)
{
  return self->tokens;
}
