/* SPDX-License-Identifier: MIT */
/* `lig runs`: lists, tags and stars the runs in the store; the other verbs have their own files. */
#include "app/cli/runs.h"
#include "app/cli/help.h"

#include <ligature/report.h>
#include <ligature/store-sweeps.h>

#include <math.h>
#include <string.h>

static char *store_path, *output, *status, *device, *tag, *sweep;
static gboolean starred, remove_it, yes, files;
static int limit;

static const GOptionEntry entries[] = {
  {"store", 0, 0, G_OPTION_ARG_FILENAME, &store_path, "The database of runs", "FILE"},
  {"status", 0, 0, G_OPTION_ARG_STRING, &status, "list: only runs with this status", "STATUS"},
  {"device", 0, 0, G_OPTION_ARG_STRING, &device,
   "list: only runs on this device; repeat: the device", "DEVICE"},
  {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "list: only runs with this tag", "TAG"},
  {"sweep", 0, 0, G_OPTION_ARG_STRING, &sweep, "list: only runs of this sweep", "SWEEP"},
  {"starred", 0, 0, G_OPTION_ARG_NONE, &starred, "list: only starred runs", NULL},
  {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "list: at most N runs, the newest", "N"},
  {"remove", 0, 0, G_OPTION_ARG_NONE, &remove_it, "tag, star: remove the tag or the star", NULL},
  {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "export: a .csv or .json file", "FILE"},
  {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "delete: do not ask", NULL},
  {"files", 0, 0, G_OPTION_ARG_NONE, &files, "delete: also the runs' checkpoint files", NULL},
  {NULL},
};

/* A verb with its function, which gets the arguments after the verb. */
typedef struct {
  LigCliVerb form;
  int least, most;
  LigStoreAccess access;
  int (*run) (LigStore *store, int n, char **arguments);
} Verb;

static void
print_list (GPtrArray *runs)
{
  static const char *const header[] = {"run",   "name",  "status", "device", "started", ">step",
                                       ">loss", ">eval", "tags",   "sweep",  NULL};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
  gboolean swept = FALSE;
  for (guint i = 0; i < runs->len; i++)
    swept = swept || ((const LigRunRow *) runs->pdata[i])->point >= 0;
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autofree char *tags = g_strjoinv (" ", row->tags);
    char **cells = g_new0 (char *, G_N_ELEMENTS (header));
    cells[0] = g_strndup (row->uuid, 8);
    cells[1] = g_strdup (row->name);
    cells[2] = g_strdup (row->status);
    cells[3] = g_strdup (row->device);
    cells[4] = lig_runs_format_started (row->started);
    cells[5] = lig_runs_format_number (row->last_step < 0 ? NAN : (double) row->last_step);
    cells[6] = lig_runs_format_number (row->last_loss);
    cells[7] = lig_runs_format_number (row->eval_loss);
    cells[8] = g_strconcat (row->starred ? "* " : "", tags, NULL);
    if (swept && row->point >= 0)
      cells[9] = g_strdup_printf ("%.8s %d", row->sweep, (int) row->point + 1);
    else if (swept)
      cells[9] = g_strdup ("");
    g_ptr_array_add (table, cells);
  }
  /* The last column is left out if no run is of a sweep. */
  const char *shown[G_N_ELEMENTS (header)];
  memcpy (shown, header, sizeof header);
  if (!swept)
    shown[G_N_ELEMENTS (header) - 2] = NULL;
  lig_cli_print_table (shown, table);
}

static int
list (LigStore *store, int n, char **arguments)
{
  LigRunFilter filter = {.text = n ? arguments[0] : NULL,
                         .status = status,
                         .device = device,
                         .tag = tag,
                         .starred = starred,
                         .limit = limit};
  GError *error = NULL;
  g_autoptr (LigSweepRow) of = sweep ? lig_store_find_sweep (store, sweep, &error) : NULL;
  if (sweep && !of)
    return lig_cli_fail (error);
  filter.sweep = of ? of->uuid : NULL;
  g_autoptr (GPtrArray) runs = lig_store_list_runs (store, &filter, &error);
  if (!runs)
    return lig_cli_fail (error);
  if (!lig_cli_json ()) {
    if (runs->len)
      print_list (runs);
    else
      lig_cli_say ("no matching runs in %s", lig_store_get_path (store));
    return LIG_EXIT_OK;
  }
  JsonArray *array = json_array_new ();
  for (guint i = 0; i < runs->len; i++)
    json_array_add_element (array, lig_run_row_to_json (runs->pdata[i]));
  JsonNode *document = json_node_new (JSON_NODE_ARRAY);
  json_node_take_array (document, array);
  lig_cli_print_document ("runs-list", document);
  return LIG_EXIT_OK;
}

/* Prints the changed run with --json; without it, success prints nothing. */
static int
conclude (LigStore *store, const char *run)
{
  GError *error = NULL;
  if (!lig_cli_json ())
    return LIG_EXIT_OK;
  g_autoptr (LigRunRow) row = lig_store_find_run (store, run, &error);
  if (!row)
    return lig_cli_fail (error);
  lig_cli_print_document ("runs-edit", lig_run_row_to_json (row));
  return LIG_EXIT_OK;
}

static int
set_tags (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  gboolean done = row != NULL;
  for (int i = 1; done && i < n; i++)
    done = remove_it ? lig_store_remove_tag (store, row->uuid, arguments[i], &error)
                     : lig_store_add_tag (store, row->uuid, arguments[i], &error);
  return done ? conclude (store, row->uuid) : lig_cli_fail (error);
}

