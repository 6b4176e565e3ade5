/* SPDX-License-Identifier: MIT */
/* Reports of plans as text. */
#include "engine/report/paper.h"
#include "engine/report/texts.h"
#include "engine/report/verdicts.h"
#include <ligature/compile.h>
#include <ligature/hotspots.h>
#include <ligature/plan-memory.h>
#include <ligature/plan-options.h>
#include <ligature/plan.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The number of arena values that the report lists. */
#define LARGEST 10

/* The width of rails on a page. */
#define RAILS 100

/* Returns whether the device has peak rates to predict times from. */
static gboolean
is_priced (LigPlan *plan)
{
  return lig_device_get_facts (lig_plan_get_device (plan))->copy > 0;
}

static char *
format_time (LigPlan *plan, double seconds)
{
  return is_priced (plan) && !isnan (seconds) ? lig_units_time (seconds) : g_strdup ("-");
}

/* --- Facts ---------------------------------------------------------------------------------- */

static void
append_title (LigPaper *to, LigSequence *sequence)
{
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  const char *name = lig_sequence_get_name (sequence);
  g_autofree char *title = lig_report_shorten (name && *name ? name : expression);
  lig_paper_title (to, _ ("Plan"), title);
}

static char *
describe_peak_rates (LigDevice *device)
{
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  if (facts->copy <= 0)
    return g_strdup (_ ("unknown: nothing is predicted"));
  const char *source = facts->measured ? _ ("measured on this device")
                       : lig_device_has (device, LIG_DEVICE_DESCRIBED)
                         ? _ ("from a profile, not measured here")
                         : _ ("assumed, not measured");
  g_autofree char *copy = lig_units_bytes (facts->copy);
  GString *text = g_string_new (NULL);
  g_string_append_printf (text, "%s: copy %s/s", source, copy);
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    g_autofree char *rate = lig_units_count (facts->matmul[i]);
    if (facts->matmul[i] > 0)
      g_string_append_printf (text, ", %s matmuls %s%sFLOP/s", lig_dtype_name ((LigDtype) i), rate,
                              strchr (rate, ' ') ? "" : " ");
  }
  g_autofree char *launch = lig_units_time (facts->launch);
  g_string_append_printf (text, ", a launch %s", launch);
  return g_string_free (text, FALSE);
}

/* Names the recipe of the sequence, if it has one, and explains how matmuls follow recipes. */
static void
append_recipe (LigPaper *to, LigPlan *plan)
{
  const char *recipe = lig_plan_get_recipe (plan);
  g_autofree char *matmuls = lig_plan_explain_recipe (plan);
  if (!g_str_equal (recipe, "none"))
    lig_paper_fact (to, _ ("Recipe"), recipe);
  if (matmuls)
    lig_paper_fact (to, _ ("Matmuls"), matmuls);
}

void
lig_paper_plan_facts (LigPaper *to, LigPlan *plan)
{
  guint n_ops, n_steps;
  LigShape shape;
  LigDtype dtype;
  LigDevice *device = lig_plan_get_device (plan);
  gboolean here = !lig_device_has (device, LIG_DEVICE_DESCRIBED);
  const LigPlanOptions *options = lig_plan_get_options (plan);
  g_autofree char *name =
    g_strdup_printf (here ? "%s, %s" : _ ("%s, %s (only described)"), lig_device_get_name (device),
                     lig_device_get_facts (device)->name);
  g_autofree char *rates = describe_peak_rates (device);
  g_autofree char *types = g_strdup_printf (
    options->tf32 ? _ ("compute %s, parameters %s, TF32 matmuls") : _ ("compute %s, parameters %s"),
    lig_dtype_name (lig_plan_get_compute (plan)), lig_plan_get_parameters_name (plan));
  lig_plan_get_input (plan, &shape, &dtype);
  g_autofree char *input = lig_report_tensor (&shape, dtype);
  lig_plan_get_output (plan, &shape, &dtype);
  g_autofree char *output = lig_report_tensor (&shape, dtype);
  lig_plan_get_ops (plan, &n_ops);
  lig_plan_get_steps (plan, &n_steps);
  g_autofree char *size = lig_report_size (n_ops, n_steps);
  lig_paper_head (to, "|");
  lig_paper_fact (to, _ ("Device"), name);
  lig_paper_fact (to, _ ("Peak rates"), rates);
  lig_paper_fact (to, _ ("Libraries"), lig_device_get_facts (device)->libraries);
  lig_paper_fact (to, _ ("Types"), types);
  append_recipe (to, plan);
  lig_paper_fact (to, _ ("Policy"), lig_policy_name (lig_plan_get_policy (plan)));
  lig_paper_fact (to, _ ("Mode"), options->training ? _ ("training") : _ ("evaluation"));
  lig_paper_fact (to, _ ("Input"), input);
  lig_paper_fact (to, _ ("Output"), output);
  lig_paper_fact (to, _ ("Size"), size);
  lig_paper_fact (to, _ ("Ligature"), LIG_VERSION);
}

