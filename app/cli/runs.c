/* SPDX-License-Identifier: MIT */
/* `lig runs`: the table of its verbs and options. Each verb has its own file. */
#include "app/cli/control.h"
#include "app/cli/output-file.h"
#include "app/cli/rank.h"
#include "app/cli/runs-columns.h"
#include "app/cli/shared-options.h"
#include "app/cli/verbs.h"
#include <ligature/store.h>

#include <string.h>

extern LIG_COMMAND (runs);

/* Zero is an invalid limit and does not mean no limit, or a script might delete all runs. */
static LigRunsOptions options = {.limit = LIG_RUNS_NO_LIMIT};

static const GOptionEntry entries[] = {
  LIG_CLI_STORE_ENTRY (&options.store),
  LIG_CLI_GROUP ("Selection"),
  {"name", 0, 0, G_OPTION_ARG_STRING, &options.name,
   "Only runs of this name; * and ? are wildcards", "NAME"},
  {"kind", 0, 0, G_OPTION_ARG_STRING, &options.kind, "Only training runs or only profiles",
   "train|profile"},
  {"status", 0, 0, G_OPTION_ARG_STRING, &options.status, "Only runs with this status", "STATUS"},
  {"device", 0, 0, G_OPTION_ARG_STRING, &options.device,
   "Only runs on this device; for lig runs repeat, the device to run on", "DEVICE"},
  {"tag", 0, 0, G_OPTION_ARG_STRING, &options.tag, "Only runs with this tag", "TAG"},
  {"sweep", 0, 0, G_OPTION_ARG_STRING, &options.sweep, "Only runs of this sweep", "SWEEP"},
  {"starred", 0, 0, G_OPTION_ARG_NONE, &options.starred, "Only runs with a star", NULL},
  {"unstarred", 0, 0, G_OPTION_ARG_NONE, &options.unstarred, "Only runs without a star", NULL},
  {"since", 0, 0, G_OPTION_ARG_STRING, &options.since,
   "Only runs started at or after DATE, such as 2026-11-20, yesterday or '2 days'", "DATE"},
  {"until", 0, 0, G_OPTION_ARG_STRING, &options.until,
   "Only runs started before DATE, given as for --since", "DATE"},
  {"deleted", 0, 0, G_OPTION_ARG_NONE, &options.deleted,
   "Only runs in the trash, which no other selection contains", NULL},
  {"all", 0, 0, G_OPTION_ARG_NONE, &options.all, "All runs that the other options select", NULL},
  {"limit", 0, 0, G_OPTION_ARG_INT, &options.limit,
   "Only the first N runs in sort order [default: all]", "N"},
  LIG_CLI_GROUP (LIG_CLI_OUTPUT),
  {"sort", 0, 0, G_OPTION_ARG_STRING, &options.sort,
   "Sort by a column or setting; -COLUMN: descending [default: -started]", "COLUMN"},
  {"reverse", 'r', 0, G_OPTION_ARG_NONE, &options.reverse, "Reverse the order", NULL},
  {"columns", 0, 0, G_OPTION_ARG_STRING, &options.columns,
   "The columns, including any setting: name,lr,eval-loss [default: those that fit]", "COLUMN,…"},
  {"verdicts", 0, 0, G_OPTION_ARG_NONE, &options.verdicts,
   "Also print every decision about a fusion", NULL},
  {"histograms", 0, 0, G_OPTION_ARG_NONE, &options.histograms,
   "Also print the last histograms of weights and gradients; with --json all of them", NULL},
  LIG_CLI_OUTPUT_ENTRY (&options.output),
  LIG_CLI_FORMAT_ENTRY (&options.format, "csv|json"),
  {"metric", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.metrics,
   "Only this metric" LIG_CLI_SEVERAL " [default: all]", "METRIC"},
  LIG_CLI_QUIET_ENTRY (&options.quiet, "result"),
  {"control", 0, 0, G_OPTION_ARG_NONE, &options.control,
   "Read commands from standard input, and print progress as lines of JSON", NULL},
  LIG_CLI_GROUP ("Changes"),
  {"remove", 0, 0, G_OPTION_ARG_NONE, &options.remove, "Remove the tag or the star", NULL},
  {"yes", 'y', 0, G_OPTION_ARG_NONE, &options.yes, "Do not ask", NULL},
  {"checkpoints", 0, 0, G_OPTION_ARG_NONE, &options.checkpoints,
   "Also delete the runs' checkpoint files", NULL},
  {"keep-checkpoints", 0, 0, G_OPTION_ARG_NONE, &options.keep_checkpoints,
   "Keep the checkpoint files and do not ask about them", NULL},
  {"compact", 0, 0, G_OPTION_ARG_NONE, &options.compact,
   "Then return the space of deleted runs to the file system", NULL},
  {NULL},
};

