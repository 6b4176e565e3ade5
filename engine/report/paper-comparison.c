/* SPDX-License-Identifier: MIT */
/* Reports of comparisons as text. */
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include <ligature/row-changes.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* --- Totals -------------------------------------------------------------------------------- */

static const char *
get_device (LigPlan *plan)
{
  LigDevice *device = lig_plan_get_device (plan);
  const char *name = lig_device_get_facts (device)->name;
  return *name ? name : lig_device_get_name (device);
}

static void
append_total (LigPaper *to, const LigReportPair *pair, LigPass pass, const char *name)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (pair->plans, pass, &total);
  if (total.before.n_steps + total.after.n_steps == 0)
    return;
  g_autofree char *before = lig_plan_change_side_text (&total, FALSE);
  g_autofree char *after = lig_plan_change_side_text (&total, TRUE);
  g_autofree char *time = lig_plan_change_time_text (&total);
  g_autofree char *first = lig_units_bytes (total.before.bytes);
  g_autofree char *second = lig_units_bytes (total.after.bytes);
  g_autofree char *bytes = lig_plan_change_bytes_text (&total);
  g_autofree char *kernels = g_strdup_printf ("%u | %u", total.before.n_steps, total.after.n_steps);
  lig_paper_row (to, name, before ? before : "-", after ? after : "-", time ? time : "-", first,
                 second, bytes, kernels, NULL);
}

static void
append_memory (LigPaper *to, const LigReportPair *pair)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (pair->plans, LIG_PASS_JOINT, &total);
  g_autofree char *before = lig_units_bytes (total.before.memory);
  g_autofree char *after = lig_units_bytes (total.after.memory);
  g_autofree char *change = lig_plan_change_memory_text (&total);
  g_autofree char *text = g_strdup_printf ("%s | %s (%s)", before, after, change);
  lig_paper_fact (to, _ ("Memory"), text);
}

/* Appends the quartiles of the steps that were measured repeatedly. */
static void
append_quartiles (LigPaper *to, const LigReportPair *pair)
{
  LigPlanChange total;
  lig_plan_comparison_get_total (pair->plans, LIG_PASS_JOINT, &total);
  for (int which = 0; which < 2 && total.measured; which++) {
    LigTimedPlan timed;
    lig_plan_comparison_get_timed (pair->plans, which, &timed);
    const LigSpread *step = timed.spreads ? &timed.spreads[LIG_STEP_SPREAD] : NULL;
    if (!step || step->count == 0)
      continue;
    g_autofree char *name = g_strdup_printf (_ ("Step of %s"), pair->titles[which]);
    g_autofree char *quartiles = lig_spread_to_text (step);
    g_autofree char *text =
      g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s of %u run", "%s of %u runs", step->count),
                       quartiles, step->count);
    lig_paper_fact (to, name, text);
  }
}

static char *
describe (LigPlan *plan)
{
  return g_strdup_printf ("%s, %s, %s", get_device (plan),
                          lig_dtype_name (lig_plan_get_compute (plan)),
                          lig_policy_name (lig_plan_get_policy (plan)));
}

static void
append_facts (LigPaper *to, const LigReportPair *pair)
{
  g_autofree char *before = describe (lig_plan_comparison_get_before (pair->plans));
  g_autofree char *after = describe (lig_plan_comparison_get_after (pair->plans));
  LigShape shape;
  LigDtype dtype;
  lig_plan_get_input (lig_plan_comparison_get_after (pair->plans), &shape, &dtype);
  g_autofree char *input = lig_report_tensor (&shape, dtype);
  lig_paper_head (to, "|");
  lig_paper_fact (to, pair->titles[0], before);
  lig_paper_fact (to, pair->titles[1], after);
  lig_paper_fact (to, _ ("Input"), input);
  append_quartiles (to, pair);
  append_memory (to, pair);
  lig_paper_fact (to, _ ("Ligature"), LIG_VERSION);
}

/* Returns column titles around both plans' titles, in which a | would begin another column. */
static char *
make_columns (const char *format, const LigReportPair *pair)
{
  g_autofree char *before = g_strdelimit (g_strdup (pair->titles[0]), "|", '/');
  g_autofree char *after = g_strdelimit (g_strdup (pair->titles[1]), "|", '/');
  g_auto (GStrv) parts = g_strsplit (format, "BEFORE", -1);
  g_autofree char *half = g_strjoinv (before, parts);
  g_auto (GStrv) others = g_strsplit (half, "AFTER", -1);
  return g_strjoinv (after, others);
}

static void
append_totals (LigPaper *to, const LigReportPair *pair)
{
  lig_paper_heading (to, _ ("Step"));
  /* Translators: column titles separated by |; BEFORE and AFTER are replaced by names of plans. */
  g_autofree char *columns =
    make_columns (_ ("Pass|>BEFORE|>AFTER|>Difference|>BEFORE, bytes|>AFTER, bytes|>Difference"
                     "|>Kernels"),
                  pair);
  lig_paper_head (to, columns);
  append_total (to, pair, LIG_PASS_FORWARD, _ ("forward"));
  append_total (to, pair, LIG_PASS_BACKWARD, _ ("backward"));
  append_total (to, pair, LIG_PASS_UPDATE, _ ("update"));
  append_total (to, pair, LIG_PASS_JOINT, _ ("all"));
}

/* --- Rows ---------------------------------------------------------------------------------- */

