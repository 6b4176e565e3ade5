/* SPDX-License-Identifier: MIT */
/* Token files. llm.c's format has a header of 256 int32, of which the first three are used:
 * 20240520, version 1, number of tokens, which follow as uint16; or 20240801, version 7 for uint32.
 * A NumPy file (.npy) has a header with the type. A plain file has only tokens. All numbers are
 * little-endian. */
#include "engine/data/shards.h"

#include "engine/base/file.h"
#include "engine/data/files.h"

#include <glib/gstdio.h>

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES 1024
#define HEADER_NUMBERS 256

/* The maximum number of open files: data sets may have more shards than a process may have
 * descriptors. */
#define MAX_OPEN 64

/* The number of bytes from which the type of a plain file is guessed. */
#define GUESS_BYTES ((gsize) 1 << 16)

/* This many 16-bit numbers do not look like 32-bit ones by chance. */
#define CERTAIN 256

static const struct {
  gint32 magic, version;
  const char *name;
  gsize width;
} types[] = {{20240520, 1, "uint16", 2}, {20240801, 7, "uint32", 4}};

const char *
lig_shards_type (gsize width)
{
  return width == 2 ? "uint16" : width == 4 ? "uint32" : "int64";
}

/* Returns the token at an index, which is negative only in a file of int64. */
static inline gint64
token_at (gconstpointer tokens, gsize width, gint64 at)
{
  return width == 2   ? ((const guint16 *) tokens)[at]
         : width == 4 ? ((const guint32 *) tokens)[at]
                      : ((const gint64 *) tokens)[at];
}

static void
free_shard (gpointer data)
{
  LigShard *shard = data;
  g_clear_pointer (&shard->content, g_bytes_unref);
  g_free (shard->path);
  g_free (shard->name);
  g_free (shard);
}

static void
close_file (gpointer descriptor)
{
  close (GPOINTER_TO_INT (descriptor));
}

LigShards *
lig_shards_new (void)
{
  LigShards *self = g_new0 (LigShards, 1);
  self->all = g_ptr_array_new_with_free_func (free_shard);
  self->at_once = LIG_SHARDS_AT_ONCE;
  self->largest = -1;
  self->open = g_hash_table_new_full (NULL, NULL, NULL, close_file);
  return self;
}

void
lig_shards_free (LigShards *self)
{
  if (!self)
    return;
  g_ptr_array_unref (self->all);
  g_hash_table_unref (self->open);
  g_free (self);
}

static gboolean G_GNUC_PRINTF (4, 5)
  reject (const LigShard *shard, LigError code, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, code, "%s: %s", shard->name, what);
  return FALSE;
}

/* --- Headers ------------------------------------------------------------------------------- */

/* Reads the width and the count from a header whose magic number is known. */
static gboolean
take_header (LigShard *shard, const gint32 *header, guint type, const char *wanted, GError **error)
{
  if (shard->size < HEADER_BYTES)
    return reject (shard, LIG_ERROR_FORMAT, error,
                   g_dngettext (GETTEXT_PACKAGE, "has %zu byte, the header itself has %d",
                                "has %zu bytes, the header itself has %d", (gulong) (shard->size)),
                   shard->size, HEADER_BYTES);
  if (header[1] != types[type].version)
    return reject (shard, LIG_ERROR_FORMAT, error, _ ("has version %d, expected %d"), header[1],
                   types[type].version);
  if (wanted && strcmp (wanted, types[type].name) != 0)
    return reject (shard, LIG_ERROR_VALUE, error,
                   _ ("the header says %s, the option type says %s; omit the option"),
                   types[type].name, wanted);
  if (header[2] < 1)
    return reject (shard, LIG_ERROR_FORMAT, error,
                   g_dngettext (GETTEXT_PACKAGE, "the header claims %d token, expected at least 1",
                                "the header claims %d tokens, expected at least 1",
                                (gulong) (header[2])),
                   header[2]);
  gsize claimed = (gsize) header[2] * types[type].width;
  if (claimed != shard->size - HEADER_BYTES)
    return reject (shard, LIG_ERROR_FORMAT, error,
                   _ ("the header claims %d token%s, which are %zu byte%s, %zu follow"), header[2],
                   LIG_ENDING (header[2]), claimed, LIG_ENDING (claimed),
                   shard->size - HEADER_BYTES);
  shard->width = types[type].width;
  shard->begin = HEADER_BYTES;
  shard->count = header[2];
  return TRUE;
}

