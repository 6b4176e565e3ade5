/* SPDX-License-Identifier: MIT */
/* Two plans next to each other as text: the totals, both rails of each pass row by row, and the
 * rejections that differ. */
#include "engine/report/pair.h"

#include "engine/report/verdicts.h"
#include <ligature/columns.h>
#include <ligature/comparison.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/row-changes.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* The minimum width for rails next to each other, and the widths of the mark, of a time, of a ratio
 * and of a rail. */
enum { MIN_RAILS = 80, MARK = 2, TIME = 9, RATIO = 7, MIN_CELL = 24, INDENT = 9 };

typedef struct {
  GString *to;
  LigPlanComparison *comparison;
  LigTimedPlan timed[2];
  LigPlan *plans[2];
  const char *titles[2];
  gboolean colour;
  int width, label, cell; /* cell: 0 if there is no room for rails */
} Page;

static const LigPlanOp *
get_op (LigPlan *plan, int index)
{
  guint count;
  return &lig_plan_get_ops (plan, &count)[index];
}

static const LigPlanSide *
get_side (const LigPlanChange *change, int which)
{
  return which ? &change->after : &change->before;
}

static const LigPlanGroup *
find_group (const Page *page, const LigPlanChange *change, int which, int op)
{
  guint count;
  const LigPlanSide *side = get_side (change, which);
  const LigPlanGroup *groups = lig_plan_get_groups (page->plans[which], change->pass, &count);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++)
    if (op >= groups[i].first && op < groups[i].first + groups[i].count)
      return &groups[i];
  return NULL;
}

/* The name is shown without the pass, which the title of the rails contains. */
static const char *
get_name (const LigFusion *fusion)
{
  const char *dash = strchr (fusion->name, '-');
  return dash ? dash + 1 : fusion->name;
}

static void
begin (const Page *page, const char *sequence)
{
  g_string_append (page->to, page->colour ? sequence : "");
}

static void
end (const Page *page)
{
  begin (page, "\033[0m");
}

/* --- Cells --------------------------------------------------------------------------------- */

/* Returns `12 layer-norm` or `3.0.2 gelu × 12`, at most @width characters; the number of
 * repetitions is never cut. */
static char *
make_label (const LigPlanOp *op, guint times, int width)
{
  g_autofree char *name = g_strjoin (" ", op->path, op->info->name, NULL);
  g_autofree char *folded = times > 1 ? g_strdup_printf (" × %u", times) : g_strdup ("");
  g_autofree char *cut = lig_columns_elide (name, MAX (width - lig_columns_width (folded), 1));
  return g_strconcat (cut, folded, NULL);
}

/* Returns a plan with its measured times if both plans have them in this change. */
static LigTimedPlan
get_timed (const Page *page, const LigPlanChange *change, int which)
{
  return change->measured ? page->timed[which] : (LigTimedPlan){.plan = page->plans[which]};
}

static void
get_figures (const Page *page,
             const LigPlanChange *change,
             int which,
             const LigPlanGroup *group,
             LigFigures *figures)
{
  const LigTimedPlan timed = get_timed (page, change, which);
  lig_figures_of_group (&timed, NULL, group, figures);
}

static char *
format_time (const LigFigures *figures)
{
  char *time = figures->kernels > 0 ? lig_figures_time_text (figures) : NULL;
  return time ? time : g_strdup ("");
}

/* Appends the rail of one plan in the row of an op: the name in the first row of a fused group, the
 * time in the last one. */
static void
append_cell (const Page *page, const LigPlanChange *change, int which, int op)
{
  GString *to = page->to;
  const LigPlanGroup *group = op < 0 ? NULL : find_group (page, change, which, op);
  gboolean last = group && op == group->first + group->count - 1;
  gboolean first = group && op == group->first;
  if (!group || group->n_steps == 0) {
    g_string_append_printf (to, "%*s", page->cell, "");
    return;
  }
  if (group->fusion)
    begin (page, "\033[34m");
  g_string_append (to, !group->fusion ? "· " : first ? "┌ " : last ? "└ " : "│ ");
  if (!last) {
    lig_columns_append (to, first && group->fusion ? get_name (group->fusion) : "", page->cell - 2,
                        LIG_SIDE_LEFT);
    end (page);
    return;
  }
  LigFigures figures;
  get_figures (page, change, which, group, &figures);
  g_autofree char *time = format_time (&figures);
  const char *bound = lig_bound_name (figures.bound);
  lig_columns_append (to, time, TIME, LIG_SIDE_RIGHT);
  g_string_append_c (to, ' ');
  lig_columns_append (to, bound ? bound : "", page->cell - 2 - TIME - 1, LIG_SIDE_LEFT);
  if (group->fusion)
    end (page);
}

