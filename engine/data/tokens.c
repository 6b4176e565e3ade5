/* SPDX-License-Identifier: MIT */
/* tokens: windows over token files. A window never crosses a file boundary: shards of one corpus
 * need not be contiguous, and with thousands of them each window opens only one file. At most T
 * tokens at the end of each file are unused. */
#include "engine/base/file.h"
#include "engine/data/shards.h"
#include "engine/data/windows.h"

#include <inttypes.h>
#include <string.h>

#define ROW_TOKENS 12

/* A contiguous range of tokens in one file, of one split. */
typedef struct {
  guint shard;
  gint64 begin, count;
  gint64 first; /* the index of its first sample in the split */
} Segment;

typedef struct {
  LigShards *shards;
  GArray *segments[LIG_N_SPLITS];
} Tokens;

/* Numbers the windows of each split. */
static void
count_windows (LigDataset *self, gint64 target_size)
{
  Tokens *tokens = self->data;
  for (int part = 0; part < LIG_N_SPLITS; part++) {
    self->samples[part] = 0;
    for (guint i = 0; i < tokens->segments[part]->len; i++) {
      Segment *segment = &g_array_index (tokens->segments[part], Segment, i);
      segment->first = self->samples[part];
      self->samples[part] += lig_windows_count (self, segment->count, target_size);
    }
  }
}

static void
add_segment (LigDataset *self, LigSplit part, guint shard, gint64 begin, gint64 count)
{
  Tokens *tokens = self->data;
  Segment segment = {.shard = shard, .begin = begin, .count = count};
  if (count > 0)
    g_array_append_val (tokens->segments[part], segment);
  self->n_tokens[part] += (gsize) count;
}

/* Splits the tokens of the first `count` shards at one point: those after it are for validation,
 * and so are all later shards. */
static void
split_tokens (LigDataset *self, guint count, gboolean apart)
{
  Tokens *tokens = self->data;
  gint64 total = 0, left;
  for (guint i = 0; i < count; i++)
    total += ((LigShard *) g_ptr_array_index (tokens->shards->all, i))->count;
  left = apart ? total : lig_dataset_cut (self, total);
  for (guint i = 0; i < tokens->shards->all->len; i++) {
    gint64 all = ((LigShard *) g_ptr_array_index (tokens->shards->all, i))->count;
    gint64 training = i < count ? MIN (left, all) : 0;
    add_segment (self, LIG_SPLIT_TRAINING, i, 0, training);
    add_segment (self, LIG_SPLIT_VALIDATION, i, training, all - training);
    left -= training;
  }
}

/* Sets the pointers to the tokens if memory contains them as one row of uint16. */
static void
show_tokens (LigDataset *self, const LigShards *shards)
{
  const LigShard *only = g_ptr_array_index (shards->all, 0);
  if (shards->all->len != 1 || !only->content || only->width != sizeof (guint16))
    return;
  const char *bytes = g_bytes_get_data (only->content, NULL);
  self->tokens[LIG_SPLIT_TRAINING] = (const guint16 *) (gconstpointer) (bytes + only->begin);
  self->tokens[LIG_SPLIT_VALIDATION] =
    self->tokens[LIG_SPLIT_TRAINING] + self->n_tokens[LIG_SPLIT_TRAINING];
}

static void
describe (LigDataset *self, const LigShards *shards)
{
  gsize count = self->n_tokens[LIG_SPLIT_TRAINING] + self->n_tokens[LIG_SPLIT_VALIDATION];
  g_autoptr (GString) text = g_string_new ("tokens: ");
  g_autofree char *all = lig_format_count ((gint64) count);
  g_autofree char *training = lig_format_count ((gint64) self->n_tokens[LIG_SPLIT_TRAINING]);
  static const gsize widths[] = {2, 4, 8};
  g_autoptr (GString) guessed = g_string_new (NULL);
  for (guint w = 0; w < G_N_ELEMENTS (widths); w++) {
    gboolean found = FALSE;
    for (guint i = 0; i < shards->all->len; i++) {
      const LigShard *shard = g_ptr_array_index (shards->all, i);
      found |= shard->guessed && shard->width == widths[w];
    }
    if (found)
      g_string_append_printf (guessed, "%s%s", guessed->len > 0 ? ", " : "",
                              lig_shards_type (widths[w]));
  }
  if (shards->all->len > 1)
    g_string_append_printf (
      text, g_dngettext (GETTEXT_PACKAGE, "%u file, ", "%u files, ", (gulong) shards->all->len),
      shards->all->len);
  g_string_append_printf (
    text, g_dngettext (GETTEXT_PACKAGE, "%s token", "%s tokens", (gulong) count), all);
  g_string_append_printf (text, _ (", %s for training"), training);
  if (guessed->len > 0)
    g_string_append_printf (text, _ ("; without a header, read as %s"), guessed->str);
  self->description = g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
add_files (LigDataset *self, LigShards *shards, guint *count, GError **error)
{
  const char *type = lig_dataset_option (self, "type");
  const char *given = lig_dataset_option (self, "validation-files");
  const char *apart = given ? given : self->validation_path;
  if (given && lig_dataset_option (self, LIG_VALIDATION))
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                               _ ("validation and validation-files cannot be combined; omit one"));
  if (!lig_shards_add (shards, self->path, apart, type, error))
    return FALSE;
  *count = shards->all->len;
  return !apart || lig_shards_add (shards, apart, NULL, type, error);
}

