/* SPDX-License-Identifier: MIT */
/* Prints profiles: the comparison of their steps, and the groups of each by path. */
#include "app/cli/profile-text.h"

#include "app/cli/duration.h"
#include "app/cli/print.h"
#include "app/cli/table.h"
#include <ligature/columns.h>
#include <ligature/compile.h>
#include <ligature/hotspots.h>
#include <ligature/kernels.h>
#include <ligature/units.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The minimum widths for predictions next to the times of groups, for kernels next to the names of
 * groups, and for all figures of a step in one table. */
enum { WITH_PREDICTIONS = 80, WITH_KERNELS = 76, ONE_TABLE = 100 };

static GPtrArray *
new_rows (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
}

static char *
format_time (double seconds)
{
  return isfinite (seconds) ? lig_cli_format_time (seconds) : g_strdup ("-");
}

/* --- Groups -------------------------------------------------------------------------------- */

/* Groups that are equal in several repetitions of a block; their times are summed. */
typedef struct {
  char *pass, *label, *kernels;
  guint count;
  double predicted, floor, measured;
  double saved; /* NaN: unknown */
  gboolean saved_measured;
} Row;

static void
free_row (gpointer data)
{
  Row *row = data;
  g_free (row->pass);
  g_free (row->label);
  g_free (row->kernels);
  g_free (row);
}

/* Appends a path with `*` for the index of a repetition: `3.*.2` for `3.7.2`. */
static void
append_pattern (GString *to, const char *path)
{
  gboolean repetition = FALSE;
  for (; *path; path++) {
    if (!repetition)
      g_string_append_c (to, *path);
    else if (*path == '.')
      g_string_append (to, "*.");
    if (*path == '.')
      repetition = !repetition;
  }
}

static void
append_path (GString *to, const char *path, gboolean pattern)
{
  if (pattern)
    append_pattern (to, path);
  else
    g_string_append (to, path);
}

/* Returns `3–4 basic-linear + bias + gelu`, or for several repetitions `2.*.3 gelu`. */
static char *
name_group (LigPlan *plan, const LigPlanGroup *group, gboolean pattern)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count) + group->first;
  const char *last = ops[group->count - 1].path;
  const char *part = NULL;
  GString *text = g_string_new (NULL);
  append_path (text, ops[0].path, pattern);
  /* A macro may have several groups of the same ops, which differ in their first named part. */
  for (int i = 0; i < group->count && !part; i++) {
    part = lig_plan_op_get_part (&ops[i]);
    part = part && strcmp (part, ops[i].info->name) != 0 ? part : NULL;
  }
  if (part)
    g_string_append_printf (text, ".%s", part);
  if (strcmp (ops[0].path, last) != 0) {
    g_string_append (text, "–");
    append_path (text, last, pattern);
  }
  /* An implicit op inside a group only passes its values through. */
  for (int i = 0; i < group->count; i++)
    if (!ops[i].implicit || i == 0 || i == group->count - 1)
      g_string_append_printf (text, "%s%s", i > 0 ? " + " : " ", ops[i].info->name);
  return g_string_free (text, FALSE);
}

static char *
name_kernels (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GString *text = g_string_new (NULL);
  for (int i = 0; i < group->n_steps; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            steps[group->steps[i]].kernel ? steps[group->steps[i]].kernel->name
                                                          : "opaque");
  return g_string_free (text, FALSE);
}

/* Adds a group to the row of equal groups, or creates one. */
static void
add_group (GPtrArray *rows,
           GHashTable *known,
           const LigProfile *profile,
           const LigPlanGroup *group,
           const LigFigures *figures)
{
  g_autofree char *name = name_group (profile->plan, group, TRUE);
  g_autofree char *kernels = name_kernels (profile->plan, group);
  g_autofree char *key = g_strdup_printf ("%d|%s|%s", group->pass, name, kernels);
  Row *row = g_hash_table_lookup (known, key);
  if (!row) {
    row = g_new0 (Row, 1);
    row->pass = g_strdup (lig_pass_name (group->pass));
    row->label = name_group (profile->plan, group, FALSE);
    row->kernels = g_strdup (kernels);
    row->saved_measured = TRUE;
    g_ptr_array_add (rows, row);
    g_hash_table_insert (known, g_steal_pointer (&key), row);
  } else {
    g_free (row->label);
    row->label = g_strdup_printf ("%s × %u", name, row->count + 1);
  }
  row->count++;
  row->predicted += group->predicted;
  row->floor += group->floor;
  row->measured += lig_profile_get_group_seconds (profile, group);
  row->saved += group->fusion ? figures->saved_seconds : NAN;
  row->saved_measured = row->saved_measured && figures->saved_measured;
}

