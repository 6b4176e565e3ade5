/* SPDX-License-Identifier: MIT */
/* idx: images and labels in MNIST's format. A file is a big-endian magic number (0x0803: unsigned
 * bytes with three axes, 0x0801: with one), the axes' lengths, and the bytes. */
#include "engine/base/file.h"
#include "engine/data/files.h"
#include "engine/data/kind.h"
#include "engine/data/transform-private.h"
#include <ligature/json-members.h>

#include <inttypes.h>
#include <string.h>

#define IMAGES_MAGIC 0x803
#define LABELS_MAGIC 0x801

/* The images of a file with their labels. */
typedef struct {
  GBytes *images_file, *labels_file;
  const guint8 *images, *labels;
  gint64 count, lengths[2]; /* rows and columns of each */
} Pictures;

typedef struct {
  Pictures files[2]; /* the second one is for validation; empty without one */
  gint64 count, pixels;
  gint64 largest; /* index of the first image with the largest label, over both files */
} Idx;

/* Return the label and the pixels of an image, counted over both files. */
static guint8
get_label (const Idx *idx, gint64 image)
{
  const Pictures *file = &idx->files[image >= idx->files[0].count];
  return file->labels[image - (file == idx->files ? 0 : idx->files[0].count)];
}

static const guint8 *
get_pixels (const Idx *idx, gint64 image)
{
  const Pictures *file = &idx->files[image >= idx->files[0].count];
  return file->images + (image - (file == idx->files ? 0 : idx->files[0].count)) * idx->pixels;
}

static guint32
read_number (const guint8 *bytes)
{
  return (guint32) bytes[0] << 24 | (guint32) bytes[1] << 16 | (guint32) bytes[2] << 8 | bytes[3];
}

static gboolean G_GNUC_PRINTF (4, 5)
  reject_file (const char *path, GError **error, LigError code, const char *format, ...)
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
    return reject_file (path, error, LIG_ERROR_FORMAT,
                        _ ("is compressed; decompress it first (gunzip)"));
  if (size >= 4 && read_number (bytes) != magic)
    return reject_file (path, error, LIG_ERROR_FORMAT,
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
    reject_file (path, error, LIG_ERROR_FORMAT,
                 g_dngettext (GETTEXT_PACKAGE, "has %zu byte, the header itself has %zu",
                              "has %zu bytes, the header itself has %zu", (gulong) (size)),
                 size, header);
    return NULL;
  }
  for (gsize i = 0; i < n_axes; i++) {
    lengths[i] = read_number (bytes + 4 + 4 * i);
    if (lengths[i] == 0 || __builtin_mul_overflow (wanted, (guint64) lengths[i], &wanted)) {
      reject_file (path, error, LIG_ERROR_SHAPE, _ ("axis %zu has length %" PRId64 ", which is %s"),
                   i, lengths[i], lengths[i] == 0 ? _ ("nothing") : _ ("too much"));
      return NULL;
    }
  }
  if (wanted != size - header) {
    reject_file (path, error, LIG_ERROR_FORMAT,
                 g_dngettext (GETTEXT_PACKAGE, "the header claims %" PRIu64 " byte, %zu follow",
                              "the header claims %" PRIu64 " bytes, %zu follow", (gulong) (wanted)),
                 wanted, size - header);
    return NULL;
  }
  *body = bytes + header;
  return g_steal_pointer (&file);
}

/* Derives the path of the labels from that of the images by the file's name:
 * `train-images-idx3-ubyte` gives `train-labels-idx1-ubyte`. */
static char *
derive_labels_path (const char *images, gboolean validation, GError **error)
{
  static const char *const pairs[][2] = {{"images-idx3", "labels-idx1"},
                                         {"images.idx3", "labels.idx1"}};
  g_autofree char *folder = g_path_get_dirname (images);
  g_autofree char *name = g_path_get_basename (images);
  for (gsize i = 0; i < G_N_ELEMENTS (pairs); i++) {
    g_auto (GStrv) parts = g_strsplit (name, pairs[i][0], 2);
    if (parts[0] && parts[1]) {
      g_autofree char *labels = g_strconcat (parts[0], pairs[i][1], parts[1], NULL);
      return g_build_filename (folder, labels, NULL);
    }
  }
  reject_file (
    images, error, LIG_ERROR_FORMAT,
    validation
      ? _ ("label file unknown; name the images *images-idx3* and the labels *labels-idx1*")
      : _ ("label file unknown; give it as labels=PATH"));
  return NULL;
}

