/* SPDX-License-Identifier: MIT */
/* idx: images and labels in the format of MNIST. A file is a big-endian magic number (0x0803:
 * unsigned bytes with three axes, 0x0801: with one), the axes' lengths, and the bytes. */
#include "engine/base/file.h"
#include "engine/data/files.h"
#include "engine/data/kind.h"

#include <inttypes.h>
#include <string.h>

#define IMAGES_MAGIC 0x803
#define LABELS_MAGIC 0x801

typedef struct {
  GBytes *images_file, *labels_file;
  const guint8 *images, *labels;
  gint64 count, pixels;
  gint64 largest; /* index of the first image with the largest label */
} Idx;

static guint32
read_number (const guint8 *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8 | bytes[3];
}

static gboolean G_GNUC_PRINTF (4, 5)
  refuse_file (const char *path, GError **error, LigError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, code, "%s: %s", name, what);
  return FALSE;
}

static gboolean
check_magic (const char *path, const guint8 *bytes, gsize size, guint32 magic, GError **error)
{
  if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
    return refuse_file (path, error, LIG_ERROR_FORMAT,
                        _ ("is compressed; unpack it first (gunzip)"));
  if (size >= 4 && read_number (bytes) != magic)
    return refuse_file (path, error, LIG_ERROR_FORMAT,
                        _ ("the magic number is 0x%08x, expected 0x%08x (%s of unsigned bytes)"),
                        read_number (bytes), magic,
                        magic == IMAGES_MAGIC ? _ ("images") : _ ("labels"));
  return TRUE;
}

/* Reads a file and checks its header. Sets `body` to the bytes after the header, and the lengths of
 * the axes. */
static GBytes *
open_file (const char *path, guint32 magic, const guint8 **body, gint64 lengths[3], GError **error)
{
  g_autoptr (GBytes) file = lig_data_read (path, error);
  if (!file)
    return NULL;
  gsize size, n_axes = magic & 0xff, header = 4 + 4 * n_axes;
  const guint8 *bytes = g_bytes_get_data (file, &size);
  guint64 wanted = 1;
  if (!check_magic (path, bytes, size, magic, error))
    return NULL;
  if (size < header) {
    refuse_file (path, error, LIG_ERROR_FORMAT,
                 g_dngettext (GETTEXT_PACKAGE, "has %zu byte, the header alone has %zu",
                              "has %zu bytes, the header alone has %zu", (gulong) (size)),
                 size, header);
    return NULL;
  }
  for (gsize i = 0; i < n_axes; i++) {
    lengths[i] = read_number (bytes + 4 + 4 * i);
    if (lengths[i] == 0 || __builtin_mul_overflow (wanted, (guint64) lengths[i], &wanted)) {
      refuse_file (path, error, LIG_ERROR_SHAPE, _ ("axis %zu has length %" PRId64 ", which is %s"),
                   i, lengths[i], lengths[i] == 0 ? _ ("nothing") : _ ("too much"));
      return NULL;
    }
  }
  if (wanted != size - header) {
    refuse_file (path, error, LIG_ERROR_FORMAT,
                 g_dngettext (GETTEXT_PACKAGE, "the header claims %" PRIu64 " byte, %zu follow",
                              "the header claims %" PRIu64 " bytes, %zu follow", (gulong) (wanted)),
                 wanted, size - header);
    return NULL;
  }
  *body = bytes + header;
  return g_steal_pointer (&file);
}

/* Derives the path of the labels from that of the images, changing only the file's name:
 * `train-images-idx3-ubyte` gives `train-labels-idx1-ubyte`. */
static char *
derive_labels_path (const LigDataset *self, GError **error)
{
  static const char *const pairs[][2] = {{"images-idx3", "labels-idx1"},
                                         {"images.idx3", "labels.idx1"}};
  g_autofree char *folder = g_path_get_dirname (self->path);
  g_autofree char *name = g_path_get_basename (self->path);
  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_auto (GStrv) parts = g_strsplit (name, pairs[i][0], 2);
    if (parts[0] && parts[1]) {
      g_autofree char *labels = g_strconcat (parts[0], pairs[i][1], parts[1], NULL);
      return g_build_filename (folder, labels, NULL);
    }
  }
  lig_dataset_refuse (self, error, LIG_ERROR_FORMAT,
                      _ ("file of the labels unknown; give it as labels=PATH"));
  return NULL;
}

static gboolean
open_labels (LigDataset *self, Idx *idx, GError **error)
{
  const char *given = lig_dataset_option (self, "labels");
  g_autofree char *path = given ? g_strdup (given) : derive_labels_path (self, error);
  gint64 lengths[3];
  if (!path)
    return FALSE;
  idx->labels_file = open_file (path, LABELS_MAGIC, &idx->labels, lengths, error);
  if (!idx->labels_file)
    return FALSE;
  if (lengths[0] != idx->count)
    return refuse_file (path, error, LIG_ERROR_SHAPE,
                        _ ("holds %" PRId64 " label%s for %" PRId64 " image%s"), lengths[0],
                        LIG_ENDING (lengths[0]), idx->count, LIG_ENDING (idx->count));
  for (gint64 i = 1; i < idx->count; i++)
    if (idx->labels[i] > idx->labels[idx->largest])
      idx->largest = i;
  return TRUE;
}

