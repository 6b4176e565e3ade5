/* SPDX-License-Identifier: MIT */
/* Groups the fixes of rejected fusions by their edits, and tries these. */
#include "engine/savings/saving-edits.h"

#include <ligature/comparison.h>
#include <ligature/compile.h>

#include <glib/gi18n-lib.h>
#include <math.h>

enum { MAX_OPS = 20000 };
#define MIN_SECONDS 0.05e-6 /* smaller savings are ignored */

static void
clear_edit (gpointer data)
{
  LigSavingEdit *edit = data;
  g_array_unref (edit->verdicts);
  g_free (edit->groups);
}

/* --- Listing ------------------------------------------------------------------------------- */

static void
add_verdict (GArray *edits, GHashTable *numbers, const LigVerdict *verdict)
{
  const LigFix *fix = verdict->fix;
  gpointer key = GUINT_TO_POINTER (fix->number), at;
  if (!g_hash_table_lookup_extended (numbers, key, NULL, &at)) {
    LigSavingEdit edit = {.fix = fix,
                          .verdicts = g_array_new (FALSE, FALSE, sizeof (const LigVerdict *)),
                          .measured = TRUE};
    at = GUINT_TO_POINTER (edits->len);
    g_hash_table_insert (numbers, key, at);
    g_array_append_val (edits, edit);
  }
  LigSavingEdit *edit = &g_array_index (edits, LigSavingEdit, GPOINTER_TO_UINT (at));
  const LigVerdict *last =
    edit->verdicts->len > 0
      ? g_array_index (edit->verdicts, const LigVerdict *, edit->verdicts->len - 1)
      : NULL;
  /* The edit allows only one of several fusions at a place. */
  if (last && verdict->first < last->first + last->count)
    return;
  g_array_append_val (edit->verdicts, verdict);
  edit->gain += fix->gain * 1e-6;
  edit->bytes += fix->bytes;
  edit->measured &= fix->measured;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  const LigSavingEdit *one = a, *two = b;
  double left = isnan (one->gain) ? one->bytes : one->gain;
  double right = isnan (two->gain) ? two->bytes : two->gain;
  return left != right ? (left > right ? -1 : 1) : (int) one->fix->number - (int) two->fix->number;
}

GArray *
lig_saving_list_edits (LigPlan *plan, gboolean any)
{
  guint count;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  GArray *edits = g_array_new (FALSE, FALSE, sizeof (LigSavingEdit));
  g_array_set_clear_func (edits, clear_edit);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < count; i++) {
    const LigFix *fix = verdicts[i].taken ? NULL : verdicts[i].fix;
    gboolean saves =
      fix && (isnan (fix->gain) ? fix->bytes > 0.5 : any || fix->gain * 1e-6 > MIN_SECONDS);
    if (saves && lig_fix_is_edit (fix))
      add_verdict (edits, numbers, &verdicts[i]);
  }
  g_array_sort (edits, compare);
  return edits;
}

/* --- Trying -------------------------------------------------------------------------------- */

gboolean
lig_saving_can_try (LigPlan *plan)
{
  guint count;
  lig_plan_get_ops (plan, &count);
  return count <= MAX_OPS;
}

gboolean
lig_saving_try_edits (
  LigPlan *plan, const guint *numbers, guint count, double *gain, double *bytes, char **groups)
{
  LigPlanChange total;
  g_autoptr (LigPlan) fixed = lig_plan_fix (plan, numbers, count, NULL);
  if (!fixed)
    return FALSE;
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (plan, fixed);
  lig_plan_comparison_get_total (comparison, LIG_PASS_JOINT, &total);
  *gain = total.predicted[0] - total.predicted[1];
  *bytes = total.before.bytes - total.after.bytes;
  if (groups)
    *groups = lig_plan_get_choices (fixed);
  return TRUE;
}

/* Returns whether an edit before this one leads to the same groups. */
static gboolean
is_repeated (GArray *edits, guint number)
{
  const char *groups = g_array_index (edits, LigSavingEdit, number).groups;
  for (guint i = 0; i < number; i++)
    if (g_strcmp0 (g_array_index (edits, LigSavingEdit, i).groups, groups) == 0)
      return TRUE;
  return FALSE;
}

void
lig_saving_try_each (LigPlan *plan, GArray *edits, guint max, guint tries)
{
  guint kept = 0;
  for (guint tried = 0; kept < edits->len && kept < max && tried < tries; tried++) {
    LigSavingEdit *edit = &g_array_index (edits, LigSavingEdit, kept);
    gboolean known =
      lig_saving_try_edits (plan, &edit->fix->number, 1, &edit->gain, &edit->bytes, &edit->groups);
    edit->measured = FALSE;
    gboolean saves = isnan (edit->gain) ? edit->bytes > 0.5 : edit->gain >= MIN_SECONDS;
    if (known && saves && !is_repeated (edits, kept))
      kept++;
    else
      g_array_remove_index (edits, kept);
  }
  g_array_set_size (edits, kept);
  g_array_sort (edits, compare);
}

char *
lig_saving_count_groups (const LigSavingEdit *edit, const char *text)
{
  guint count = edit->verdicts->len;
  return count < 2 ? g_strdup (text)
                   : g_strdup_printf (
                       g_dngettext (GETTEXT_PACKAGE, "%s, in %u group", "%s, in %u groups", count),
                       text, count);
}
