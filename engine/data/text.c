/* SPDX-License-Identifier: MIT */
/* text: the bytes of a file, or of all regular files below a folder, sorted by path and joined, as
 * tokens. Links to files are followed, links to folders are not. */
#include "engine/base/file.h"
#include "engine/data/files.h"
#include "engine/data/windows.h"

#define LINE_CHARACTERS 72

/* Adds the contents of a file, or of all files of a folder except those of `without` (nullable),
 * and sums their sizes. */
static gboolean
read_files (LigDataset *self,
            const char *path,
            const char *without,
            GPtrArray *files,
            gsize *size,
            GError **error)
{
  g_autoptr (GPtrArray) paths = lig_data_list_folder (path, NULL, error);
  g_autoptr (GPtrArray) others = without ? lig_data_list_folder (without, NULL, error) : NULL;
  gsize before = *size;
  if (!paths || (without && (!others || !lig_data_leave_out (paths, others, path, error))))
    return FALSE;
  for (guint i = 0; i < paths->len; i++) {
    gsize count;
    GBytes *file = lig_data_read (g_ptr_array_index (paths, i), error);
    if (!file)
      return FALSE;
    gconstpointer bytes = g_bytes_get_data (file, &count);
    self->content = lig_hash_content (self->content, bytes, count);
    *size += count;
    g_ptr_array_add (files, file);
  }
  if (*size > before)
    return TRUE;
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", name,
               paths->len == 0 ? _ ("the folder contains no file") : _ ("is empty"));
  return FALSE;
}

/* Writes each byte of the files as a token. */
static void
write_tokens (GPtrArray *files, guint16 *tokens)
{
  for (guint i = 0; i < files->len; i++) {
    gsize count;
    const guint8 *bytes = g_bytes_get_data (g_ptr_array_index (files, i), &count);
    for (gsize k = 0; k < count; k++)
      *tokens++ = bytes[k];
  }
}

static gboolean
text_open (LigDataset *self, GError **error)
{
  gsize size = 0;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  if (!read_files (self, self->path, self->validation_path, files, &size, error))
    return FALSE;
  gsize training = size;
  if (self->validation_path && !read_files (self, self->validation_path, NULL, files, &size, error))
    return FALSE;
  if (!self->validation_path)
    training = (gsize) lig_dataset_cut (self, (gint64) size);
  guint16 *tokens = self->data = g_try_new (guint16, size);
  if (!tokens)
    return lig_dataset_reject (self, error, LIG_ERROR_MEMORY,
                               g_dngettext (GETTEXT_PACKAGE, "no memory for %zu byte as tokens",
                                            "no memory for %zu bytes as tokens", (gulong) (size)),
                               size);
  write_tokens (files, tokens);
  if (!lig_windows_open (self, tokens, training, size, error))
    return FALSE;
  g_autofree char *bytes = lig_format_count ((gint64) size);
  g_autofree char *trained = lig_format_count ((gint64) training);
  g_autofree char *count = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u file", "%u files", (gulong) files->len), files->len);
  g_autofree char *all =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s byte", "%s bytes", (gulong) size), bytes);
  self->description = g_strdup_printf (_ ("text: %s, %s, %s for training"), count, all, trained);
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
