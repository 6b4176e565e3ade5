/* SPDX-License-Identifier: MIT */
/* text: the bytes of a file, or of all regular files below a folder, sorted by path and joined, as
 * tokens. Links to files are followed, links to folders are not. */
#include "engine/base/file.h"
#include "engine/data/files.h"
#include "engine/data/windows.h"

#include <glib/gstdio.h>

#include <sys/stat.h>

#define LINE_CHARACTERS 72

/* Returns the total size of all files in bytes, before they are read. */
static gsize
sum_sizes (GPtrArray *files)
{
  gsize sum = 0;
  for (guint i = 0; i < files->len; i++) {
    GStatBuf info;
    if (g_stat (g_ptr_array_index (files, i), &info) == 0 && S_ISREG (info.st_mode))
      sum += (gsize) info.st_size;
  }
  return sum;
}

/* Appends a file's bytes to `tokens`, of which the first `filled` are set. */
static gboolean
append_file (
  LigDataset *self, const char *path, guint16 *tokens, gsize size, gsize *filled, GError **error)
{
  g_autoptr (GBytes) file = lig_read_file (path, error);
  if (!file)
    return FALSE;
  gsize count;
  const guint8 *bytes = g_bytes_get_data (file, &count);
  if (count > size - *filled)
    return lig_dataset_refuse (self, error, LIG_ERROR_FILE, _ ("it grew while it was read"));
  self->content = lig_hash_content (self->content, bytes, count);
  for (gsize i = 0; i < count; i++)
    tokens[*filled + i] = bytes[i];
  *filled += count;
  return TRUE;
}

static gboolean
text_open (LigDataset *self, GError **error)
{
  g_autoptr (GPtrArray) files = lig_data_list_folder (self->path, NULL, error);
  if (!files)
    return FALSE;
  gsize size = sum_sizes (files), filled = 0;
  guint16 *tokens = self->data = g_try_new (guint16, MAX (size, 1));
  if (!tokens)
    return lig_dataset_refuse (self, error, LIG_ERROR_MEMORY,
                               g_dngettext (GETTEXT_PACKAGE, "no memory for %zu byte as tokens",
                                            "no memory for %zu bytes as tokens", (gulong) (size)),
                               size);
  for (guint i = 0; i < files->len; i++)
    if (!append_file (self, g_ptr_array_index (files, i), tokens, size, &filled, error))
      return FALSE;
  if (filled < size)
    return lig_dataset_refuse (self, error, LIG_ERROR_FILE, _ ("it shrank while it was read"));
  if (filled == 0)
    return lig_dataset_refuse (self, error, LIG_ERROR_FORMAT, "%s",
                               files->len == 0 ? _ ("the folder contains no file")
                                               : _ ("is empty"));
  if (!lig_windows_open (self, tokens, filled, error))
    return FALSE;
  g_autofree char *bytes = lig_format_count ((gint64) filled);
  g_autofree char *training = lig_format_count ((gint64) self->n_tokens[LIG_SPLIT_TRAINING]);
  g_autofree char *count = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u file", "%u files", (gulong) files->len), files->len);
  g_autofree char *all =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s byte", "%s bytes", (gulong) filled), bytes);
  self->description = g_strdup_printf (_ ("text: %s, %s, %s for training"), count, all, training);
  return TRUE;
}

static void
text_close (LigDataset *self)
{
  g_free (self->data);
}

/* Shows lines, each with the offset of its first byte. */
static guint
text_preview (const LigDataset *self, guint rows, GPtrArray *cells)
{
  const guint16 *tokens = self->tokens[LIG_SPLIT_TRAINING];
  gsize count = self->n_tokens[LIG_SPLIT_TRAINING], at = 0;
  g_ptr_array_add (cells, g_strdup ("byte"));
  g_ptr_array_add (cells, g_strdup ("text"));
  for (guint row = 0; row < rows && at < count; row++) {
    g_autoptr (GString) line = g_string_new (NULL);
    gsize end = at;
    for (; end < count && tokens[end] != '\n' && end - at < 4 * LINE_CHARACTERS; end++)
      g_string_append_c (line, tokens[end] >= ' ' ? (char) tokens[end] : ' ');
    g_ptr_array_add (cells, g_strdup_printf ("%" G_GSIZE_FORMAT, at));
    g_ptr_array_add (cells, lig_format_excerpt (line->str, LINE_CHARACTERS));
    at = end + (end < count && tokens[end] == '\n');
  }
  return 2;
}

static const LigDatasetOption options[] = {LIG_SEPARATOR_OPTION (G_MAXUINT8), {0}};

const LigDatasetKind lig_dataset_text = {
  .info = {.name = "text",
           .title = N_ ("Text: every byte is a token"),
           .help = N_ ("A file, or all files of a folder"),
           .path = LIG_DATASET_FILE_OR_FOLDER,
           .files = "*.txt",
           .options = options},
  .open = text_open,
  .bind = lig_windows_bind,
  .read = lig_windows_read,
  .close = text_close,
  .preview = text_preview,
};
