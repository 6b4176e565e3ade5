/* SPDX-License-Identifier: MIT */
/* SQLite maps the -shm file beside a database, and a process that touches a mapping whose file was
 * cut off gets SIGBUS. There is no way back into SQLite from there: its connection keeps its locks,
 * and the store is lost to this process. The data that the process has in memory is not. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Runs `work`, which must not leave the caller's frame. FALSE where SIGBUS ended it; what it held
 * it still holds. Without lig_store_catch_truncation() the signal ends the process as ever. */
gboolean lig_guard_run (void (*work) (gpointer data), gpointer data);

/* Sets the error for a store of which that happened. */
void lig_guard_fail (const char *path, GError **error);

/* Keeps a connection for ever: closing it would wait for locks that nobody gives back. */
void lig_guard_abandon (gpointer connection);

G_END_DECLS
