/* SPDX-License-Identifier: MIT */
/* `lig runs delete`: deletes runs from the store and, if requested, their checkpoints. */
#include "app/cli/runs-table.h"
#include "app/cli/runs.h"

#include <ligature/printable.h>
#include <ligature/purge.h>
#include <ligature/store.h>

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The maximum number of runs and files that a question lists. */
#define MAX_LISTED 20

typedef struct {
  GStrv files; /* the runs' existing checkpoints */
  double bytes;
} Checkpoints;

static void
clear_checkpoints (Checkpoints *self)
{
  g_strfreev (self->files);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Checkpoints, clear_checkpoints)

static double
get_size (const char *path)
{
  GStatBuf info;
  return g_stat (path, &info) == 0 ? (double) info.st_size : 0;
}

static gboolean
find_checkpoints (LigStore *store, GPtrArray *runs, Checkpoints *found, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GStrvBuilder) files = g_strv_builder_new ();
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autoptr (GPtrArray) artifacts = lig_store_get_artifacts (store, row->uuid, error);
    if (!artifacts)
      return FALSE;
    for (guint j = 0; j < artifacts->len; j++) {
      const LigArtifactRow *artifact = artifacts->pdata[j];
      if (strcmp (artifact->kind, "checkpoint") == 0 &&
          lig_purge_owns_checkpoint (artifact->path, row->uuid) &&
          g_hash_table_add (seen, g_strdup (artifact->path))) {
        g_strv_builder_add (files, artifact->path);
        found->bytes += get_size (artifact->path);
      }
    }
  }
  found->files = g_strv_builder_end (files);
  return TRUE;
}

/* Rejects runs that are still being written: some of their rows would reappear. */
static gboolean
check_ended (GPtrArray *runs, GError **error)
{
  for (guint i = 0; i < runs->len; i++) {
    const LigRunRow *row = runs->pdata[i];
    if (strcmp (row->status, "running") != 0)
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 "run %.8s %s is running on %s; stop it first, or omit it (nothing was deleted)",
                 row->uuid, row->name, row->host);
    return FALSE;
  }
  return TRUE;
}

/* --- Questions ----------------------------------------------------------------------------- */

static void
name_files (const char *what, char **files)
{
  for (guint i = 0; files[i]; i++) {
    g_autofree char *size = lig_units_bytes (get_size (files[i]));
    if (i < MAX_LISTED)
      lig_cli_say ("%s %s (%s)", what, files[i], size);
  }
  if (g_strv_length (files) > MAX_LISTED)
    lig_cli_say ("%s %u more", what, g_strv_length (files) - MAX_LISTED);
}

static void
name_runs (GPtrArray *runs)
{
  for (guint i = 0; i < MIN (runs->len, MAX_LISTED); i++) {
    const LigRunRow *row = runs->pdata[i];
    g_autofree char *started = lig_runs_format_zoned (row->started);
    lig_cli_say ("%.8s %s, %s, %s%s", row->uuid, row->name, row->status, started,
                 row->starred ? ", starred" : "");
  }
  if (runs->len > MAX_LISTED)
    lig_cli_say ("and %u more", runs->len - MAX_LISTED);
}

/* Asks the user at the terminal and returns whether the answer is yes. The end of the input means
 * no; Ctrl+C ends the program before anything is deleted. */
static gboolean
confirm (const char *question)
{
  char *answer = NULL;
  gsize space = 0;
  g_autofree char *line = lig_printable (question);
  fprintf (stderr, "%s [y/N] ", line);
  /* The whole line, because its rest would answer the next question. */
  gboolean given = getline (&answer, &space, stdin) > 0;
  gboolean yes = given && g_ascii_tolower (answer[0]) == 'y';
  free (answer);
  if (!given)
    fputc ('\n', stderr);
  return yes;
}

static gboolean
ask_for_checkpoints (guint runs, const Checkpoints *found)
{
  guint count = g_strv_length (found->files);
  g_autofree char *size = lig_units_bytes (found->bytes);
  g_autofree char *question = count == 1
                                ? g_strdup_printf ("Also delete %s checkpoint %s (%s)?",
                                                   runs == 1 ? "its" : "the", found->files[0], size)
                                : g_strdup_printf ("Also delete their %u checkpoint file%s (%s)?",
                                                   count, LIG_ENDING (count), size);
  if (count > 1)
    name_files ("checkpoint", found->files);
  return confirm (question);
}

