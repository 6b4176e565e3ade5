/* SPDX-License-Identifier: MIT */
/* All reading is asynchronous, because the program that offers the text may be this one. */
#include "ui/widgets/clipboard.h"

#include <ligature/error.h>

#include <glib/gi18n.h>
#include <string.h>

/* A sequence has a few kilobytes; much larger clipboard contents are rejected. */
#define MAX_BYTES (4 << 20)
#define CHUNK_BYTES (64 << 10)

static const char *const accepted[] = {LIG_CLIPBOARD_TYPE, "text/plain;charset=utf-8", "text/plain",
                                       NULL};

void
lig_clipboard_set (GdkClipboard *clipboard, const char *json)
{
  g_autoptr (GBytes) bytes = g_bytes_new (json, strlen (json));
  GdkContentProvider *parts[] = {
    gdk_content_provider_new_for_bytes (LIG_CLIPBOARD_TYPE, bytes),
    gdk_content_provider_new_typed (G_TYPE_STRING, json),
  };
  g_autoptr (GdkContentProvider) both = gdk_content_provider_new_union (parts, 2);
  gdk_clipboard_set_content (clipboard, both);
}

gboolean
lig_clipboard_has_text (GdkClipboard *clipboard)
{
  GdkContentFormats *formats = gdk_clipboard_get_formats (clipboard);
  for (const char *const *type = accepted; *type; type++)
    if (gdk_content_formats_contain_mime_type (formats, *type))
      return TRUE;
  return gdk_content_formats_contain_gtype (formats, G_TYPE_STRING);
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  GInputStream *stream;
  GByteArray *bytes;
} Reading;

static void
free_reading (gpointer data)
{
  Reading *reading = data;
  g_clear_object (&reading->stream);
  g_byte_array_unref (reading->bytes);
  g_free (reading);
}

static void
finish_reading (GTask *task, Reading *reading)
{
  const char *text = (const char *) reading->bytes->data;
  gsize length = reading->bytes->len;
  if (g_utf8_validate_len (text, length, NULL))
    g_task_return_pointer (task, g_strndup (text ? text : "", length), g_free);
  else
    g_task_return_new_error (task, LIG_ERROR, LIG_ERROR_FORMAT, "%s",
                             _ ("the clipboard has no text; copy operations or an expression"));
}

static void
take_chunk (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  GError *error = NULL;
  Reading *reading = g_task_get_task_data (task);
  g_autoptr (GBytes) chunk =
    g_input_stream_read_bytes_finish (G_INPUT_STREAM (source), result, &error);
  gsize size = chunk ? g_bytes_get_size (chunk) : 0;
  if (!chunk)
    g_task_return_error (task, error);
  else if (size == 0)
    finish_reading (task, reading);
  else if (reading->bytes->len + size > MAX_BYTES)
    g_task_return_new_error (task, LIG_ERROR, LIG_ERROR_FORMAT, "%s",
                             _ ("the text on the clipboard is too long for a sequence"));
  else {
    g_byte_array_append (reading->bytes, g_bytes_get_data (chunk, NULL), (guint) size);
    g_input_stream_read_bytes_async (reading->stream, CHUNK_BYTES, G_PRIORITY_DEFAULT,
                                     g_task_get_cancellable (task), take_chunk,
                                     g_object_ref (task));
  }
}

static void
take_stream (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GTask) task = data;
  GError *error = NULL;
  Reading *reading = g_task_get_task_data (task);
  reading->stream = gdk_clipboard_read_finish (GDK_CLIPBOARD (source), result, NULL, &error);
  if (!reading->stream) {
    g_task_return_error (task, error);
    return;
  }
  g_input_stream_read_bytes_async (reading->stream, CHUNK_BYTES, G_PRIORITY_DEFAULT,
                                   g_task_get_cancellable (task), take_chunk, g_object_ref (task));
}

void
lig_clipboard_read_async (GdkClipboard *clipboard,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer data)
{
  GTask *task = g_task_new (clipboard, cancellable, callback, data);
  Reading *reading = g_new0 (Reading, 1);
  reading->bytes = g_byte_array_new ();
  g_task_set_task_data (task, reading, free_reading);
  if (lig_clipboard_has_text (clipboard)) {
    gdk_clipboard_read_async (clipboard, (const char **) accepted, G_PRIORITY_DEFAULT, cancellable,
                              take_stream, task);
    return;
  }
  g_task_return_new_error (task, LIG_ERROR, LIG_ERROR_FORMAT, "%s",
                           _ ("the clipboard is empty; copy operations or an expression"));
  g_object_unref (task);
}

char *
lig_clipboard_read_finish (GdkClipboard *clipboard, GAsyncResult *result, GError **error)
{
  return g_task_propagate_pointer (G_TASK (result), error);
}
