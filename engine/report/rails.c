/* SPDX-License-Identifier: MIT */
/* A plan as text: its times and best fixes first, then forward rail | ops | backward rail, with
 * brackets around the rows that one fusion covers; below them, if requested, each rejected fusion
 * with its reason. */
#include "engine/report/rails.h"

#include "engine/report/plan-json.h"
#include "engine/report/verdicts.h"

#include <ligature/compile.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The columns before a verdict's sentence. */
enum { PATHS = 8 };

static void
append_verdict (
  GString *text, const char *path, const LigVerdictLine *line, LigRemedies *remedies, int width)
{
  const LigVerdict *verdict = line->verdict;
  g_autofree char *sentence = lig_report_verdict_text (verdict->text, line->times);
  g_autofree char *remedy = lig_report_remedy (remedies, verdict);
  gsize start = text->len;
  g_string_append_printf (text, "  %-*s", PATHS - 1, path);
  if (lig_columns_width (text->str + start) > PATHS + 1)
    g_string_append_printf (text, "\n%*s", PATHS + 1, "");
  g_string_append_c (text, ' ');
  lig_columns_wrap (text, sentence, PATHS + 2, PATHS + 2, width);
  if (!remedy)
    return;
  g_string_append_printf (text, "%*s", PATHS + 4, "");
  lig_columns_wrap (text, remedy, PATHS + 4, PATHS + 4, width);
}

static void
append_verdicts (const LigRails *self, GString *text)
{
  g_autoptr (GArray) lines = lig_report_list_verdicts (self->plan);
  g_auto (LigRemedies) remedies = {.plan = self->plan};
  gboolean begun = FALSE;
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    const LigVerdict *verdict = line->verdict;
    if (verdict->taken && !verdict->observed)
      continue;
    if (!begun)
      g_string_append (text, _ ("\nVerdicts:\n"));
    begun = TRUE;
    append_verdict (text, self->ops[verdict->first].path, line, &remedies, self->width);
  }
}

/* Finds the figures of each group, and the group of each op. */
static void
set_up (LigRails *self)
{
  const LigTimedPlan timed = {.plan = self->plan}, unfused = {.plan = self->unfused};
  for (int side = 0; side < 2; side++) {
    self->groups[side] = lig_plan_get_groups (self->plan, (LigPass) side, &self->n_groups[side]);
    self->figures[side] = g_new0 (LigFigures, self->n_groups[side] + 1);
    self->owners[side] = g_new (int, self->n_ops + 1);
    for (guint i = 0; i <= self->n_ops; i++)
      self->owners[side][i] = -1;
    for (guint i = 0; i < self->n_groups[side]; i++) {
      const LigPlanGroup *group = &self->groups[side][i];
      lig_figures_of_group (&timed, &unfused, group, &self->figures[side][i]);
      for (int k = group->first; k < group->first + group->count; k++)
        self->owners[side][k] = (int) i;
    }
    lig_figures_of_pass (&timed, &unfused, (LigPass) side, &self->passes[side]);
  }
}

static void
clear (LigRails *self)
{
  for (int side = 0; side < 2; side++) {
    g_free (self->figures[side]);
    g_free (self->owners[side]);
  }
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->unfused, lig_plan_unref);
}

char *
lig_plan_to_rails (LigPlan *self, const LigRailsOptions *options)
{
  LigRailsOptions form = LIG_RAILS_OPTIONS_INIT;
  g_return_val_if_fail (self, NULL);
  if (options)
    memcpy (&form, options, MIN (options->size, sizeof form));
  LigRails rails = {.plan = self,
                    .unfused = lig_plan_unfuse (self, NULL),
                    .width = CLAMP (form.width, LIG_RAILS_NARROWEST, LIG_RAILS_WIDEST),
                    .colour = form.colour,
                    .all = form.all};
  GString *text = g_string_new (NULL);
  rails.ops = lig_plan_get_ops (self, &rails.n_ops);
  set_up (&rails);
  lig_rails_fold (&rails);
  lig_rails_fill (&rails);
  lig_rails_append_summary (&rails, text);
  g_string_append_c (text, '\n');
  lig_rails_append (&rails, text);
  if (form.all)
    append_verdicts (&rails, text);
  clear (&rails);
  return g_string_free (text, FALSE);
}

JsonNode *
lig_plan_fixes_to_json (LigPlan *self)
{
  g_return_val_if_fail (self, NULL);
  LigRails rails = {.plan = self, .unfused = lig_plan_unfuse (self, NULL)};
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  rails.ops = lig_plan_get_ops (self, &rails.n_ops);
  set_up (&rails);
  json_builder_begin_array (builder);
  lig_rails_add_fixes (&rails, builder);
  json_builder_end_array (builder);
  clear (&rails);
  return json_builder_get_root (builder);
}
