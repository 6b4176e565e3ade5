/* SPDX-License-Identifier: MIT */
/* Groups as rows with their figures. */
#include "engine/draw/timed.h"
#include <ligature/draw.h>
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

static void
free_row (gpointer data)
{
  LigTimedRow *row = data;
  g_free (row->name);
  g_free (row->path);
  g_free (row);
}

double
lig_timed_hold (double seconds)
{
  return seconds > 1e-15 ? MIN (seconds, 1e15) : 0;
}

double
lig_timed_step (const LigTimedPlan *timed, guint step)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (timed->plan, &count);
  return lig_timed_hold (timed->steps ? timed->steps[step] : steps[step].predicted);
}

double
lig_timed_place (const LigTimedPlan *timed, GArray *spans)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (timed->plan, &count);
  double ends[LIG_N_LANES] = {0}, end = 0;
  gboolean collectives = FALSE;
  for (guint i = 0; i < count; i++)
    collectives |= !timed->steps && steps[i].lane == LIG_LANE_COMMUNICATION;
  for (guint i = 0; i < count; i++) {
    double seconds = MAX (lig_timed_step (timed, i), 0);
    double *now = &ends[LIG_LANE_MAIN], *lane = &ends[steps[i].lane];
    /* The update waits for all gradients. */
    if (steps[i].pass == LIG_PASS_UPDATE)
      *now = end;
    LigTimedSpan span = {MAX (*now, *lane), seconds, i, steps[i].lane};
    /* Predictions include the overlap of collectives with other steps. */
    if (collectives) {
      span.start = lig_timed_hold (steps[i].starts);
      span.seconds = lig_timed_hold (steps[i].lasts);
    }
    *lane = span.start + span.seconds;
    end = MAX (end, *lane);
    g_array_append_val (spans, span);
  }
  return end;
}

const char *
lig_timed_nothing_known (void)
{
  return _ ("not measured, and the peak rates of the device are unknown");
}

gboolean
lig_timed_is_predicted (const LigTimedPlan *timed)
{
  return lig_device_get_facts (lig_plan_get_device (timed->plan))->copy > 0;
}

double
lig_timed_row_seconds (const LigTimedRow *row)
{
  return row->measured > 0 ? row->measured : row->predicted;
}

/* Appends a path without repetition numbers: `3.0.2` and `3.7.2` are both `3.*.2`. */
static void
append_place (GString *key, const char *path)
{
  g_auto (GStrv) parts = g_strsplit (path, ".", -1);
  for (guint i = 0; parts[i]; i++)
    g_string_append_printf (key, ".%s", i % 2 == 1 ? "*" : parts[i]);
}

static char *
make_key (LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  GString *key = g_string_new (group->fusion ? group->fusion->name : ops[group->first].info->name);
  append_place (key, ops[group->first].path);
  append_place (key, ops[group->first + group->count - 1].path);
  g_string_append_printf (key, " %d", group->count);
  return g_string_free (key, FALSE);
}

static LigTimedRow *
find_row (GPtrArray *rows, GHashTable *known, LigPlan *plan, const LigPlanGroup *group)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_autofree char *key = make_key (plan, group);
  LigTimedRow *row = g_hash_table_lookup (known, key);
  if (row)
    return row;
  row = g_new0 (LigTimedRow, 1);
  row->name = g_strdup (group->title);
  row->path = g_strdup (ops[group->first].path);
  row->fusion = group->fusion;
  row->pass = group->pass;
  row->first = group->first;
  row->count = group->count;
  g_hash_table_insert (known, g_steal_pointer (&key), row);
  g_ptr_array_add (rows, row);
  return row;
}

static void
add_groups (GPtrArray *rows, const LigTimedPlan *timed, LigPass pass)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (timed->plan, pass, &count);
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < count; i++) {
    if (groups[i].n_steps == 0)
      continue;
    LigTimedRow *row = find_row (rows, known, timed->plan, &groups[i]);
    row->repeats++;
    row->bytes += groups[i].bytes;
    row->flops += groups[i].flops;
    row->predicted += lig_timed_hold (groups[i].predicted);
    row->floor += lig_timed_hold (groups[i].floor);
    for (int j = 0; timed->steps && j < groups[i].n_steps; j++)
      row->measured += lig_timed_hold (timed->steps[groups[i].steps[j]]);
  }
}

