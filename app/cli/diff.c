/* SPDX-License-Identifier: MIT */
/* lig diff: two sequences, runs or profiles, or one with two values of an option: rows, groups,
 * times, memory. */
#include "app/cli/document.h"
#include "app/cli/find-run.h"
#include "app/cli/model.h"
#include "app/cli/output-file.h"
#include "app/cli/report-output.h"
#include "app/cli/runs-compare-text.h"
#include "app/cli/say.h"
#include "app/cli/sequence-options.h"
#include "app/cli/table.h"
#include "app/cli/task.h"
#include <ligature/comparison.h>
#include <ligature/plan.h>
#include <ligature/recipe.h>
#include <ligature/recorded-times.h>
#include <ligature/report.h>
#include <ligature/store-select.h>

#include <stdio.h>
#include <string.h>

static int run (int argc, char **argv);
static void append_notes (GString *to);

LIG_COMMAND (diff) = {
  .name = "diff",
  .usage = "P|RUN [P|RUN] [--device D] [--recompute none,all] [-o FILE.FORMAT] …",
  .summary = "Compares two sequences, runs or profiles: rows, times, memory",
  .example =
    "lig diff 'linear(3072) ! gelu' 'linear(4096) ! relu' --input 2048x768 --device null:h200",
  .run = run,
  .notes = append_notes,
  .pages = TRUE,
  .pairs = TRUE,
};

static void
append_notes (GString *to)
{
  g_string_append (
    to, "--device, --dtype, --policy, --recipe and --recompute may have two values, A,B: one for "
        "each side. With such a list the second sequence may be omitted. Runs bring their own "
        "types, policy and recomputation; for two runs, their settings and results are compared "
        "too. Profiles bring their plans and measured times; whether two of them differ is judged "
        "by the spread of their steps.\n\n");
}

/* --- Sides --------------------------------------------------------------------------------- */

/* The options that may differ between the sides. */
typedef struct {
  const char *name;
  gsize offset;
  char **values; /* (nullable): one for each side */
} Split;

static char **
get_field (LigSequenceOptions *options, const Split *split)
{
  return G_STRUCT_MEMBER_P (options, split->offset);
}

/* Splits values that are lists of two. Returns FALSE with an error set. */
static gboolean
split_values (LigSequenceOptions *options, Split *splits, guint count, GError **error)
{
  for (guint i = 0; i < count; i++) {
    const char *value = *get_field (options, &splits[i]);
    if (!value || !strchr (value, ','))
      continue;
    g_auto (GStrv) list = g_str_equal (splits[i].name, "recipe") ? lig_recipe_split (value)
                                                                 : g_strsplit (value, ",", -1);
    guint length = g_strv_length (list);
    if (length > 2 || (length == 2 && (!*list[0] || !*list[1]))) {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                   "--%s is '%s', expected one value, or two separated by a comma", splits[i].name,
                   value);
      return FALSE;
    }
    if (length == 2)
      splits[i].values = g_steal_pointer (&list);
  }
  return TRUE;
}

static void
free_splits (Split *splits, guint count)
{
  for (guint i = 0; i < count; i++)
    g_clear_pointer (&splits[i].values, g_strfreev);
}

/* Sets an option that the user did not give to the run's value. */
static void
take_setting (char **option, const char *value)
{
  if (!*option && value && *value)
    *option = g_strdup (value);
}

static LigPlan *
compile_run (const char *text, LigSequenceOptions *options, GError **error)
{
  g_auto (LigCliModel) model = {0};
  char *own[] = {options->dtype, options->policy, options->recompute};
  if (!lig_cli_open_model (text, NULL, options, &model, error))
    return NULL;
  if (model.settings.batch > 0)
    lig_sequence_set_batch (model.sequence, model.settings.batch);
  if (!lig_cli_adjust_sequence (model.sequence, options, error))
    return NULL;
  take_setting (&options->dtype, model.settings.dtype);
  take_setting (&options->policy, model.settings.policy);
  take_setting (&options->recompute, model.settings.recompute);
  LigPlan *plan = lig_cli_compile_sequence (model.sequence, options, error);
  char **fields[] = {&options->dtype, &options->policy, &options->recompute};
  for (guint i = 0; i < G_N_ELEMENTS (own); i++) {
    if (*fields[i] != own[i])
      g_free (*fields[i]);
    *fields[i] = own[i];
  }
  return plan;
}

/* Returns the profile that a word selects, or NULL. */
static LigRunRow *
find_profile (const char *text, const char *path)
{
  g_autoptr (LigStore) store =
    lig_cli_is_run (text, path) ? lig_store_open_existing (path, LIG_STORE_READ, NULL) : NULL;
  g_autoptr (LigRunRow) row = store ? lig_store_select_run (store, text, NULL, NULL, NULL) : NULL;
  return row && g_str_equal (row->kind, "profile") ? g_steal_pointer (&row) : NULL;
}

/* Reads the plan and the times of a profile, and prints on which device the plan was compiled if
 * that is not the profile's own. */
