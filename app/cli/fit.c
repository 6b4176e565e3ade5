/* SPDX-License-Identifier: MIT */
/* lig fit: the largest batch and the longest context that fit a device, and the time per token. */
#include "app/cli/sequence-options.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include <ligature/capacity.h>
#include <ligature/plan-memory.h>
#include <ligature/units.h>

#include <math.h>

static int run (int argc, char **argv);

LIG_COMMAND (fit) = {
  .name = "fit",
  .usage = "P [--input I] [--device D] [--dtype T] [--recompute none|cheap|all] …",
  .summary = "Finds the largest batch and context that fit a device",
  .example = "lig fit 'layer-norm ! linear(3072) ! gelu' --input 2048x768 --device null:h200",
  .run = run,
  .pages = TRUE,
};

static const char *const titles[] = {"batch", "context"};

static char *
format (double value, char *(*text) (double) )
{
  return isnan (value) ? g_strdup ("–") : text (value);
}

static void
add_row (GPtrArray *rows, const LigCapacity *capacity, const LigCapacityPoint *point)
{
  gboolean largest = point->length == capacity->largest;
  GStrvBuilder *row = g_strv_builder_new ();
  g_autofree char *length = g_strdup_printf ("%" G_GINT64_FORMAT, point->length);
  g_autofree char *memory = lig_units_bytes (point->memory);
  g_autofree char *step = format (point->seconds, lig_units_time);
  g_autofree char *each = format (point->per_row, lig_units_time);
  g_autofree char *rate = format (1 / point->per_row, lig_units_count);
  g_autofree char *mfu =
    isnan (point->mfu) ? g_strdup ("–") : g_strdup_printf ("%.0f %%", 100 * point->mfu);
  const char *note = !point->fits                         ? "does not fit"
                     : largest                            ? "largest"
                     : point->length == capacity->present ? "current"
                                                          : "";
  g_strv_builder_add_many (row, length, memory, step, each, rate, mfu, note, NULL);
  g_ptr_array_add (rows, g_strv_builder_end (row));
  g_strv_builder_unref (row);
}

static void
print_capacity (const LigCapacity *self)
{
  const char *const header[] = {self->axis == LIG_CAPACITY_BATCH ? ">batch" : ">context",
                                ">memory",
                                ">step",
                                self->tokens ? ">per token" : ">per row",
                                self->tokens ? ">tokens/s" : ">rows/s",
                                ">MFU",
                                "",
                                NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < self->points->len; i++)
    add_row (rows, self, &g_array_index (self->points, LigCapacityPoint, i));
  if (self->largest == 0 && self->points->len > 0)
    lig_cli_print ("Even a %s of %" G_GINT64_FORMAT " is too large.", titles[self->axis],
                   g_array_index (self->points, LigCapacityPoint, 0).length);
  lig_cli_print_fitted (header, rows, lig_cli_text_width ());
  if (self->limit) {
    g_autofree char *text = g_strdup_printf ("A larger %s: %s", titles[self->axis], self->limit);
    lig_cli_print_wrapped (text, lig_cli_text_width ());
  }
}

static void
add_capacity (JsonBuilder *to, const LigCapacity *self)
{
  lig_json_begin_object (to, titles[self->axis]);
  lig_json_add_integer (to, "present", self->present);
  lig_json_add_integer (to, "largest", self->largest);
  lig_json_add_truth (to, "tokens", self->tokens);
  lig_json_add_text (to, "limit", self->limit);
  lig_json_begin_array (to, "points");
  for (guint i = 0; i < self->points->len; i++) {
    const LigCapacityPoint *point = &g_array_index (self->points, LigCapacityPoint, i);
    json_builder_begin_object (to);
    lig_json_add_integer (to, "length", point->length);
    lig_json_add_number (to, "microseconds", point->seconds * 1e6);
    lig_json_add_number (to, "row_microseconds", point->per_row * 1e6);
    lig_json_add_number (to, "mfu", point->mfu);
    lig_json_add_number (to, "memory_bytes", point->memory);
    lig_json_add_truth (to, "fits", point->fits);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
  json_builder_end_object (to);
}

static void
print_json (LigPlan *plan, LigCapacity *const *capacities)
{
  g_autoptr (JsonBuilder) to = json_builder_new ();
  json_builder_begin_object (to);
  lig_json_add_text (to, "device", lig_device_get_name (lig_plan_get_device (plan)));
  for (int axis = 0; axis < 2; axis++)
    if (capacities[axis])
      add_capacity (to, capacities[axis]);
  json_builder_end_object (to);
  lig_cli_print_document ("fit", json_builder_get_root (to));
}

static void
print_head (LigPlan *plan)
{
  LigPlanMemory memory;
  lig_plan_get_memory (plan, NULL, &memory);
  g_autofree char *total = lig_units_bytes (memory.total);
  const char *name = lig_device_get_name (lig_plan_get_device (plan));
  if (memory.total > 0)
    lig_cli_print ("%s with %s of memory; times are predicted", name, total);
  else
    lig_cli_print ("%s, whose memory is unknown; times are predicted", name);
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options, LIG_OPTION_PLAN | LIG_OPTION_RANKS | LIG_OPTION_SHARD, NULL);
  g_autoptr (GError) error = NULL;
  if (!lig_cli_parse (&lig_command_fit, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  g_autoptr (LigPlan) plan = lig_cli_compile (argv[1], &options, &error);
  if (!plan)
    return lig_cli_fail (g_steal_pointer (&error));
  LigCapacity *capacities[2] = {NULL, NULL};
  lig_cli_task_begin ("trying lengths");
  for (int axis = 0; axis < 2; axis++)
    capacities[axis] = lig_capacity_find (plan, (LigCapacityAxis) axis, NULL, NULL, NULL, NULL);
  lig_cli_task_end ();
  if (!capacities[0])
    return lig_cli_usage ("the input has no batch; give one with two or more axes by --input");
  if (lig_cli_json ())
    print_json (plan, capacities);
  else
    print_head (plan);
  for (int axis = 0; axis < 2; axis++) {
    if (capacities[axis] && !lig_cli_json ()) {
      lig_cli_print ("%s", "");
      print_capacity (capacities[axis]);
    }
    g_clear_pointer (&capacities[axis], lig_capacity_free);
  }
  return LIG_EXIT_OK;
}