/* --- Groups and verdicts -------------------------------------------------------------------- */

static char *
list_kernels (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (group->n_steps > 0 ? NULL : "-");
  for (int i = 0; i < group->n_steps; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            lig_report_kernel_name (&steps[group->steps[i]]));
  return g_string_free (text, FALSE);
}

/* Returns the ops of a group by path and name: `4 basic-linear, 4 bias`. */
static char *
list_ops (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GString *text = g_string_new (NULL);
  for (int i = group->first; i < group->first + group->count; i++)
    g_string_append_printf (text, "%s%s %s", i > group->first ? ", " : "", ops[i].path,
                            ops[i].info->name);
  return g_string_free (text, FALSE);
}

static void
append_group (LigPaper *to, LigPlan *plan, const LigPlanGroup *group, guint index)
{
  g_autofree char *number = g_strdup_printf ("%u", index);
  g_autofree char *paths = lig_report_paths (plan, group->first, group->count);
  g_autofree char *ops = list_ops (plan, group);
  g_autofree char *kernels = list_kernels (plan, group);
  g_autofree char *bytes = lig_units_bytes (group->bytes);
  g_autofree char *flops = lig_units_count (group->flops);
  g_autofree char *predicted = format_time (plan, lig_plan_group_get_predicted (group));
  g_autofree char *measured =
    group->measured > 0 ? lig_units_time (group->measured) : g_strdup ("-");
  lig_paper_row (to, number, group->fusion ? group->fusion->name : "-", paths, ops, kernels, bytes,
                 flops, predicted, measured, NULL);
}

/* Says how much the fusions of a pass save. */
static void
say_saving (LigPaper *to, LigPlan *plan, LigPass pass)
{
  g_autoptr (LigPlan) alone = lig_plan_unfuse (plan, NULL);
  const LigTimedPlan timed = {.plan = plan}, unfused = {.plan = alone};
  LigFigures figures;
  lig_figures_of_pass (&timed, &unfused, pass, &figures);
  g_autofree char *saving = lig_figures_saving_text (&figures);
  if (!saving)
    return;
  g_autofree char *sentence = g_strdup_printf (_ ("%s than its operations unfused."), saving);
  lig_paper_say (to, sentence);
}

static void
append_groups (LigPaper *to, LigPlan *plan, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  double bytes = 0, flops = 0, seconds = 0;
  lig_paper_heading (to, pass == LIG_PASS_FORWARD ? _ ("Forward groups") : _ ("Backward groups"));
  if (count == 0) {
    lig_paper_say (to, _ ("None."));
    return;
  }
  /* Translators: column titles separated by |; those that begin with > are right-aligned. */
  lig_paper_head (to, _ (">Group|Fusion|Paths|Ops|Kernels|>Bytes|>Flops|>Predicted|>Measured"));
  for (guint i = 0; i < count; i++) {
    if (i < lig_paper_rows (count))
      append_group (to, plan, &groups[i], i);
    bytes += groups[i].bytes;
    flops += groups[i].flops;
    seconds += lig_plan_group_get_predicted (&groups[i]);
  }
  g_autofree char *all_bytes = lig_units_bytes (bytes);
  g_autofree char *all_flops = lig_units_count (flops);
  g_autofree char *all_time = format_time (plan, seconds);
  lig_paper_row (to, _ ("all"), "", "", "", "", all_bytes, all_flops, all_time, "", NULL);
  lig_paper_say_rest (to, count);
  say_saving (to, plan, pass);
}

