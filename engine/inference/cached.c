/* SPDX-License-Identifier: MIT */
/* Generates tokens with a cache. A prompt is read in chunks whose sizes depend
 * only on its length, and texts are always extended in runs of the same number of rows, so that the
 * bits of a text do not depend on the others. */
#include "engine/inference/cached.h"
#include "engine/device/device-private.h"
#include "engine/program/cache.h"
#include "engine/program/results.h"
#include <ligature/cache.h>
#include <ligature/compile.h>
#include <ligature/plan-options.h>
#include <ligature/state.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The sizes of the chunks of prompts, largest first. Only the last chunk computes logits. */
static const gint64 sizes[] = {2048, 256, 64, 16, 4, 1};

/* The most elements of the parameters of a small model. */
enum { SMALL_MODEL = 1 << 20 };

struct _LigCached {
  LigSequence *sequence;
  LigState *state;
  LigPlanOptions options;
  LigCache *cache;
  LigSampler *sampler;
  LigProgram *next;
  LigProgram *prompts[2][G_N_ELEMENTS (sizes)]; /* null until it is needed; [1]: without logits */
  gint64 length, bytes, chunk;
  guint slots, rows;
  gboolean *taken; /* for each slot */
  LigSampled
    *drawn[LIG_SAMPLER_PLACES]; /* if a run extends one of several texts: by the last ones */
};

static LigPlan *
compile (LigCached *self, gint64 rows, gint64 step, gboolean fill, GError **error)
{
  LigPlanOptions options = self->options;
  options.cache = (LigCacheShape){.rows = rows,
                                  .step = step,
                                  .length = self->length,
                                  .slots = self->slots,
                                  .chunk = self->chunk,
                                  .fill = fill};
  return lig_plan_compile (self->sequence, lig_state_get_device (self->state), &options, error);
}

LigCached *
lig_cached_new (LigSequence *sequence,
                LigState *state,
                const LigPlanOptions *options,
                gint64 length,
                guint slots,
                guint rows,
                gint64 vocabulary,
                GError **error)
{
  LigCached *self = g_new0 (LigCached, 1);
  self->sequence = lig_sequence_copy (sequence);
  self->state = g_object_ref (state);
  self->length = length;
  self->chunk = MIN (sizes[0], length);
  self->slots = slots;
  self->rows = rows;
  self->taken = g_new0 (gboolean, slots);
  for (guint i = 0; i < LIG_SAMPLER_PLACES; i++)
    self->drawn[i] = g_new0 (LigSampled, slots);
  self->options = *options;
  self->options.training = self->options.input_gradient = self->options.accuracy = FALSE;
  g_autoptr (LigPlan) plan = compile (self, rows, 1, FALSE, error);
  self->cache = plan ? lig_cache_new (plan, error) : NULL;
  self->bytes = self->cache ? lig_cache_count_bytes (plan) : 0;
  self->next = self->cache ? lig_program_new_cached (plan, self->state, self->cache, error) : NULL;
  if (self->next)
    self->sampler = lig_sampler_new (lig_state_get_device (state), rows, vocabulary, error);
  if (self->sampler)
    return self;
  lig_cached_free (self);
  return NULL;
}

void
lig_cached_free (LigCached *self)
{
  if (!self)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint fill = 0; fill < 2; fill++)
      g_clear_pointer (&self->prompts[fill][i], lig_program_unref);
  g_clear_pointer (&self->next, lig_program_unref);
  g_clear_pointer (&self->sampler, lig_sampler_free);
  g_clear_pointer (&self->cache, lig_cache_unref);
  g_object_unref (self->sequence);
  g_object_unref (self->state);
  for (guint i = 0; i < LIG_SAMPLER_PLACES; i++)
    g_free (self->drawn[i]);
  g_free (self->taken);
  g_free (self);
}

gint64
lig_cached_get_bytes (const LigCached *self)
{
  return self->bytes;
}

int
lig_cached_take_slot (LigCached *self)
{
  for (guint i = 0; i < self->slots; i++)
    if (!self->taken[i]) {
      self->taken[i] = TRUE;
      return (int) i;
    }
  return -1;
}

void
lig_cached_free_slot (LigCached *self, int slot)
{
  if (slot >= 0 && slot < (int) self->slots)
    self->taken[slot] = FALSE;
}

