/* SPDX-License-Identifier: MIT */
/* The candidates of a plan: fixes of rejected fusions, compile options and types. */
#include "engine/savings/saving-candidates.h"

#include "engine/savings/saving-edits.h"

#include <ligature/plan.h>
#include <ligature/recipe.h>

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  LigPlan *plan;
  LigSavingVisit visit;
  gpointer data;
} Visitor;

/* --- Fixes --------------------------------------------------------------------------------- */

enum { MAX_TRIED = 12 };

static void
visit_edit (LigPlan *plan, const LigSavingEdit *edit, LigSavingVisit visit, gpointer data)
{
  const LigFix *fix = edit->fix;
  g_autoptr (LigSequence) sequence = lig_sequence_copy (lig_plan_get_sequence (plan));
  g_autofree char *value = g_strdup_printf ("%u", fix->number);
  g_autofree char *one = lig_fix_describe (fix);
  g_autofree char *title = lig_saving_count_groups (edit, one);
  const LigVerdict *first = g_array_index (edit->verdicts, const LigVerdict *, 0);
  LigSavingCandidate candidate = {.kind = LIG_SAVING_FIX,
                                  .title = title,
                                  .detail = first->why,
                                  .value = value,
                                  .sequence = sequence,
                                  .options = *lig_plan_get_options (plan)};
  if (lig_fix_apply (fix, sequence, NULL))
    visit (&candidate, data);
}

/* Visits the fixes of rejected fusions that are edits, those with the largest gains first. */
static void
visit_fixes (LigPlan *plan, LigSavingVisit visit, gpointer data)
{
  if (!lig_saving_can_try (plan))
    return;
  g_autoptr (GArray) edits =
    lig_saving_list_edits (plan, lig_plan_get_policy (plan) == LIG_POLICY_ALL);
  for (guint i = 0; i < MIN (edits->len, MAX_TRIED); i++)
    visit_edit (plan, &g_array_index (edits, LigSavingEdit, i), visit, data);
}

/* --- Options ------------------------------------------------------------------------------- */

static LigSavingCandidate
begin (const Visitor *self, LigSavingKind kind)
{
  return (LigSavingCandidate){.kind = kind,
                              .sequence = lig_plan_get_sequence (self->plan),
                              .options = *lig_plan_get_options (self->plan)};
}

static void
visit_policies (const Visitor *self)
{
  LigPolicy present = lig_plan_get_policy (self->plan);
  for (LigPolicy policy = LIG_POLICY_ALL; policy <= LIG_POLICY_MEASURED; policy++) {
    const char *name = lig_policy_name (policy);
    g_autofree char *title = g_strdup_printf (_ ("choose fusions with policy %s"), name);
    LigSavingCandidate candidate = begin (self, LIG_SAVING_POLICY);
    candidate.title = title;
    candidate.value = name;
    candidate.options.policy = policy;
    if (policy != present)
      self->visit (&candidate, self->data);
  }
}

static void
visit_recipes (const Visitor *self)
{
  const char *own = lig_plan_get_options (self->plan)->recipe;
  const char *present = own ? own : lig_sequence_get_recipe (lig_plan_get_sequence (self->plan));
  gsize length = present ? strcspn (present, ":") : 0;
  const LigRecipeInfo *info;
  for (guint n = 0; (info = lig_recipe_info_nth (n)); n++) {
    g_autofree char *title = g_strdup_printf (_ ("quantize matmuls with recipe %s"), info->name);
    LigSavingCandidate candidate = begin (self, LIG_SAVING_RECIPE);
    candidate.title = title;
    candidate.detail = _ (info->help);
    candidate.value = info->name;
    candidate.options.recipe = info->name;
    if (length == 0 || strlen (info->name) != length || strncmp (info->name, present, length) != 0)
      self->visit (&candidate, self->data);
  }
}

/* Master weights keep their type. */
static void
visit_types (const Visitor *self)
{
  LigSavingCandidate candidate = begin (self, LIG_SAVING_DTYPE);
  if (lig_plan_get_compute (self->plan) != LIG_FP32)
    return;
  candidate.title = _ ("compute in bf16");
  candidate.detail = _ ("parameters stay fp32");
  candidate.value = "bf16:fp32";
  candidate.options.compute = LIG_BF16;
  candidate.options.parameters = LIG_FP32;
  self->visit (&candidate, self->data);
}

static void
visit_recomputation (const Visitor *self)
{
  static const char *const titles[] = {
    [LIG_RECOMPUTE_NONE] = N_ ("keep all values for the backward pass"),
    [LIG_RECOMPUTE_CHEAP] = N_ ("recompute values in the backward pass, except those of matmuls "
                                "and attention"),
    [LIG_RECOMPUTE_ALL] = N_ ("recompute all values of blocks and macros in the backward pass")};
  if (!lig_plan_has_pass (self->plan, LIG_PASS_BACKWARD))
    return;
  for (LigRecompute level = LIG_RECOMPUTE_NONE; level <= LIG_RECOMPUTE_ALL; level++) {
    const char *name = lig_recompute_name (level);
    LigSavingCandidate candidate = begin (self, LIG_SAVING_RECOMPUTE);
    candidate.title = _ (titles[level]);
    candidate.value = name;
    candidate.options.recompute = level;
    self->visit (&candidate, self->data);
  }
}

/* Twice the batch. */
static void
visit_batch (const Visitor *self)
{
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (self->plan, &shape, &dtype);
  int ranks = lig_device_get_n_ranks (lig_plan_get_device (self->plan), LIG_GROUP_DATA);
  if (shape.n_axes < 2 || shape.axes[0] < 1 || shape.axes[0] > G_MAXINT / 2 / MAX (ranks, 1))
    return;
  gint64 present = shape.axes[0] * ranks;
  LigSavingCandidate candidate = begin (self, LIG_SAVING_BATCH);
  candidate.options.batch = 2 * shape.axes[0];
  g_autofree char *now = g_strdup_printf ("%" G_GINT64_FORMAT, present);
  g_autofree char *then = g_strdup_printf ("%" G_GINT64_FORMAT, 2 * present);
  g_autofree char *title = g_strdup_printf (_ ("batch %s instead of %s"), then, now);
  candidate.title = title;
  candidate.detail = _ ("time for as many rows as now");
  candidate.value = then;
  self->visit (&candidate, self->data);
}

static void
visit_shards (const Visitor *self)
{
  LigSavingCandidate candidate = begin (self, LIG_SAVING_SHARD);
  int ranks = lig_device_get_n_ranks (lig_plan_get_device (self->plan), LIG_GROUP_DATA);
  if (ranks < 2 || !candidate.options.optimizer || candidate.options.shard_optimizer)
    return;
  g_autofree char *title =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "shard the optimizer state among %d rank",
                                  "shard the optimizer state among %d ranks", (gulong) ranks),
                     ranks);
  candidate.title = title;
  candidate.value = "true";
  candidate.options.shard_optimizer = TRUE;
  self->visit (&candidate, self->data);
}

void
lig_saving_visit (LigPlan *plan, LigSavingVisit visit, gpointer data)
{
  const Visitor self = {plan, visit, data};
  visit_fixes (plan, visit, data);
  visit_policies (&self);
  visit_recipes (&self);
  visit_types (&self);
  visit_recomputation (&self);
  visit_batch (&self);
  visit_shards (&self);
}