/* Finds the type in the header of a .npy file, a Python literal: {'descr': '<u2', …}. */
static gsize
find_width (const char *header, gsize length)
{
  static const struct {
    const char *descr;
    gsize width;
  } known[] = {{"'<u2'", 2}, {"'<u4'", 4}, {"'<i4'", 4}, {"'<i8'", 8}, {"'<u8'", 8}};
  g_autofree char *text = g_strndup (header, length);
  const char *descr = strstr (text, "'descr':");
  for (guint i = 0; descr && i < G_N_ELEMENTS (known); i++)
    if (g_str_has_prefix (descr + strlen ("'descr':") + strspn (descr + strlen ("'descr':"), " "),
                          known[i].descr))
      return known[i].width;
  return 0;
}

/* Reads a .npy file (NEP 1): 6 bytes of magic, a version, the length of the header in 2 or 4 bytes,
 * the header, the numbers. The shape is ignored: rows of tokens are concatenated. */
static gboolean
take_numpy (LigShard *shard, const guchar *head, gsize length, const char *wanted, GError **error)
{
  gsize wide = length > 6 && head[6] > 1 ? 4 : 2, begin = 8 + wide, bytes = 0;
  for (gsize i = wide; length >= begin && i-- > 0;)
    bytes = bytes << 8 | head[8 + i];
  gsize end = begin + bytes;
  gsize width = length >= end && bytes > 0 ? find_width ((const char *) head + begin, bytes) : 0;
  if (width == 0)
    return reject (
      shard, LIG_ERROR_FORMAT, error,
      _ ("has a type other than NumPy's uint16, uint32, int32 and int64; convert it with astype"));
  if (wanted && strcmp (wanted, lig_shards_type (width)) != 0)
    return reject (shard, LIG_ERROR_VALUE, error,
                   _ ("the header says %s, the option type says %s; omit the option"),
                   lig_shards_type (width), wanted);
  shard->width = width;
  shard->begin = end;
  shard->count = (gint64) ((shard->size - end) / width);
  if (shard->count > 0 && (shard->size - end) % width == 0 && end % width == 0)
    return TRUE;
  return reject (shard, LIG_ERROR_FORMAT, error, _ ("ends at byte %zu, within the last token"),
                 shard->size);
}

/* Returns whether the file seems to have a header of another format: a few numbers, then zeros to
 * the end of the header. */
static gboolean
seems_headed (const gint32 *header, gsize length)
{
  if (length < HEADER_BYTES || (header[0] >= 0 && header[0] <= G_MAXUINT16))
    return FALSE;
  for (gsize i = 64; i < HEADER_NUMBERS; i++)
    if (header[i] != 0)
      return FALSE;
  return TRUE;
}

/* Returns whether every second number of 32 bits is 0, as in a file of int64, the default of NumPy
 * and PyTorch. */
static gboolean
is_widest (const guint16 *halves, gsize count)
{
  guint16 low = 0, high = 0;
  for (gsize i = 0; i + 3 < count; i += 4) {
    low |= halves[i] | halves[i + 1];
    high |= halves[i + 2] | halves[i + 3];
  }
  return count >= 8 && low > 0 && high == 0;
}

/* Returns the width of a plain file's tokens. Read as uint16, every second number of uint32 tokens
 * is a high half: 0, or below 16 in vocabularies of up to a million. If all numbers are below 16,
 * the file is uint16 with a small vocabulary. A short file may look like uint32 by chance; a long
 * one whose size does not fit was truncated. */
static gsize
guess_width (const LigShard *shard, const guint16 *halves, gsize count)
{
  guint16 low = 0, high = 0;
  for (gsize i = 0; i + 1 < count; i += 2) {
    low = MAX (low, halves[i]);
    high = MAX (high, halves[i + 1]);
  }
  gboolean wide = high == 0 ? low > 0 : high < 16 && low >= 4096;
  if (!wide || (shard->size % 4 != 0 && count < CERTAIN))
    return 2;
  return shard->size % 8 == 0 && is_widest (halves, count) ? 8 : 4;
}

