/* SPDX-License-Identifier: MIT */
/* SQLite maps the -shm file of a database, and a process that accesses a mapping whose file was
 * truncated gets SIGBUS. SQLite cannot be used after that: its connection keeps its locks, and the
 * process cannot use the store any more. It keeps running, with its data in memory. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/* Runs `work`, which must not jump out of its frame. Returns FALSE if SIGBUS ended it; the locks
 * and memory that it held are not released. Without lig_store_catch_truncation() the signal ends
 * the process as usual. */
gboolean lig_guard_run (void (*work) (gpointer data), gpointer data);

/* Sets the error for a store whose -shm file was truncated. */
void lig_guard_fail (const char *path, GError **error);

/* Keeps a connection open until the process ends: closing it would wait for locks that are never
 * released. */
void lig_guard_abandon (gpointer connection);

G_END_DECLS