static void
append_ratio (const Page *page, const LigPlanChange *change)
{
  g_autofree char *ratio = lig_report_factor (change);
  lig_columns_append (page->to, ratio ? ratio : "", RATIO, LIG_SIDE_RIGHT);
}

static void
append_mark (const Page *page, const LigPlanChange *change)
{
  if (!change->same)
    begin (page, "\033[33m");
  g_string_append (page->to, change->same ? "  " : "≠ ");
  if (!change->same)
    end (page);
}

/* --- Rails --------------------------------------------------------------------------------- */

/* Appends the row of an op, given its index in both plans, which is -1 if a plan does not have
 * it. */
static void
append_row (
  const Page *page, const LigPlanChange *change, const int ops[2], guint times, gboolean last)
{
  const LigPlanOp *op =
    ops[0] >= 0 ? get_op (page->plans[0], ops[0]) : get_op (page->plans[1], ops[1]);
  g_autofree char *label = make_label (op, times, page->label);
  append_mark (page, change);
  lig_columns_append (page->to, label, page->label, LIG_SIDE_LEFT);
  for (int which = 0; which < 2; which++) {
    g_string_append_c (page->to, ' ');
    append_cell (page, change, which, ops[which]);
  }
  if (last)
    append_ratio (page, change);
  lig_report_end_line (page->to);
}

/* Returns the second plan's op that is the same as the first plan's, -1 if there is none. */
static int
find_after (const Page *page, const LigPlanChange *change, int before)
{
  for (int i = change->after.first; i < change->after.first + change->after.count; i++)
    if (lig_plan_comparison_find_op (page->comparison, i) == before)
      return i;
  return -1;
}

static void
append_rails (const Page *page, const LigPlanChange *change)
{
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, 2 * sizeof (int));
  for (int i = change->before.first; i < change->before.first + change->before.count; i++)
    g_array_append_vals (rows, (int[]){i, find_after (page, change, i)}, 1);
  for (int i = change->after.first; i < change->after.first + change->after.count; i++)
    if (lig_plan_comparison_find_op (page->comparison, i) < 0)
      g_array_append_vals (rows, (int[]){-1, i}, 1);
  for (guint i = 0; i < rows->len; i++)
    append_row (page, change, (const int *) (gconstpointer) rows->data + 2 * i,
                i == 0 ? change->times : 1, i + 1 == rows->len);
}

/* --- Lines, if there is no room for rails ------------------------------------------------- */

/* Appends `name   20.3 µs` in the column of one plan. */
static void
append_line (const Page *page, const char *label, const char *const times[2], const char *ratio)
{
  lig_columns_append (page->to, label, page->label, LIG_SIDE_LEFT);
  for (int which = 0; which < 2; which++) {
    g_string_append_c (page->to, ' ');
    lig_columns_append (page->to, times[which] ? times[which] : "", TIME, LIG_SIDE_RIGHT);
  }
  g_string_append_c (page->to, ' ');
  lig_columns_append (page->to, ratio ? ratio : "", RATIO, LIG_SIDE_RIGHT);
  lig_report_end_line (page->to);
}

/* Appends a line for each group of one side. */
static void
append_groups (const Page *page, const LigPlanChange *change, int which)
{
  guint count;
  const LigPlanSide *side = get_side (change, which);
  const LigPlanGroup *groups = lig_plan_get_groups (page->plans[which], change->pass, &count);
  for (guint i = side->first_group; i < side->first_group + side->n_groups; i++) {
    LigFigures figures;
    get_figures (page, change, which, &groups[i], &figures);
    if (figures.kernels == 0)
      continue;
    g_autofree char *time = format_time (&figures);
    const LigPlanOp *op = get_op (page->plans[which], groups[i].first);
    g_autofree char *label =
      g_strdup_printf ("  %s %s %s", which ? "B" : "A", op->path,
                       groups[i].fusion ? get_name (groups[i].fusion) : op->info->name);
    const char *times[2] = {which ? NULL : time, which ? time : NULL};
    g_string_append (page->to, "  ");
    append_line (page, label, times, NULL);
  }
}