static GPtrArray *
list_groups (const LigProfile *profile, const LigProfile *alone)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (free_row);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (LigPlan) unfused =
    alone ? lig_plan_ref (alone->plan) : lig_plan_unfuse (profile->plan, NULL);
  const LigTimedPlan timed = {.plan = profile->plan, .steps = profile->steps};
  const LigTimedPlan baseline = {.plan = unfused, .steps = alone ? alone->steps : NULL};
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    guint count;
    const LigPlanGroup *groups = lig_plan_get_groups (profile->plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      LigFigures figures;
      if (groups[i].n_steps == 0)
        continue;
      lig_figures_of_group (&timed, unfused ? &baseline : NULL, &groups[i], &figures);
      add_group (rows, known, profile, &groups[i], &figures);
    }
  }
  return rows;
}

/* Seconds; shorter than any measurable kernel. */
#define MIN_SAVING 1e-12

/* Returns `3.50 µs`, with ≈ if it is predicted; nothing for an unfused op. */
static char *
format_saving (const Row *row)
{
  /* A rounding difference between equal predictions is not a saving. */
  if (!isfinite (row->saved) || fabs (row->saved) < MIN_SAVING)
    return g_strdup ("");
  g_autofree char *time = format_time (fabs (row->saved));
  return g_strconcat (row->saved_measured ? "" : "≈ ", row->saved < 0 ? "−" : "", time, NULL);
}

static gboolean
has_savings (GPtrArray *groups)
{
  for (guint i = 0; i < groups->len; i++)
    if (isfinite (((const Row *) groups->pdata[i])->saved))
      return TRUE;
  return FALSE;
}

static gboolean
has_room_for_kernels (GPtrArray *groups, int width)
{
  int widest = 0;
  for (guint i = 0; i < groups->len; i++)
    widest = MAX (widest, lig_columns_width (((const Row *) groups->pdata[i])->label));
  return widest + WITH_KERNELS <= width;
}

static char *
format_roofline (const LigProfile *profile, const Row *row)
{
  double roofline = lig_profile_get_roofline (profile, row->floor, row->measured);
  return isfinite (roofline) ? g_strdup_printf ("%.0f %%", 100 * roofline) : g_strdup ("-");
}

void
lig_cli_print_groups (const LigProfile *profile, const LigProfile *alone, int width)
{
  enum { PASS, GROUP, MEASURED, PREDICTED, ROOFLINE, SAVED, KERNELS, COLUMNS };
  static const char *const header[] = {"pass",      "group",  ">measured", ">predicted",
                                       ">roofline", ">saved", "~kernels"};
  g_autoptr (GPtrArray) groups = list_groups (profile, alone), rows = new_rows ();
  const gboolean shown[] = {TRUE,
                            TRUE,
                            TRUE,
                            width >= WITH_PREDICTIONS,
                            TRUE,
                            has_savings (groups),
                            has_room_for_kernels (groups, width)};
  const char *titles[COLUMNS + 1] = {NULL};
  for (int i = 0, n = 0; i < COLUMNS; i++)
    if (shown[i])
      titles[n++] = header[i];
  for (guint i = 0; i < groups->len; i++) {
    const Row *row = groups->pdata[i];
    char *cells[] = {g_strdup (row->pass),
                     g_strdup (row->label),
                     format_time (row->measured),
                     row->predicted > 0 ? format_time (row->predicted) : g_strdup ("-"),
                     format_roofline (profile, row),
                     format_saving (row),
                     g_strdup (row->kernels)};
    char **kept = g_new0 (char *, COLUMNS + 1);
    for (int k = 0, n = 0; k < COLUMNS; k++)
      if (shown[k])
        kept[n++] = cells[k];
      else
        g_free (cells[k]);
    g_ptr_array_add (rows, kept);
  }
  lig_cli_print_fitted (titles, rows, width);
}

void
lig_cli_print_hotspots (const LigProfile *profile, int width)
{
  static const char *const header[] = {"hotspots", ">time", "~passes", NULL};
  const LigTimedPlan timed = {.plan = profile->plan, .steps = profile->steps};
  LigFigures whole;
  g_autoptr (GPtrArray) list = lig_hotspot_list (&timed, NULL, LIG_HOTSPOT_NAMES);
  lig_hotspot_sum (list, &whole);
  g_autoptr (GPtrArray) rows = new_rows ();
  for (guint i = 0; i < list->len && whole.seconds > 0; i++) {
    const LigHotspot *hotspot = list->pdata[i];
    g_autofree char *detail = lig_hotspot_describe (hotspot);
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strdup (hotspot->name);
    cells[1] = lig_hotspot_share_text (&hotspot->figures, &whole);
    cells[2] = g_strdup (detail ? detail : "");
    g_ptr_array_add (rows, cells);
  }
  if (rows->len == 0)
    return;
  printf ("\n");
  lig_cli_print_fitted (header, rows, width);
}