static const char *
describe_kind (LigRowChangeKind kind)
{
  switch (kind) {
  case LIG_ROW_REMOVED:
    return _ ("removed");
  case LIG_ROW_ADDED:
    return _ ("added");
  default:
    return _ ("changed");
  }
}

/* Appends the rows in which the sequences differ, if any. */
static void
append_rows (LigPaper *to, const LigReportPair *pair)
{
  g_autoptr (GPtrArray) changes = lig_row_change_list (pair->plans);
  g_autofree char *inputs = lig_row_change_inputs (pair->plans);
  if (changes->len == 0 && !inputs)
    return;
  g_autofree char *columns = make_columns (_ ("BEFORE|AFTER|Operation|Change|Difference"), pair);
  lig_paper_heading (to, _ ("Rows"));
  lig_paper_head (to, columns);
  if (inputs)
    lig_paper_row (to, "", "", "", _ ("changed"), inputs, NULL);
  for (guint i = 0; i < changes->len; i++) {
    const LigRowChange *change = changes->pdata[i];
    lig_paper_row (to, change->before ? change->before : "-", change->after ? change->after : "-",
                   change->op, describe_kind (change->kind), change->text, NULL);
  }
}

/* --- Groups -------------------------------------------------------------------------------- */

/* Returns `linear-bias-gelu; -` for a fused group and an unfused op. */
static char *
list_groups (LigPlan *plan, LigPass pass, const LigPlanSide *side)
{
  guint count, n_ops;
  GString *text = g_string_new (NULL);
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "; " : "",
                            groups[i].fusion ? groups[i].fusion->name
                                             : ops[groups[i].first].info->name);
  return g_string_free (text, FALSE);
}

static void
append_change (LigPaper *to, const LigReportPair *pair, const LigPlanChange *change)
{
  guint n_ops;
  LigPlan *plans[] = {lig_plan_comparison_get_before (pair->plans),
                      lig_plan_comparison_get_after (pair->plans)};
  gboolean known = change->after.n_groups > 0;
  const LigPlanOp *ops = lig_plan_get_ops (plans[known], &n_ops);
  const char *path = ops[known ? change->after.first : change->before.first].path;
  g_autofree char *place =
    change->times > 1 ? g_strdup_printf ("%s (%u ×)", path, change->times) : g_strdup (path);
  g_autofree char *first = list_groups (plans[0], change->pass, &change->before);
  g_autofree char *second = list_groups (plans[1], change->pass, &change->after);
  g_autofree char *before = lig_plan_change_side_text (change, FALSE);
  g_autofree char *after = lig_plan_change_side_text (change, TRUE);
  g_autofree char *time = lig_plan_change_time_text (change);
  g_autofree char *bytes = lig_plan_change_bytes_text (change);
  lig_paper_row (to, place, change->same ? _ ("same") : _ ("different"), first,
                 change->same ? "" : second, before ? before : "-", after ? after : "-",
                 time ? time : "-", bytes, NULL);
}

static void
append_pass (LigPaper *to, const LigReportPair *pair, LigPass pass)
{
  guint count;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (pair->plans, &count);
  g_autofree char *columns =
    make_columns (_ ("Path|Groups|BEFORE|AFTER|>BEFORE|>AFTER|>Time|>Bytes"), pair);
  lig_paper_heading (to, pass == LIG_PASS_FORWARD ? _ ("Forward groups") : _ ("Backward groups"));
  lig_paper_head (to, columns);
  for (guint i = 0; i < count; i++)
    if (changes[i].pass == pass && changes[i].times > 0)
      append_change (to, pair, &changes[i]);
}

/* --- The whole ----------------------------------------------------------------------------- */

static void
append_sequences (LigPaper *to, const LigReportPair *pair)
{
  g_autofree char *before =
    lig_sequence_to_json (lig_plan_get_sequence (lig_plan_comparison_get_before (pair->plans)));
  g_autofree char *after =
    lig_sequence_to_json (lig_plan_get_sequence (lig_plan_comparison_get_after (pair->plans)));
  gboolean same = g_str_equal (before, after);
  for (int i = same; i < 2; i++) {
    LigPlan *plan = i ? lig_plan_comparison_get_after (pair->plans)
                      : lig_plan_comparison_get_before (pair->plans);
    g_autofree char *expression = lig_sequence_to_expression (lig_plan_get_sequence (plan));
    g_autofree char *title = g_strdup_printf (_ ("Sequence: %s"), pair->titles[i]);
    lig_paper_heading (to, same ? _ ("Sequence") : title);
    lig_paper_block (to, "", expression);
    lig_paper_block (to, "json", i ? after : before);
  }
}

void
lig_paper_pair (LigPaper *to, const LigReportPair *pair)
{
  LigSequence *sequence = lig_plan_get_sequence (lig_plan_comparison_get_after (pair->plans));
  const char *name = lig_sequence_get_name (sequence);
  g_autofree char *titles = g_strdup_printf ("%s | %s", pair->titles[0], pair->titles[1]);
  g_autofree char *whole = g_strdup_printf ("%s: %s", name, titles);
  g_autofree char *title = lig_report_shorten (name && *name ? whole : titles);
  lig_paper_title (to, _ ("Comparison"), title);
  append_facts (to, pair);
  append_totals (to, pair);
  append_rows (to, pair);
  if (to->picture) {
    lig_paper_heading (to, _ ("Rails"));
    lig_paper_figure (to, LIG_FIGURE_COMPARISON);
  }
  append_pass (to, pair, LIG_PASS_FORWARD);
  append_pass (to, pair, LIG_PASS_BACKWARD);
  append_sequences (to, pair);
}
