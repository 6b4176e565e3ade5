/* SPDX-License-Identifier: MIT */
/* The totals of several plans, with a column for each plan. */
#include "engine/report/pair.h"

#include <ligature/columns.h>
#include <ligature/json-members.h>
#include <ligature/plan-memory.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>
#include <math.h>

/* The widths of the labels and of a plan's column. */
enum { LABEL = 10, MIN_COLUMN = 21, MAX_COLUMN = 32 };

/* A plan with its figures. */
typedef struct {
  LigPlan *plan;
  const char *title;
  LigFigures passes[3], step;
  const LigSpread *spread; /* of the step; NULL: not measured repeatedly */
} Total;

static Total *
sum_up (const LigTimedPlan *plans, const char *const *titles, guint count)
{
  Total *totals = g_new0 (Total, count);
  for (guint i = 0; i < count; i++) {
    totals[i].plan = plans[i].plan;
    totals[i].spread = plans[i].spreads ? &plans[i].spreads[LIG_STEP_SPREAD] : NULL;
    totals[i].title = titles[i];
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_UPDATE; pass++)
      lig_figures_of_pass (&plans[i], NULL, pass, &totals[i].passes[pass]);
    lig_figures_of_step (&plans[i], NULL, &totals[i].step);
  }
  return totals;
}

/* --- Cells --------------------------------------------------------------------------------- */

/* Returns `≈ 32.4 µs memory`; NULL if there is nothing to show. */
static char *
format_time (const LigFigures *figures)
{
  const char *bound = lig_bound_name (figures->bound);
  g_autofree char *time = figures->kernels > 0 ? lig_figures_time_text (figures) : NULL;
  return time && bound ? g_strjoin (" ", time, bound, NULL) : g_steal_pointer (&time);
}

static char *
get_name (const Total *total, const Total *first)
{
  LigDevice *device = lig_plan_get_device (total->plan);
  const char *name = lig_device_get_facts (device)->name;
  return g_strdup (*name ? name : lig_device_get_name (device));
}

static char *
get_policy (const Total *total, const Total *first)
{
  const char *compute = lig_dtype_name (lig_plan_get_compute (total->plan));
  const char *parameters = lig_plan_get_parameters_name (total->plan);
  const char *policy = lig_policy_name (lig_plan_get_policy (total->plan));
  if (lig_plan_get_tf32 (total->plan))
    return g_strjoin (", ", policy, compute, "TF32", NULL);
  return g_str_equal (compute, parameters)
           ? g_strjoin (", ", policy, compute, NULL)
           : g_strdup_printf ("%s, %s:%s", policy, compute, parameters);
}

static char *
get_step (const Total *total, const Total *first)
{
  return format_time (&total->step);
}

static LigPlanChange
compare (const Total *total, const Total *first)
{
  /* Measured times are compared only with measured ones. */
  gboolean alike = first->step.measured == total->step.measured;
  LigPlanChange change = {.before.seconds = alike ? first->step.seconds : first->step.predicted,
                          .after.seconds = alike ? total->step.seconds : total->step.predicted};
  if (first->spread && total->spread)
    lig_spread_compare (total->spread, first->spread, &change.difference);
  return change;
}

static char *
get_ratio (const Total *total, const Total *first)
{
  const LigPlanChange change = compare (total, first);
  return total == first ? NULL : lig_report_ratio (&change);
}

/* Returns `142–150 µs of 15 runs`. */
static char *
get_quartiles (const Total *total, const Total *first)
{
  if (!total->spread || total->spread->count == 0)
    return NULL;
  g_autofree char *quartiles = lig_spread_to_text (total->spread);
  return g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s of %u run", "%s of %u runs", total->spread->count), quartiles,
    total->spread->count);
}

static char *
get_forward (const Total *total, const Total *first)
{
  return format_time (&total->passes[LIG_PASS_FORWARD]);
}

static char *
get_backward (const Total *total, const Total *first)
{
  return format_time (&total->passes[LIG_PASS_BACKWARD]);
}

static char *
get_update (const Total *total, const Total *first)
{
  return format_time (&total->passes[LIG_PASS_UPDATE]);
}

static char *
get_bytes (const Total *total, const Total *first)
{
  return lig_units_bytes (total->step.bytes);
}

static char *
get_kernels (const Total *total, const Total *first)
{
  return g_strdup_printf ("%u", total->step.kernels);
}