static void
append_verdicts (LigPaper *to, LigPlan *plan)
{
  guint n_ops;
  g_autoptr (GArray) lines = lig_report_list_verdicts (plan);
  const LigPlanOp *ops = lig_plan_get_ops (plan, &n_ops);
  lig_paper_heading (to, _ ("Verdicts"));
  if (lines->len == 0) {
    lig_paper_say (to, _ ("No fusion begins with any of these ops."));
    return;
  }
  g_auto (LigRemedies) remedies = {.plan = plan};
  lig_paper_head (to, _ ("Path|Fusion|Pass|Reason|Gain and fix|Verdict"));
  for (guint i = 0; i < lig_paper_rows (lines->len); i++) {
    const LigVerdictLine *line = &g_array_index (lines, LigVerdictLine, i);
    const LigVerdict *verdict = line->verdict;
    const char *reason = lig_reason_name (verdict->reason);
    g_autofree char *sentence = lig_report_verdict_text (verdict->text, line->times);
    g_autofree char *remedy = lig_report_remedy (&remedies, verdict);
    lig_paper_row (
      to, ops[verdict->first].path, verdict->fusion->name, lig_pass_name (verdict->pass),
      verdict->taken ? "taken" : lig_report_reason (reason), remedy ? remedy : "", sentence, NULL);
  }
  lig_paper_say_rest (to, lines->len);
}

/* --- Memory and ops ------------------------------------------------------------------------- */

/* Sorts by decreasing size, then by the first step of the lifetime. */
static int
compare_values (gconstpointer a, gconstpointer b)
{
  const LigPlanValue *const *left = a, *const *right = b;
  if ((*left)->bytes != (*right)->bytes)
    return (*left)->bytes > (*right)->bytes ? -1 : 1;
  return (*left)->first < (*right)->first ? -1 : (*left)->first > (*right)->first;
}

static void
append_value (LigPaper *to, LigPlan *plan, const LigPlanValue *value)
{
  g_autofree char *tensor = lig_report_tensor (&value->shape, value->dtype);
  g_autofree char *bytes = lig_units_bytes ((double) value->bytes);
  g_autofree char *offset = g_strdup_printf ("%" G_GINT64_FORMAT, value->offset);
  g_autofree char *first =
    value->first < 0 ? g_strdup (_ ("before")) : g_strdup_printf ("%d", value->first);
  g_autofree char *last =
    value->last == G_MAXINT ? g_strdup (_ ("after")) : g_strdup_printf ("%d", value->last);
  g_autofree char *name = lig_plan_name_values (plan, value->name);
  lig_paper_row (to, name, tensor, bytes, offset, first, last,
                 value->saved ? _ ("for backward") : "", NULL);
}

static void
append_memory (LigPaper *to, LigPlan *plan)
{
  guint count;
  gint64 peak, arena = lig_plan_get_arena_bytes (plan, &peak);
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  g_autofree char *arena_text = lig_units_bytes ((double) arena);
  g_autofree char *peak_text = lig_units_bytes ((double) peak);
  g_autofree char *state = lig_units_bytes ((double) lig_plan_get_state_bytes (plan));
  g_autofree char *segments = g_strdup_printf ("%u", lig_plan_get_segments (plan));
  g_autofree char *ranks = lig_plan_explain_ranks (plan);
  g_autofree char *upload = lig_plan_explain_upload (plan);
  g_autofree char *problem = lig_plan_explain_memory (plan, NULL);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  for (guint i = 0; i < count; i++)
    if ((values[i].place == LIG_PLACE_ARENA))
      g_ptr_array_add (list, (gpointer) &values[i]);
  g_ptr_array_sort (list, compare_values);
  lig_paper_heading (to, _ ("Memory"));
  if (!lig_paper_is_long (plan))
    lig_paper_figure (to, LIG_FIGURE_MEMORY);
  lig_paper_head (to, "|");
  lig_paper_fact (to, _ ("Values"), arena_text);
  lig_paper_fact (to, _ ("Peak of live values"), peak_text);
  lig_paper_fact (to, _ ("Parameters and optimizer"), state);
  lig_paper_fact (to, _ ("Pieces"), segments);
  lig_paper_fact (to, _ ("Ranks"), ranks);
  lig_paper_fact (to, _ ("Batch"), upload);
  lig_paper_fact (to, _ ("Problem"), problem);
  if (list->len == 0)
    return;
  lig_paper_say (to, _ ("The largest values and the steps of their lifetimes."));
  lig_paper_head (to, _ ("Value|Tensor|>Bytes|>Offset|>From step|>To step|Saved"));
  for (guint i = 0; i < MIN (list->len, LARGEST); i++)
    append_value (to, plan, list->pdata[i]);
}

static void
append_op (LigPaper *to, const LigPlanOp *op)
{
  g_autofree char *index = g_strdup_printf ("%d", op->index);
  g_autofree char *input = lig_shape_to_string (&op->x);
  g_autofree char *output = lig_report_tensor (&op->y, op->y_dtype);
  g_autofree char *trained = g_strdup_printf ("%" G_GINT64_FORMAT, op->parameters);
  g_autofree char *kept = lig_units_bytes ((double) op->saved_bytes);
  lig_paper_row (to, index, op->path, op->info->name, input, output, trained, kept, NULL);
}

