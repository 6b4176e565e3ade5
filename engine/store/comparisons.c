/* SPDX-License-Identifier: MIT */
/* Comparisons of recipes: each profile of a comparison has the errors of its recipe. */
#include "engine/store/errors.h"
#include "engine/store/private.h"

#include <glib/gi18n-lib.h>

static void
free_row (LigRecipeErrorRow *row)
{
  if (!row)
    return;
  g_free (row->run);
  g_free (row->comparison);
  g_free (row->recipe);
  g_free (row->ops);
  g_free (row);
}

gboolean
lig_store_put_errors (LigStore *self, const LigRecipeErrorRow *row, GError **error)
{
  static const char sql[] =
    "INSERT OR REPLACE INTO recipe_error (run, comparison, recipe, output, gradient, bytes, ops)"
    " SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM run WHERE uuid = ?1";
  g_return_val_if_fail (LIG_IS_STORE (self) && row, FALSE);
  g_return_val_if_fail (row->run && row->comparison && row->recipe && row->ops, FALSE);
  int changed = lig_store_write (self, error, sql, "tttddit", row->run, row->comparison,
                                 row->recipe, row->output, row->gradient, row->bytes, row->ops);
  if (changed == 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("store '%s' has no run '%s'"), self->path,
                 row->run);
  return changed > 0;
}

static LigRecipeErrorRow *
read_row (sqlite3_stmt *from)
{
  LigRecipeErrorRow *row = g_new0 (LigRecipeErrorRow, 1);
  row->run = lig_sql_required (from, 0);
  row->comparison = lig_sql_required (from, 1);
  row->recipe = lig_sql_required (from, 2);
  row->output = lig_sql_real (from, 3);
  row->gradient = lig_sql_real (from, 4);
  row->bytes = sqlite3_column_int64 (from, 5);
  row->ops = lig_sql_required (from, 6);
  return row;
}

GPtrArray *
lig_store_get_errors (LigStore *self, const char *run, GError **error)
{
  static const char sql[] =
    "SELECT r.uuid, e.comparison, e.recipe, e.output, e.gradient, e.bytes, e.ops"
    " FROM recipe_error e JOIN run r ON r.id = e.run WHERE e.comparison ="
    " (SELECT comparison FROM recipe_error WHERE run = (SELECT id FROM run WHERE uuid = ?1))"
    " ORDER BY e.run";
  g_return_val_if_fail (LIG_IS_STORE (self) && run, NULL);
  g_autoptr (GError) failure = NULL;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) free_row);
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", run);
  while (statement && lig_sql_next (statement, &failure))
    g_ptr_array_add (rows, read_row (statement));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_steal_pointer (&rows);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}
