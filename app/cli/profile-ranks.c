/* SPDX-License-Identifier: MIT */
/* Profiles of several ranks: the device of each, and the waiting times that all of them
 * measured. */
#include "app/cli/profile-ranks.h"

#include "app/cli/blame.h"
#include "app/cli/duration.h"
#include "app/cli/rank-device.h"
#include "app/cli/rank.h"
#include "app/cli/table.h"
#include <ligature/kernels.h>
#include <ligature/plan-options.h>
#include <ligature/units.h>

#include <stdio.h>
#include <string.h>

LigDevice *
lig_cli_open_profile_device (const LigSequenceOptions *options,
                             const char *parallel,
                             LigSequence *sequence,
                             GArray *plans,
                             GError **error)
{
  LigPlanOptions sharded = LIG_PLAN_OPTIONS_INIT;
  if (!lig_cli_rank_get ())
    return lig_cli_open_device (options, error);
  g_autoptr (LigDevice) device = lig_cli_open_sharded_device (options->device, parallel, error);
  if (!device)
    return NULL;
  if (!lig_plan_options_shard (&sharded, sequence, lig_device_get_layout (device), error)) {
    lig_cli_blame (error, "ranks");
    return NULL;
  }
  for (guint i = 0; i < plans->len; i++)
    g_array_index (plans, LigPlanOptions, i).batch = sharded.batch;
  return g_steal_pointer (&device);
}

/* --- Text ---------------------------------------------------------------------------------- */

/* Collectives of the same kernel, pass and size, as the layers of a model have. */
typedef struct {
  const LigPlanStep *step;
  const char *path; /* of the first; or null */
  double bytes;     /* of each */
  guint count;
  double seconds, exposed, imbalance; /* of all */
} Row;

static Row *
find_row (GArray *rows, const LigPlanStep *step)
{
  double bytes = MAX (step->read, step->written);
  for (guint i = 0; i < rows->len; i++) {
    Row *row = &g_array_index (rows, Row, i);
    if (row->step->kernel == step->kernel && row->step->pass == step->pass && row->bytes == bytes &&
        (row->step->part < 0) == (step->part < 0))
      return row;
  }
  const Row row = {.step = step, .bytes = bytes};
  g_array_append_val (rows, row);
  return &g_array_index (rows, Row, rows->len - 1);
}

static GArray *
list_rows (const LigProfile *profile)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (profile->plan, &count);
  const LigPlanStep *steps = lig_plan_get_steps (profile->plan, &count);
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (Row));
  for (guint i = 0; i < profile->ranks->n_collectives; i++) {
    const LigProfileCollective *collective = &profile->ranks->collectives[i];
    const LigPlanStep *step = &steps[collective->step];
    Row *row = find_row (rows, step);
    if (row->count++ == 0)
      row->path = step->part >= 0 ? ops[step->part].path : NULL;
    row->seconds += collective->seconds;
    row->exposed += collective->exposed;
    row->imbalance += collective->imbalance;
  }
  return rows;
}

/* Returns `all_reduce at 0.qkv × 12`. Collectives without an op are those of parameters and their
 * gradients. */
static char *
name_row (const Row *row)
{
  const char *what = row->path                            ? row->path
                     : row->step->pass == LIG_PASS_UPDATE ? "the update"
                                                          : "gradients";
  GString *text = g_string_new (row->step->kernel->name);
  g_string_append_printf (text, " %s %s", row->path ? "at" : "of", what);
  if (row->count > 1)
    g_string_append_printf (text, " × %u", row->count);
  return g_string_free (text, FALSE);
}

void
lig_cli_print_collectives (const LigProfile *profile, int width)
{
  static const char *const header[] = {"pass",   "collective", ">bytes", ">time",
                                       ">waits", ">imbalance", NULL};
  if (!profile->ranks)
    return;
  g_autofree char *exposed = lig_cli_format_time (profile->ranks->exposed);
  g_autofree char *imbalance = lig_cli_format_time (profile->ranks->imbalance);
  g_autofree char *text = g_strdup_printf (
    "Collectives among ranks 0 to %d: other work waits %s per step for them, %.0f %% of it; rank "
    "%d is the slowest, the others wait %s for it",
    profile->ranks->count - 1, exposed, 100 * profile->ranks->exposed / profile->step,
    profile->ranks->slowest, imbalance);
  printf ("\n");
  lig_cli_print_wrapped (text, width);
  g_autoptr (GArray) list = list_rows (profile);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < list->len; i++) {
    const Row *row = &g_array_index (list, Row, i);
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strdup (lig_pass_name (row->step->pass));
    cells[1] = name_row (row);
    cells[2] = lig_units_bytes (row->bytes * row->count);
    cells[3] = lig_cli_format_time (row->seconds);
    cells[4] = lig_cli_format_time (row->exposed);
    cells[5] = lig_cli_format_time (row->imbalance);
    g_ptr_array_add (rows, cells);
  }
  lig_cli_print_fitted (header, rows, width);
}
