/* SPDX-License-Identifier: MIT */
/* Documents packed into rows of tokens: a separator ends each, so that attention can mask the
 * others. */
#include "engine/data/kind.h"
#include "engine/data/training.h"

gint64
lig_dataset_get_separator (LigDataset *self)
{
  g_return_val_if_fail (self, -1);
  const LigDatasetOption *option = self->kind->info.options;
  while (option && option->name && !g_str_equal (option->name, LIG_SEPARATOR))
    option++;
  return option && option->name ? (gint64) lig_dataset_number (self, LIG_SEPARATOR) : -1;
}

void
lig_dataset_number_documents (LigDataset *self, const LigTensor *input, LigTensor *documents)
{
  g_return_if_fail (self && input && documents);
  g_return_if_fail (input->dtype == LIG_INT32 && documents->dtype == LIG_INT32);
  gint64 size = lig_shape_size (&input->shape), rows = MAX (input->shape.axes[0], 1);
  gint64 columns = size / rows, separator = lig_dataset_get_separator (self);
  g_return_if_fail (lig_shape_size (&documents->shape) == size);
  const gint32 *tokens = input->data;
  gint32 *numbers = documents->data;
  for (gint64 row = 0; row < rows; row++)
    for (gint64 i = row * columns, number = 0; i < (row + 1) * columns; i++) {
      numbers[i] = (gint32) number;
      number += tokens[i] == separator;
    }
}