/* Reads a file without a header. */
static gboolean
take_plain (LigShard *shard, gconstpointer head, gsize length, const char *wanted, GError **error)
{
  shard->plain = TRUE;
  shard->guessed = !wanted;
  if (wanted)
    shard->width = strcmp (wanted, "uint16") == 0 ? 2 : strcmp (wanted, "uint32") == 0 ? 4 : 8;
  else
    shard->width = guess_width (shard, head, length / sizeof (guint16));
  gsize rest = shard->size % shard->width;
  if (shard->size == 0)
    return reject (shard, LIG_ERROR_FORMAT, error, _ ("is empty"));
  if (rest > 0)
    return reject (shard, LIG_ERROR_FORMAT, error,
                   _ ("ends at byte %zu, within the last token, a %s at byte %zu"), shard->size,
                   lig_shards_type (shard->width), shard->size - rest);
  shard->count = (gint64) (shard->size / shard->width);
  return TRUE;
}

/* Detects the layout of a file's tokens from its first bytes. */
static gboolean
take_head (LigShard *shard, gconstpointer head, gsize length, const char *wanted, GError **error)
{
  gint32 header[HEADER_NUMBERS] = {0};
  memcpy (header, head, MIN (length, sizeof header));
  for (guint i = 0; i < G_N_ELEMENTS (types) && length >= sizeof header[0]; i++)
    if (header[0] == types[i].magic)
      return take_header (shard, header, i, wanted, error);
  if (length >= 6 && memcmp (head, "\x93NUMPY", 6) == 0)
    return take_numpy (shard, head, length, wanted, error);
  const char *foreign = wanted ? NULL : lig_data_name_foreign (head, length);
  if (foreign)
    return reject (
      shard, LIG_ERROR_FORMAT, error,
      _ ("is %s, not a token file; decompress or convert it, or if it contains tokens, set type="),
      _ (foreign));
  if (!wanted && (seems_headed (header, length) || !g_str_has_suffix (shard->path, ".bin")))
    return reject (shard, LIG_ERROR_FORMAT, error,
                   _ ("begins with %d, but a token file begins with %d (uint16) or %d (uint32); a "
                      "file without a header needs type=uint16, type=uint32 or type=int64"),
                   header[0], types[0].magic, types[1].magic);
  return take_plain (shard, head, length, wanted, error);
}

/* --- Opening ------------------------------------------------------------------------------- */

/* Reads the whole file, and finds its largest token. */
static gboolean
open_whole (LigShards *self, LigShard *shard, const char *wanted, GError **error)
{
  shard->content = lig_read_file (shard->path, error);
  if (!shard->content)
    return FALSE;
  const char *bytes = g_bytes_get_data (shard->content, &shard->size);
  if (!take_head (shard, bytes, MIN (shard->size, GUESS_BYTES), wanted, error))
    return FALSE;
  for (gint64 i = 0; i < shard->count; i++) {
    gint64 token = token_at (bytes + shard->begin, shard->width, i);
    if (token > self->largest) {
      self->largest = token;
      self->largest_shard = self->all->len - 1;
      self->largest_at = i;
    }
  }
  self->content = lig_hash_content (self->content, bytes, shard->size);
  return TRUE;
}

/* Reads the first and the last bytes of a file, which together with its size identify it. */
static gboolean
open_large (LigShards *self, LigShard *shard, const char *wanted, GError **error)
{
  int fd = lig_open_file (shard->path, &shard->size, error);
  gsize length = MIN (shard->size, GUESS_BYTES);
  g_autofree char *piece = g_malloc0 (GUESS_BYTES);
  if (fd < 0)
    return FALSE;
  gboolean fine = lig_read_at (fd, shard->path, 0, piece, length, error) &&
                  take_head (shard, piece, length, wanted, error);
  self->content = lig_hash_content (self->content, &shard->size, sizeof shard->size);
  self->content = lig_hash_content (self->content, piece, length);
  fine = fine && lig_read_at (fd, shard->path, shard->size - length, piece, length, error);
  self->content = lig_hash_content (self->content, piece, length);
  close (fd);
  return fine;
}

