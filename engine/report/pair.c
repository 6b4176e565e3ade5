/* SPDX-License-Identifier: MIT */
/* Lines, ratios and rejections for texts about several plans. */
#include "engine/report/pair.h"

#include "engine/report/verdicts.h"
#include <ligature/json-members.h>

#include <glib/gi18n-lib.h>

/* --- Texts --------------------------------------------------------------------------------- */

void
lig_report_end_line (GString *to)
{
  while (to->len > 0 && to->str[to->len - 1] == ' ')
    g_string_truncate (to, to->len - 1);
  g_string_append_c (to, '\n');
}

/* Returns the text of a ratio, or `same` if both times are known. */
static char *
or_same (char *text, const LigPlanChange *change)
{
  gboolean known = change->before.seconds > 0 && change->after.seconds > 0;
  return text || !known ? text : g_strdup (_ ("same"));
}

char *
lig_report_factor (const LigPlanChange *change)
{
  return or_same (lig_plan_change_factor_text (change), change);
}

char *
lig_report_ratio (const LigPlanChange *change)
{
  return or_same (lig_plan_change_ratio_text (change), change);
}

void
lig_report_add_bound (JsonBuilder *to, LigBound bound)
{
  static const char *const names[] = {NULL, "memory", "compute", "launch"};
  lig_json_add_text (to, "bound", bound < G_N_ELEMENTS (names) ? names[bound] : NULL);
}

/* --- Figures ------------------------------------------------------------------------------- */

void
lig_report_side_figures (const LigTimedPlan *timed,
                         LigPass pass,
                         const LigPlanSide *side,
                         LigFigures *figures)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (timed->plan, pass, &count);
  lig_figures_init (figures);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++) {
    LigFigures part;
    lig_figures_of_group (timed, NULL, &groups[i], &part);
    lig_figures_add (figures, &part);
  }
}

/* --- Rejections ------------------------------------------------------------------------------ */

char *
lig_report_verdict_place (const LigVerdict *verdict, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GString *key = g_string_new (NULL);
  lig_report_append_place (key, ops[verdict->first].path);
  g_string_append_printf (key, " %s", verdict->fusion->name);
  return g_string_free (key, FALSE);
}

/* Returns the reason with the place. The key omits times and the claiming group, which differ
 * between any two devices. */
static char *
make_key (const LigVerdict *verdict, LigPlan *plan)
{
  g_autofree char *place = lig_report_verdict_place (verdict, plan);
  return g_strdup_printf ("%s %d", place, verdict->reason);
}

static gboolean
is_rejection (const LigVerdict *verdict)
{
  return !verdict->taken && verdict->fits;
}

typedef char *(*Make) (const LigVerdict *verdict, LigPlan *plan);

/* Returns the set of the keys of a plan's rejections. */
static GHashTable *
list_keys (LigPlan *plan, Make make)
{
  guint count;
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++)
    if (is_rejection (&verdicts[i]))
      g_hash_table_add (keys, make (&verdicts[i], plan));
  return keys;
}

/* Adds the places of `plan` whose reason `other` does not have there. */
static void
add_differing (GHashTable *places, LigPlan *plan, LigPlan *other)
{
  guint count;
  g_autoptr (GHashTable) known = list_keys (other, make_key);
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  for (guint i = 0; i < count; i++) {
    g_autofree char *key = make_key (&verdicts[i], plan);
    if (is_rejection (&verdicts[i]) && !g_hash_table_contains (known, key))
      g_hash_table_add (places, lig_report_verdict_place (&verdicts[i], plan));
  }
}

/* Returns the lines of a plan's rejections whose place is inside or outside of the set. */
static GArray *
list_lines (LigPlan *plan, GHashTable *places, gboolean inside)
{
  GArray *some = g_array_new (FALSE, FALSE, sizeof (LigVerdictLine));
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    g_autofree char *place = lig_report_verdict_place (line->verdict, plan);
    if (is_rejection (line->verdict) && g_hash_table_contains (places, place) == inside)
      g_array_append_val (some, *line);
  }
  return some;
}

GArray *
lig_report_rejected_only (LigPlan *plan, LigPlan *other)
{
  g_autoptr (GHashTable) places = list_keys (other, lig_report_verdict_place);
  return list_lines (plan, places, FALSE);
}

/* Returns whether the key is missing in the other set. */
static gboolean
is_missing (gpointer key, gpointer value, gpointer other)
{
  return !g_hash_table_contains (other, key);
}

GArray *
lig_report_rejected_otherwise (LigPlan *plan, LigPlan *other)
{
  g_autoptr (GHashTable) theirs = list_keys (other, lig_report_verdict_place);
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  add_differing (places, plan, other);
  add_differing (places, other, plan);
  g_hash_table_foreach_remove (places, is_missing, theirs);
  return list_lines (plan, places, TRUE);
}
