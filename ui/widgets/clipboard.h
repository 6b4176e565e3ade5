/* SPDX-License-Identifier: MIT */
/* Ops on the clipboard: the text of a .lig file under its own MIME type, and as plain text for
 * other programs. Reading is asynchronous. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_CLIPBOARD_TYPE "application/x-ligature+json"

/* Copies. @json: the text of a .lig file */
void lig_clipboard_set (GdkClipboard *clipboard, const char *json);

/* Returns whether the clipboard has text. */
gboolean lig_clipboard_has_text (GdkClipboard *clipboard);

/* Reads copied ops, or any text that another program offers. */
void lig_clipboard_read_async (GdkClipboard *clipboard,
                               GCancellable *cancellable,
                               GAsyncReadyCallback callback,
                               gpointer data);

/* Returns: (transfer full): UTF-8, or %NULL with an error. */
char *lig_clipboard_read_finish (GdkClipboard *clipboard, GAsyncResult *result, GError **error);

G_END_DECLS
