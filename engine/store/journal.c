/* SPDX-License-Identifier: MIT */
/* The journal of the edits of documents. The key of a document contains the process that edits it,
 * so that the edits of a killed process are found. */
#include "engine/store/private.h"
#include "engine/store/process.h"

char *
lig_store_new_document (void)
{
  static int counter;
  const LigProcess *self = lig_process_get_self ();
  return g_strdup_printf ("%s|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%d", self->boot, self->pid,
                          self->start, g_atomic_int_add (&counter, 1));
}

/* Returns whether the process that made the key no longer runs. On this machine the age of the last
 * edit is ignored, because a user may pause for hours; processes of an earlier boot are gone. */
static gboolean
is_lost (const char *document, gint64 last)
{
  g_auto (GStrv) parts = g_strsplit (document, "|", 4);
  if (g_strv_length (parts) != 4)
    return FALSE;
  gboolean here = g_str_equal (parts[0], lig_process_get_self ()->boot);
  return lig_process_is_gone (parts[0], g_ascii_strtoll (parts[1], NULL, 10),
                              g_ascii_strtoll (parts[2], NULL, 10),
                              here ? g_get_real_time () : last);
}

GStrv
lig_store_list_lost (LigStore *self, GError **error)
{
  static const char sql[] =
    "SELECT document, max(made) FROM edit GROUP BY document ORDER BY max(id) DESC";
  g_return_val_if_fail (LIG_IS_STORE (self), NULL);
  g_autoptr (GStrvBuilder) lost = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "");
  while (statement && lig_sql_next (statement, &failure))
    if (is_lost (lig_sql_string (statement, 0), sqlite3_column_int64 (statement, 1)))
      g_strv_builder_add (lost, lig_sql_string (statement, 0));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_strv_builder_end (lost);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

GStrv
lig_store_get_edits (LigStore *self, const char *document, GError **error)
{
  static const char sql[] = "SELECT json FROM edit WHERE document = ?1 ORDER BY id";
  g_return_val_if_fail (LIG_IS_STORE (self) && document, NULL);
  g_autoptr (GStrvBuilder) edits = g_strv_builder_new ();
  g_autoptr (GError) failure = NULL;
  sqlite3_stmt *statement = lig_store_begin_read (self, &failure, sql, "t", document);
  while (statement && lig_sql_next (statement, &failure))
    g_strv_builder_add (edits, lig_sql_string (statement, 0));
  lig_store_end_read (self, statement);
  if (!failure)
    return g_strv_builder_end (edits);
  g_propagate_error (error, g_steal_pointer (&failure));
  return NULL;
}

gboolean
lig_store_append_edit (LigStore *self, const char *document, const char *json, GError **error)
{
  static const char sql[] = "INSERT INTO edit (document, json, made) VALUES (?1, ?2, ?3)";
  g_return_val_if_fail (LIG_IS_STORE (self) && document && json, FALSE);
  return lig_store_write (self, error, sql, "tti", document, json, g_get_real_time ()) >= 0;
}

gboolean
lig_store_clear_edits (LigStore *self, const char *document, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (self) && document, FALSE);
  return lig_store_write (self, error, "DELETE FROM edit WHERE document = ?1", "t", document) >= 0;
}
