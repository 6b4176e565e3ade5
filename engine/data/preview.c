/* SPDX-License-Identifier: MIT */
/* Builds the default preview of a dataset: a table of numbers. */
#include "engine/data/kind.h"

static char *
show_number (gsize number)
{
  return g_strdup_printf ("%" G_GSIZE_FORMAT, number);
}

static char *
show_element (const LigTensor *sample, gint64 i)
{
  if (sample->dtype == LIG_INT32)
    return g_strdup_printf ("%d", ((const gint32 *) sample->data)[i]);
  return g_strdup_printf ("%.4g", (double) lig_tensor_get (sample, i));
}

/* Shows the first elements of each sample. */
static guint
preview_elements (const LigDataset *self, guint rows, GPtrArray *cells)
{
  LigShape shape = self->input;
  shape.axes[0] = 1;
  g_autoptr (LigTensor) sample = lig_tensor_new (self->dtype, &shape, NULL);
  guint columns = sample ? (guint) MIN (sample->size, LIG_PREVIEW_COLUMNS) : 0;
  for (guint i = 0; i < columns; i++)
    g_ptr_array_add (cells, show_number (i + 1));
  for (gint64 row = 0; row < MIN ((gint64) rows, self->samples[LIG_SPLIT_TRAINING]) && columns > 0;
       row++) {
    if (!self->kind->read (self, LIG_SPLIT_TRAINING, row, sample->data, NULL, NULL))
      break;
    for (guint i = 0; i < columns; i++)
      g_ptr_array_add (cells, show_element (sample, i));
  }
  return columns;
}

GStrv
lig_dataset_preview (LigDataset *self, guint rows, guint *columns)
{
  g_autoptr (GPtrArray) cells = g_ptr_array_new_with_free_func (g_free);
  if (self->kind->preview)
    *columns = self->kind->preview (self, rows, cells);
  else
    *columns = preview_elements (self, rows, cells);
  g_ptr_array_add (cells, NULL);
  return (GStrv) g_ptr_array_steal (cells, NULL);
}
