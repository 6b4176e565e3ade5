/* SPDX-License-Identifier: MIT */
/* Runs that extend the texts of a cache. */
#include "engine/device/device-private.h"
#include "engine/program/cache.h"
#include "engine/program/private.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

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
    if (!lig_cache_check_slot (self, steps[i].slot, error))
      return FALSE;
    gint64 length = self->lengths[steps[i].slot] + run->step;
    if (length > self->length) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("slot %u would have length %" PRId64 ", the cache has length %" PRId64
                      "; shorten the text"),
                   steps[i].slot, length, self->length);
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

/* Copies tokens on the device, one a text. */
static gboolean
copy_tokens (LigProgram *program, const void *tokens, guint n, GError **error)
{
  LigDevice *device = program->device;
  void *memory = lig_program_address (program, program->plan->ends.input);
  LigStatus status =
    memory ? lig_device_calls (device)->copy (lig_device_handle (device), memory, tokens,
                                              n * sizeof (gint32), lig_device_stream (device))
           : LIG_OK;
  return lig_device_check (device, status, _ ("copying tokens"), error);
}

/* Sets the inputs of the run other than tokens. Unused rows write to the slot after those of
 * texts. */
static gboolean
set_places (LigCache *self, LigProgram *program, const LigCacheStep *steps, guint n, GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  g_autofree gint32 *numbers = g_new0 (gint32, (gsize) run->rows * LIG_N_CACHE_INPUTS);
  gint32 *starts = numbers + LIG_CACHE_STARTS * run->rows;
  gint32 *lengths = numbers + LIG_CACHE_LENGTHS * run->rows;
  gint32 *slots = numbers + LIG_CACHE_SLOTS * run->rows;
  gint32 *sources = numbers + LIG_CACHE_SOURCES * run->rows;
  int count = run->memory > 0 ? LIG_N_CACHE_INPUTS : LIG_CACHE_SOURCES;
  for (gint64 row = 0; row < run->rows; row++) {
    guint slot = row < n ? steps[row].slot : (guint) self->slots;
    starts[row] = row < n ? (gint32) self->lengths[slot] : 0;
    lengths[row] = starts[row] + (gint32) run->step;
    slots[row] = (gint32) slot;
    sources[row] = row < n ? (gint32) self->sources[slot] : 0;
  }
  for (int i = 0; i < count; i++)
    if (!set_numbers (program, i, numbers + i * run->rows, run->rows, error))
      return FALSE;
  return TRUE;
}

/* Checks that the program has the cache, and that it reads sources or does not. */
static gboolean
check_program (const LigCache *self, const LigProgram *program, gboolean source, GError **error)
{
  if (program->cache != self) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the program has another cache; make it by lig_program_new_cached()"));
    return FALSE;
  }
  if (program->plan->request->options.cache.source == source)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               source
                 ? _ ("the program does not read sources; compile it with LigCacheShape.source")
                 : _ ("the program reads sources; run it by lig_cache_set_source()"));
  return FALSE;
}

/* Runs with tokens of the host or, unless `there` is null, of the device. */
static gboolean
extend (LigCache *self,
        LigProgram *program,
        const LigCacheStep *steps,
        guint n,
        const void *there,
        GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  if (!check_program (self, program, FALSE, error))
    return FALSE;
  if (!check_steps (self, run, steps, n, error) || !set_places (self, program, steps, n, error) ||
      !(there ? copy_tokens (program, there, n, error) : set_tokens (program, steps, n, error)) ||
      !lig_program_run (program, LIG_RUN_FORWARD, error))
    return FALSE;
  for (guint i = 0; i < n; i++) {
    gint64 *length = &self->lengths[steps[i].slot], *greatest = &self->greatest[steps[i].slot];
    *length += run->step;
    *greatest = MAX (*greatest, *length);
  }
  return TRUE;
}

gboolean
lig_cache_extend (
  LigCache *self, LigProgram *program, const LigCacheStep *steps, guint n, GError **error)
{
  return extend (self, program, steps, n, NULL, error);
}

gboolean
lig_cache_extend_there (LigCache *self,
                        LigProgram *program,
                        const LigCacheStep *steps,
                        guint n,
                        const void *tokens,
                        GError **error)
{
  return extend (self, program, steps, n, tokens, error);
}

/* --- Sources ------------------------------------------------------------------------------- */

/* Copies the keys and values that the run has computed to the slot. */
static gboolean
keep_memories (LigCache *self, LigProgram *program, guint slot, GError **error)
{
  const LigPlan *plan = program->plan;
  LigDevice *device = program->device;
  LigStatus status = LIG_OK;
  for (guint i = 0; i < plan->memories->len && status == LIG_OK; i++) {
    const LigMemory *memory = &g_array_index (plan->memories, LigMemory, i);
    gint64 bytes = lig_plan_value (plan, memory->value)->bytes;
    gint64 each = lig_plan_value (plan, memory->cache)->bytes / (self->slots + 1);
    char *to = lig_program_address (program, memory->cache);
    status = lig_device_calls (device)->copy (lig_device_handle (device), to + slot * each,
                                              lig_program_address (program, memory->value),
                                              (gsize) bytes, lig_device_stream (device));
  }
  return lig_device_check (device, status, _ ("copying a source"), error);
}

gboolean
lig_cache_set_source (
  LigCache *self, LigProgram *program, guint slot, const gint32 *tokens, GError **error)
{
  const LigCacheShape *run = &program->plan->request->options.cache;
  const LigCacheStep step = {slot, tokens};
  if (!check_program (self, program, TRUE, error) || !lig_cache_check_slot (self, slot, error) ||
      !set_tokens (program, &step, 1, error) ||
      !lig_program_run (program, LIG_RUN_FORWARD, error) ||
      !keep_memories (self, program, slot, error))
    return FALSE;
  self->sources[slot] = run->step;
  return lig_cache_set_length (self, slot, 0, error);
}
