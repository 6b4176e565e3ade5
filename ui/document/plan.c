/* SPDX-License-Identifier: MIT */
/* A document's plan: requested after every edit, shown when it arrives. */
#include "ui/document/preview.h"
#include "ui/document/private.h"
#include "ui/document/ranks.h"

#include <string.h>

static void
index_parts (LigDocument *self)
{
  guint count = 0;
  const LigPlanOp *ops = self->plan ? lig_plan_get_ops (self->plan, &count) : NULL;
  g_hash_table_remove_all (self->parts);
  for (guint i = count; i > 0; i--)
    g_hash_table_insert (self->parts, (gpointer) ops[i - 1].path, GUINT_TO_POINTER (i));
}

static void
take_answer (gpointer owner, const LigPlannerAnswer *answer)
{
  LigDocument *self = owner;
  if (answer->request != self->request)
    return;
  g_free (self->measuring);
  self->measuring = g_strdup (answer->measuring);
  self->measured |= answer->measuring != NULL;
  if (answer->plan || answer->final) {
    g_hash_table_remove_all (self->parts);
    g_clear_pointer (&self->plan, lig_plan_unref);
    self->plan = answer->plan ? lig_plan_ref (answer->plan) : NULL;
    lig_document_take_plan_times (self, answer, self->measured);
    index_parts (self);
  }
  if (answer->problems) {
    g_clear_pointer (&self->faulty, g_hash_table_unref);
    g_clear_pointer (&self->problems, g_ptr_array_unref);
    self->problems = g_ptr_array_ref (answer->problems);
  }
  if (answer->final)
    self->stale = FALSE;
  lig_document_emit (self, LIG_DOCUMENT_PLANNED);
}

static void
follow_devices (LigDocument *self)
{
  const char *best = lig_session_get_default_device (self->session);
  if (self->device_chosen || g_str_equal (self->device, best))
    return;
  g_free (self->device);
  self->device = g_strdup (best);
  lig_document_compile (self);
  lig_document_emit (self, LIG_DOCUMENT_SETTINGS);
}

/* Recompiles if the ranks are others than those of the plan. */
static void
follow_ranks (LigDocument *self)
{
  LigLayout layout = lig_ranks_choose_layout (self);
  if (memcmp (&layout, &self->layout, sizeof layout) != 0)
    lig_document_compile (self);
}

void
lig_document_init_plan (LigDocument *self)
{
  GSettings *settings = lig_session_get_settings (self->session);
  self->ranks = self->context = self->tensor = self->expert = 1;
  self->device = g_strdup (lig_session_get_default_device (self->session));
  self->policy = (LigPolicy) g_settings_get_enum (settings, "policy");
  self->problems = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_free);
  self->parts = g_hash_table_new (g_str_hash, g_str_equal);
  self->planner = lig_planner_new (take_answer, self);
  g_signal_connect (self, "settings", G_CALLBACK (follow_ranks), NULL);
  g_signal_connect_object (self->session, "devices-changed", G_CALLBACK (follow_devices), self,
                           G_CONNECT_SWAPPED);
}

void
lig_document_clear_plan (LigDocument *self)
{
  g_clear_pointer (&self->planner, lig_planner_free);
  g_clear_pointer (&self->parts, g_hash_table_unref);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_clear_pointer (&self->faulty, g_hash_table_unref);
  g_clear_pointer (&self->problems, g_ptr_array_unref);
  g_clear_pointer (&self->device, g_free);
  g_clear_pointer (&self->measuring, g_free);
}

void
lig_document_compile (LigDocument *self)
{
  lig_document_end_preview (self);
  self->stale = TRUE;
  self->measured = FALSE;
  self->layout = lig_ranks_choose_layout (self);
  self->request =
    lig_planner_ask (self->planner, lig_sequence_copy (self->sequence), self->device, &self->layout,
                     self->policy, lig_session_get_store (self->session));
  lig_document_emit (self, LIG_DOCUMENT_PLANNED);
}

void
lig_document_set_device (LigDocument *self, const char *name)
{
  self->device_chosen = TRUE;
  if (g_str_equal (self->device, name))
    return;
  g_free (self->device);
  self->device = g_strdup (name);
  lig_document_compile (self);
  lig_document_emit (self, LIG_DOCUMENT_SETTINGS);
}

void
lig_document_refresh_device (LigDocument *self, const char *name)
{
  if (!g_str_equal (self->device, name))
    return;
  lig_planner_forget_device (self->planner);
  lig_document_compile (self);
}

void
lig_document_set_policy (LigDocument *self, LigPolicy policy)
{
  if (self->policy == policy)
    return;
  self->policy = policy;
  lig_document_compile (self);
  lig_document_emit (self, LIG_DOCUMENT_SETTINGS);
}

LigPlan *
lig_document_get_plan (LigDocument *self)
{
  return self->plan;
}

gboolean
lig_document_is_stale (LigDocument *self)
{
  return self->stale;
}

/* Finds the first op of a folded block: its path begins with the block's. */
static guint
find_inside (LigDocument *self, const char *path)
{
  GString *first = g_string_new (path);
  guint number = 0;
  for (int depth = 0; depth < 16 && number == 0; depth++) {
    g_string_append (first, ".0.0");
    number = GPOINTER_TO_UINT (g_hash_table_lookup (self->parts, first->str));
  }
  g_string_free (first, TRUE);
  return number;
}

const LigPlanOp *
lig_document_find_parts (LigDocument *self, const char *path, guint *count)
{
  guint total = 0;
  const LigPlanOp *ops = self->plan ? lig_plan_get_ops (self->plan, &total) : NULL;
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (self->parts, path));
  *count = 0;
  if (first == 0)
    first = find_inside (self, path);
  if (first == 0)
    return NULL;
  gsize length = strlen (path);
  for (guint i = first - 1; i < total && strncmp (ops[i].path, path, length) == 0 &&
                            (ops[i].path[length] == '\0' || ops[i].path[length] == '.');
       i++)
    ++*count;
  return &ops[first - 1];
}

const char *
lig_document_get_measuring (LigDocument *self)
{
  return self->measuring;
}

const LigProblem *
lig_document_get_problem (LigDocument *self, guint n)
{
  return n < self->problems->len ? self->problems->pdata[n] : NULL;
}

const LigProblem *
lig_document_find_problem (LigDocument *self, LigOp *op)
{
  if (!self->faulty) {
    self->faulty = g_hash_table_new (NULL, NULL);
    for (guint i = self->problems->len; i > 0; i--) {
      LigProblem *problem = self->problems->pdata[i - 1];
      const LigRow *row = problem->path ? lig_document_find_path (self, problem->path) : NULL;
      if (row)
        g_hash_table_insert (self->faulty, row->op, problem);
    }
  }
  return g_hash_table_lookup (self->faulty, op);
}
