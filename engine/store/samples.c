/* SPDX-License-Identifier: MIT */
/* Texts that runs generated while they trained. */
#include "engine/store/private.h"

#include <glib/gi18n-lib.h>

void
lig_sample_row_free (LigSampleRow *self)
{
  if (!self)
    return;
  g_free (self->prompt);
  g_free (self->text);
  g_free (self->tokens);
  g_free (self);
}

gboolean
lig_store_add_sample (LigStore *self, const char *run, const LigSampleRow *row, GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO sample (run, step, number, prompt, text, tokens, microseconds)"
    " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM run WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && run && row, FALSE);
  int changed = lig_store_write (self, error, sql, "tiitttd", run, row->step, row->number,
                                 row->prompt ? row->prompt : "", row->text ? row->text : "",
                                 row->tokens ? row->tokens : "", row->microseconds);
  if (changed == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 run);
  return changed > 0;
}

static LigSampleRow *
read_row (sqlite3_stmt *from)
{
  LigSampleRow *row = g_new0 (LigSampleRow, 1);
  row->step = sqlite3_column_int64 (from, 0);
  row->number = sqlite3_column_int64 (from, 1);
  row->prompt = lig_sql_required (from, 2);
  row->text = lig_sql_required (from, 3);
  row->tokens = lig_sql_required (from, 4);
  row->microseconds = lig_sql_real (from, 5);
  return row;
}

GPtrArray *
lig_store_get_samples (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "SELECT step, number, prompt, text, tokens, microseconds FROM sample"
    " WHERE run = (SELECT id FROM run WHERE uuid = ?1) ORDER BY step, number";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GPtrArray) rows =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_sample_row_free);
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure))
    g_ptr_array_add (rows, read_row (statement));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