/* A verb with its function, which gets the arguments after the verb. */
typedef struct {
  LigCliVerb form;
  int min, max;
  LigStoreAccess access;
  LigRunsVerb *run;
} Verb;

#define FILTER "name kind status device tag sweep starred unstarred since until deleted all"
#define ORDER " limit sort reverse"
#define STORE " store"

static const Verb verbs[] = {
  {{"list", "[TEXT]", "Lists the runs, the newest first, or those whose name contains TEXT",
    FILTER ORDER " columns" STORE, TRUE},
   0,
   1,
   LIG_STORE_READ,
   lig_runs_list},
  {{"show", "RUN", "Prints everything that is recorded about a run", "verdicts histograms" STORE,
    TRUE},
   1,
   1,
   LIG_STORE_READ,
   lig_runs_show},
  {{"compare", "RUN RUN…|SELECTION", "Compares settings, results and times of runs",
    FILTER ORDER STORE, TRUE},
   0,
   G_MAXINT,
   LIG_STORE_READ,
   lig_runs_compare},
  {{"export", "RUN…|SELECTION [-o FILE]", "Writes the metrics of runs, one line per step",
    FILTER ORDER " output format metric" STORE, FALSE},
   0,
   G_MAXINT,
   LIG_STORE_READ,
   lig_runs_export},
  {{"star", "RUN…|SELECTION", "Stars runs", FILTER ORDER " remove" STORE, FALSE},
   0,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_star},
  {{"unstar", "RUN…|SELECTION", "Removes the stars of runs", FILTER ORDER STORE, FALSE},
   0,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_unstar},
  {{"tag", "RUN[,RUN…] TAG…", "Adds tags to runs, or removes them", "remove" STORE, FALSE},
   2,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_tag},
  {{"note", "RUN… TEXT", "Sets the note of runs", "store", FALSE},
   2,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_note},
  {{"restore", "RUN…|SELECTION", "Takes runs out of the trash of the window", FILTER ORDER STORE,
    FALSE},
   0,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_restore},
  {{"delete", "RUN…|SELECTION", "Deletes runs for good, and their checkpoint files if confirmed",
    FILTER ORDER " yes checkpoints keep-checkpoints compact" STORE, FALSE},
   0,
   G_MAXINT,
   LIG_STORE_CHANGE,
   lig_runs_delete},
  {{"repeat", "RUN|REPORT.html", "Trains or profiles again and compares both",
    "device quiet control" STORE, FALSE},
   1,
   1,
   LIG_STORE_CHANGE,
   lig_runs_repeat},
};

static const Verb *
find_verb (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (name, verbs[i].form.name) == 0)
      return &verbs[i];
  lig_cli_reject_verb (&lig_command_runs, name);
  return NULL;
}

static gboolean
is_given (const GOptionEntry *entry)
{
  if (entry->arg == G_OPTION_ARG_INT)
    return *(const int *) entry->arg_data != LIG_RUNS_NO_LIMIT;
  if (entry->arg == G_OPTION_ARG_NONE)
    return *(const int *) entry->arg_data != 0;
  return *(void *const *) entry->arg_data != NULL;
}

/* Rejects options that the verb would ignore. */
static gboolean
check_options (const Verb *verb)
{
  g_auto (GStrv) allowed = g_strsplit (verb->form.options, " ", -1);
  for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
    if (lig_cli_is_group (entry) || !is_given (entry) ||
        g_strv_contains ((const char *const *) allowed, entry->long_name))
      continue;
    lig_cli_usage ("lig runs %s has no option --%s; see lig help runs %s", verb->form.name,
                   entry->long_name, verb->form.name);
    return FALSE;
  }
  return TRUE;
}