static gboolean
tokens_open (LigDataset *self, GError **error)
{
  Tokens *tokens = self->data = g_new0 (Tokens, 1);
  LigShards *shards = tokens->shards = lig_shards_new ();
  guint count = 0;
  for (int part = 0; part < LIG_N_SPLITS; part++)
    tokens->segments[part] = g_array_new (FALSE, FALSE, sizeof (Segment));
  if (!add_files (self, shards, &count, error) || !lig_windows_check_input (self, error))
    return FALSE;
  split_tokens (self, count, shards->all->len > count);
  show_tokens (self, shards);
  self->dtype = LIG_INT32;
  self->content = shards->content;
  self->largest_token = shards->largest;
  if (shards->largest >= 0)
    self->largest_place = lig_shards_place (shards, shards->largest_shard, shards->largest_at);
  count_windows (self, 0);
  describe (self, shards);
  return lig_windows_check_samples (self, error);
}

static gboolean
tokens_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  if (!lig_windows_check_target (self, target, size, error))
    return FALSE;
  if (self->largest_token >= target->classes) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "%s: token %" PRId64 " is beyond the prediction's %" PRId64 " class",
                              "%s: token %" PRId64 " is beyond the prediction's %" PRId64
                              " classes",
                              (gulong) target->classes),
                 self->largest_place, self->largest_token, target->classes);
    return FALSE;
  }
  count_windows (self, size);
  return TRUE;
}

/* Returns the segment of a sample. */
static const Segment *
find_segment (const Tokens *tokens, LigSplit part, gint64 sample)
{
  const GArray *all = tokens->segments[part];
  guint low = 0, high = all->len;
  /* The last one that begins at or before the sample: segments without windows share their first
   * index with the next. */
  while (high - low > 1) {
    guint middle = low + (high - low) / 2;
    if (g_array_index (all, Segment, middle).first <= sample)
      low = middle;
    else
      high = middle;
  }
  return &g_array_index (all, Segment, low);
}

static gboolean
tokens_read (
  const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target, GError **error)
{
  const Tokens *tokens = self->data;
  const Segment *segment = find_segment (tokens, part, sample);
  gint64 length = self->input.axes[1];
  gint64 at =
    segment->begin + (sample - segment->first) * lig_windows_stride (self, self->target_size);
  gint64 limit = G_MAXINT32;
  gint32 *inputs = input, *targets = target, last;
  if (self->vocabulary > 0)
    limit = MIN (limit, self->vocabulary);
  if (self->target.classes > 0)
    limit = MIN (limit, self->target.classes);
  if (!lig_shards_read (tokens->shards, segment->shard, at, length, limit, inputs, error) ||
      !lig_shards_read (tokens->shards, segment->shard, at + length, 1, limit, &last, error))
    return FALSE;
  if (target && self->target_size > 1)
    memcpy (targets, inputs + 1, (gsize) (length - 1) * sizeof *targets);
  if (target)
    targets[self->target_size - 1] = last;
  return TRUE;
}

/* Shows the first tokens of the first file, each row with the offset of its first token. */
static guint
tokens_preview (const LigDataset *self, guint rows, GPtrArray *cells)
{
  const Tokens *tokens = self->data;
  const Segment *first = &g_array_index (tokens->segments[LIG_SPLIT_TRAINING], Segment, 0);
  gint32 values[ROW_TOKENS];
  g_ptr_array_add (cells, g_strdup (_ ("token")));
  g_ptr_array_add (cells, g_strdup (_ ("values")));
  for (guint row = 0; row < rows; row++) {
    gint64 at = (gint64) row * ROW_TOKENS, count = MIN (first->count - at, ROW_TOKENS);
    if (count <= 0 ||
        !lig_shards_read (tokens->shards, first->shard, at, count, G_MAXINT32, values, NULL))
      break;
    g_autoptr (GString) line = g_string_new (NULL);
    for (gint64 i = 0; i < count; i++)
      g_string_append_printf (line, i > 0 ? " %d" : "%d", values[i]);
    g_ptr_array_add (cells, g_strdup_printf ("%" PRId64, at));
    g_ptr_array_add (cells, g_strdup (line->str));
  }
  return 2;
}

static void
tokens_close (LigDataset *self)
{
  Tokens *tokens = self->data;
  for (int part = 0; part < LIG_N_SPLITS; part++)
    g_array_unref (tokens->segments[part]);
  lig_shards_free (tokens->shards);
  g_free (tokens);
}

static const LigDatasetChoice types[] = {
  {"uint16", N_ ("16 bits (uint16)")},
  {"uint32", N_ ("32 bits (uint32)")},
  {"int64", N_ ("64 bits (int64)")},
  {NULL, NULL},
};

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_CHOICE,
   .name = "type",
   .label = N_ ("Type"),
   .help = N_ ("Type of the tokens in files without a header"),
   .choices = types,
   .unset = N_ ("Detected from the file")},
  LIG_SEPARATOR_OPTION (G_MAXINT32),
  {.type = LIG_DATASET_PATH,
   .name = "validation-files",
   .label = N_ ("Validation files"),
   .help = N_ ("Validation file, folder or pattern, instead of a share of the data")},
  {.name = NULL},
};

const LigDatasetKind lig_dataset_tokens = {
  .info =
    {.name = "tokens",
     .title = N_ ("Tokens: .bin files of token ids"),
     .help = N_ (
       "A .bin file, a folder of them or a pattern, with or without llm.c's header; or .npy files"),
     .path = LIG_DATASET_FILE_OR_FOLDER,
     .files = "*.bin *.npy",
     .options = options},
  .open = tokens_open,
  .bind = tokens_bind,
  .read = tokens_read,
  .close = tokens_close,
  .preview = tokens_preview,
};
