/* SPDX-License-Identifier: MIT */
/* Lines, speedups and rejections for texts about several plans. */
#include "engine/report/pair.h"

#include "engine/base/units.h"
#include "engine/report/verdicts.h"
#include <ligature/json-members.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The smallest fraction of a time that three digits show. */
#define MIN_DIFFERENCE 0.0005

/* --- Texts --------------------------------------------------------------------------------- */

void
lig_report_end_line (GString *to)
{
  while (to->len > 0 && to->str[to->len - 1] == ' ')
    g_string_truncate (to, to->len - 1);
  g_string_append_c (to, '\n');
}

char *
lig_report_speed (double before, double after)
{
  static const char *const unit[] = {"×"};
  if (!(before > 0 && after > 0))
    return NULL;
  if (fabs (before - after) <= MIN_DIFFERENCE * MAX (before, after))
    return g_strdup (_ ("same"));
  double ratio = before / after;
  /* Three digits of these would be wider than the others. */
  if (ratio < 0.005)
    return g_strdup ("<0.01 ×");
  return ratio < 0.0995 ? g_strdup_printf ("%.2f ×", ratio) : lig_units_scale (ratio, unit, 1);
}

void
lig_report_add_bound (JsonBuilder *to, LigBound bound)
{
  static const char *const names[] = {NULL, "memory", "compute", "launch"};
  lig_json_add_text (to, "bound", bound < G_N_ELEMENTS (names) ? names[bound] : NULL);
}

/* --- Figures ------------------------------------------------------------------------------- */

void
lig_report_side_figures (LigPlan *plan, LigPass pass, const LigPlanSide *side, LigFigures *figures)
{
  guint count;
  const LigTimedPlan timed = {.plan = plan};
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  lig_figures_init (figures);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++) {
    LigFigures part;
    lig_figures_of_group (&timed, NULL, &groups[i], &part);
    lig_figures_add (figures, &part);
  }
}

/* --- Rejections ------------------------------------------------------------------------------ */

/* Returns a key that is the same for the same rejection in another plan, and in another repetition
 * of a block. It omits times and the claiming group, which differ between any two devices. */
static char *
make_key (const LigVerdict *verdict, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_auto (GStrv) parts = g_strsplit (ops[verdict->first].path, ".", -1);
  GString *key = g_string_new (NULL);
  for (guint i = 0; parts[i]; i++)
    g_string_append_printf (key, "%s.", i % 2 == 1 ? "*" : parts[i]);
  g_string_append_printf (key, " %s %d", verdict->fusion->name, verdict->reason);
  return g_string_free (key, FALSE);
}

static gboolean
is_rejection (const LigVerdict *verdict)
{
  return !verdict->taken && verdict->fits;
}

GArray *
lig_report_rejected_only (LigPlan *plan, LigPlan *other)
{
  guint count;
  GArray *only = g_array_new (FALSE, FALSE, sizeof (LigVerdictLine));
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const LigVerdict *verdicts = lig_plan_get_verdicts (other, &count);
  for (guint i = 0; i < count; i++)
    if (is_rejection (&verdicts[i]))
      g_hash_table_add (known, make_key (&verdicts[i], other));
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    g_autofree char *key = make_key (line->verdict, plan);
    if (is_rejection (line->verdict) && !g_hash_table_contains (known, key))
      g_array_append_val (only, *line);
  }
  return only;
}