/* Rejects both words and options that select runs, so that neither is ignored. */
static gboolean
check_arguments (const Verb *verb, int n)
{
  gboolean filters = strstr (verb->form.options, FILTER) != NULL, list = verb->run == lig_runs_list;
  gboolean given = lig_runs_has_filter (&options);
  if (n < verb->min || n > verb->max)
    lig_cli_usage ("runs %s takes %s; see lig help runs %s", verb->form.name, verb->form.arguments,
                   verb->form.name);
  else if (options.limit < 1)
    lig_cli_usage ("--limit is %d, expected at least 1", options.limit);
  else if (filters && !list && n == 0 && !given)
    lig_cli_usage ("runs %s takes %s; options such as --since or --all select runs",
                   verb->form.name, verb->form.arguments);
  else if (filters && !list && n > 0 && (given || options.sort || options.reverse))
    lig_cli_usage ("runs %s: runs are selected either by name or by options; give one of them",
                   verb->form.name);
  else if (options.checkpoints && options.keep_checkpoints)
    lig_cli_usage (
      "runs delete: --checkpoints cannot be combined with --keep-checkpoints; give one of them");
  else
    return TRUE;
  return FALSE;
}

/* Returns whether the default store does not exist yet. Listing its runs then succeeds. */
static gboolean
is_before_first (const Verb *verb)
{
  const char *named = g_getenv ("LIGATURE_STORE");
  g_autofree char *usual =
    g_build_filename (g_get_user_data_dir (), "ligature", "ligature.db", NULL);
  return verb->run == lig_runs_list && !options.store && !(named && *named) &&
         !g_file_test (usual, G_FILE_TEST_EXISTS);
}

static int
print_none (void)
{
  if (lig_cli_json ())
    lig_cli_print_document ("runs-list",
                            json_node_init_array (json_node_alloc (), json_array_new ()));
  else
    lig_cli_say ("no runs yet; the first lig train or lig profile creates the store");
  return LIG_EXIT_OK;
}

static const LigCliVerb *
verb_nth (guint n)
{
  return n < G_N_ELEMENTS (verbs) ? &verbs[n].form : NULL;
}

static void
append_notes (GString *to)
{
  g_string_append (to, "RUN:\n"
                       "  last              the newest run\n"
                       "  NAME              the newest run of that name\n"
                       "  1a2b3c            a uuid or the beginning of one\n"
                       "  last~1            the run before the newest\n"
                       "  NAME~2            the second run before the newest called NAME\n\n"
                       "Columns (--columns, --sort), besides any setting of a run:\n");
  for (guint i = 0; lig_runs_column_nth (i); i++)
    g_string_append_printf (to, "  %-16s  %s\n", lig_runs_column_nth (i)->key,
                            lig_runs_column_nth (i)->summary);
  g_string_append_c (to, '\n');
}

static int run (int argc, char **argv);

LIG_COMMAND (runs) = {
  .name = "runs",
  .usage = "list|show|compare|export|star|unstar|tag|note|restore|delete|repeat [RUN…] "
           "[--store FILE]",
  .summary = "Lists, compares, repeats and edits the runs in the store",
  .example = "lig runs list --limit 10",
  .notes = append_notes,
  .verb_nth = verb_nth,
  .run = run,
};

static int
run_verb (int argc, char **argv)
{
  GError *error = NULL;
  if (!lig_cli_parse (&lig_command_runs, entries, &argc, &argv, 1, G_MAXINT - 1))
    return LIG_EXIT_USAGE;
  lig_cli_set_quiet (options.quiet);
  if (options.control)
    lig_cli_control_begin ();
  const Verb *verb = find_verb (argv[1]);
  int n = argc - 2;
  if (!verb || !check_options (verb) || !check_arguments (verb, n))
    return LIG_EXIT_USAGE;
  if (is_before_first (verb))
    return print_none ();
  /* A report can be repeated even without a store. */
  gboolean report = verb->run == lig_runs_repeat && g_file_test (argv[2], G_FILE_TEST_IS_REGULAR);
  g_autoptr (LigStore) store = report
                                 ? lig_store_open (options.store, &error)
                                 : lig_store_open_existing (options.store, verb->access, &error);
  if (!store)
    return lig_cli_fail (error);
  if (lig_store_get_warning (store))
    lig_cli_say ("%s", lig_store_get_warning (store));
  return verb->run (store, &options, n, argv + 2);
}

/* A process that repeats a run may be one of several ranks. */
static int
run (int argc, char **argv)
{
  g_autofree char **words = g_memdup2 (argv, ((gsize) argc + 1) * sizeof *argv);
  options.words = words;
  lig_cli_rank_begin ();
  return lig_cli_rank_end (run_verb (argc, argv));
}
