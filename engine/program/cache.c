/* SPDX-License-Identifier: MIT */
/* A cache of keys and values. Its memory has the arrays of all attention ops one after another, in
 * the order of the plan; one more slot than texts takes the results of the unused rows of a run. */
#include "engine/device/device-private.h"
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

struct _LigCache {
  int count; /* of references, atomic */
  LigDevice *device;
  LigCacheShape shape;
  gint64 bytes;
  char *memory;
  gint64 *lengths; /* of the text in each slot */
};

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
  self->shape = *shape;
  self->bytes = plan->cache_bytes;
  self->lengths = g_try_new0 (gint64, (gsize) shape->slots);
  self->memory = lig_device_allocate (self->device, (gsize) MAX (self->bytes, 1), error);
  if (!self->memory) {
    g_prefix_error (error, _ ("the cache (slots %" PRId64 ", length %" PRId64 "): "), shape->slots,
                    shape->length);
    return NULL;
  }
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
  if (wanted->slots == self->shape.slots && wanted->length == self->shape.length &&
      plan->cache_bytes == self->bytes)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the cache has slots %" PRId64 ", length %" PRId64 " and size %" PRId64
                  ", the plan expects %" PRId64 ", %" PRId64 " and %" PRId64),
               self->shape.slots, self->shape.length, self->bytes, wanted->slots, wanted->length,
               plan->cache_bytes);
  return FALSE;
}

/* --- Texts --------------------------------------------------------------------------------- */

static gboolean
check_slot (const LigCache *self, guint slot, GError **error)
{
  if ((gint64) slot < self->shape.slots)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("the cache has no slot %u, expected 0 to %" PRId64), slot, self->shape.slots - 1);
  return FALSE;
}

gint64
lig_cache_get_length (LigCache *self, guint slot)
{
  return (gint64) slot < self->shape.slots ? self->lengths[slot] : 0;
}

gboolean
lig_cache_set_length (LigCache *self, guint slot, gint64 length, GError **error)
{
  if (!check_slot (self, slot, error))
    return FALSE;
  if (length < 0 || length > self->lengths[slot]) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      _ ("slot %u: length %" PRId64 ", expected 0 to %" PRId64 ", the length of its text"), slot,
      length, self->lengths[slot]);
    return FALSE;
  }
  self->lengths[slot] = length;
  return TRUE;
}

static gboolean
check_steps (const LigCache *self,
             const LigCacheShape *run,
             const LigCacheStep *steps,
             guint n,
             GError **error)
{
  if (n < 1 || n > run->rows) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the number of texts to extend is %u, expected 1 to %" PRId64), n, run->rows);
    return FALSE;
  }
  for (guint i = 0; i < n; i++) {
    if (!check_slot (self, steps[i].slot, error))
      return FALSE;
    gint64 length = self->lengths[steps[i].slot] + run->step;
    if (length > self->shape.length) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("slot %u would have length %" PRId64 ", the cache has length %" PRId64
                      "; shorten the text"),
                   steps[i].slot, length, self->shape.length);
      return FALSE;
    }
    for (guint k = 0; k < i; k++)
      if (steps[k].slot == steps[i].slot) {
        g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                     _ ("slot %u is extended twice in one run; give each slot once"),
                     steps[i].slot);
        return FALSE;
      }
  }
  return TRUE;
}

/* Sets one of the extra inputs: a number for each row. */
static gboolean
set_numbers (LigProgram *program, int input, const gint32 *numbers, gint64 rows, GError **error)
{
  LigShape shape;
  lig_shape_init (&shape, 1, rows);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_INT32, &shape, error);
  if (tensor)
    memcpy (tensor->data, numbers, (gsize) rows * sizeof *numbers);
  return tensor && lig_program_set_extra_input (program, (guint) input, tensor, error);
}

static gboolean
set_tokens (LigProgram *program, const LigCacheStep *steps, guint n, GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  LigShape shape;
  lig_shape_init (&shape, 2, run->rows, run->step);
  g_autoptr (LigTensor) tokens = lig_tensor_new (LIG_INT32, &shape, error);
  if (!tokens)
    return FALSE;
  gsize bytes = (gsize) run->step * sizeof (gint32);
  memset (tokens->data, 0, lig_tensor_bytes (tokens));
  for (guint row = 0; row < n; row++)
    memcpy ((char *) tokens->data + row * bytes, steps[row].tokens, bytes);
  return lig_program_set_input (program, tokens, error);
}

/* Sets the inputs of the run. Unused rows write to the slot after those of texts. */
static gboolean
set_inputs (LigCache *self, LigProgram *program, const LigCacheStep *steps, guint n, GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  g_autofree gint32 *numbers = g_new0 (gint32, (gsize) run->rows * LIG_N_CACHE_INPUTS);
  gint32 *starts = numbers + LIG_CACHE_STARTS * run->rows;
  gint32 *lengths = numbers + LIG_CACHE_LENGTHS * run->rows;
  gint32 *slots = numbers + LIG_CACHE_SLOTS * run->rows;
  for (gint64 row = 0; row < run->rows; row++) {
    guint slot = row < n ? steps[row].slot : (guint) self->shape.slots;
    starts[row] = row < n ? (gint32) self->lengths[slot] : 0;
    lengths[row] = starts[row] + (gint32) run->step;
    slots[row] = (gint32) slot;
  }
  for (int i = 0; i < LIG_N_CACHE_INPUTS; i++)
    if (!set_numbers (program, i, numbers + i * run->rows, run->rows, error))
      return FALSE;
  return set_tokens (program, steps, n, error);
}

gboolean
lig_cache_extend (
  LigCache *self, LigProgram *program, const LigCacheStep *steps, guint n, GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  if (program->cache != self) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the program has another cache; make it by lig_program_new_cached()"));
    return FALSE;
  }
  if (!check_steps (self, run, steps, n, error) || !set_inputs (self, program, steps, n, error) ||
      !lig_program_run (program, LIG_RUN_FORWARD, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    self->lengths[steps[i].slot] += run->step;
  return TRUE;
}
