/* SPDX-License-Identifier: MIT */
/* text: a file, or all regular files below a folder, sorted by path and joined. Their bytes are
 * tokens, or a tokenizer encodes each file. Links to files are followed, links to folders are
 * not. */
#include "engine/base/file.h"
#include "engine/data/files.h"
#include "engine/data/windows.h"
#include <ligature/tokenizer.h>

#include <string.h>

#define LINE_CHARACTERS 72
#define TOKENIZER "tokenizer"

typedef struct {
  guint16 *tokens;
  LigTokenizer *tokenizer; /* null: each byte is a token */
} Text;

/* Replaces the bytes of a file by its tokens, of two bytes each. */
static gboolean
encode (LigTokenizer *tokenizer, const char *path, GBytes **file, gsize *count, GError **error)
{
  gsize size;
  const char *text = g_bytes_get_data (*file, &size);
  g_autofree gint32 *tokens =
    lig_tokenizer_encode (tokenizer, text ? text : "", (gssize) size, TRUE, count, error);
  if (!tokens) {
    g_autofree char *name = g_filename_display_name (path);
    g_prefix_error (error, "%s: ", name);
    return FALSE;
  }
  guint16 *narrow = g_new (guint16, *count + 1);
  for (gsize i = 0; i < *count; i++)
    narrow[i] = (guint16) tokens[i];
  g_bytes_unref (*file);
  *file = g_bytes_new_take (narrow, *count * sizeof *narrow);
  return TRUE;
}

/* Adds the tokens of a file, or of all files of a folder except those of `without` (nullable), and
 * sums their numbers. */
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
    LigTokenizer *tokenizer = ((const Text *) self->data)->tokenizer;
    if (tokenizer && !encode (tokenizer, paths->pdata[i], &file, &count, error)) {
      g_bytes_unref (file);
      return FALSE;
    }
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

/* Writes the tokens of the files one after another. */
static void
write_tokens (GPtrArray *files, gboolean encoded, guint16 *tokens)
{
  for (guint i = 0; i < files->len; i++) {
    gsize size;
    const guint8 *bytes = g_bytes_get_data (g_ptr_array_index (files, i), &size);
    for (gsize k = 0; k < size && !encoded; k++)
      *tokens++ = bytes[k];
    if (encoded && size > 0) {
      memcpy (tokens, bytes, size);
      tokens += size / sizeof *tokens;
    }
  }
}

/* Without a tokenizer, tokens are bytes. */
static gboolean
check_separator (const LigDataset *self, GError **error)
{
  const char *separator = lig_dataset_option (self, LIG_SEPARATOR);
  if (!separator || lig_dataset_number (self, LIG_SEPARATOR) <= G_MAXUINT8)
    return TRUE;
  return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                             _ ("separator is '%s', expected a whole number from -1 to %d, a byte"),
                             separator, G_MAXUINT8);
}

/* Opens the tokenizer that the options name, if any. */
static gboolean
open_tokenizer (LigDataset *self, Text *text, GError **error)
{
  const char *path = lig_dataset_option (self, TOKENIZER);
  if (!path)
    return check_separator (self, error);
  text->tokenizer = lig_tokenizer_open (path, error);
  gint32 size = text->tokenizer ? lig_tokenizer_get_size (text->tokenizer) : 0;
  if (size <= G_MAXUINT16 + 1)
    return text->tokenizer != NULL;
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_VALUE,
    _ ("%s: the tokenizer has %d tokens, text holds at most %d different ones; encode the "
       "text to a .npy file of uint32, and train on tokens:FILE"),
    name, size, G_MAXUINT16 + 1);
  return FALSE;
}

static char *
describe (const Text *text, guint n_files, gsize size, gsize training)
{
  g_autofree char *number = lig_format_count ((gint64) size);
  g_autofree char *trained = lig_format_count ((gint64) training);
  g_autofree char *count = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u file", "%u files", (gulong) n_files), n_files);
  g_autofree char *all = g_strdup_printf (
    text->tokenizer ? g_dngettext (GETTEXT_PACKAGE, "%s token", "%s tokens", (gulong) size)
                    : g_dngettext (GETTEXT_PACKAGE, "%s byte", "%s bytes", (gulong) size),
    number);
  return g_strdup_printf (_ ("text: %s, %s, %s for training"), count, all, trained);
}

static gboolean
text_open (LigDataset *self, GError **error)
{
  Text *text = self->data = g_new0 (Text, 1);
  gsize size = 0;
  g_autoptr (GPtrArray) files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  if (!open_tokenizer (self, text, error) ||
      !read_files (self, self->path, self->validation_path, files, &size, error))
    return FALSE;
  gsize training = size;
  if (self->validation_path && !read_files (self, self->validation_path, NULL, files, &size, error))
    return FALSE;
  if (!self->validation_path)
    training = (gsize) lig_dataset_cut (self, (gint64) size);
  text->tokens = g_try_new (guint16, size);
  if (!text->tokens)
    return lig_dataset_reject (self, error, LIG_ERROR_MEMORY,
                               g_dngettext (GETTEXT_PACKAGE, "no memory for %zu byte as tokens",
                                            "no memory for %zu bytes as tokens", (gulong) (size)),
                               size);
  write_tokens (files, text->tokenizer != NULL, text->tokens);
  if (!lig_windows_open (self, text->tokens, training, size, error))
    return FALSE;
  self->description = describe (text, files->len, size, training);
  return TRUE;
}

static void
text_close (LigDataset *self)
{
  Text *text = self->data;
  g_clear_pointer (&text->tokenizer, lig_tokenizer_unref);
  g_free (text->tokens);
  g_free (text);
}

/* Shows the first tokens, each with its text. */
static guint
preview_tokens (const LigDataset *self, guint rows, GPtrArray *cells)
{
  enum { AT_ONCE = 16 };
  const guint16 *tokens = self->tokens[LIG_SPLIT_TRAINING];
  gsize count = self->n_tokens[LIG_SPLIT_TRAINING];
  LigTokenizer *tokenizer = ((const Text *) self->data)->tokenizer;
  g_ptr_array_add (cells, g_strdup ("token"));
  g_ptr_array_add (cells, g_strdup ("text"));
  for (gsize at = 0; at < count && at / AT_ONCE < rows; at += AT_ONCE) {
    gint32 some[AT_ONCE];
    gsize n = MIN (AT_ONCE, count - at);
    for (gsize i = 0; i < n; i++)
      some[i] = tokens[at + i];
    g_autofree char *text = lig_tokenizer_decode (tokenizer, some, n, TRUE, NULL);
    g_strdelimit (text, "\n\r\t", ' ');
    g_ptr_array_add (cells, g_strdup_printf ("%" G_GSIZE_FORMAT, at));
    g_ptr_array_add (cells, lig_format_excerpt (text, LINE_CHARACTERS));
  }
  return 2;
}

/* Shows lines, each with the offset of its first byte. */
static guint
text_preview (const LigDataset *self, guint rows, GPtrArray *cells)
{
  if (((const Text *) self->data)->tokenizer)
    return preview_tokens (self, rows, cells);
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

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_PATH,
   .name = TOKENIZER,
   .label = N_ ("Tokenizer"),
   .help = N_ ("A tokenizer.json that encodes the text; by default each byte is a token")},
  LIG_SEPARATOR_OPTION (G_MAXUINT16),
  {0}};

const LigDatasetKind lig_dataset_text = {
  .info = {.name = "text",
           .title = N_ ("Text: bytes, or the tokens of a tokenizer"),
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
