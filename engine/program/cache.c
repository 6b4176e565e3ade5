/* SPDX-License-Identifier: MIT */
/* A cache of keys and values. Its memory has the arrays of all attention ops one after another, in
 * the order of the plan; one more slot than texts takes the results of the unused rows of a run. */
#include "engine/program/cache.h"
#include "engine/device/device-private.h"
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

G_DEFINE_BOXED_TYPE (LigCache, lig_cache, lig_cache_ref, lig_cache_unref)

gint64
lig_cache_count_bytes (LigPlan *plan)
{
  return plan->cache_bytes;
}

LigCache *
lig_cache_new (LigPlan *plan, GError **error)
{
  const LigCacheShape *shape = &plan->request->options.cache;
  if (shape->rows == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the plan has no cache; compile it with the option cache"));
    return NULL;
  }
  g_autoptr (LigCache) self = g_new0 (LigCache, 1);
  self->count = 1;
  self->device = g_object_ref (lig_plan_get_device (plan));
  self->slots = shape->slots;
  self->length = shape->length;
  self->bytes = plan->cache_bytes;
  self->ring = plan->cache_ring;
  self->chunk = shape->chunk;
  self->source = shape->memory;
  self->memory = lig_device_allocate (self->device, (gsize) MAX (self->bytes, 1), error);
  if (!self->memory) {
    g_prefix_error (error, _ ("the cache (slots %" PRId64 ", length %" PRId64 "): "), shape->slots,
                    shape->length);
    return NULL;
  }
  self->lengths = g_new0 (gint64, (gsize) shape->slots);
  self->greatest = g_new0 (gint64, (gsize) shape->slots);
  self->sources = g_new0 (gint64, (gsize) shape->slots);
  return g_steal_pointer (&self);
}

LigCache *
lig_cache_ref (LigCache *self)
{
  g_atomic_int_inc (&self->count);
  return self;
}

void
lig_cache_unref (LigCache *self)
{
  if (!g_atomic_int_dec_and_test (&self->count))
    return;
  lig_device_release (self->device, self->memory);
  g_object_unref (self->device);
  g_free (self->lengths);
  g_free (self->greatest);
  g_free (self->sources);
  g_free (self);
}

void *
lig_cache_address (LigCache *self, gint64 offset)
{
  return self->memory + offset;
}

gboolean
lig_cache_check (LigCache *self, LigPlan *plan, GError **error)
{
  const LigCacheShape *wanted = &plan->request->options.cache;
  if (wanted->slots == self->slots && wanted->length == self->length &&
      wanted->chunk == self->chunk && wanted->memory == self->source &&
      plan->cache_bytes == self->bytes)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the cache has slots %" PRId64 ", length %" PRId64 ", chunk %" PRId64
                  " and size %" PRId64 ", the plan expects %" PRId64 ", %" PRId64 ", %" PRId64
                  " and %" PRId64),
               self->slots, self->length, self->chunk, self->bytes, wanted->slots, wanted->length,
               wanted->chunk, plan->cache_bytes);
  return FALSE;
}

/* --- Texts --------------------------------------------------------------------------------- */

gboolean
lig_cache_check_slot (const LigCache *self, guint slot, GError **error)
{
  if ((gint64) slot < self->slots)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("the cache has no slot %u, expected 0 to %" PRId64), slot, self->slots - 1);
  return FALSE;
}

gint64
lig_cache_get_length (LigCache *self, guint slot)
{
  return (gint64) slot < self->slots ? self->lengths[slot] : 0;
}

gboolean
lig_cache_set_length (LigCache *self, guint slot, gint64 length, GError **error)
{
  if (!lig_cache_check_slot (self, slot, error))
    return FALSE;
  if (length < 0 || length > self->lengths[slot]) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      _ ("slot %u: length %" PRId64 ", expected 0 to %" PRId64 ", the length of its text"), slot,
      length, self->lengths[slot]);
    return FALSE;
  }
  if (length > 0 && self->ring > 0 && self->greatest[slot] > self->ring &&
      self->greatest[slot] - length > self->chunk) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("slot %u: length %" PRId64 ", but attention with a window no longer has "
                    "the positions before %" PRId64 "; use 0 and begin again"),
                 slot, length, self->greatest[slot] - self->chunk);
    return FALSE;
  }
  self->lengths[slot] = length;
  if (length == 0)
    self->greatest[slot] = 0;
  return TRUE;
}