/* Opens the labels of the images. @given: (nullable): their path */
static gboolean
open_labels (
  Pictures *file, const char *images, const char *given, gboolean validation, GError **error)
{
  g_autofree char *path = given ? g_strdup (given) : derive_labels_path (images, validation, error);
  gint64 lengths[3];
  if (!path)
    return FALSE;
  file->labels_file = open_file (path, LABELS_MAGIC, &file->labels, lengths, error);
  if (!file->labels_file)
    return FALSE;
  if (lengths[0] != file->count)
    return reject_file (path, error, LIG_ERROR_SHAPE,
                        _ ("holds %" PRId64 " label%s for %" PRId64 " image%s"), lengths[0],
                        LIG_ENDING (lengths[0]), file->count, LIG_ENDING (file->count));
  return TRUE;
}

/* Opens and hashes images and labels. */
static gboolean
open_pictures (LigDataset *self, const char *path, gboolean validation, GError **error)
{
  Idx *idx = self->data;
  Pictures *file = &idx->files[validation];
  gint64 lengths[3];
  file->images_file = open_file (path, IMAGES_MAGIC, &file->images, lengths, error);
  if (!file->images_file)
    return FALSE;
  file->count = lengths[0];
  file->lengths[0] = lengths[1];
  file->lengths[1] = lengths[2];
  if (!open_labels (file, path, validation ? NULL : lig_dataset_option (self, "labels"), validation,
                    error))
    return FALSE;
  gsize pixels = (gsize) (lengths[1] * lengths[2]);
  self->content = lig_hash_content (self->content, file->images, (gsize) file->count * pixels);
  self->content = lig_hash_content (self->content, file->labels, (gsize) file->count);
  if (!validation || memcmp (file->lengths, idx->files[0].lengths, sizeof file->lengths) == 0)
    return TRUE;
  return reject_file (
    path, error, LIG_ERROR_SHAPE,
    _ ("the images are %" PRId64 "x%" PRId64 ", those for training %" PRId64 "x%" PRId64),
    lengths[1], lengths[2], idx->files[0].lengths[0], idx->files[0].lengths[1]);
}

/* Returns the label of each image (transfer full). */
static gint32 *
read_classes (const Idx *idx)
{
  gint32 *classes = g_try_new (gint32, (gsize) idx->count);
  for (gint64 i = 0; classes && i < idx->count; i++)
    classes[i] = get_label (idx, i);
  return classes;
}

/* Chooses the training and validation images, and finds the largest label. */
static gboolean
split_images (LigDataset *self, GError **error)
{
  Idx *idx = self->data;
  idx->count = idx->files[0].count + idx->files[1].count;
  for (gint64 i = 1; i < idx->count; i++)
    if (get_label (idx, i) > get_label (idx, idx->largest))
      idx->largest = i;
  if (self->validation_path) {
    lig_dataset_divide_files (self, idx->files[0].count, idx->count);
    return TRUE;
  }
  g_autofree gint32 *classes = read_classes (idx);
  return lig_dataset_divide (self, idx->count, classes, error);
}

static gboolean
idx_open (LigDataset *self, GError **error)
{
  Idx *idx = self->data = g_new0 (Idx, 1);
  if (!open_pictures (self, self->path, FALSE, error))
    return FALSE;
  idx->pixels = idx->files[0].lengths[0] * idx->files[0].lengths[1];
  if (self->validation_path && (!lig_data_check_apart (self->path, self->validation_path, error) ||
                                !open_pictures (self, self->validation_path, TRUE, error)))
    return FALSE;
  if (!split_images (self, error))
    return FALSE;
  lig_shape_init (&self->input, 2, self->batch, idx->pixels);
  self->dtype = LIG_FP32;
  g_autofree char *count = lig_format_count (idx->count);
  g_autofree char *training = lig_format_count (self->samples[LIG_SPLIT_TRAINING]);
  g_autofree char *images = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s image", "%s images", (gulong) idx->count), count);
  g_autofree char *size = g_strdup_printf ("%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
                                           idx->files[0].lengths[0], idx->files[0].lengths[1]);
  g_autofree char *split = lig_dataset_describe_split (self);
  self->description =
    g_strdup_printf (_ ("idx: %s of %s, %s for training%s"), images, size, training, split);
  return TRUE;
}

/* Returns the path of the file that contains an image, and sets `number` to its index in that
 * file. */
static const char *
find_file (const LigDataset *self, gint64 *image)
{
  const Idx *idx = self->data;
  if (*image < idx->files[0].count)
    return self->path;
  *image -= idx->files[0].count;
  return self->validation_path;
}

