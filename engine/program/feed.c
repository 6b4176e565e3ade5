/* SPDX-License-Identifier: MIT */
/* A ring of slots, each with host memory, device memory and the events after which they may be
 * overwritten. They are copied in the copy lane. Devices that share the host's memory are written
 * directly. */
#include "engine/program/feed.h"

#include <glib/gi18n-lib.h>
#include <string.h>

enum { SLOTS = 3 };

typedef struct {
  void *host, *staging;
  void *copied, *consumed; /* events */
} Slot;

struct _LigFeed {
  LigDevice *device; /* unowned */
  const LigBackend *calls;
  LigBackendDevice *handle;
  void *target, *copies; /* and the stream of copies */
  gsize bytes;
  LigDtype dtype;
  Slot slots[SLOTS];
  guint next;
};

LigFeed *
lig_feed_new (LigDevice *device, void *target, gint64 size, LigDtype dtype)
{
  LigFeed *self = g_new0 (LigFeed, 1);
  self->device = device;
  self->calls = lig_device_calls (device);
  self->handle = lig_device_handle (device);
  self->target = target;
  self->copies = lig_device_lane (device, LIG_LANE_COPY);
  self->bytes = (gsize) size * lig_dtype_size (dtype);
  self->dtype = dtype;
  return self;
}

void
lig_feed_free (LigFeed *self)
{
  if (!self)
    return;
  if (self->slots[0].staging) {
    self->calls->wait (self->handle, self->copies);
    self->calls->wait (self->handle, lig_device_stream (self->device));
  }
  for (guint i = 0; i < SLOTS; i++) {
    Slot *slot = &self->slots[i];
    if (slot->host)
      self->calls->release_host (self->handle, slot->host);
    if (slot->staging)
      self->calls->release (self->handle, slot->staging);
    if (slot->copied)
      self->calls->event_free (self->handle, slot->copied);
    if (slot->consumed)
      self->calls->event_free (self->handle, slot->consumed);
  }
  g_free (self);
}

/* Converts the elements in chunks if the types differ. */
static void
convert (const LigFeed *self, const LigTensor *tensor, void *target)
{
  gsize from = lig_dtype_size (tensor->dtype), to = lig_dtype_size (self->dtype);
  float piece[1024];
  if (tensor->dtype == self->dtype) {
    memcpy (target, tensor->data, self->bytes);
    return;
  }
  for (gsize at = 0; at < (gsize) tensor->size; at += G_N_ELEMENTS (piece)) {
    gsize count = MIN (G_N_ELEMENTS (piece), (gsize) tensor->size - at);
    lig_widen (tensor->dtype, (const char *) tensor->data + at * from, piece, count);
    lig_narrow (self->dtype, piece, (char *) target + at * to, count);
  }
}

static LigStatus
prepare (LigFeed *self, Slot *slot)
{
  LigStatus status = LIG_OK;
  if (!slot->host)
    status = self->calls->allocate_host (self->handle, self->bytes, &slot->host);
  if (status == LIG_OK && !slot->staging)
    status = self->calls->allocate (self->handle, self->bytes, &slot->staging);
  if (status == LIG_OK && !slot->copied)
    status = self->calls->event_new (self->handle, &slot->copied);
  if (status == LIG_OK && !slot->consumed)
    status = self->calls->event_new (self->handle, &slot->consumed);
  return status;
}

/* Copies host memory to the slot's staging memory while steps run, then to the target between
 * steps. */
static LigStatus
copy (LigFeed *self, Slot *slot)
{
  const LigBackend *calls = self->calls;
  void *steps = lig_device_stream (self->device);
  LigStatus status = calls->await (self->handle, self->copies, slot->consumed);
  if (status == LIG_OK)
    status = calls->copy (self->handle, slot->staging, slot->host, self->bytes, self->copies);
  if (status == LIG_OK)
    status = calls->record (self->handle, slot->copied, self->copies);
  if (status == LIG_OK)
    status = calls->await (self->handle, steps, slot->copied);
  if (status == LIG_OK)
    status = calls->copy (self->handle, self->target, slot->staging, self->bytes, steps);
  return status == LIG_OK ? calls->record (self->handle, slot->consumed, steps) : status;
}

gboolean
lig_feed_send (LigFeed *self, const LigTensor *tensor, GError **error)
{
  if (self->bytes == 0)
    return TRUE;
  if (!lig_device_has (self->device, LIG_DEVICE_STAGES)) {
    convert (self, tensor, self->target);
    return TRUE;
  }
  Slot *slot = &self->slots[self->next];
  self->next = (self->next + 1) % SLOTS;
  LigStatus status = prepare (self, slot);
  if (status == LIG_OK)
    status = self->calls->wait_event (self->handle, slot->copied);
  if (status == LIG_OK) {
    convert (self, tensor, slot->host);
    status = copy (self, slot);
  }
  return lig_device_check (self->device, status, _ ("copying a batch"), error);
}
