/* SPDX-License-Identifier: MIT */
/* Creates and frees programs, and caches those of a state. */
#include "engine/program/private.h"
#include <ligature/plan-memory.h>

#include <glib/gi18n-lib.h>

/* Checks that the cache has the shape that the plan expects. */
static gboolean
check_cache (LigPlan *plan, LigCache *cache, GError **error)
{
  const LigCacheShape *wanted = &plan->request->options.cache;
  if (wanted->rows == 0 && !cache)
    return TRUE;
  if (wanted->rows == 0 || !cache) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 cache ? _ ("the plan has no cache; compile it with the option cache")
                       : _ ("the plan has a cache; make its program by lig_program_new_cached()"));
    return FALSE;
  }
  return lig_cache_check (cache, plan, error);
}

LigProgram *
lig_program_new (LigPlan *plan, LigState *state, GError **error)
{
  return lig_program_new_cached (plan, state, NULL, error);
}

LigProgram *
lig_program_new_cached (LigPlan *plan, LigState *state, LigCache *cache, GError **error)
{
  if (!plan || !state) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "the %s is null, a program needs a plan and a state", plan ? "state" : "plan");
    return NULL;
  }
  if (plan->request->compared) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 "the plan is for comparison only and has no memory; compile the sequence with "
                 "policy none");
    return NULL;
  }
  if (!check_cache (plan, cache, error))
    return NULL;
  if (!lig_state_check_plan (state, plan, error) || !lig_plan_check_memory (plan, NULL, error))
    return NULL;
  g_autoptr (LigProgram) self = g_new0 (LigProgram, 1);
  g_atomic_int_set (&self->count, 1);
  self->plan = lig_plan_ref (plan);
  self->state = g_object_ref (state);
  self->device = lig_state_get_device (state);
  self->cache = cache ? lig_cache_ref (cache) : NULL;
  return lig_program_bind (self, error) ? g_steal_pointer (&self) : NULL;
}

LigProgram *
lig_program_ref (LigProgram *self)
{
  g_atomic_int_inc (&self->count);
  return self;
}

void
lig_program_unref (LigProgram *self)
{
  if (!g_atomic_int_dec_and_test (&self->count))
    return;
  lig_program_unbind (self);
  g_clear_pointer (&self->cache, lig_cache_unref);
  g_object_unref (self->state);
  lig_plan_unref (self->plan);
  g_free (self);
}

G_DEFINE_BOXED_TYPE (LigProgram, lig_program, lig_program_ref, lig_program_unref)

LigPlan *
lig_program_get_plan (LigProgram *self)
{
  return self->plan;
}

LigState *
lig_program_get_state (LigProgram *self)
{
  return self->state;
}

struct _LigProgramCache {
  LigState *state;
  GPtrArray *programs;
};

LigProgramCache *
lig_program_cache_new (LigState *state)
{
  LigProgramCache *self = g_atomic_rc_box_new0 (LigProgramCache);
  self->state = g_object_ref (state);
  self->programs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_program_unref);
  return self;
}

static void
clear (gpointer data)
{
  LigProgramCache *self = data;
  g_ptr_array_unref (self->programs);
  g_object_unref (self->state);
}

void
lig_program_cache_free (LigProgramCache *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigProgramCache,
                     lig_program_cache,
                     g_atomic_rc_box_acquire,
                     lig_program_cache_free)

static LigProgram *
find (LigProgramCache *self, LigPlan *plan)
{
  for (guint i = 0; i < self->programs->len; i++)
    if (lig_program_get_plan (self->programs->pdata[i]) == plan)
      return self->programs->pdata[i];
  return NULL;
}

/* Drops programs of outdated plans, which cannot be requested again, before memory is allocated. */
static void
drop_outdated (LigProgramCache *self)
{
  for (guint i = self->programs->len; i > 0; i--)
    if (!lig_state_keeps_plan (self->state, lig_program_get_plan (self->programs->pdata[i - 1])))
      g_ptr_array_remove_index (self->programs, i - 1);
}

LigProgram *
lig_program_cache_get (LigProgramCache *self,
                       LigSequence *sequence,
                       const LigPlanOptions *options,
                       GError **error)
{
  g_autoptr (LigPlan) plan = lig_state_plan (self->state, sequence, options, error);
  LigProgram *known = plan ? find (self, plan) : NULL;
  if (!plan || known)
    return known ? lig_program_ref (known) : NULL;
  drop_outdated (self);
  LigProgram *program = lig_program_new (plan, self->state, error);
  if (program)
    g_ptr_array_add (self->programs, lig_program_ref (program));
  return program;
}
