/* SPDX-License-Identifier: MIT */
/* Sweeps in the store, and the inputs of runs. */
#include "engine/store/file.h"
#include "engine/store/private.h"
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <string.h>

#define SWEEP_COLUMNS \
  "SELECT s.uuid, s.name, s.document, s.started," \
  " (SELECT count (*) FROM run WHERE sweep = s.uuid) FROM sweep s "

LigSweepRow *
lig_sweep_row_copy (const LigSweepRow *row)
{
  g_return_val_if_fail (row, NULL);
  LigSweepRow *copy = g_memdup2 (row, sizeof *row);
  copy->uuid = g_strdup (row->uuid);
  copy->name = g_strdup (row->name);
  copy->document = g_strdup (row->document);
  return copy;
}

void
lig_sweep_row_free (LigSweepRow *row)
{
  if (!row)
    return;
  g_free (row->uuid);
  g_free (row->name);
  g_free (row->document);
  g_free (row);
}

static LigSweepRow *
copy_row (LigSweepRow *row)
{
  return lig_sweep_row_copy (row);
}

G_DEFINE_BOXED_TYPE (LigSweepRow, lig_sweep_row, copy_row, lig_sweep_row_free)

char *
lig_store_begin_sweep (LigStore *self, const char *name, const char *document, GError **error)
{
  static const char sql[] =
    "INSERT INTO sweep (uuid, name, document, started) VALUES (?1, ?2, ?3, ?4)";
  g_return_val_if_fail (LIG_IS_STORE (self) && name && document, NULL);
  g_autofree char *uuid = g_uuid_string_random ();
  if (!lig_store_file_is_same (self->path, &self->file, error) ||
      lig_store_write (self, error, sql, "ttti", uuid, name, document, g_get_real_time ()) < 0)
    return NULL;
  return g_steal_pointer (&uuid);
}

gboolean
lig_store_set_sweep (
  LigStore *self, const char *run, const char *sweep, gint64 point, GError **error)
{
  static const char sql[] = "UPDATE run SET sweep = ?2, point = ?3 WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && sweep, FALSE);
  int changed = lig_store_write (self, error, sql, "tti", run, sweep, point);
  if (changed == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 run);
  return changed > 0;
}

static LigSweepRow *
read_sweep (sqlite3_stmt *from)
{
  LigSweepRow *row = g_new0 (LigSweepRow, 1);
  row->uuid = lig_sql_required (from, 0);
  row->name = lig_sql_required (from, 1);
  row->document = lig_sql_required (from, 2);
  row->started = sqlite3_column_int64 (from, 3);
  row->runs = sqlite3_column_int64 (from, 4);
  return row;
}

/* Sets the error for a selector that matches no sweep or several. */
static LigSweepRow *
fail_selector (LigStore *self, const char *selector, int matches, GError **error)
{
  if (matches > 1)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "'%s' matches %d sweep in store '%s'; give more characters",
                              "'%s' matches %d sweeps in store '%s'; give more characters",
                              (gulong) (matches)),
                 selector, matches, self->path);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no sweep '%s'"), self->path,
                 selector);
  return NULL;
}

LigSweepRow *
lig_store_find_sweep (LigStore *self, const char *selector, GError **error)
{
  static const char last[] = SWEEP_COLUMNS "ORDER BY s.id DESC LIMIT 1";
  static const char by_uuid[] = SWEEP_COLUMNS "WHERE s.uuid >= ?1 AND s.uuid < ?1 || 'g'";
  g_return_val_if_fail (LIG_IS_STORE (self) && selector, NULL);
  gboolean newest = strcmp (selector, "last") == 0;
  g_autofree char *prefix = g_ascii_strdown (selector, -1);
  g_autoptr (LigSweepRow) row = NULL;
  g_autoptr (GError) failure = NULL;
  int matches = 0;
  if (strlen (selector) < 4) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 g_dngettext (GETTEXT_PACKAGE, "sweep '%s' has %d character, expected at least 4",
                              "sweep '%s' has %d characters, expected at least 4",
                              (gulong) (strlen (selector))),
                 selector, (int) strlen (selector));
    return NULL;
  }
  sqlite3_stmt *from =
    lig_store_begin_read (self, &failure, newest ? last : by_uuid, newest ? "" : "t", prefix);
  while (from && lig_sql_next (from, &failure))
    if (matches++ == 0)
      row = read_sweep (from);
  lig_store_end_read (self, from);
  if (failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return NULL;
  }
  return matches == 1 ? g_steal_pointer (&row) : fail_selector (self, selector, matches, error);
}

GPtrArray *
lig_store_list_sweeps (LigStore *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_sweep_row_free);
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *from =
    lig_store_begin_read (self, &failure, SWEEP_COLUMNS "ORDER BY s.id DESC", "");
  while (from && lig_sql_next (from, &failure))
    g_ptr_array_add (rows, read_sweep (from));
  lig_store_end_read (self, from);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

char *
lig_store_get_inputs (LigStore *self, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GError) failure = NULL;
  char *text = NULL;
  sqlite3_stmt *from =
    lig_store_begin_read (self, &failure, "SELECT inputs FROM run WHERE uuid = ?1", "t", run);
  if (from && lig_sql_next (from, &failure))
    text = lig_sql_text (from, 0);
  lig_store_end_read (self, from);
  if (failure)
    g_propagate_error (error, g_steal_pointer (&failure));
  return text;
}
