/* SPDX-License-Identifier: MIT */
/* SQLite with GErrors: statements bound in one line, and transactions that wait for others. */
#pragma once

#include <ligature/error.h>

#include <sqlite3.h>
#include <stdarg.h>

G_BEGIN_DECLS

G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3, sqlite3_close)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (sqlite3_stmt, sqlite3_finalize)

/* Sets the error `store 'FILE': DOING: REASON` with the message of SQLite and, for an I/O error,
 * that of the system. Always returns FALSE. */
gboolean lig_sql_fail (sqlite3 *db, const char *doing, GError **error);

/* Returns whether the last failure on this connection indicates a damaged file. */
gboolean lig_sql_is_damage (sqlite3 *db);

/* Returns a statement with its parameters bound to the arguments after `types`: t text (may be
 * NULL), i gint64, d double, b GBytes. Texts and bytes are not copied: they must live until the
 * statement is reset. */
sqlite3_stmt *lig_sql_prepare (sqlite3 *db, GError **error, const char *sql, const char *types, ...)
  G_GNUC_WARN_UNUSED_RESULT;

sqlite3_stmt *lig_sql_prepare_list (
  sqlite3 *db, GError **error, const char *sql, const char *types, va_list values);

/* Prepares and runs a statement that returns no rows. */
gboolean lig_sql_run (sqlite3 *db, GError **error, const char *sql, const char *types, ...);

gboolean
lig_sql_run_list (sqlite3 *db, GError **error, const char *sql, const char *types, va_list values);

/* Runs statements without parameters. */
gboolean lig_sql_exec (sqlite3 *db, const char *sql, GError **error);

/* Reads the first column of a statement's first row, 0 if there is no row. */
gboolean lig_sql_get (sqlite3 *db, const char *sql, gint64 *value, GError **error);

/* Begins a writing transaction; waits while another process writes, and fails if `db` is NULL. End
 * it with lig_sql_end(), which commits, or rolls back if `done` is FALSE or committing fails. */
gboolean lig_sql_begin (sqlite3 *db, GError **error);
gboolean lig_sql_end (sqlite3 *db, gboolean done, GError **error);

/* Steps a reading statement. Returns TRUE with a row, FALSE at the end and, with `error` set, on
 * failure. */
gboolean lig_sql_next (sqlite3_stmt *statement, GError **error);

/* Return values of a row; an SQL NULL becomes NaN, NULL or, with _required and _string, "". A text
 * ends at its first zero byte. With _text and _required it is made valid UTF-8, with _string it
 * contains the stored bytes. */
double lig_sql_real (sqlite3_stmt *statement, int column);
char *lig_sql_text (sqlite3_stmt *statement, int column);
char *lig_sql_required (sqlite3_stmt *statement, int column);
const char *lig_sql_string (sqlite3_stmt *statement, int column);

G_END_DECLS