static char *
get_fused (const Total *total, const Total *first)
{
  /* Translators: the number of fused groups, the number of all groups. */
  return g_strdup_printf (_ ("%u of %u"), total->step.fused, total->step.groups);
}

static char *
get_memory (const Total *total, const Total *first)
{
  LigPlanMemory memory;
  lig_plan_get_memory (total->plan, NULL, &memory);
  g_autofree char *needed = lig_units_bytes (memory.needed);
  g_autofree char *available = memory.total > 0 ? lig_units_bytes (memory.available) : NULL;
  if (!available)
    return g_steal_pointer (&needed);
  return g_strdup_printf (memory.fits ? _ ("%s of %s") : _ ("%s, only %s"), needed, available);
}

static char *
get_ranks (const Total *total, const Total *first)
{
  LigCommunication collective;
  lig_figures_of_communication (total->plan, &collective);
  return collective.ranks > 1 ? g_strdup_printf ("%d", collective.ranks) : NULL;
}

static char *
get_collectives (const Total *total, const Total *first)
{
  LigCommunication collective;
  lig_figures_of_communication (total->plan, &collective);
  if (collective.ranks < 2 || collective.seconds <= 0)
    return NULL;
  g_autofree char *whole = lig_units_time (collective.seconds);
  g_autofree char *exposed = lig_units_time (collective.exposed);
  /* Translators: the time of collectives between ranks, then the part for which other work waits.
   */
  return g_strdup_printf (_ ("≈ %s, %s exposed"), whole, exposed);
}

/* --- Text ---------------------------------------------------------------------------------- */

static const struct {
  const char *label;
  char *(*get) (const Total *total, const Total *first);
} rows[] = {
  {N_ ("device"), get_name},         {N_ ("policy"), get_policy},    {N_ ("step"), get_step},
  {N_ ("quartiles"), get_quartiles}, {N_ ("ratio"), get_ratio},      {N_ ("forward"), get_forward},
  {N_ ("backward"), get_backward},   {N_ ("update"), get_update},    {N_ ("moved"), get_bytes},
  {N_ ("kernels"), get_kernels},     {N_ ("fused"), get_fused},      {N_ ("memory"), get_memory},
  {N_ ("ranks"), get_ranks},         {N_ ("comm"), get_collectives},
};

/* Appends a row unless it is empty for all plans. */
static void
append_row (GString *to, guint row, const Total *totals, guint from, guint until, int column)
{
  gboolean any = FALSE;
  g_autoptr (GString) line = g_string_new (NULL);
  lig_columns_append (line, _ (rows[row].label), LABEL, LIG_SIDE_LEFT);
  for (guint i = from; i < until; i++) {
    g_autofree char *cell = rows[row].get (&totals[i], totals);
    any |= cell != NULL;
    lig_columns_append (line, cell ? cell : "", column - 2, LIG_SIDE_LEFT);
    g_string_append (line, "  ");
  }
  if (!any)
    return;
  lig_report_end_line (line);
  g_string_append (to, line->str);
}

/* Appends the summary of more than two plans: the fastest one, compared with the slowest. */
static void
append_fastest (GString *to, const Total *totals, guint count, int width)
{
  const Total *fastest = NULL, *slowest = NULL;
  for (guint i = 0; i < count; i++) {
    double seconds = totals[i].step.seconds;
    if (!(seconds > 0))
      continue;
    if (!fastest || seconds < fastest->step.seconds)
      fastest = &totals[i];
    if (!slowest || seconds > slowest->step.seconds)
      slowest = &totals[i];
  }
  if (fastest == slowest)
    return;
  const LigPlanChange change = compare (fastest, slowest);
  g_autofree char *ratio = lig_plan_change_ratio_text (&change);
  if (!ratio)
    return;
  /* Translators: a device, another device, a ratio such as × 0.9, faster. */
  g_autofree char *sentence = g_strdup_printf (_ ("%s is the fastest; compared with %s: %s."),
                                               fastest->title, slowest->title, ratio);
  lig_columns_wrap (to, sentence, 0, 0, width);
  g_string_append_c (to, '\n');
}

