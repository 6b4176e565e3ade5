/* SPDX-License-Identifier: MIT */
/* parity: all numbers with a given number of bits, each labelled with the parity of its bits. */
#include "engine/base/file.h"
#include "engine/data/kind.h"

static gboolean
parity_open (LigDataset *self, GError **error)
{
  gint64 bits = (gint64) lig_dataset_number (self, "bits"), samples = (gint64) 1 << bits;
  self->dtype = LIG_FP32;
  lig_shape_init (&self->input, 2, self->batch, bits);
  self->samples[LIG_SPLIT_TRAINING] = lig_dataset_cut (self, samples);
  self->samples[LIG_SPLIT_VALIDATION] = samples - self->samples[LIG_SPLIT_TRAINING];
  g_autofree char *count = lig_format_count (samples);
  self->description = g_strdup_printf ("parity: %s numbers", count);
  return TRUE;
}

static gboolean
parity_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  return lig_dataset_require_class (self, target, size, error);
}

static void
parity_read (const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target)
{
  gint64 number = sample + (part == LIG_SPLIT_VALIDATION ? self->samples[LIG_SPLIT_TRAINING] : 0);
  float *bits = input;
  gint32 odd = 0;
  for (gint64 i = 0; i < self->input.axes[1]; i++) {
    bits[i] = (float) (number >> i & 1);
    odd ^= (gint32) (number >> i & 1);
  }
  if (target)
    *(gint32 *) target = odd;
}

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_COUNT,
   .name = "bits",
   .label = N_ ("Bits"),
   .help = N_ ("Bits of each number"),
   .minimum = 1,
   .maximum = 20,
   .initial = 8},
  {.name = NULL},
};

const LigDatasetKind lig_dataset_parity = {
  .info = {.name = "parity",
           .title = N_ ("Parity of numbers"),
           .help = N_ (
             "All numbers of the given bit width; the class is 1 if an odd number of bits is set"),
           .options = options},
  .open = parity_open,
  .bind = parity_bind,
  .read = parity_read,
};