/* --- Steps --------------------------------------------------------------------------------- */

/* Fills in the cells of a profile from `cell` on; returns the position after them. */
static char **
fill_times (const LigProfile *profile, gboolean by_recipe, char **cell)
{
  LigPlan *plan = profile->plan;
  *cell++ = g_strdup (by_recipe ? lig_plan_get_recipe (plan)
                                : lig_policy_name (lig_plan_get_policy (plan)));
  *cell++ = format_time (profile->step);
  *cell++ = format_time (profile->forward);
  *cell++ = format_time (profile->backward);
  *cell++ = format_time (profile->update);
  *cell++ = lig_units_bytes ((double) lig_plan_get_arena_bytes (plan, NULL) +
                             (double) lig_plan_get_state_bytes (plan));
  return cell;
}

static void
fill_spread (const LigProfile *profile, const LigProfile *first, char **cell)
{
  LigDifference difference;
  lig_spread_compare (&profile->step_spread, &first->step_spread, &difference);
  *cell++ = lig_cli_format_range (profile->step_spread.lower, profile->step_spread.upper);
  *cell++ = g_strdup_printf ("%u", profile->step_spread.count);
  *cell++ = profile == first ? g_strdup ("") : lig_difference_to_text (&difference);
}

void
lig_cli_print_profiles (GPtrArray *profiles, gboolean by_recipe, int width)
{
  const char *what = by_recipe ? "recipe" : "policy";
  /* A single plan has nothing to be compared with. */
  const char *compared = profiles->len > 1 ? "~vs. first" : NULL;
  const char *const all[] = {what,      ">step",      ">forward", ">backward", ">update",
                             ">memory", ">quartiles", ">steps",   compared,    NULL};
  const char *const times[] = {what, ">step", ">forward", ">backward", ">update", ">memory", NULL};
  const char *const spreads[] = {what, ">quartiles", ">steps", compared, NULL};
  g_autoptr (GPtrArray) rows = new_rows (), more = new_rows ();
  gboolean narrow = width < ONE_TABLE;
  for (guint i = 0; i < profiles->len; i++) {
    const LigProfile *profile = profiles->pdata[i];
    char **cells = g_new0 (char *, G_N_ELEMENTS (all));
    char **cell = fill_times (profile, by_recipe, cells);
    g_ptr_array_add (rows, cells);
    if (narrow) {
      cell = g_new0 (char *, G_N_ELEMENTS (spreads));
      g_ptr_array_add (more, cell);
      *cell++ = g_strdup (cells[0]);
    }
    fill_spread (profile, profiles->pdata[0], cell);
  }
  lig_cli_print_fitted (narrow ? times : all, rows, width);
  if (narrow)
    lig_cli_print_fitted (spreads, more, width);
}

/* --- The roofline -------------------------------------------------------------------------- */

static double
find_max_roofline (const LigProfile *profile)
{
  double max = 0;
  g_autoptr (GPtrArray) rows = list_groups (profile, NULL);
  for (guint i = 0; i < rows->len; i++) {
    const Row *row = rows->pdata[i];
    double roofline = lig_profile_get_roofline (profile, row->floor, row->measured);
    if (roofline > max)
      max = roofline;
  }
  return max;
}

void
lig_cli_explain_roofline (GPtrArray *profiles, int width)
{
  double max = 0;
  const LigProfile *first = profiles->pdata[0];
  LigDevice *device = lig_plan_get_device (first->plan);
  for (guint i = 0; i < profiles->len; i++)
    max = MAX (max, find_max_roofline (profiles->pdata[i]));
  if (max < 1.005)
    return;
  g_autofree char *text = g_strdup_printf (
    "A roofline above 100 %%: the peak rates of %s %s:", lig_device_get_name (device),
    lig_device_get_facts (device)->measured
      ? "were measured while it was slower, or small groups hit the cache. Measure them again"
      : "are assumed. Measure them");
  lig_cli_print_wrapped (text, width);
  lig_cli_print ("  lig devices --measure");
}

void
lig_cli_print_attention (int width)
{
  g_autoptr (GPtrArray) list = lig_profile_list_attention ();
  if (list->len > 0)
    printf ("\nAttention:\n");
  for (guint i = 0; i < list->len; i++) {
    const LigAttentionTimes *times = list->pdata[i];
    g_autofree char *sentence = lig_attention_times_describe (times);
    g_autofree char *name = lig_attention_times_name (times);
    g_autofree char *text = g_strdup_printf ("%s: %s", name, sentence);
    lig_cli_print_wrapped (text, width);
  }
}