static gboolean
ask (GPtrArray *runs, const Checkpoints *found, const LigRunsOptions *options, gboolean *with_files)
{
  name_runs (runs);
  guint count = g_strv_length (found->files);
  g_autofree char *files =
    !options->checkpoints || count == 0 ? g_strdup ("")
    : count == 1 ? g_strdup_printf (" and the checkpoint %s", found->files[0])
                 : g_strdup_printf (" and %u checkpoint file%s", count, LIG_ENDING (count));
  const char *joint = *files ? "," : " and";
  g_autofree char *question = runs->len == 1
                                ? g_strdup_printf ("Delete 1 run%s its metrics%s?", joint, files)
                                : g_strdup_printf ("Delete %u run%s%s their metrics%s?", runs->len,
                                                   LIG_ENDING (runs->len), joint, files);
  if (!confirm (question))
    return FALSE;
  if (!options->checkpoints && !options->keep_checkpoints && count > 0)
    *with_files = ask_for_checkpoints (runs->len, found);
  return TRUE;
}

/* --- Deleting ------------------------------------------------------------------------------ */

static gboolean
remove_files (char **files, guint runs, GError **error)
{
  for (char **file = files; *file; file++)
    if (g_unlink (*file) != 0 && errno != ENOENT) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "cannot delete '%s': %s; the run%s deleted",
                   *file, g_strerror (errno), runs == 1 ? " is" : "s are");
      return FALSE;
    }
  return TRUE;
}

static gboolean
delete_all (LigStore *store, GPtrArray *runs, GError **error)
{
  g_autofree const char **names = g_new0 (const char *, runs->len + 1);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_array (builder);
  for (guint i = 0; i < runs->len; i++) {
    names[i] = ((const LigRunRow *) runs->pdata[i])->uuid;
    json_builder_add_string_value (builder, names[i]);
  }
  if (!lig_store_delete_runs (store, names, runs->len, error))
    return FALSE;
  json_builder_end_array (builder);
  if (lig_cli_json ())
    lig_cli_print_document ("runs-delete", json_builder_get_root (builder));
  return TRUE;
}

static void
print_summary (guint runs, const Checkpoints *found, gboolean with_files)
{
  guint count = g_strv_length (found->files);
  g_autofree char *size = lig_units_bytes (found->bytes);
  if (with_files && count > 0)
    lig_cli_say ("deleted %u run%s and %u checkpoint file%s (%s)", runs, LIG_ENDING (runs), count,
                 LIG_ENDING (count), size);
  else
    lig_cli_say ("deleted %u run%s", runs, LIG_ENDING (runs));
  if (!with_files)
    name_files ("kept checkpoint", found->files);
}

/* Frees the space of deleted runs, also of those that were deleted earlier. */
static gboolean
compact (LigStore *store, GError **error)
{
  double before = get_size (lig_store_get_path (store));
  if (!lig_store_compact (store, error))
    return FALSE;
  double after = get_size (lig_store_get_path (store));
  g_autofree char *old = lig_units_bytes (before), *new = lig_units_bytes (after);
  lig_cli_say ("the store has %s, it had %s", new, old);
  return TRUE;
}

/* Finds all runs first, so that a wrong selector deletes nothing and `last` refers to the state
 * before anything is deleted. */
int
lig_runs_delete (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_auto (Checkpoints) found = {0};
  gboolean with_files = options->checkpoints;
  g_autoptr (GPtrArray) runs = lig_runs_select (store, options, n, arguments, NULL, &error);
  if (!runs || !check_ended (runs, &error) || !find_checkpoints (store, runs, &found, &error))
    return lig_cli_fail (error);
  if (runs->len == 0 && !lig_cli_json ()) {
    lig_cli_say ("no matching runs in %s; nothing was deleted", lig_store_get_path (store));
    return !options->compact || compact (store, &error) ? LIG_EXIT_OK : lig_cli_fail (error);
  }
  if (!options->yes && runs->len > 0 && !isatty (STDIN_FILENO))
    return lig_cli_usage ("runs delete: standard input is not a terminal; confirm with --yes");
  if (!options->yes && runs->len > 0 && !ask (runs, &found, options, &with_files)) {
    lig_cli_say ("nothing was deleted");
    return LIG_EXIT_FAILED;
  }
  if (!delete_all (store, runs, &error) ||
      (with_files && !remove_files (found.files, runs->len, &error)))
    return lig_cli_fail (error);
  print_summary (runs->len, &found, with_files);
  if (options->compact && !compact (store, &error))
    return lig_cli_fail (error);
  return LIG_EXIT_OK;
}
