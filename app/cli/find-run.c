/* SPDX-License-Identifier: MIT */
/* The kind of the last run depends on the command: a profile has no checkpoint to resume. */
#include "app/cli/find-run.h"

#include "app/cli/runs-table.h"
#include "app/cli/say.h"

#include <ligature/error.h>
#include <ligature/op.h>
#include <ligature/store-select.h>

#include <string.h>

/* Returns whether a folder has the name of a run that a word selects. */
static gboolean
is_beside_folder (const char *selector)
{
  return !strchr (selector, '/') && g_file_test (selector, G_FILE_TEST_IS_DIR) &&
         !lig_cli_is_path (selector);
}

/* Prints which run was selected, unless the selector is part of its uuid or the only run's name. */
static void
print_selected (const char *selector, const char *kind, guint alike, const LigRunRow *row)
{
  g_autofree char *started = lig_runs_format_started (row->started);
  g_autofree char *prefix = g_ascii_strdown (selector, -1);
  if (is_beside_folder (selector))
    lig_cli_say ("%s is the run %.8s %s, %s; ./%s is the folder", selector, row->uuid, row->name,
                 started, selector);
  else if (strcmp (selector, "last") == 0)
    lig_cli_say ("the last %s is %.8s %s, %s", kind && *kind == 't' ? "training run" : "run",
                 row->uuid, row->name, started);
  else if (alike > 1 && strcmp (selector, row->name) == 0)
    lig_cli_say ("the newest of %u run%s called %s is %.8s, %s; %s~1 is the one before", alike,
                 LIG_ENDING (alike), row->name, row->uuid, started, selector);
  else if (alike != 1 && !g_str_has_prefix (row->uuid, prefix))
    lig_cli_say ("%s is %.8s %s, %s", selector, row->uuid, row->name, started);
}

LigRunRow *
lig_cli_find_run (LigStore *store, const char *selector, const char *kind, GError **error)
{
  guint alike = 0;
  LigRunRow *row = lig_store_select_run (store, selector, kind, &alike, error);
  if (row)
    print_selected (selector, kind, alike, row);
  return row;
}

gboolean
lig_cli_is_path (const char *text)
{
  static const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
  if (!g_file_test (text, G_FILE_TEST_IS_DIR))
    return g_file_test (text, G_FILE_TEST_EXISTS);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *path = g_build_filename (text, names[i], NULL);
    if (g_file_test (path, G_FILE_TEST_EXISTS))
      return TRUE;
  }
  return FALSE;
}

/* Returns whether the store has a run with this name. A missing store has none. */
static gboolean
is_name (const char *text, const char *path)
{
  g_autoptr (LigStore) store = lig_store_open_existing (path, LIG_STORE_READ, NULL);
  guint alike = 0;
  g_autoptr (LigRunRow) row = store ? lig_store_select_run (store, text, NULL, &alike, NULL) : NULL;
  return row && alike > 0;
}

gboolean
lig_cli_is_run (const char *text, const char *store)
{
  gsize length = strcspn (text, "~");
  g_autofree char *base = g_strndup (text, length);
  gboolean hexadecimal =
    g_ascii_isxdigit (*base) && strspn (base, "0123456789abcdefABCDEF-") == length;
  if (strcmp (base, "last") == 0)
    return TRUE;
  if (strpbrk (base, "!(") || strcmp (base, "-") == 0 || lig_op_info_find (base) ||
      lig_cli_is_path (text))
    return FALSE;
  return hexadecimal || is_name (text, store);
}

gboolean
lig_cli_blame_name (GError **error, const char *text)
{
  /* An error of a sequence has the path of an op; that of a name has none. */
  if (!g_error_matches (*error, LIG_ERROR, LIG_ERROR_OP) || lig_error_get_path (*error) ||
      strpbrk (text, "!(@") || lig_op_info_find (text) || lig_cli_is_path (text))
    return FALSE;
  const char *like = strstr ((*error)->message, "; did you mean ");
  char *message = g_strdup_printf ("no run, file or op is called '%s'%s", text, like ? like : "");
  g_free ((*error)->message);
  (*error)->message = message;
  return FALSE;
}