/* Begins to draw tokens from rows of a program's output. */
static gboolean
draw_rows (LigCached *self,
           guint place,
           LigProgram *program,
           gint64 first,
           guint count,
           const LigDraw *draws,
           GError **error)
{
  LigShape shape;
  LigDtype dtype;
  const void *logits = lig_program_find_output_rows (program, first, count, error);
  lig_plan_get_output (lig_program_get_plan (program), &shape, &dtype);
  return logits && lig_sampler_begin (self->sampler, place, logits, dtype, draws, count, error);
}

/* Returns the program that reads a chunk of a prompt. */
static LigProgram *
get_prompt (LigCached *self, guint size, gboolean fill, GError **error)
{
  LigProgram **program = &self->prompts[fill][size];
  if (*program)
    return *program;
  g_autoptr (LigPlan) plan = compile (self, 1, sizes[size], fill, error);
  if (plan)
    *program = lig_program_new_cached (plan, self->state, self->cache, error);
  return *program;
}

gboolean
lig_cached_begin (LigCached *self,
                  int slot,
                  const gint32 *tokens,
                  gint64 n,
                  const LigDraw *draw,
                  LigSampled *sampled,
                  GError **error)
{
  LigProgram *program = NULL;
  gint64 step = 0;
  if (!lig_cache_set_length (self->cache, (guint) slot, 0, error))
    return FALSE;
  for (gint64 at = 0; at < n; at += step) {
    guint size = 0;
    while (sizes[size] > n - at)
      size++;
    step = sizes[size];
    program = get_prompt (self, size, at + step < n, error);
    LigCacheStep one = {(guint) slot, tokens + at};
    if (!program || !lig_cache_extend (self->cache, program, &one, 1, error))
      return FALSE;
  }
  return draw_rows (self, 0, program, step - 1, 1, draw, error) &&
         lig_sampler_end (self->sampler, 0, 1, sampled, error);
}

gboolean
lig_cached_has_room (LigCached *self, int slot)
{
  return lig_cache_get_length (self->cache, (guint) slot) < self->length;
}

gboolean
lig_cached_is_apart (LigState *state)
{
  return lig_device_stream (lig_state_get_device (state)) != NULL;
}

gboolean
lig_cached_suits_one (LigState *state)
{
  return !lig_cached_is_apart (state) && lig_state_get_n_elements (state) <= SMALL_MODEL;
}

/* Extends one text after the other. */
static gboolean
extend_each (LigCached *self,
             guint place,
             const guint *slots,
             const gint32 *tokens,
             guint n,
             const LigDraw *draws,
             GError **error)
{
  LigSampled *before = self->drawn[1 - place], *drawn = self->drawn[place];
  for (guint i = 0; i < n; i++) {
    const LigCacheStep one = {slots[i], tokens ? &tokens[i] : &before[i].chosen.token};
    if (!lig_cache_extend (self->cache, self->next, &one, 1, error) ||
        !draw_rows (self, place, self->next, 0, 1, &draws[i], error) ||
        !lig_sampler_end (self->sampler, place, 1, &drawn[i], error))
      return FALSE;
  }
  return TRUE;
}

gboolean
lig_cached_extend (LigCached *self,
                   guint place,
                   const guint *slots,
                   const gint32 *tokens,
                   guint n,
                   const LigDraw *draws,
                   GError **error)
{
  if (self->rows < self->slots)
    return extend_each (self, place, slots, tokens, n, draws, error);
  g_autofree LigCacheStep *steps = g_new (LigCacheStep, n);
  const void *there = lig_sampler_get_tokens (self->sampler);
  for (guint i = 0; i < n; i++)
    steps[i] = (LigCacheStep){slots[i], tokens ? &tokens[i] : NULL};
  return (tokens ? lig_cache_extend (self->cache, self->next, steps, n, error)
                 : lig_cache_extend_there (self->cache, self->next, steps, n, there, error)) &&
         draw_rows (self, place, self->next, 0, n, draws, error);
}

gboolean
lig_cached_collect (LigCached *self, guint place, guint n, LigSampled *sampled, GError **error)
{
  if (self->rows == self->slots)
    return lig_sampler_end (self->sampler, place, n, sampled, error);
  memcpy (sampled, self->drawn[place], n * sizeof *sampled);
  return TRUE;
}