/* Adds the steps that belong to no group as one row: the update, conversions of parameters,
 * gradient collectives. */
static void
add_others (GPtrArray *rows, const LigTimedPlan *timed, LigPass pass)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (timed->plan, &count);
  g_autoptr (GPtrArray) kernels = g_ptr_array_new ();
  LigTimedRow *row = g_new0 (LigTimedRow, 1);
  row->pass = pass;
  row->repeats = 1;
  for (guint i = 0; i < count; i++) {
    if (steps[i].pass != pass || steps[i].group >= 0)
      continue;
    const char *kernel = steps[i].kernel ? steps[i].kernel->name : NULL;
    if (kernel && !g_ptr_array_find_with_equal_func (kernels, kernel, g_str_equal, NULL))
      g_ptr_array_add (kernels, (gpointer) kernel);
    row->bytes += steps[i].read + steps[i].written;
    row->flops += steps[i].flops;
    row->predicted += lig_timed_hold (steps[i].predicted);
    row->floor += lig_timed_hold (steps[i].floor);
    row->measured += timed->steps ? lig_timed_hold (timed->steps[i]) : 0;
  }
  if (kernels->len == 0) {
    free_row (row);
    return;
  }
  g_ptr_array_add (kernels, NULL);
  g_autofree char *names = g_strjoinv (", ", (char **) kernels->pdata);
  row->name = pass == LIG_PASS_UPDATE ? g_strdup (_ ("Optimizer"))
                                      : g_strdup_printf (_ ("Outside of groups: %s"), names);
  g_ptr_array_add (rows, row);
}

GPtrArray *
lig_timed_rows (const LigTimedPlan *timed, LigPass pass)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (free_row);
  if (pass != LIG_PASS_UPDATE)
    add_groups (rows, timed, pass);
  add_others (rows, timed, pass);
  return rows;
}

const char *
lig_timed_pass_title (LigPass pass)
{
  return pass == LIG_PASS_FORWARD    ? _ ("Forward")
         : pass == LIG_PASS_BACKWARD ? _ ("Backward")
                                     : _ ("Update");
}

char *
lig_draw_rate (double flops)
{
  g_autofree char *number = NULL;
  static const char *const units[] = {"", "k", "M", "G", "T", "P"};
  guint unit = 0;
  while (unit + 1 < G_N_ELEMENTS (units) && flops >= 999.5) {
    flops /= 1000;
    unit++;
  }
  number = lig_draw_number (flops, 3);
  return g_strdup_printf ("%s %sFLOP/s", number, units[unit]);
}

char *
lig_timed_describe (const LigTimedRow *row)
{
  GString *text = g_string_new (row->name);
  g_autofree char *predicted = lig_draw_time (row->predicted);
  g_autofree char *measured = lig_draw_time (row->measured);
  g_autofree char *bytes = lig_draw_bytes (row->bytes);
  g_string_append_printf (text, " · %s", lig_timed_pass_title (row->pass));
  if (row->path)
    g_string_append_printf (text, _ (" at %s"), row->path);
  if (row->repeats > 1)
    g_string_append_printf (text, " × %d", row->repeats);
  if (row->fusion)
    g_string_append_printf (text, _ ("\nfused: %s"), row->fusion->name);
  if (row->measured > 0 && row->predicted > 0)
    g_string_append_printf (text, _ ("\nmeasured %s, predicted %s: %.0f %% of the roofline"),
                            measured, predicted, 100 * row->floor / row->measured);
  else if (row->measured > 0)
    g_string_append_printf (text, _ ("\nmeasured %s"), measured);
  else if (row->predicted > 0)
    g_string_append_printf (text, _ ("\npredicted %s, not measured"), predicted);
  g_string_append_printf (text, _ ("\n%s moved"), bytes);
  if (row->flops > 0 && lig_timed_row_seconds (row) > 0) {
    g_autofree char *rate = lig_draw_rate (row->flops / lig_timed_row_seconds (row));
    g_string_append_printf (text, ", %s", rate);
  }
  return g_string_free (text, FALSE);
}

double
lig_timed_tick (double max, int wanted)
{
  if (!(max > 1e-300 && max < 1e300))
    return 1;
  double rough = max / MAX (wanted, 1), power = pow (10, floor (log10 (rough)));
  double digit = rough / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}
