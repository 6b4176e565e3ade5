/* SPDX-License-Identifier: MIT */
/* `lig fuse --device A,B`: the plans for several devices next to each other. Two plans are compared
 * group by group, more than two by their totals. */
#include "app/cli/fuse-pair.h"

#include "app/cli/table.h"
#include <ligature/comparison.h>
#include <ligature/plan.h>
#include <ligature/report.h>

#include <stdio.h>

gboolean
lig_fuse_check_devices (GStrv devices, GError **error)
{
  for (guint i = 0; devices[i]; i++) {
    gboolean twice = FALSE;
    for (guint k = 0; k < i; k++)
      twice |= g_str_equal (devices[i], devices[k]);
    if (!*devices[i])
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--device lists an empty name; give names like null:a100,null:h200");
    else if (twice)
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--device lists %s twice; name different devices", devices[i]);
    else
      continue;
    return FALSE;
  }
  return TRUE;
}

/* Errors about a device already name it. */
static gboolean
names_no_device (const GError *error)
{
  return error->domain == LIG_ERROR && error->code != LIG_ERROR_DEVICE;
}

GPtrArray *
lig_fuse_compile_devices (LigSequence *sequence,
                          LigSequenceOptions *options,
                          GStrv devices,
                          GError **error)
{
  g_autoptr (GPtrArray) plans = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_plan_unref);
  char *list = options->device;
  for (char **device = devices; *device && plans->len == (guint) (device - devices); device++) {
    options->device = *device;
    LigPlan *plan = lig_cli_compile_sequence (sequence, options, error);
    if (plan)
      g_ptr_array_add (plans, plan);
    else if (plans->len > 0 && names_no_device (*error))
      g_prefix_error (error, "%s: ", *device);
  }
  options->device = list;
  return plans->len == g_strv_length (devices) ? g_steal_pointer (&plans) : NULL;
}

static void
print_pair (LigPlan *before, LigPlan *after, GStrv devices)
{
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (before, after);
  if (lig_cli_json ()) {
    lig_cli_print_document ("fuse-pair",
                            lig_plan_comparison_to_json (comparison, devices[0], devices[1]));
    return;
  }
  g_autofree char *text = lig_plan_comparison_to_text (comparison, devices[0], devices[1],
                                                       lig_cli_colour (), lig_cli_text_width ());
  fputs (text, stdout);
}

static void
print_totals (GPtrArray *plans, GStrv devices)
{
  LigPlan *const *list = (LigPlan *const *) plans->pdata;
  const char *const *titles = (const char *const *) devices;
  if (lig_cli_json ()) {
    lig_cli_print_document ("fuse-devices", lig_plans_totals_to_json (list, titles, plans->len));
    return;
  }
  g_autofree char *text =
    lig_plans_to_totals (list, titles, plans->len, lig_cli_colour (), lig_cli_text_width ());
  fputs (text, stdout);
}

int
lig_fuse_devices (LigSequence *sequence, LigSequenceOptions *options, GStrv devices)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) plans = lig_fuse_check_devices (devices, &error)
                                  ? lig_fuse_compile_devices (sequence, options, devices, &error)
                                  : NULL;
  if (!plans)
    return lig_cli_fail (error);
  if (plans->len == 2)
    print_pair (plans->pdata[0], plans->pdata[1], devices);
  else
    print_totals (plans, devices);
  for (guint i = 0; i < plans->len; i++)
    if (lig_cli_fit_code (plans->pdata[i], NULL) != LIG_EXIT_OK)
      return LIG_EXIT_FAILED;
  return LIG_EXIT_OK;
}