static void
append_lines (const Page *page, const LigPlanChange *change)
{
  LigFigures figures[2];
  const LigTimedPlan timed[] = {get_timed (page, change, 0), get_timed (page, change, 1)};
  for (int which = 0; which < 2; which++)
    lig_report_side_figures (&timed[which], change->pass, get_side (change, which),
                             &figures[which]);
  g_autofree char *before = format_time (&figures[0]), *after = format_time (&figures[1]);
  g_autofree char *ratio = lig_report_factor (change);
  const char *times[2] = {before, after};
  const int which = change->before.count == 0;
  const LigPlanSide *side = get_side (change, which);
  const LigPlanGroup *group = find_group (page, change, which, side->first);
  const LigPlanOp *op = get_op (page->plans[which], side->first);
  LigOpInfo named = *op->info;
  LigPlanOp shown = *op;
  if (change->same && group->fusion)
    named.name = get_name (group->fusion);
  shown.info = &named;
  g_autofree char *label = make_label (&shown, change->times, page->label);
  append_mark (page, change);
  append_line (page, label, times, ratio);
  if (change->same)
    return;
  append_groups (page, change, 0);
  append_groups (page, change, 1);
}

/* --- Passes -------------------------------------------------------------------------------- */

static void
append_head (const Page *page, LigPass pass)
{
  const char *title = pass == LIG_PASS_FORWARD ? _ ("forward") : _ ("backward");
  begin (page, "\033[1m");
  lig_columns_append (page->to, title, MARK + page->label, LIG_SIDE_LEFT);
  for (int which = 0; which < 2; which++) {
    g_string_append_c (page->to, ' ');
    if (page->cell > 0) {
      g_autofree char *head = g_strdup_printf ("%s %s", which ? "B" : "A", page->titles[which]);
      lig_columns_append (page->to, head, page->cell, LIG_SIDE_LEFT);
    } else {
      lig_columns_append (page->to, which ? "B" : "A", TIME, LIG_SIDE_RIGHT);
    }
  }
  if (page->cell == 0)
    g_string_append_c (page->to, ' ');
  lig_columns_append (page->to, "B / A", RATIO, LIG_SIDE_RIGHT);
  end (page);
  lig_report_end_line (page->to);
}

static void
append_pass (const Page *page, LigPass pass)
{
  guint count;
  gboolean begun = FALSE;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (page->comparison, &count);
  for (guint i = 0; i < count; i++) {
    gboolean empty = changes[i].before.n_steps + changes[i].after.n_steps == 0;
    if (changes[i].pass != pass || changes[i].times == 0 || empty)
      continue;
    if (!begun) {
      g_string_append_c (page->to, '\n');
      append_head (page, pass);
    }
    begun = TRUE;
    if (page->cell > 0)
      append_rails (page, &changes[i]);
    else
      append_lines (page, &changes[i]);
  }
}

/* --- Sentences ----------------------------------------------------------------------------- */

/* Appends `backward at 2, forward at 3.0.1 (12 times)`. */
static void
list_places (const Page *page, GString *to, guint *places)
{
  guint count;
  const LigPlanChange *changes = lig_plan_comparison_get_changes (page->comparison, &count);
  for (guint i = 0; i < count; i++) {
    if (changes[i].same || changes[i].times == 0)
      continue;
    int which = changes[i].before.count == 0;
    const LigPlanOp *op = get_op (page->plans[which], get_side (&changes[i], which)->first);
    g_string_append_printf (to, "%s%s %s", *places > 0 ? ", " : "",
                            changes[i].pass == LIG_PASS_FORWARD ? _ ("forward") : _ ("backward"),
                            op->path);
    if (changes[i].times > 1)
      g_string_append_printf (to, " × %u", changes[i].times);
    *places += changes[i].times;
  }
}

/* Appends a paragraph. */
static void
append_sentence (const Page *page, const char *text)
{
  lig_columns_wrap (page->to, text, 0, 0, page->width);
}

/* Says that a device has no times because its peak rates are unknown. */
static void
append_unknown (const Page *page, int which)
{
  gboolean described =
    lig_device_has (lig_plan_get_device (page->plans[which]), LIG_DEVICE_DESCRIBED);
  g_autofree char *text =
    g_strdup_printf (described ? _ ("The times of %s are unknown.")
                               : _ ("The times of %s are unknown; lig devices --measure finds its "
                                    "peak rates."),
                     page->titles[which]);
  append_sentence (page, text);
}

