/* SPDX-License-Identifier: MIT */
/* tokens: the .bin format of llm.c: 256 int32, of which the first three are used (20240520, version
 * 1, number of tokens), then the tokens as uint16, all little-endian. The whole file is read. */
#include "engine/base/file.h"
#include "engine/data/windows.h"

#include <string.h>

#define MAGIC 20240520
#define VERSION 1
#define HEADER_BYTES 1024

static gboolean
check_header (const LigDataset *self, const char *content, gsize size, GError **error)
{
  gint32 header[3];
  if (size < HEADER_BYTES)
    return lig_dataset_refuse (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE, "has %zu byte, the header alone has %d",
                   "has %zu bytes, the header alone has %d", (gulong) (size)),
      size, HEADER_BYTES);
  memcpy (header, content, sizeof header);
  if (header[0] != MAGIC)
    return lig_dataset_refuse (self, error, LIG_ERROR_FORMAT,
                               _ ("begins with %d, a file of tokens with %d"), header[0], MAGIC);
  if (header[1] != VERSION)
    return lig_dataset_refuse (self, error, LIG_ERROR_FORMAT, _ ("has version %d, expected %d"),
                               header[1], VERSION);
  if (header[2] < 1)
    return lig_dataset_refuse (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE, "the header claims %d token, expected at least 1",
                   "the header claims %d tokens, expected at least 1", (gulong) (header[2])),
      header[2]);
  gsize claimed = (gsize) header[2] * sizeof (guint16);
  if (claimed != size - HEADER_BYTES)
    return lig_dataset_refuse (self, error, LIG_ERROR_FORMAT,
                               _ ("the header claims %d token%s, which are %zu byte%s, %zu follow"),
                               header[2], LIG_ENDING (header[2]), claimed, LIG_ENDING (claimed),
                               size - HEADER_BYTES);
  return TRUE;
}

static gboolean
tokens_open (LigDataset *self, GError **error)
{
  gsize size;
  GBytes *file = self->data = lig_read_file (self->path, error);
  if (!file)
    return FALSE;
  const char *content = g_bytes_get_data (file, &size);
  if (!check_header (self, content, size, error))
    return FALSE;
  gsize count = (size - HEADER_BYTES) / sizeof (guint16);
  if (!lig_windows_open (self, (const guint16 *) (content + HEADER_BYTES), count, error))
    return FALSE;
  self->content = lig_hash_content (0, content, size);
  g_autofree char *all = lig_format_count ((gint64) count);
  g_autofree char *training = lig_format_count ((gint64) self->n_tokens[LIG_SPLIT_TRAINING]);
  g_autofree char *tokens =
    g_strdup_printf (g_dngettext (GETTEXT_PACKAGE, "%s token", "%s tokens", (gulong) count), all);
  self->description = g_strdup_printf (_ ("tokens: %s, %s for training"), tokens, training);
  return TRUE;
}

static void
tokens_close (LigDataset *self)
{
  g_bytes_unref (self->data);
}

const LigDatasetKind lig_dataset_tokens = {
  .info = {.name = "tokens",
           .title = N_ ("Tokens: a .bin file of numbers"),
           .help = N_ ("A .bin file with the header of llm.c"),
           .path = LIG_DATASET_FILE,
           .files = "*.bin"},
  .open = tokens_open,
  .bind = lig_windows_bind,
  .read = lig_windows_read,
  .close = tokens_close,
};
