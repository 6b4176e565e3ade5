/* SPDX-License-Identifier: MIT */
/* Sorts verdicts and folds equal ones into one line. */
#include "engine/report/verdicts.h"

#include "engine/reasons/near-miss.h"
#include <ligature/compile.h>

#include <glib/gi18n-lib.h>

/* The maximum number of edits that are tried. */
enum { MAX_TRIED = 8 };

void
lig_report_append_place (GString *key, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  /* Repetition numbers are every second one. */
  for (guint i = 0; parts[i]; i++)
    g_string_append_printf (key, "%s.", i % 2 == 1 ? "*" : parts[i]);
}

/* Returns equal keys for the same verdict in each repetition of a block. The claiming group has
 * different indexes there, but the same distance from the verdict's first op. */
static char *
make_key (gconstpointer data, gpointer plan)
{
  guint count;
  const LigVerdict *verdict = data;
  const LigEvidence *found = &verdict->found;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GString *key = g_string_new (NULL);
  lig_report_append_place (key, ops[verdict->first].path);
  g_string_append_printf (key, " %s %d %d ", verdict->fusion->name, verdict->taken,
                          verdict->reason);
  if (found->kind == LIG_EVIDENCE_GROUP)
    g_string_append_printf (key, "%s %d %d", found->fusion, found->first - verdict->first,
                            found->count);
  else if (found->path)
    lig_report_append_place (key, found->path);
  else
    g_string_append (key, verdict->observed ? verdict->observed : "");
  g_string_append_printf (key, " %s", verdict->required ? verdict->required : "");
  return g_string_free (key, FALSE);
}

const char *
lig_report_reason (const char *name)
{
  return g_strcmp0 (name, "claimed") == 0   ? _ ("already covered")
         : g_strcmp0 (name, "pattern") == 0 ? _ ("no match")
         : g_strcmp0 (name, "in-use") == 0  ? _ ("in use")
                                            : name;
}

GArray *
lig_report_fold_verdicts (GPtrArray *verdicts, LigVerdictKey make, gpointer data)
{
  GArray *lines = g_array_new (FALSE, FALSE, sizeof (LigVerdictLine));
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < verdicts->len; i++) {
    char *key = make (verdicts->pdata[i], data);
    gpointer line;
    if (g_hash_table_lookup_extended (seen, key, NULL, &line)) {
      g_array_index (lines, LigVerdictLine, GPOINTER_TO_UINT (line)).times++;
      g_free (key);
      continue;
    }
    g_hash_table_insert (seen, key, GUINT_TO_POINTER (lines->len));
    g_array_append_vals (lines, &(LigVerdictLine){verdicts->pdata[i], 1}, 1);
  }
  return lines;
}

/* The sort is stable, so equal verdicts remain in the plan's order. */
static int
compare (gconstpointer a, gconstpointer b)
{
  return lig_verdict_compare (*(const LigVerdict *const *) a, *(const LigVerdict *const *) b);
}

GArray *
lig_report_list_verdicts (LigPlan *plan)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  g_autoptr (GPtrArray) list = g_ptr_array_sized_new (count);
  for (guint i = 0; i < count; i++)
    g_ptr_array_add (list, (gpointer) &verdicts[i]);
  g_ptr_array_sort (list, compare);
  return lig_report_fold_verdicts (list, make_key, plan);
}

char *
lig_report_verdict_text (const char *text, guint times)
{
  if (times == 1)
    return g_strdup (text);
  /* Translators: a sentence, and the number of repetitions of a block to which it applies. */
  return g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s (%u time)", "%s (%u times)", times),
                          text, times);
}

static char *
describe_fix (const LigFix *fix)
{
  g_autofree char *edit = lig_fix_describe (fix);
  return g_strdup_printf (_ ("fix %u: %s"), fix->number, edit);
}

void
lig_remedies_clear (LigRemedies *self)
{
  g_clear_pointer (&self->fixed, g_hash_table_unref);
}

/* Returns whether the edit only allows the fusion, so that the policy decides, and does not move
 * ops. */
static gboolean
only_allows (const LigFix *fix)
{
  return fix && (fix->kind == LIG_FIX_REMOVE_FENCE || fix->kind == LIG_FIX_UNFORBID ||
                 fix->kind == LIG_FIX_MAKE_PRIVATE || fix->kind == LIG_FIX_UNFORCE);
}

/* Returns the plan after the edit, or NULL; (transfer none). Nothing is measured for it. */
static LigPlan *
find_fixed (LigRemedies *self, const LigFix *fix)
{
  gpointer number = GUINT_TO_POINTER (fix->number), known;
  if (!lig_device_has (lig_plan_get_device (self->plan), LIG_DEVICE_DESCRIBED))
    return NULL;
  if (!self->fixed)
    self->fixed = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) lig_plan_unref);
  if (g_hash_table_lookup_extended (self->fixed, number, NULL, &known))
    return known;
  LigPlan *plan = g_hash_table_size (self->fixed) < MAX_TRIED
                    ? lig_plan_fix (self->plan, &fix->number, 1, NULL)
                    : NULL;
  if (plan)
    g_hash_table_insert (self->fixed, number, plan);
  return plan;
}

const char *
lig_report_find_obstacle (LigRemedies *self, const LigVerdict *verdict)
{
  guint count;
  LigPlan *plan = only_allows (verdict->fix) ? find_fixed (self, verdict->fix) : NULL;
  const LigVerdict *verdicts = plan ? lig_plan_get_verdicts (plan, &count) : NULL;
  for (guint i = 0; verdicts && i < count; i++)
    if (verdicts[i].fusion == verdict->fusion && verdicts[i].pass == verdict->pass &&
        verdicts[i].first == verdict->first && verdicts[i].count == verdict->count)
      return verdicts[i].taken ? NULL : verdicts[i].why;
  return NULL;
}

char *
lig_report_remedy (LigRemedies *self, const LigVerdict *verdict)
{
  const LigFix *fixes[] = {verdict->fix, verdict->alternative};
  const char *obstacle = lig_report_find_obstacle (self, verdict);
  char *gain = obstacle ? NULL : lig_verdict_describe_gain (verdict);
  g_autoptr (GPtrArray) parts = g_ptr_array_new_with_free_func (g_free);
  if (gain)
    g_ptr_array_add (parts, gain);
  for (guint i = 0; i < G_N_ELEMENTS (fixes); i++)
    if (fixes[i])
      g_ptr_array_add (parts, describe_fix (fixes[i]));
  if (obstacle)
    /* Translators: a fusion after an edit; the reason follows. */
    g_ptr_array_add (parts, g_strdup_printf (_ ("it would then be rejected: %s"), obstacle));
  guint count = parts->len;
  g_ptr_array_add (parts, NULL);
  return count > 0 ? g_strjoinv ("; ", (char **) parts->pdata) : NULL;
}