/* Says that predictions are compared because only one plan was measured. */
static void
append_half (const Page *page)
{
  int which = page->timed[0].steps ? 0 : 1;
  if (!page->timed[0].steps == !page->timed[1].steps)
    return;
  LigFigures step;
  lig_figures_of_step (&page->timed[which], NULL, &step);
  g_autofree char *time = lig_figures_time_text (&step);
  g_autofree char *text =
    g_strdup_printf (_ ("A step of %s was measured: %s. Predictions are compared, because %s was "
                        "not measured."),
                     page->titles[which], time, page->titles[!which]);
  append_sentence (page, text);
}

/* Appends the summary: which plan is faster and by how much, and where the groups differ. */
static void
append_summary (const Page *page)
{
  guint places = 0;
  LigPlanChange total;
  g_autoptr (GString) list = g_string_new (NULL);
  list_places (page, list, &places);
  lig_plan_comparison_get_total (page->comparison, LIG_PASS_JOINT, &total);
  const double times[] = {total.before.seconds, total.after.seconds};
  g_autofree char *ratio = lig_plan_change_ratio_text (&total);
  /* Translators: a device or sequence, another one, a ratio such as × 1.15, slower. */
  g_autofree char *noise = total.difference.kind == LIG_DIFFERENCE_NONE
                             ? lig_difference_to_text (&total.difference)
                             : NULL;
  g_autofree char *compared = ratio || noise
                                ? g_strdup_printf (_ ("%s compared with %s: %s."), page->titles[1],
                                                   page->titles[0], ratio ? ratio : noise)
                                : NULL;
  g_autofree char *groups =
    places == 0
      ? g_strdup (_ ("Both choose the same groups."))
      : g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "The groups differ at %u place: %s.",
                                      "The groups differ at %u places: %s.", places),
                         places, list->str);
  if (compared)
    append_sentence (page, compared);
  append_half (page);
  append_sentence (page, groups);
  for (int which = 0; which < 2; which++)
    if (!(times[which] > 0))
      append_unknown (page, which);
  g_string_append_c (page->to, '\n');
}

static void append_heading (const Page *page, const char *text);

/* Appends the rows in which the sequences differ, if any, with the signs of a diff. */
static void
append_rows (const Page *page)
{
  static const char *const signs[] = {"−", "+", "~"};
  g_autoptr (GPtrArray) changes = lig_row_change_list (page->comparison);
  g_autofree char *inputs = lig_row_change_inputs (page->comparison);
  if (changes->len == 0 && !inputs)
    return;
  append_heading (page, _ ("Rows:"));
  if (inputs) {
    g_string_append (page->to, "~ ");
    lig_columns_wrap (page->to, inputs, 2, 4, page->width);
  }
  for (guint i = 0; i < changes->len; i++) {
    const LigRowChange *change = changes->pdata[i];
    g_autofree char *line =
      g_strdup_printf ("%s %s%s%s", change->after ? change->after : change->before, change->op,
                       *change->text ? ": " : "", change->text);
    g_string_append_printf (page->to, "%s ", signs[change->kind]);
    lig_columns_wrap (page->to, line, 2, 4, page->width);
  }
}

static void
append_heading (const Page *page, const char *text)
{
  g_string_append_c (page->to, '\n');
  begin (page, "\033[1m");
  g_string_append (page->to, text);
  end (page);
  g_string_append_c (page->to, '\n');
}

/* Appends the path of a verdict as the beginning of its line. */
static void
append_place (GString *to, LigPlan *plan, const LigVerdict *verdict)
{
  g_string_append (to, "  ");
  lig_columns_append (to, get_op (plan, verdict->first)->path, INDENT - 3, LIG_SIDE_LEFT);
  g_string_append_c (to, ' ');
}

static void
append_rejections (const Page *page, int which)
{
  g_autoptr (GArray) lines = lig_report_rejected_only (page->plans[which], page->plans[!which]);
  g_autofree char *heading = g_strdup_printf (_ ("Only %s rejects:"), page->titles[which]);
  if (lines->len > 0)
    append_heading (page, heading);
  for (guint i = 0; i < lines->len; i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    const LigVerdict *verdict = line->verdict;
    g_autofree char *sentence = lig_report_verdict_text (verdict->text, line->times);
    append_place (page->to, page->plans[which], verdict);
    lig_columns_wrap (page->to, sentence, INDENT, INDENT, page->width);
  }
}

