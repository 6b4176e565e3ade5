/* SPDX-License-Identifier: MIT */
/* `lig runs`: lists, marks and deletes what the store holds; the other verbs stand in files of
 * their own. */
#include "app/cli/runs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char *store_path, *output, *status, *device, *tag;
static gboolean starred, remove_it, yes;
static int limit;

static const GOptionEntry entries[] = {
  {"store", 0, 0, G_OPTION_ARG_FILENAME, &store_path, "The database", "FILE"},
  {"status", 0, 0, G_OPTION_ARG_STRING, &status, "list: only runs with this status", "S"},
  {"device", 0, 0, G_OPTION_ARG_STRING, &device, "list: only runs on this device", "D"},
  {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "list: only runs with this tag", "TAG"},
  {"starred", 0, 0, G_OPTION_ARG_NONE, &starred, "list: only starred runs", NULL},
  {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "list: at most N runs, the newest", "N"},
  {"remove", 0, 0, G_OPTION_ARG_NONE, &remove_it, "tag, star: take away", NULL},
  {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "export: a .csv or .json file", "FILE"},
  {"yes", 'y', 0, G_OPTION_ARG_NONE, &yes, "delete: do not ask", NULL},
  {NULL},
};

/* A verb gets the arguments that follow it. */
typedef struct {
  const char *name, *arguments;
  int least, most;
  int (*run) (LigStore *store, int n, char **arguments);
} Verb;

static void
print_run (const LigRunRow *row)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  lig_runs_add_run (builder, row);
  json_builder_end_object (builder);
  lig_cli_print_json (json_builder_get_root (builder));
}

static void
print_list (GPtrArray *runs)
{
  static const char *const header[] = {"run",   "name",  "status", "device", "started",
                                       ">step", ">loss", ">eval",  "tags",   NULL};
  g_autoptr (GPtrArray) table = lig_runs_new_table ();
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
    g_ptr_array_add (table, cells);
  }
  lig_cli_print_table (header, table);
}

static int
list (LigStore *store, int n, char **arguments)
{
  const LigRunFilter filter = {.text = n ? arguments[0] : NULL,
                               .status = status,
                               .device = device,
                               .tag = tag,
                               .starred = starred,
                               .limit = limit};
  GError *error = NULL;
  g_autoptr (GPtrArray) runs = lig_store_list_runs (store, &filter, &error);
  if (!runs)
    return lig_cli_fail (error);
  if (!lig_cli_json ()) {
    if (runs->len)
      print_list (runs);
    else
      lig_cli_say ("no such runs in %s", lig_store_get_path (store));
    return LIG_EXIT_OK;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < runs->len; i++) {
    lig_runs_add_run (builder, runs->pdata[i]);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  lig_cli_print_json (json_builder_get_root (builder));
  return LIG_EXIT_OK;
}

/* Prints a run as it is now, for programs; people see nothing where all went well. */
static int
conclude (LigStore *store, const char *run)
{
  GError *error = NULL;
  if (!lig_cli_json ())
    return LIG_EXIT_OK;
  g_autoptr (LigRunRow) row = lig_store_find_run (store, run, &error);
  if (!row)
    return lig_cli_fail (error);
  print_run (row);
  return LIG_EXIT_OK;
}

static int
set_tags (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_store_find_run (store, arguments[0], &error);
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
  g_autoptr (LigRunRow) row = lig_store_find_run (store, arguments[0], &error);
  if (!row || !lig_store_set_note (store, row->uuid, arguments[1], &error))
    return lig_cli_fail (error);
  return conclude (store, row->uuid);
}

static int
set_star (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (LigRunRow) row = lig_store_find_run (store, arguments[0], &error);
  if (!row || !lig_store_set_star (store, row->uuid, !remove_it, &error))
    return lig_cli_fail (error);
  return conclude (store, row->uuid);
}

/* Whether the person at the terminal agrees. */
static gboolean
ask (GPtrArray *runs)
{
  char answer[16];
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autofree char *started = lig_runs_format_started (row->started);
    lig_cli_say ("%.8s %s, %s, %s", row->uuid, row->name, row->status, started);
  }
  fprintf (stderr, "delete %u with all they reported? [y/N] ", runs->len);
  return fgets (answer, sizeof answer, stdin) && g_ascii_tolower (answer[0]) == 'y';
}

/* Finds all runs first, so that a wrong selector deletes nothing, and `last` names the one that is
 * the last now. */
static int
delete_runs (LigStore *store, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  for (int i = 0; i < n; i++) {
    LigRunRow *row = lig_store_find_run (store, arguments[i], &error);
    if (!row)
      return lig_cli_fail (error);
    g_ptr_array_add (runs, row);
  }
  if (!yes && !isatty (STDIN_FILENO))
    return lig_cli_usage ("runs delete: no terminal to ask at, give --yes");
  if (!yes && !ask (runs)) {
    lig_cli_say ("nothing was deleted");
    return LIG_EXIT_FAILED;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    if (!lig_store_delete_run (store, row->uuid, &error))
      return lig_cli_fail (error);
    json_builder_add_string_value (builder, row->uuid);
  }
  json_builder_end_array (builder);
  if (lig_cli_json ())
    lig_cli_print_json (json_builder_get_root (builder));
  return LIG_EXIT_OK;
}

static int export(LigStore *store, int n, char **arguments)
{
  return lig_runs_export (store, arguments[0], output);
}

static const Verb verbs[] = {
  {"list", "[TEXT]", 0, 1, list},
  {"show", "RUN", 1, 1, lig_runs_show},
  {"compare", "RUN RUN…", 2, G_MAXINT, lig_runs_compare},
  {"tag", "RUN TAG…", 2, G_MAXINT, set_tags},
  {"note", "RUN TEXT", 2, 2, set_note},
  {"star", "RUN", 1, 1, set_star},
  {"delete", "RUN…", 1, G_MAXINT, delete_runs},
  {"export", "RUN -o FILE.{csv,json}", 1, 1, export},
};

static int run (int argc, char **argv);

LIG_COMMAND (runs) = {
  .name = "runs",
  .usage = "list|show|compare|tag|note|star|delete|export [RUN…] [--store FILE]",
  .summary = "The runs in the store; RUN is a uuid, its first characters, or last",
  .example = "lig runs list --limit 10",
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
    if (strcmp (argv[1], verbs[i].name) == 0)
      verb = &verbs[i];
  if (!verb)
    return lig_cli_usage ("runs: no verb '%s'", argv[1]);
  int n = argc - 2;
  if (n < verb->least || n > verb->most)
    return lig_cli_usage ("usage: lig runs %s %s", verb->name, verb->arguments);
  if (limit < 0)
    return lig_cli_usage ("runs: --limit is %d, it must be at least 0", limit);
  if (verb->run == export &&
      !(output && (g_str_has_suffix (output, ".csv") || g_str_has_suffix (output, ".json"))))
    return lig_cli_usage ("runs export: -o must name a file that ends in .csv or .json");
  g_autoptr (LigStore) store = lig_store_open (store_path, &error);
  if (!store)
    return lig_cli_fail (error);
  if (lig_store_get_warning (store))
    lig_cli_say ("%s", lig_store_get_warning (store));
  return verb->run (store, n, argv + 2);
}