static int
set_note (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  if (!row || !lig_store_set_note (store, row->uuid, arguments[1], &error))
    return lig_cli_fail (error);
  return conclude (store, row->uuid);
}

static int
set_star (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_cli_find_run (store, arguments[0], NULL, &error);
  if (!row || !lig_store_set_star (store, row->uuid, !remove_it, &error))
    return lig_cli_fail (error);
  return conclude (store, row->uuid);
}

static int
delete_runs (LigStore *store, int n, char **arguments)
{
  return lig_runs_delete (store, n, arguments, yes, files);
}

static int export(LigStore *store, int n, char **arguments)
{
  return lig_runs_export (store, arguments[0], output);
}

static int
repeat (LigStore *store, int n, char **arguments)
{
  return lig_runs_repeat (store, arguments[0], device);
}

static const Verb verbs[] = {
  {{"list", "[TEXT]", "Lists the runs, the newest first, or those whose name contains TEXT",
    "store status device tag sweep starred limit", TRUE},
   0,
   1,
   LIG_STORE_READ,
   list},
  {{"show", "RUN", "Prints everything that is recorded about a run", "store", TRUE},
   1,
   1,
   LIG_STORE_READ,
   lig_runs_show},
  {{"compare", "RUN RUN…", "Compares settings, results and times of runs", "store", TRUE},
   2,
   G_MAXINT,
   LIG_STORE_READ,
   lig_runs_compare},
  {{"tag", "RUN TAG…", "Adds tags to a run, or removes them", "store remove", FALSE},
   2,
   G_MAXINT,
   LIG_STORE_CHANGE,
   set_tags},
  {{"note", "RUN TEXT", "Sets the note of a run", "store", FALSE},
   2,
   2,
   LIG_STORE_CHANGE,
   set_note},
  {{"star", "RUN", "Stars a run, or removes its star", "store remove", FALSE},
   1,
   1,
   LIG_STORE_CHANGE,
   set_star},
  {{"delete", "RUN…", "Deletes runs", "store yes files", FALSE},
   1,
   G_MAXINT,
   LIG_STORE_CHANGE,
   delete_runs},
  {{"repeat", "RUN|REPORT.html", "Trains or profiles again and compares both", "store device",
    FALSE},
   1,
   1,
   LIG_STORE_CHANGE,
   repeat},
  {{"export", "RUN -o FILE.{csv,json}", "Writes the metrics of a run to a file", "store output",
    FALSE},
   1,
   1,
   LIG_STORE_READ,
   export},
};

/* Returns whether the default store does not exist yet. Listing its runs is then no error. */
static gboolean
is_before_first (const Verb *verb)
{
  const char *named = g_getenv ("LIGATURE_STORE");
  g_autofree char *usual =
    g_build_filename (g_get_user_data_dir (), "ligature", "ligature.db", NULL);
  return verb->run == list && !store_path && !(named && *named) &&
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

const char *const lig_runs_statuses[] = {"running",   "done",        "failed",
                                         "cancelled", "interrupted", NULL};

/* Rejects unknown statuses, for which an empty list would look like a result. */
static gboolean
check_status (void)
{
  g_autofree char *choices = g_strjoinv (", ", (char **) lig_runs_statuses);
  if (!status || g_strv_contains (lig_runs_statuses, status))
    return TRUE;
  lig_cli_usage ("--status is '%s', expected %s", status, choices);
  return FALSE;
}

static const LigCliVerb *
verb_nth (guint n)
{
  return n < G_N_ELEMENTS (verbs) ? &verbs[n].form : NULL;
}

static void
append_notes (GString *to)
{
  g_string_append (to, "RUN is a uuid, at least four of its first characters, or last.\n");
}

static int run (int argc, char **argv);

LIG_COMMAND (runs) = {
  .name = "runs",
  .usage = "list|show|compare|tag|note|star|delete|repeat|export [RUN…] [--store FILE]",
  .summary = "Lists, compares, repeats and edits the runs in the store",
  .example = "lig runs list --limit 10",
  .notes = append_notes,
  .verb_nth = verb_nth,
  .run = run,
};

static int
run (int argc, char **argv)
{
  GError *error = NULL;
  const Verb *verb = NULL;
  if (!lig_cli_parse (&lig_command_runs, entries, &argc, &argv, 1, G_MAXINT - 1))
    return LIG_EXIT_USAGE;
  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (argv[1], verbs[i].form.name) == 0)
      verb = &verbs[i];
  if (!verb)
    return lig_cli_refuse_verb (&lig_command_runs, argv[1]);
  int n = argc - 2;
  if (n < verb->least || n > verb->most)
    return lig_cli_usage ("lig runs %s takes %s; see lig help runs %s", verb->form.name,
                          verb->form.arguments, verb->form.name);
  if (limit < 0)
    return lig_cli_usage ("runs: --limit is %d, expected at least 0", limit);
  if (verb->run == export &&
      !(output && (g_str_has_suffix (output, ".csv") || g_str_has_suffix (output, ".json"))))
    return lig_cli_usage ("runs export: -o must name a file that ends in .csv or .json");
  if (!check_status ())
    return LIG_EXIT_USAGE;
  if (is_before_first (verb))
    return print_none ();
  /* A report is repeated where there is no store yet, too. */
  gboolean report = verb->run == repeat && g_file_test (argv[2], G_FILE_TEST_IS_REGULAR);
  g_autoptr (LigStore) store = report ? lig_store_open (store_path, &error)
                                      : lig_store_open_existing (store_path, verb->access, &error);
  if (!store)
    return lig_cli_fail (error);
  if (lig_store_get_warning (store))
    lig_cli_say ("%s", lig_store_get_warning (store));
  return verb->run (store, n, argv + 2);
}