gboolean
lig_shards_add (
  LigShards *self, const char *path, const char *without, const char *type, GError **error)
{
  g_autoptr (GPtrArray) files = lig_data_list_files (path, ".bin", error);
  gsize sum = 0;
  g_autoptr (GPtrArray) others = without ? lig_data_list_files (without, ".bin", error) : NULL;
  if (!files || (without && (!others || !lig_data_leave_out (files, others, path, error))))
    return FALSE;
  for (guint i = 0; i < files->len; i++) {
    GStatBuf info;
    if (g_stat (g_ptr_array_index (files, i), &info) == 0 && S_ISREG (info.st_mode))
      sum += (gsize) info.st_size;
  }
  gboolean whole = self->bytes + sum <= self->at_once && (self->largest >= 0 || !self->all->len);
  self->bytes += sum;
  for (guint i = 0; i < files->len; i++) {
    LigShard *shard = g_new0 (LigShard, 1);
    shard->path = g_strdup (g_ptr_array_index (files, i));
    shard->name = g_filename_display_name (shard->path);
    g_ptr_array_add (self->all, shard);
    if (!(whole ? open_whole : open_large) (self, shard, type, error))
      return FALSE;
  }
  if (!whole)
    self->largest = -1;
  if (files->len > 0)
    return TRUE;
  g_autofree char *shown = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: the folder contains no .bin file"),
               shown);
  return FALSE;
}

/* --- Reading ------------------------------------------------------------------------------- */

char *
lig_shards_place (LigShards *self, guint shard, gint64 at)
{
  const LigShard *from = g_ptr_array_index (self->all, shard);
  return g_strdup_printf (_ ("%s, offset %" PRId64 " (byte %zu)"), from->name, at,
                          from->begin + (gsize) at * from->width);
}

/* Returns the descriptor of a shard's file, -1 on failure. */
static int
find_file (LigShards *self, guint number, GError **error)
{
  const LigShard *shard = g_ptr_array_index (self->all, number);
  gpointer kept;
  gsize size;
  if (g_hash_table_lookup_extended (self->open, GUINT_TO_POINTER (number), NULL, &kept))
    return GPOINTER_TO_INT (kept);
  if (g_hash_table_size (self->open) >= MAX_OPEN)
    g_hash_table_remove_all (self->open);
  int fd = lig_open_file (shard->path, &size, error);
  if (fd < 0)
    return -1;
  if (size == shard->size) {
    g_hash_table_insert (self->open, GUINT_TO_POINTER (number), GINT_TO_POINTER (fd));
    return fd;
  }
  close (fd);
  reject (shard, LIG_ERROR_FILE, error, _ ("has a size of %zu, but had %zu when it was opened"),
          size, shard->size);
  return -1;
}

/* Copies `count` tokens of the width to `to`. Returns the index of the first that is not below the
 * limit, or `count`. */
static gint64
widen (gconstpointer from, gsize width, gint64 count, gint64 limit, gint32 *to)
{
  for (gint64 i = 0; i < count; i++) {
    gint64 token = token_at (from, width, i);
    if (token < 0 || token >= limit)
      return i;
    to[i] = (gint32) token;
  }
  return count;
}

static gboolean
reject_token (LigShards *self, guint shard, gint64 at, gint64 token, gint64 limit, GError **error)
{
  g_autofree char *place = lig_shards_place (self, shard, at);
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s: the token is %" PRId64 ", expected one below %" PRId64), place, token,
               limit);
  return FALSE;
}

gboolean
lig_shards_read (
  LigShards *self, guint shard, gint64 at, gint64 count, gint64 limit, gint32 *to, GError **error)
{
  enum { PIECE = 1024 };
  const LigShard *from = g_ptr_array_index (self->all, shard);
  const char *content = from->content ? g_bytes_get_data (from->content, NULL) : NULL;
  int fd = content ? -1 : find_file (self, shard, error);
  gint64 piece[PIECE];
  if (!content && fd < 0)
    return FALSE;
  while (count > 0) {
    gint64 some = content ? count : MIN (count, PIECE);
    gsize offset = from->begin + (gsize) at * from->width;
    gconstpointer source = content ? content + offset : (gconstpointer) piece;
    if (!content && !lig_read_at (fd, from->path, offset, piece, (gsize) some * from->width, error))
      return FALSE;
    gint64 good = widen (source, from->width, some, limit, to);
    if (good < some) {
      gint64 token = token_at (source, from->width, good);
      return reject_token (self, shard, at + good, token, limit, error);
    }
    at += some;
    to += some;
    count -= some;
  }
  return TRUE;
}
