/* SPDX-License-Identifier: MIT */
/* The result of a verification, as a table and as JSON. */
#include "app/cli/table.h"
#include "app/cli/verify.h"

#include <math.h>
#include <stdio.h>

/* Returns the error with two digits. */
static char *
format_error (double error)
{
  return isnan (error) ? g_strdup ("-") : g_strdup_printf ("%.1e", error);
}

static const char *
name_pass (const LigVerified *entry)
{
  return entry->pass == LIG_PASS_FORWARD  ? "forward"
         : entry->pass == LIG_PASS_UPDATE ? "update"
         : entry->again                   ? "again"
                                          : "backward";
}

/* --- The table ----------------------------------------------------------------------------- */

static void
add_row (GPtrArray *rows, const LigVerified *entry)
{
  g_autofree char *ops = entry->title ? g_strdup_printf ("%s %s", entry->path, entry->title) : NULL;
  char **cells = g_new0 (char *, 8);
  cells[0] = g_strdup (name_pass (entry));
  cells[1] = g_strdup (ops                               ? ops
                       : entry->pass == LIG_PASS_FORWARD ? "the whole plan"
                                                         : "parameters");
  cells[2] = g_strdup (entry->fusion ? entry->fusion : "");
  cells[3] = g_strdup (entry->value ? entry->value : "");
  cells[4] = format_error (entry->error);
  cells[5] = format_error (entry->rounding);
  cells[6] = g_strdup (entry->outside ? "OUTSIDE" : "");
  g_ptr_array_add (rows, cells);
}

/* Returns the result of a pass that is closest to its limit; null if there is none. */
static const LigVerified *
find_worst (const LigVerification *found, LigPass pass)
{
  const LigVerified *worst = NULL;
  for (guint i = 0; i < found->n_results; i++) {
    const LigVerified *entry = &found->results[i];
    if (entry->pass == pass &&
        (!worst || !(entry->error / entry->limit <= worst->error / worst->limit)))
      worst = entry;
  }
  return worst;
}

static void
print_table (LigPlan *plan, const LigVerification *found)
{
  static const char *const header[] = {"pass",   "<ops",      "<fusion", "<worst tensor",
                                       ">error", ">rounding", "",        NULL};
  int width = lig_cli_text_width ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_autofree char *text = lig_verification_explain (found);
  for (guint i = 0; i < found->n_groups; i++)
    add_row (rows, &found->groups[i]);
  for (int pass = LIG_PASS_FORWARD; pass <= (int) LIG_PASS_UPDATE; pass++) {
    const LigVerified *worst = find_worst (found, (LigPass) pass);
    if (worst)
      add_row (rows, worst);
  }
  lig_cli_print ("%s, %s:%s, recipe %s, policy %s, recompute %s",
                 lig_device_get_name (lig_plan_get_device (plan)),
                 lig_dtype_name (lig_plan_get_compute (plan)), lig_plan_get_parameters_name (plan),
                 lig_plan_get_recipe (plan), lig_policy_name (lig_plan_get_policy (plan)),
                 lig_recompute_name (lig_plan_get_recompute (plan)));
  printf ("\n");
  lig_cli_print_fitted (header, rows, width);
  printf ("\n");
  lig_cli_print_wrapped (text, width);
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_numbers (JsonBuilder *to, const LigVerified *entry)
{
  lig_json_add_text (to, "value", entry->value);
  lig_json_add_number (to, "error", entry->error);
  lig_json_add_number (to, "rounding", entry->rounding);
  lig_json_add_number (to, "limit", entry->limit);
  lig_json_add_number (to, "scale", entry->scale);
  lig_json_add_truth (to, "outside", entry->outside);
}

static void
add_groups (JsonBuilder *to, const LigVerification *found)
{
  lig_json_begin_array (to, "groups");
  for (guint i = 0; i < found->n_groups; i++) {
    const LigVerified *entry = &found->groups[i];
    json_builder_begin_object (to);
    lig_json_add_text (to, "pass", entry->again ? "backward" : name_pass (entry));
    lig_json_add_truth (to, "again", entry->again);
    lig_json_add_text (to, "fusion", entry->fusion);
    lig_json_begin_array (to, "ops");
    for (int k = 0; k < entry->count; k++)
      json_builder_add_int_value (to, entry->first + k);
    json_builder_end_array (to);
    lig_json_add_text (to, "path", entry->path);
    lig_json_add_text (to, "title", entry->title);
    add_numbers (to, entry);
    json_builder_end_object (to);
  }
  json_builder_end_array (to);
}

static void
print_json (LigPlan *plan, const LigVerification *found)
{
  g_autofree char *text = lig_verification_explain (found);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", lig_device_get_name (lig_plan_get_device (plan)));
  lig_json_add_text (builder, "compute", lig_dtype_name (lig_plan_get_compute (plan)));
  lig_json_add_text (builder, "parameters", lig_plan_get_parameters_name (plan));
  lig_json_add_text (builder, "recipe", lig_plan_get_recipe (plan));
  lig_json_add_text (builder, "policy", lig_policy_name (lig_plan_get_policy (plan)));
  lig_json_add_text (builder, "recompute", lig_recompute_name (lig_plan_get_recompute (plan)));
  lig_json_add_integer (builder, "batches", found->batches);
  lig_json_add_number (builder, "factor", LIG_VERIFICATION_FACTOR);
  lig_json_add_truth (builder, "inside", !found->outside);
  lig_json_add_text (builder, "text", text);
  add_groups (builder, found);
  lig_json_begin_array (builder, "results");
  for (guint i = 0; i < found->n_results; i++) {
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "pass", name_pass (&found->results[i]));
    lig_json_add_text (builder, "path", found->results[i].path);
    add_numbers (builder, &found->results[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("verify", json_builder_get_root (builder));
}

void
lig_cli_print_verification (LigPlan *plan, const LigVerification *found)
{
  if (lig_cli_json ())
    print_json (plan, found);
  else
    print_table (plan, found);
}
