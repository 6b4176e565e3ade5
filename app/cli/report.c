/* SPDX-License-Identifier: MIT */
/* lig report: writes a plan or a run to a file in one of the report formats. */
#include "app/cli/blame.h"
#include "app/cli/document.h"
#include "app/cli/find-run.h"
#include "app/cli/fuse-pair.h"
#include "app/cli/launch.h"
#include "app/cli/output-file.h"
#include "app/cli/report-output.h"
#include "app/cli/sequence-options.h"
#include "app/cli/task.h"
#include <ligature/comparison.h>
#include <ligature/plan.h>
#include <ligature/report.h>
#include <ligature/shell.h>
#include <ligature/store-select.h>
#include <ligature/sweep.h>

#include <string.h>

static int run (int argc, char **argv);
static void append_formats (GString *to);

LIG_COMMAND (report) = {
  .name = "report",
  .usage = "P|RUN|SWEEP -o FILE.FORMAT [--input I] [--device D] …",
  .summary = "Writes a report of a plan, run or sweep: html, pictures or data",
  .example = "lig report 'layer-norm ! linear(3072) ! gelu ! linear(768)' --input 2048x768"
             " --device null:h200 -o report.html",
  .run = run,
  .pages = TRUE,
  .notes = append_formats,
};

typedef struct {
  char *output, *format;
} Options;

static void
clear_options (Options *options)
{
  g_free (options->output);
  g_free (options->format);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, clear_options)

/* Returns the first given option that only applies to a sequence, or NULL. */
static const char *
find_option (const LigSequenceOptions *options)
{
  return options->input                          ? "input"
         : options->device                       ? "device"
         : options->dtype                        ? "dtype"
         : options->tf32 == TRUE                 ? "tf32"
         : options->tf32 == FALSE                ? "no-tf32"
         : options->nondeterministic == TRUE     ? "nondeterministic"
         : options->nondeterministic == FALSE    ? "no-nondeterministic"
         : options->policy                       ? "policy"
         : options->recompute                    ? "recompute"
         : options->recipe                       ? "recipe"
         : options->forbid                       ? "forbid"
         : options->force                        ? "force"
         : options->fence                        ? "fence"
         : options->eval                         ? "eval"
         : options->ranks != LIG_CLI_UNSET_RANKS ? "ranks"
         : options->parallel                     ? "parallel"
         : options->optimizer                    ? "optimizer"
         : options->shard_optimizer == TRUE      ? "shard-optimizer"
         : options->shard_optimizer == FALSE     ? "no-shard-optimizer"
         : options->bucket_size                  ? "bucket-size"
                                                 : NULL;
}

/* --- The command line that reproduces the report -------------------------------------------- */

static char *
quote_command (int argc, char **argv)
{
  GString *text = g_string_new ("lig");
  for (int i = 0; i < argc; i++)
    if (strcmp (argv[i], "--json") != 0)
      lig_shell_append (text, argv[i]);
  return g_string_free (text, FALSE);
}

/* Reports the plans for two devices next to each other. */
static GBytes *
report_pair (
  const char *text, LigSequenceOptions *options, GStrv devices, const char *format, GError **error)
{
  if (!lig_fuse_check_devices (devices, error))
    return NULL;
  if (g_strv_length (devices) > 2) {
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "a report compares two devices; lig fuse --device %s shows more", options->device);
    return NULL;
  }
  g_autoptr (LigSequence) sequence = lig_cli_open_sequence (text, options, error);
  g_autoptr (GPtrArray) plans =
    sequence ? lig_fuse_compile_devices (sequence, options, devices, error) : NULL;
  if (!plans)
    return NULL;
  g_autoptr (LigPlanComparison) both = lig_plan_compare (plans->pdata[0], plans->pdata[1]);
  return lig_report_comparison (both, devices[0], devices[1], format, error);
}

