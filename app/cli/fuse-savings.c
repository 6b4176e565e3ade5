/* SPDX-License-Identifier: MIT */
/* `lig fuse --savings`: the changes that would save time or memory, with both figures. */
#include "app/cli/fuse-savings.h"

#include "app/cli/command.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include <ligature/figures.h>
#include <ligature/plan-memory.h>
#include <ligature/savings.h>
#include <ligature/tuning.h>
#include <ligature/units.h>

#include <math.h>

static void
print_head (LigPlan *plan)
{
  LigFigures step;
  LigUse use;
  const LigTimedPlan timed = {.plan = plan};
  lig_figures_of_step (&timed, NULL, &step);
  lig_figures_of_use (plan, &step, &use);
  g_autofree char *time = lig_figures_time_text (&step);
  g_autofree char *rate = lig_figures_use_text (&use);
  g_autofree char *memory = lig_units_bytes (lig_plan_get_needed_memory (plan));
  lig_cli_print ("%s: step %s, %s%s%s", lig_device_get_name (lig_plan_get_device (plan)),
                 time ? time : "–", memory, rate ? ", " : "", rate ? rate : "");
}

/* Returns the option of `lig fuse` that makes the change. */
static char *
make_option (LigPlan *plan, const LigSaving *saving)
{
  LigShape shape;
  LigDtype dtype;
  if (saving->kind == LIG_SAVING_FIX)
    return g_strconcat ("--apply-fix ", saving->value, NULL);
  if (saving->kind == LIG_SAVING_SHARD)
    return g_strdup ("--shard-optimizer");
  if (saving->kind != LIG_SAVING_BATCH)
    return g_strdup_printf ("--%s %s", lig_saving_kind_name (saving->kind), saving->value);
  lig_sequence_get_input (lig_plan_get_sequence (plan), &shape, &dtype);
  shape.axes[0] = g_ascii_strtoll (saving->value, NULL, 10);
  g_autofree char *axes = lig_shape_to_string (&shape);
  return g_strdup_printf ("--input %s:%s", axes, lig_dtype_name (dtype));
}

static void
print_table (LigPlan *plan, GPtrArray *savings)
{
  const char *const header[] = {">time", ">memory", "option", "~change", NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < savings->len; i++) {
    const LigSaving *saving = savings->pdata[i];
    GStrvBuilder *row = g_strv_builder_new ();
    g_autofree char *option = make_option (plan, saving);
    g_autofree char *time = lig_saving_time_text (saving);
    g_autofree char *memory = lig_saving_memory_text (saving);
    g_autofree char *change = saving->detail
                                ? g_strdup_printf ("%s (%s)", saving->title, saving->detail)
                                : g_strdup (saving->title);
    g_strv_builder_add_many (row, time, memory, option, change, NULL);
    g_ptr_array_add (rows, g_strv_builder_end (row));
    g_strv_builder_unref (row);
  }
  lig_cli_print_fitted (header, rows, lig_cli_text_width ());
}

static JsonNode *
to_json (LigPlan *plan, GPtrArray *savings)
{
  LigFigures step;
  g_autoptr (JsonBuilder) to = json_builder_new ();
  lig_figures_of_step (&(LigTimedPlan){.plan = plan}, NULL, &step);
  json_builder_begin_object (to);
  lig_json_add_text (to, "device", lig_device_get_name (lig_plan_get_device (plan)));
  lig_json_add_number (to, "microseconds", step.seconds * 1e6);
  lig_json_add_number (to, "memory_bytes", lig_plan_get_needed_memory (plan));
  lig_json_begin_array (to, "savings");
  for (guint i = 0; i < savings->len; i++) {
    const LigSaving *saving = savings->pdata[i];
    g_autofree char *option = make_option (plan, saving);
    json_builder_begin_object (to);
    lig_json_add_text (to, "kind", lig_saving_kind_name (saving->kind));
    lig_json_add_text (to, "text", saving->title);
    lig_json_add_text (to, "detail", saving->detail);
    lig_json_add_text (to, "option", option);
    lig_json_add_number (to, "microseconds", saving->seconds * 1e6);
    lig_json_add_number (to, "memory_bytes", saving->memory);
    lig_json_add_number (to, "step_microseconds", saving->step * 1e6);
    lig_json_add_number (to, "needed_bytes", saving->needed);
    lig_json_add_truth (to, "measured", saving->measured);
    lig_json_add_truth (to, "fits", saving->fits);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
  json_builder_end_object (to);
  return json_builder_get_root (to);
}

void
lig_fuse_savings (LigPlan *plan, const LigSequenceOptions *options)
{
  LigTuning tuning;
  LigStore *store = lig_cli_open_times (options, &tuning);
  lig_cli_task_begin ("trying changes");
  g_autoptr (GPtrArray) savings = lig_saving_list (plan, NULL, &tuning, NULL);
  lig_cli_task_end ();
  g_clear_object (&store);
  if (lig_cli_json ()) {
    lig_cli_print_document ("fuse-savings", to_json (plan, savings));
    return;
  }
  print_head (plan);
  if (savings->len > 0)
    print_table (plan, savings);
  else
    lig_cli_print ("No other fusion, recipe, policy or recomputation saves time or memory.");
}