char *
lig_report_totals (
  const LigTimedPlan *plans, const char *const *titles, guint count, gboolean colour, int width)
{
  GString *to = g_string_new (NULL);
  g_autofree Total *totals = sum_up (plans, titles, count);
  width = CLAMP (width, 60, 200);
  if (count > 2)
    append_fastest (to, totals, count, width);
  guint max = (guint) MAX ((width - LABEL + 2) / MIN_COLUMN, 1);
  int column = MIN ((width - LABEL + 2) / (int) MIN (max, count), MAX_COLUMN);
  for (guint from = 0; from < count; from += max) {
    guint until = MIN (from + max, count);
    g_string_append_printf (to, "%s%s%*s", from > 0 ? "\n" : "", colour ? "\033[1m" : "", LABEL,
                            "");
    for (guint i = from; i < until; i++) {
      lig_columns_append (to, titles[i], column - 2, LIG_SIDE_LEFT);
      g_string_append (to, "  ");
    }
    while (to->str[to->len - 1] == ' ')
      g_string_truncate (to, to->len - 1);
    g_string_append (to, colour ? "\033[0m\n" : "\n");
    for (guint row = 0; row < G_N_ELEMENTS (rows); row++)
      append_row (to, row, totals, from, until, column);
  }
  return g_string_free (to, FALSE);
}

/* Returns plans without measured times. */
static LigTimedPlan *
list_plans (LigPlan *const *plans, guint count)
{
  LigTimedPlan *list = g_new0 (LigTimedPlan, count);
  for (guint i = 0; i < count; i++)
    list[i].plan = plans[i];
  return list;
}

char *
lig_plans_to_totals (
  LigPlan *const *plans, const char *const *titles, guint count, gboolean colour, int width)
{
  g_return_val_if_fail (plans && titles && count > 0, NULL);
  g_autofree LigTimedPlan *list = list_plans (plans, count);
  return lig_report_totals (list, titles, count, colour, width);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_figures (JsonBuilder *to, const char *name, const LigFigures *figures)
{
  lig_json_begin_object (to, name);
  lig_json_add_number (to, "microseconds", figures->seconds * 1e6);
  lig_json_add_truth (to, "measured", figures->measured);
  lig_json_add_number (to, "bytes", figures->bytes);
  lig_json_add_integer (to, "kernels", figures->kernels);
  lig_json_add_integer (to, "groups", figures->groups);
  lig_json_add_integer (to, "fused", figures->fused);
  lig_report_add_bound (to, figures->bound);
  json_builder_end_object (to);
}

static void
add_total (JsonBuilder *to, const Total *total, const Total *first)
{
  LigDevice *device = lig_plan_get_device (total->plan);
  json_builder_begin_object (to);
  lig_json_add_text (to, "title", total->title);
  lig_json_add_text (to, "device", lig_device_get_name (device));
  lig_json_add_text (to, "device_name", lig_device_get_facts (device)->name);
  lig_json_add_text (to, "policy", lig_policy_name (lig_plan_get_policy (total->plan)));
  lig_json_add_truth (to, "tf32", lig_plan_get_tf32 (total->plan));
  lig_json_add_truth (to, "nondeterministic", lig_plan_get_nondeterministic (total->plan));
  lig_json_add_text (to, "compute", lig_dtype_name (lig_plan_get_compute (total->plan)));
  lig_json_add_text (to, "parameters", lig_plan_get_parameters_name (total->plan));
  add_figures (to, "step", &total->step);
  add_figures (to, "forward", &total->passes[LIG_PASS_FORWARD]);
  add_figures (to, "backward", &total->passes[LIG_PASS_BACKWARD]);
  add_figures (to, "update", &total->passes[LIG_PASS_UPDATE]);
  gboolean both = first->step.seconds > 0 && total->step.seconds > 0;
  lig_json_add_number (to, "speed", both ? first->step.seconds / total->step.seconds : NAN);
  lig_json_add_number (to, "memory_bytes", lig_plan_get_needed_memory (total->plan));
  lig_json_add_number (to, "device_memory_bytes", (double) lig_device_get_facts (device)->memory);
  lig_plan_add_memory (total->plan, NULL, to);
  lig_plan_add_ranks (total->plan, to);
  json_builder_end_object (to);
}

JsonNode *
lig_plans_totals_to_json (LigPlan *const *plans, const char *const *titles, guint count)
{
  g_return_val_if_fail (plans && titles && count > 0, NULL);
  g_autofree LigTimedPlan *list = list_plans (plans, count);
  g_autofree Total *totals = sum_up (list, titles, count);
  g_autoptr (JsonBuilder) to = json_builder_new ();
  json_builder_begin_object (to);
  lig_json_begin_array (to, "plans");
  for (guint i = 0; i < count; i++)
    add_total (to, &totals[i], totals);
  json_builder_end_array (to);
  json_builder_end_object (to);
  return json_builder_get_root (to);
}