/* The command names the device even if the user did not: another machine might choose another. */
static GBytes *
report_plan (const char *text,
             LigSequenceOptions *options,
             const char *command,
             const char *format,
             GError **error)
{
  g_auto (GStrv) devices = lig_cli_split_devices (options->device);
  if (devices)
    return report_pair (text, options, devices, format, error);
  g_autoptr (LigPlan) plan = lig_cli_compile (text, options, error);
  if (!plan)
    return NULL;
  g_autoptr (GString) whole = g_string_new (command);
  if (!options->device) {
    g_string_append (whole, " --device");
    lig_shell_append (whole, lig_device_get_name (lig_plan_get_device (plan)));
  }
  lig_cli_task_begin ("making the report");
  return lig_report_plan (plan, whole->str, format, error);
}

static GBytes *
report_run (const char *selector, const char *path, const char *format, GError **error)
{
  g_autoptr (LigStore) store = lig_store_open_existing (path, LIG_STORE_READ, error);
  if (!store)
    return NULL;
  if (lig_store_get_warning (store))
    lig_cli_say ("%s", lig_store_get_warning (store));
  lig_cli_task_begin ("making the report");
  /* The uuid is used from here on: `last` may change while the report is made. */
  g_autoptr (GError) failure = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, selector, NULL, &failure);
  if (row)
    return lig_report_run (store, row->uuid, format, error);
  g_autoptr (LigSweep) sweep = lig_sweep_open (store, selector, NULL);
  if (sweep)
    return lig_report_sweep (sweep, format, error);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

/* --- Formats -------------------------------------------------------------------------------- */

static void
append_formats (GString *to)
{
  const char *format;
  g_string_append (to, "Formats:\n");
  for (guint i = 0; (format = lig_report_format_nth (i)); i++)
    g_string_append_printf (to, "  %-12s %s. %s\n", format, lig_report_format_title (format),
                            lig_report_format_help (format));
  g_string_append_c (to, '\n');
}

/* --- The command ---------------------------------------------------------------------------- */

/* Returns the format. If the command line is wrong, prints the error and returns NULL. */
static const char *
check_options (const Options *options,
               const LigSequenceOptions *plan,
               const char *what,
               gboolean recorded)
{
  const char *foreign = recorded ? find_option (plan) : NULL;
  if (!options->output)
    lig_cli_usage ("report needs -o FILE, or -o - with --format; see lig report --help");
  else if (foreign)
    lig_cli_usage ("--%s needs a sequence, but '%s' is a run; omit --%s", foreign, what, foreign);
  else
    return lig_cli_report_format (options->output, options->format);
  return NULL;
}

static int
run (int argc, char **argv)
{
  g_auto (Options) options = {0};
  g_auto (LigSequenceOptions) plan = {0};
  const GOptionEntry more[] = {
    LIG_CLI_OUTPUT_ENTRY (&options.output),
    LIG_CLI_FORMAT_ENTRY (&options.format, "FORMAT"),
    {NULL},
  };
  g_autofree GOptionEntry *entries =
    lig_cli_sequence_entries (&plan, LIG_OPTION_PLAN | LIG_OPTION_RANKS | LIG_OPTION_SHARD, more);
  g_autofree char *command = quote_command (argc, argv);
  GError *error = NULL;
  if (!lig_cli_parse (&lig_command_report, entries, &argc, &argv, 1, 1))
    return LIG_EXIT_USAGE;
  gboolean recorded = lig_cli_is_run (argv[1], plan.store);
  const char *format = check_options (&options, &plan, argv[1], recorded);
  if (!format)
    return LIG_EXIT_USAGE;
  if (!lig_cli_check_file (options.output, &error))
    return lig_cli_fail (error);
  g_autoptr (GBytes) report = recorded ? report_run (argv[1], plan.store, format, &error)
                                       : report_plan (argv[1], &plan, command, format, &error);
  lig_cli_task_end ();
  if (error)
    lig_cli_blame_name (&error, argv[1]);
  return report ? lig_cli_report_write (report, options.output, format) : lig_cli_fail (error);
}
