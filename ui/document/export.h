/* SPDX-License-Identifier: MIT */
/* Writes a document's plan, a run or a sweep as a report, on a thread. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * lig_export_async:
 * @path: its extension chooses the format
 *
 * Waits for a plan that is still being compiled. Fails with the sequence's problem if it has one,
 * and with the engine's error if the file cannot be written.
 */
void lig_export_async (LigDocument *document,
                       const char *path,
                       GCancellable *cancellable,
                       GAsyncReadyCallback callback,
                       gpointer data);

/* Write a run or a sweep of the session's store instead; finish them with the same function. */
void lig_export_run_async (LigDocument *document,
                           const char *run,
                           const char *path,
                           GCancellable *cancellable,
                           GAsyncReadyCallback callback,
                           gpointer data);
void lig_export_sweep_async (LigDocument *document,
                             const char *sweep,
                             const char *path,
                             GCancellable *cancellable,
                             GAsyncReadyCallback callback,
                             gpointer data);
gboolean lig_export_finish (LigDocument *document, GAsyncResult *result, GError **error);

G_END_DECLS