static gboolean
idx_open (LigDataset *self, GError **error)
{
  Idx *idx = self->data = g_new0 (Idx, 1);
  gint64 lengths[3];
  idx->images_file = open_file (self->path, IMAGES_MAGIC, &idx->images, lengths, error);
  if (!idx->images_file)
    return FALSE;
  idx->count = lengths[0];
  idx->pixels = lengths[1] * lengths[2];
  if (!open_labels (self, idx, error))
    return FALSE;
  self->content = lig_hash_content (0, idx->images, (gsize) (idx->count * idx->pixels));
  self->content = lig_hash_content (self->content, idx->labels, (gsize) idx->count);
  lig_shape_init (&self->input, 2, self->batch, idx->pixels);
  self->dtype = LIG_FP32;
  self->samples[LIG_SPLIT_TRAINING] = lig_dataset_cut (self, idx->count);
  self->samples[LIG_SPLIT_HELD_OUT] = idx->count - self->samples[LIG_SPLIT_TRAINING];
  g_autofree char *count = lig_format_count (idx->count);
  g_autofree char *training = lig_format_count (self->samples[LIG_SPLIT_TRAINING]);
  g_autofree char *images = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s image", "%s images", (gulong) idx->count), count);
  g_autofree char *size =
    g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, lengths[1], lengths[2]);
  self->description =
    g_strdup_printf (_ ("idx: %s of %s, %s for training"), images, size, training);
  return TRUE;
}

static gboolean
idx_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  const Idx *idx = self->data;
  if (!lig_dataset_require_class (self, target, size, error))
    return FALSE;
  if (idx->labels[idx->largest] < target->classes)
    return TRUE;
  return lig_dataset_refuse (
    self, error, LIG_ERROR_VALUE,
    g_dngettext (
      GETTEXT_PACKAGE,
      "label %d of image %" PRId64 " (from 0) is beyond the prediction's %" PRId64 " class",
      "label %d of image %" PRId64 " (from 0) is beyond the prediction's %" PRId64 " classes",
      (gulong) (target->classes)),
    idx->labels[idx->largest], idx->largest, target->classes);
}

static gboolean
idx_read (const LigDataset *self,
          LigSplit part,
          gint64 sample,
          void *input,
          void *target,
          GError **error G_GNUC_UNUSED)
{
  const Idx *idx = self->data;
  gint64 image = sample + (part == LIG_SPLIT_HELD_OUT ? self->samples[LIG_SPLIT_TRAINING] : 0);
  const guint8 *pixels = idx->images + image * idx->pixels;
  float *inputs = input;
  for (gint64 i = 0; i < idx->pixels; i++)
    inputs[i] = (float) pixels[i] / 255.0f;
  if (target)
    *(gint32 *) target = idx->labels[image];
  return TRUE;
}

/* Shows the brightness of each image, so that a file of zeros is noticed. */
static guint
idx_preview (const LigDataset *self, guint rows, GPtrArray *cells)
{
  const Idx *idx = self->data;
  static const char *const titles[] = {N_ ("image"), N_ ("mean pixel"), N_ ("→ label")};
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    g_ptr_array_add (cells, g_strdup (_ (titles[i])));
  for (gint64 image = 0; image < MIN ((gint64) rows, idx->count); image++) {
    double sum = 0;
    for (gint64 i = 0; i < idx->pixels; i++)
      sum += idx->images[image * idx->pixels + i];
    g_ptr_array_add (cells, g_strdup_printf ("%" G_GINT64_FORMAT, image));
    g_ptr_array_add (cells, g_strdup_printf ("%.3f", sum / 255 / (double) idx->pixels));
    g_ptr_array_add (cells, g_strdup_printf ("%d", idx->labels[image]));
  }
  return G_N_ELEMENTS (titles);
}

static void
idx_close (LigDataset *self)
{
  Idx *idx = self->data;
  g_clear_pointer (&idx->images_file, g_bytes_unref);
  g_clear_pointer (&idx->labels_file, g_bytes_unref);
  g_free (idx);
}

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_PATH,
   .name = "labels",
   .label = N_ ("Labels"),
   .help = N_ ("File of the labels; next to the images by default")},
  {.name = NULL},
};

const LigDatasetKind lig_dataset_idx = {
  .info = {.name = "idx",
           .title = N_ ("Images: the format of MNIST"),
           .help = N_ ("An images-idx3 file"),
           .path = LIG_DATASET_FILE,
           .files = "*idx3*",
           .options = options},
  .open = idx_open,
  .bind = idx_bind,
  .read = idx_read,
  .close = idx_close,
  .preview = idx_preview,
};
