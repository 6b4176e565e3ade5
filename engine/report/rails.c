/* SPDX-License-Identifier: MIT */
/* A plan as text: forward rail | ops | backward rail, with brackets around the rows that one fusion
 * covers; below them each refused fusion with its reason. */
#include "engine/report/verdicts.h"
#include <ligature/report.h>

#include <glib/gi18n-lib.h>
#include <string.h>

enum { RAIL = 31, OPS = 30 };

/* Appends the cell of a rail in the row of one op. */
static void
append_cell (
  GString *text, const LigPlanGroup *groups, guint count, int index, int width, gboolean colour)
{
  const LigPlanGroup *group = NULL;
  for (guint i = 0; i < count && !group; i++)
    if (index >= groups[i].first && index < groups[i].first + groups[i].count)
      group = &groups[i];
  const char *bracket = " ", *name = "";
  if (group && group->fusion) {
    gboolean first = index == group->first, last = index == group->first + group->count - 1;
    const char *dash = strchr (group->fusion->name, '-');
    bracket = first ? "┌" : last ? "└" : "│";
    /* The name is shown without the pass, which is the title of the rail. */
    name = first ? (dash ? dash + 1 : group->fusion->name) : "";
  } else if (group) {
    bracket = group->n_steps > 0 ? "·" : " ";
  }
  gboolean lit = colour && group && group->fusion;
  g_string_append_printf (text, "%s%s %-*.*s%s", lit ? "\033[34m" : "", bracket, width - 2,
                          width - 2, name, lit ? "\033[0m" : "");
}

static void
append_op (GString *text, const LigPlanOp *op)
{
  g_autofree char *shape = lig_shape_to_string (&op->y);
  g_autofree char *left = g_strdup_printf ("%s %s", op->path, op->info->name);
  int padding = OPS - (int) strlen (left) - (int) strlen (shape);
  g_string_append_printf (text, "%s%*s%s  ", left, MAX (padding, 1), "", shape);
}

static void
append_pass (GString *text, LigPlan *plan, LigPass pass)
{
  guint count;
  double seconds = 0, bytes = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  gboolean priced = lig_device_get_facts (lig_plan_get_device (plan))->copy > 0;
  for (guint i = 0; i < count; i++) {
    seconds += groups[i].predicted;
    bytes += groups[i].bytes;
    priced &= groups[i].predicted > 0 || groups[i].n_steps == 0;
  }
  if (count == 0)
    return;
  g_string_append_printf (text,
                          g_dngettext (GETTEXT_PACKAGE, "%s: %u group, %.3g MB moved",
                                       "%s: %u groups, %.3g MB moved", count),
                          lig_pass_name (pass), count, bytes * 1e-6);
  if (priced)
    g_string_append_printf (text, _ (", predicted %.3g ms"), seconds * 1e3);
  g_string_append_c (text, '\n');
}

/* Appends the verdicts. Refusals by the pattern are only counted, unless `all` is set: almost every
 * op has one, and they explain little. */
static void
append_verdicts (GString *text, LigPlan *plan, gboolean all)
{
  guint n_ops, shown = 0, left_out = 0;
  gboolean mends = FALSE;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    const LigVerdict *verdict = line->verdict;
    if (verdict->taken && !verdict->observed)
      continue;
    if (verdict->reason == LIG_REASON_PATTERN && !all) {
      left_out += line->times;
      continue;
    }
    g_autofree char *sentence = lig_report_verdict_text (verdict->text, line->times);
    if (shown++ == 0)
      g_string_append (text, _ ("\nVerdicts:\n"));
    g_string_append_printf (text, "  %-7s %s\n", ops[verdict->first].path, sentence);
    g_autofree char *remedy = lig_report_remedy (verdict);
    if (remedy)
      g_string_append_printf (text, "  %-7s   %s\n", "", remedy);
    mends |= verdict->mend || verdict->alternative;
  }
  if (mends)
    g_string_append (text, _ ("\nlig fuse P --apply-mend N -o FILE makes the edit of a mend.\n"));
  if (left_out > 0)
    g_string_append_printf (
      text,
      g_dngettext (GETTEXT_PACKAGE,
                   "\n%u fusion needs other ops after its first; lig fuse --all lists it.\n",
                   "\n%u fusions need other ops after their first; lig fuse --all lists "
                   "them.\n",
                   left_out),
      left_out);
}

char *
lig_plan_to_rails (LigPlan *self, gboolean colour, gboolean all)
{
  guint n_ops, n_forward, n_backward;
  const LigPlanOp *ops = lig_plan_get_ops (self, &n_ops);
  const LigPlanGroup *forward = lig_plan_get_groups (self, LIG_PASS_FORWARD, &n_forward);
  const LigPlanGroup *backward = lig_plan_get_groups (self, LIG_PASS_BACKWARD, &n_backward);
  g_autofree char *problem = lig_plan_explain_memory (self, NULL);
  GString *text = g_string_new (NULL);
  const char *bold = colour ? "\033[1m" : "", *plain = colour ? "\033[0m" : "";
  g_string_append_printf (text, "%s%-*s%-*s  %s%s\n", bold, RAIL + 1, _ ("forward"), OPS, _ ("ops"),
                          _ ("backward"), plain);
  for (guint i = 0; i < n_ops; i++) {
    append_cell (text, forward, n_forward, (int) i, RAIL + 1, colour);
    append_op (text, &ops[i]);
    append_cell (text, backward, n_backward, (int) i, RAIL + 1, colour);
    while (text->len > 0 && text->str[text->len - 1] == ' ')
      g_string_truncate (text, text->len - 1);
    g_string_append_c (text, '\n');
  }
  g_string_append_c (text, '\n');
  append_pass (text, self, LIG_PASS_FORWARD);
  append_pass (text, self, LIG_PASS_BACKWARD);
  if (problem)
    g_string_append_printf (text, "\n%s\n", problem);
  append_verdicts (text, self, all);
  return g_string_free (text, FALSE);
}