static void
append_ops (LigPaper *to, LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  double parameters = 0, saved = 0;
  lig_paper_heading (to, _ ("Ops"));
  lig_paper_head (to, _ (">Index|Path|Op|Input|Output|>Parameters|>Saved bytes"));
  for (guint i = 0; i < count; i++) {
    if (i < lig_paper_rows (count))
      append_op (to, &ops[i]);
    parameters += (double) ops[i].parameters;
    saved += (double) ops[i].saved_bytes;
  }
  g_autofree char *all_parameters = g_strdup_printf ("%.0f", parameters);
  g_autofree char *all_saved = lig_units_bytes (saved);
  lig_paper_row (to, _ ("all"), "", "", "", "", all_parameters, all_saved, NULL);
  lig_paper_say_rest (to, count);
}

static void
append_sequence (LigPaper *to, LigSequence *sequence)
{
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_autofree char *json = lig_sequence_to_json (sequence);
  lig_paper_heading (to, _ ("Sequence"));
  lig_paper_block (to, "", expression);
  lig_paper_block (to, "json", json);
}

/* Appends only pictures, because the tables below contain the numbers. */
static void
append_times (LigPaper *to, LigPlan *plan)
{
  if (!to->picture || !is_priced (plan) || lig_paper_is_long (plan))
    return;
  lig_paper_heading (to, _ ("Time of the groups"));
  lig_paper_figure (to, LIG_FIGURE_TIMES);
}

/* Lists the hotspots. */
static void
append_hotspots (LigPaper *to, LigPlan *plan)
{
  LigFigures whole;
  g_autoptr (LigPlan) alone = lig_plan_unfuse (plan, NULL);
  const LigTimedPlan timed = {.plan = plan}, unfused = {.plan = alone};
  g_autoptr (GPtrArray) list =
    lig_hotspot_list (&timed, alone ? &unfused : NULL, LIG_HOTSPOT_NAMES);
  lig_hotspot_sum (list, &whole);
  if (!(whole.seconds > 0))
    return;
  lig_paper_heading (to, _ ("Hotspots"));
  /* Translators: column titles separated by |; those that begin with > are right-aligned. */
  lig_paper_head (to, _ ("Ops|>Time|Passes"));
  for (guint i = 0; i < list->len; i++) {
    const LigHotspot *hotspot = list->pdata[i];
    g_autofree char *share = lig_hotspot_share_text (&hotspot->figures, &whole);
    g_autofree char *passes = lig_hotspot_describe (hotspot);
    lig_paper_row (to, hotspot->name, share, passes ? passes : "", NULL);
  }
}

static void
append_rails (LigPaper *to, LigPlan *plan)
{
  LigRailsOptions options = LIG_RAILS_OPTIONS_INIT;
  options.width = RAILS;
  if (lig_paper_is_long (plan) || lig_paper_figure (to, LIG_FIGURE_SCORE))
    return;
  g_autofree char *rails = lig_plan_to_rails (plan, &options);
  lig_paper_block (to, "", rails);
}

/* A plan of many ops has truncated tables and no pictures. */
static void
say_long (LigPaper *to, LigPlan *plan)
{
  g_autofree char *text =
    lig_paper_is_long (plan)
      ? g_strdup_printf (_ ("With more than %d ops, a report has no pictures and only the "
                            "beginning of long tables; the json report is complete."),
                         LIG_PAPER_MAX_ROWS)
      : NULL;
  if (text)
    lig_paper_say (to, text);
}

void
lig_paper_plan (LigPaper *to, LigPlan *plan, const char *command)
{
  LigSequence *sequence = lig_plan_get_sequence (plan);
  append_title (to, sequence);
  if (command)
    lig_paper_block (to, "sh", command);
  lig_paper_plan_facts (to, plan);
  say_long (to, plan);
  if (!lig_paper_is_long (plan))
    lig_paper_heading (to, _ ("Rails"));
  append_rails (to, plan);
  append_times (to, plan);
  append_hotspots (to, plan);
  append_groups (to, plan, LIG_PASS_FORWARD);
  append_groups (to, plan, LIG_PASS_BACKWARD);
  append_verdicts (to, plan);
  append_memory (to, plan);
  append_ops (to, plan);
  append_sequence (to, sequence);
}