static LigRecordedTimes *
read_profile (const LigRunRow *row, const char *path, GError **error)
{
  g_autoptr (LigStore) store = lig_store_open_existing (path, LIG_STORE_READ, error);
  LigRecordedTimes *times = store ? lig_recorded_times_read (store, row->uuid, error) : NULL;
  const char *device = times ? lig_device_get_name (lig_plan_get_device (times->plan)) : NULL;
  if (times && times->note && !g_str_equal (device, row->device))
    lig_cli_say ("profile %.8s: %s", row->uuid, times->note);
  return times;
}

/* One side of the comparison: a plan, with the times of a profile. */
typedef struct {
  LigPlan *plan;
  LigRecordedTimes *times; /* (nullable) */
} Side;

static void
clear_side (Side *side)
{
  g_clear_pointer (&side->plan, lig_plan_unref);
  g_clear_pointer (&side->times, lig_recorded_times_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Side, clear_side)

static LigTimedPlan
get_timed (const Side *side)
{
  LigTimedPlan timed = {.plan = side->plan};
  if (side->times)
    lig_recorded_times_get (side->times, &timed);
  return timed;
}

static gboolean
compile_side (const char *text, LigSequenceOptions *options, Side *side, GError **error)
{
  g_autoptr (LigRunRow) profile = find_profile (text, options->store);
  if (profile)
    side->times = read_profile (profile, options->store, error);
  else if (lig_cli_is_run (text, options->store))
    side->plan = compile_run (text, options, error);
  else
    side->plan = lig_cli_compile (text, options, error);
  if (side->times)
    side->plan = lig_plan_ref (side->times->plan);
  return side->plan != NULL;
}

/* Compiles one side with its values of the options. Returns FALSE with an error set. */
static gboolean
compile_with (const char *text,
              LigSequenceOptions *options,
              const Split *splits,
              guint count,
              guint number,
              Side *side,
              GError **error)
{
  g_autofree char **kept = g_new0 (char *, count);
  for (guint i = 0; i < count; i++) {
    char **field = get_field (options, &splits[i]);
    kept[i] = *field;
    if (splits[i].values)
      *field = splits[i].values[number];
  }
  gboolean fine = compile_side (text, options, side, error);
  for (guint i = 0; i < count; i++)
    *get_field (options, &splits[i]) = kept[i];
  return fine;
}

/* Returns a short title of a side, what distinguishes it from the other one. The first option is
 * the device, whose values name themselves. */
static char *
make_title (char *const texts[2], const Split *splits, guint count, guint side)
{
  g_autoptr (GString) title = g_string_new (NULL);
  if (!g_str_equal (texts[0], texts[1])) {
    g_autofree char *base = g_str_has_suffix (texts[side], ".lig")
                              ? g_path_get_basename (texts[side])
                              : g_strdup (texts[side]);
    g_string_append (title, base);
  }
  for (guint i = 0; i < count; i++)
    if (splits[i].values)
      g_string_append_printf (title, "%s%s%s%s", title->len > 0 ? ", " : "",
                              i > 0 ? splits[i].name : "", i > 0 ? " " : "",
                              splits[i].values[side]);
  return g_strdup (title->len > 0 ? title->str : side ? "after" : "before");
}

/* --- Output -------------------------------------------------------------------------------- */

/* Prints the settings and results of two runs. */
static gboolean
print_runs (char *const texts[2], const char *path, GError **error)
{
  g_autoptr (LigStore) store = lig_store_open_existing (path, LIG_STORE_READ, error);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  for (guint i = 0; store && i < 2; i++) {
    LigRunRow *row = lig_cli_find_run (store, texts[i], NULL, error);
    if (!row)
      return FALSE;
    g_ptr_array_add (rows, row);
  }
  g_autoptr (LigRunsComparison) runs = store ? lig_runs_comparison_new (store, rows, error) : NULL;
  if (!runs)
    return FALSE;
  lig_runs_print_comparison (runs);
  lig_cli_print ("%s", "");
  return TRUE;
}

static void
print_plans (LigPlanComparison *comparison, char *const titles[2])
{
  if (lig_cli_json ()) {
    lig_cli_print_document ("fuse-pair",
                            lig_plan_comparison_to_json (comparison, titles[0], titles[1]));
    return;
  }
  g_autofree char *text = lig_plan_comparison_to_text (comparison, titles[0], titles[1],
                                                       lig_cli_colour (), lig_cli_text_width ());
  fputs (text, stdout);
}

static int
write_report (LigPlanComparison *comparison,
              char *const titles[2],
              const char *output,
              const char *format)
{
  GError *error = NULL;
  lig_cli_task_begin ("making the report");
  g_autoptr (GBytes) report =
    lig_report_comparison (comparison, titles[0], titles[1], format, &error);
  lig_cli_task_end ();
  return report ? lig_cli_report_write (report, output, format) : lig_cli_fail (error);
}

/* --- The command --------------------------------------------------------------------------- */

static int
compare (char *const texts[2],
         LigSequenceOptions *options,
         const Split *splits,
         guint count,
         const char *output,
         const char *format)
{
  GError *error = NULL;
  g_auto (Side) before = {0}, after = {0};
  if (!compile_with (texts[0], options, splits, count, 0, &before, &error) ||
      !compile_with (texts[1], options, splits, count, 1, &after, &error)) {
    lig_cli_blame_name (&error, texts[before.plan != NULL]);
    return lig_cli_fail (error);
  }
  const LigTimedPlan timed[] = {get_timed (&before), get_timed (&after)};
  g_autofree char *first = make_title (texts, splits, count, 0);
  g_autofree char *second = make_title (texts, splits, count, 1);
  char *const titles[] = {first, second};
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare_timed (&timed[0], &timed[1]);
  if (output)
    return write_report (comparison, titles, output, format);
  gboolean runs = lig_cli_is_run (texts[0], options->store) &&
                  lig_cli_is_run (texts[1], options->store) && !g_str_equal (texts[0], texts[1]);
  if (runs && !lig_cli_json () && !print_runs (texts, options->store, &error))
    return lig_cli_fail (error);
  print_plans (comparison, titles);
  int code = lig_cli_fit_code (before.plan, NULL);
  return code != LIG_EXIT_OK ? code : lig_cli_fit_code (after.plan, NULL);
}

/* Returns the name of an option that the user gave and that a profile cannot have, or NULL. */
static const char *
find_plan_option (const LigSequenceOptions *options)
{
  const struct {
    const char *name;
    gboolean given;
  } all[] = {
    {"device", options->device != NULL},
    {"input", options->input != NULL},
    {"batch", options->batch != 0},
    {"dtype", options->dtype != NULL},
    {"policy", options->policy != NULL},
    {"recipe", options->recipe != NULL},
    {"recompute", options->recompute != NULL},
    {"forbid", options->forbid != NULL},
    {"force", options->force != NULL},
    {"fence", options->fence != NULL},
    {"eval", options->eval},
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    if (all[i].given)
      return all[i].name;
  return NULL;
}

/* Returns the reason why the command line cannot be used, or NULL; (transfer full). */
static char *
find_misuse (int argc, char **argv, const LigSequenceOptions *options, gboolean split)
{
  if (g_str_equal (argv[1], "-") && (argc < 3 || g_str_equal (argv[2], "-")))
    return g_strdup ("standard input can be read only once; give a file for each side");
  if (argc < 3 && !split)
    return g_strdup ("diff needs a second sequence or run, or an option with two values, such "
                     "as --recompute none,all");
  const char *option = find_plan_option (options);
  g_autoptr (LigRunRow) first = option ? find_profile (argv[1], options->store) : NULL;
  g_autoptr (LigRunRow) second =
    first ? find_profile (argv[argc > 2 ? 2 : 1], options->store) : NULL;
  return second ? g_strdup_printf ("profiles are compared as they were measured; omit --%s", option)
                : NULL;
}

static int
run (int argc, char **argv)
{
  g_auto (LigSequenceOptions) options = {0};
  g_autofree char *output = NULL, *form = NULL;
  const GOptionEntry more[] = {
    LIG_CLI_OUTPUT_ENTRY (&output), LIG_CLI_FORMAT_ENTRY (&form, "FORMAT"), {NULL}};
  g_autofree GOptionEntry *entries = lig_cli_sequence_entries (
    &options, LIG_OPTION_PLAN | LIG_OPTION_RANKS | LIG_OPTION_SHARD, more);
  Split splits[] = {{"device", G_STRUCT_OFFSET (LigSequenceOptions, device), NULL},
                    {"dtype", G_STRUCT_OFFSET (LigSequenceOptions, dtype), NULL},
                    {"policy", G_STRUCT_OFFSET (LigSequenceOptions, policy), NULL},
                    {"recipe", G_STRUCT_OFFSET (LigSequenceOptions, recipe), NULL},
                    {"recompute", G_STRUCT_OFFSET (LigSequenceOptions, recompute), NULL}};
  const guint count = G_N_ELEMENTS (splits);
  g_autoptr (GError) error = NULL;
  gboolean split = FALSE;
  if (!lig_cli_parse (&lig_command_diff, entries, &argc, &argv, 1, 2))
    return LIG_EXIT_USAGE;
  if (!split_values (&options, splits, count, &error)) {
    free_splits (splits, count);
    return lig_cli_usage ("%s", error->message);
  }
  for (guint i = 0; i < count; i++)
    split |= splits[i].values != NULL;
  g_autofree char *misuse = find_misuse (argc, argv, &options, split);
  if (misuse) {
    free_splits (splits, count);
    return lig_cli_usage ("%s", misuse);
  }
  if (form && !output) {
    free_splits (splits, count);
    return lig_cli_usage ("--format is only used with -o; add -o FILE");
  }
  const char *format = output ? lig_cli_report_format (output, form) : NULL;
  if (output && !format) {
    free_splits (splits, count);
    return LIG_EXIT_USAGE;
  }
  char *const texts[] = {argv[1], argc > 2 ? argv[2] : argv[1]};
  int code = output && !lig_cli_check_file (output, &error)
               ? lig_cli_fail (g_steal_pointer (&error))
               : compare (texts, &options, splits, count, output, format);
  free_splits (splits, count);
  return code;
}