static gboolean
idx_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  const Idx *idx = self->data;
  gint64 image = idx->largest;
  int largest = get_label (idx, image);
  if (!lig_dataset_require_class (self, target, size, error))
    return FALSE;
  if (largest < target->classes) {
    g_autofree gint32 *classes = read_classes (idx);
    if (classes)
      lig_dataset_compare_classes (self, classes, NULL);
    return TRUE;
  }
  const char *path = find_file (self, &image);
  return reject_file (path, error, LIG_ERROR_VALUE,
                      g_dngettext (GETTEXT_PACKAGE,
                                   "label %d of image %" PRId64
                                   " (from 0) is beyond the prediction's %" PRId64 " class",
                                   "label %d of image %" PRId64
                                   " (from 0) is beyond the prediction's %" PRId64 " classes",
                                   (gulong) (target->classes)),
                      largest, image, target->classes);
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
  gint64 image = lig_dataset_row (self, part, sample);
  const guint8 *pixels = get_pixels (idx, image);
  float *inputs = input;
  for (gint64 i = 0; i < idx->pixels; i++)
    inputs[i] = (float) pixels[i] / 255.0f;
  if (target)
    *(gint32 *) target = get_label (idx, image);
  return TRUE;
}

/* Shows the brightness of each image, which exposes a file of zeros. */
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
      sum += get_pixels (idx, image)[i];
    g_ptr_array_add (cells, g_strdup_printf ("%" G_GINT64_FORMAT, image));
    g_ptr_array_add (cells, g_strdup_printf ("%.3f", sum / 255 / (double) idx->pixels));
    g_ptr_array_add (cells, g_strdup_printf ("%d", get_label (idx, image)));
  }
  return G_N_ELEMENTS (titles);
}

static void
idx_table (const LigDataset *self, JsonBuilder *to)
{
  const Idx *idx = self->data;
  lig_json_add_integer (to, "rows", idx->files[0].lengths[0]);
  lig_json_add_integer (to, "columns", idx->files[0].lengths[1]);
}

static void
clear_pictures (Pictures *file)
{
  g_clear_pointer (&file->images_file, g_bytes_unref);
  g_clear_pointer (&file->labels_file, g_bytes_unref);
}

static void
idx_close (LigDataset *self)
{
  Idx *idx = self->data;
  for (guint i = 0; i < G_N_ELEMENTS (idx->files); i++)
    clear_pictures (&idx->files[i]);
  g_free (idx);
}

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_PATH,
   .name = "labels",
   .label = N_ ("Labels"),
   .help = N_ ("Label file; by default the one next to the images")},
  LIG_SPLIT_OPTION,
  {.name = NULL},
};

const LigDatasetKind lig_dataset_idx = {
  .info = {.name = "idx",
           .title = N_ ("Images: MNIST's format"),
           .help = N_ ("An images-idx3 file"),
           .path = LIG_DATASET_FILE,
           .files = "*idx3*",
           .options = options},
  .open = idx_open,
  .bind = idx_bind,
  .read = idx_read,
  .close = idx_close,
  .preview = idx_preview,
  .table = idx_table,
};

/* --- Rows for prediction ------------------------------------------------------------------- */

/* Opens the labels if they lie next to the images. */
static gboolean
open_known_labels (Pictures *file, const char *images, GError **error)
{
  g_autofree char *path = derive_labels_path (images, TRUE, NULL);
  return !path || !g_file_test (path, G_FILE_TEST_EXISTS) ||
         open_labels (file, images, path, TRUE, error);
}

static LigRows *
read_pictures (const Pictures *file, GError **error)
{
  gint64 pixels = file->lengths[0] * file->lengths[1];
  g_autoptr (LigRows) rows = lig_rows_new (file->count, pixels, file->labels ? 1 : 0, error);
  if (!rows)
    return NULL;
  float *to = rows->input->data, *targets = file->labels ? rows->targets->data : NULL;
  for (gint64 i = 0; i < file->count * pixels; i++)
    to[i] = (float) file->images[i] / 255.0f;
  for (gint64 i = 0; targets && i < file->count; i++)
    targets[i] = file->labels[i];
  return g_steal_pointer (&rows);
}

LigRows *
lig_transform_read_idx (const LigTransform *self, const char *path, GError **error)
{
  Pictures file = {0};
  gint64 lengths[3];
  LigRows *rows = NULL;
  file.images_file = open_file (path, IMAGES_MAGIC, &file.images, lengths, error);
  if (!file.images_file)
    return NULL;
  file.count = lengths[0];
  memcpy (file.lengths, lengths + 1, sizeof file.lengths);
  if (memcmp (file.lengths, self->lengths, sizeof file.lengths) != 0)
    reject_file (
      path, error, LIG_ERROR_SHAPE,
      _ ("the images are %" PRId64 "x%" PRId64 ", those for training %" PRId64 "x%" PRId64),
      lengths[1], lengths[2], self->lengths[0], self->lengths[1]);
  else if (open_known_labels (&file, path, error))
    rows = read_pictures (&file, error);
  clear_pictures (&file);
  return rows;
}