static void
free_text (gpointer text)
{
  g_string_free (text, TRUE);
}

/* Appends the reasons of both plans, A and B, below each fusion that both reject. */
static void
append_differing (const Page *page)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (free_text);
  g_autoptr (GHashTable) places = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (int which = 0; which < 2; which++) {
    LigPlan *plan = page->plans[which];
    g_autoptr (GArray) lines = lig_report_rejected_otherwise (plan, page->plans[!which]);
    for (guint i = 0; i < lines->len; i++) {
      const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
      const LigVerdict *verdict = line->verdict;
      char *place = lig_report_verdict_place (verdict, plan);
      GString *text = g_hash_table_lookup (places, place);
      if (!text) {
        g_ptr_array_add (texts, text = g_string_new (NULL));
        append_place (text, plan, verdict);
        g_string_append_printf (text, "%s\n", verdict->fusion->name);
      }
      g_hash_table_replace (places, place, text);
      g_autofree char *why = lig_report_verdict_text (verdict->why, line->times);
      g_string_append_printf (text, "%*s%s ", INDENT, "", which ? "B" : "A");
      lig_columns_wrap (text, why, INDENT + 2, INDENT + 2, page->width);
    }
  }
  if (texts->len > 0)
    append_heading (page, _ ("Rejected by both, for different reasons:"));
  for (guint i = 0; i < texts->len; i++)
    g_string_append (page->to, ((const GString *) texts->pdata[i])->str);
}

static void
append_problem (const Page *page, int which)
{
  g_autofree char *problem = lig_plan_explain_memory (page->plans[which], NULL);
  if (!problem)
    return;
  g_string_append_c (page->to, '\n');
  append_sentence (page, problem);
}

/* --- The whole ----------------------------------------------------------------------------- */

/* Returns the length of the longest label of an op. */
static int
measure_labels (LigPlan *plan)
{
  guint count;
  int longest = 0;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (guint i = 0; i < count; i++)
    longest = MAX (longest, (int) (strlen (ops[i].path) + strlen (ops[i].info->name)) + 1);
  return longest;
}

/* Chooses the widths of the columns. */
static void
fit (Page *page)
{
  int longest = MAX (measure_labels (page->plans[0]), measure_labels (page->plans[1])) + 5;
  if (page->width < MIN_RAILS) {
    page->label = page->width - MARK - 2 * (TIME + 1) - RATIO - 1;
    return;
  }
  int room = page->width - MARK - 2 - RATIO;
  page->label = MIN (longest, room - 2 * MAX (MIN_CELL, room / 3));
  page->cell = MIN ((room - page->label) / 2, 40);
}

char *
lig_plan_comparison_to_text (
  LigPlanComparison *self, const char *before, const char *after, gboolean colour, int width)
{
  g_return_val_if_fail (self && before && after, NULL);
  Page page = {
    .to = g_string_new (NULL),
    .comparison = self,
    .plans = {lig_plan_comparison_get_before (self), lig_plan_comparison_get_after (self)},
    .titles = {before, after},
    .colour = colour,
    .width = CLAMP (width, 60, 200)};
  for (int which = 0; which < 2; which++)
    lig_plan_comparison_get_timed (self, which, &page.timed[which]);
  fit (&page);
  g_autofree char *first = g_strconcat ("A ", before, NULL);
  g_autofree char *second = g_strconcat ("B ", after, NULL);
  const char *const heads[] = {first, second};
  LigPlanChange total;
  lig_plan_comparison_get_total (self, LIG_PASS_JOINT, &total);
  const LigTimedPlan predicted[] = {{.plan = page.plans[0]}, {.plan = page.plans[1]}};
  g_autofree char *totals =
    lig_report_totals (total.measured ? page.timed : predicted, heads, 2, colour, page.width);
  append_summary (&page);
  g_string_append (page.to, totals);
  append_rows (&page);
  append_pass (&page, LIG_PASS_FORWARD);
  append_pass (&page, LIG_PASS_BACKWARD);
  for (int which = 0; which < 2; which++) {
    append_rejections (&page, which);
    append_problem (&page, which);
  }
  append_differing (&page);
  return g_string_free (page.to, FALSE);
}
