/* SPDX-License-Identifier: MIT */
/* The effects of any switch of fuse, plan and train. */
#pragma once

#include "tests/cli/case.h"

/* Checks that plans with the options report that the switch is on or off. */
static inline void
check_plans (const char *name, const char *options, gboolean on)
{
  static const char *const commands[] = {"fuse", "plan"};
  for (guint k = 0; k < G_N_ELEMENTS (commands); k++) {
    g_autofree char *line = g_strdup_printf (
      "lig %s 'linear(2)' %s --input 4x8 --device null:h200 --json", commands[k], options);
    g_auto (Outcome) plan = shell (line);
    g_assert_cmpint (plan.code, ==, 0);
    g_assert_cmpint (json_node_get_boolean (at (plan.json, name)), ==, on);
  }
}

/* Writes the file `file` and checks that its value applies to runs unless the command line
 * overrides it. */
static inline void
check_runs (const char *name, const char *file)
{
  g_autofree char *path = in_folder (file), *off = g_strconcat ("--no-", name, NULL);
  g_autofree char *setting = g_strconcat ("settings.", name, NULL);
  g_autofree char *text = g_strdup_printf (
    "{\"ligature\": 1, \"input\": {\"shape\": [4, 2]}, \"ops\": [{\"op\": \"linear\", "
    "\"out-features\": 2}, {\"op\": \"mean-squared-error\"}], \"train\": {\"data\": "
    "\"synthetic\", \"steps\": 1, \"%s\": 1}}",
    name);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  for (guint i = 0; i < 2; i++) {
    g_auto (Outcome) trained = lig ("train", file, "--device", "cpu", i ? off : NULL, NULL);
    g_assert_cmpint (trained.code, ==, 0);
    g_auto (Outcome) shown = lig ("runs", "show", "last", "--json", NULL);
    g_assert_cmpint (int_at (shown.json, setting), ==, !i);
  }
}
