/* SPDX-License-Identifier: MIT */
/* synthetic: random samples, each determined only by the seed and its index: standard normal
 * numbers, or integers distributed uniformly over a vocabulary or the classes. */
#include "engine/base/file.h"
#include "engine/data/kind.h"
#include "kernels/formulas.h"

#include <inttypes.h>

enum { INPUTS, TARGETS };

typedef struct {
  gint64 vocabulary; /* number of different integer inputs */
} Synthetic;

static gboolean
synthetic_open (LigDataset *self, GError **error)
{
  Synthetic *synthetic = self->data = g_new0 (Synthetic, 1);
  gint64 samples = (gint64) lig_dataset_number (self, "samples");
  synthetic->vocabulary = (gint64) lig_dataset_number (self, "vocabulary");
  if (self->dtype != LIG_INT32 && !lig_dtype_is_floating (self->dtype))
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("the input is %s, expected int32 or a floating type"),
                               lig_dtype_name (self->dtype));
  if (self->dtype == LIG_INT32)
    self->largest_token = synthetic->vocabulary - 1;
  self->samples[LIG_SPLIT_TRAINING] = lig_dataset_cut (self, samples);
  self->samples[LIG_SPLIT_VALIDATION] = samples - self->samples[LIG_SPLIT_TRAINING];
  g_autofree char *count = lig_format_count (samples);
  g_autofree char *training = lig_format_count (self->samples[LIG_SPLIT_TRAINING]);
  g_autofree char *all = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s sample", "%s samples", (gulong) samples), count);
  self->description = g_strdup_printf (_ ("synthetic: %s, %s for training"), all, training);
  return TRUE;
}

static gboolean
synthetic_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  if (target->classes <= G_MAXINT32)
    return TRUE;
  return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                             _ ("the prediction has %" PRId64 " classes, at most %d are supported"),
                             target->classes, G_MAXINT32);
}

/* Computes four random words for elements 4 * quad to 4 * quad + 3 of one sample's inputs or
 * targets. */
static void
draw (const LigDataset *self, gint64 index, int what, gint64 quad, uint32_t words[4])
{
  guint64 place = (guint64) quad << 1 | (guint64) what;
  words[0] = (uint32_t) place;
  words[1] = (uint32_t) (place >> 32);
  words[2] = (uint32_t) index;
  words[3] = (uint32_t) ((guint64) index >> 32);
  lig_philox (words, self->seed);
}

static void
fill_integers (
  const LigDataset *self, gint64 index, int what, gint64 limit, gint32 *target, gint64 count)
{
  uint32_t words[4];
  for (gint64 i = 0; i < count; i++) {
    if (i % 4 == 0)
      draw (self, index, what, i / 4, words);
    target[i] = (gint32) ((guint64) words[i % 4] * (guint64) limit >> 32);
  }
}

static void
fill_normal (
  const LigDataset *self, gint64 index, int what, LigDtype dtype, char *target, gint64 count)
{
  uint32_t words[4];
  float values[4];
  for (gint64 i = 0; i < count; i += 4) {
    draw (self, index, what, i / 4, words);
    lig_normal_pair (words[0], words[1], &values[0], &values[1]);
    lig_normal_pair (words[2], words[3], &values[2], &values[3]);
    lig_narrow (dtype, values, target + (gsize) i * lig_dtype_size (dtype),
                (gsize) MIN (4, count - i));
  }
}

static gboolean
synthetic_read (const LigDataset *self,
                LigSplit part,
                gint64 sample,
                void *input,
                void *target,
                GError **error G_GNUC_UNUSED)
{
  const Synthetic *synthetic = self->data;
  gint64 index = sample + (part == LIG_SPLIT_VALIDATION ? self->samples[LIG_SPLIT_TRAINING] : 0);
  gint64 size = lig_shape_size (&self->input) / self->batch;
  if (self->dtype == LIG_INT32)
    fill_integers (self, index, INPUTS, synthetic->vocabulary, input, size);
  else
    fill_normal (self, index, INPUTS, self->dtype, input, size);
  if (target && self->target.classes > 0)
    fill_integers (self, index, TARGETS, self->target.classes, target, self->target_size);
  else if (target)
    fill_normal (self, index, TARGETS, self->target.dtype, target, self->target_size);
  return TRUE;
}

static void
synthetic_close (LigDataset *self)
{
  g_free (self->data);
}

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_COUNT,
   .name = "samples",
   .label = N_ ("Samples"),
   .help = N_ ("Number of different samples, including those for validation"),
   .minimum = 1,
   .maximum = (double) (G_GINT64_CONSTANT (1) << 40),
   .initial = 65536},
  {.type = LIG_DATASET_COUNT,
   .name = "vocabulary",
   .label = N_ ("Vocabulary"),
   .help = N_ ("Vocabulary size, for integer inputs"),
   .minimum = 1,
   .maximum = G_MAXINT32,
   .initial = 256},
  {.name = NULL},
};

const LigDatasetKind lig_dataset_synthetic = {
  .info = {.name = "synthetic",
           .title = N_ ("Random values, to try things out"),
           .help = N_ ("Inputs and targets of any shape and type, generated from the seed"),
           .path = LIG_DATASET_NO_PATH,
           .needs_shape = TRUE,
           .options = options},
  .open = synthetic_open,
  .bind = synthetic_bind,
  .read = synthetic_read,
  .close = synthetic_close,
};
