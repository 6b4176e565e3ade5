/* SPDX-License-Identifier: MIT */
/* The rows that a transform has read. */
#include "engine/data/transform-private.h"

G_DEFINE_BOXED_TYPE (LigRows, lig_rows, g_atomic_rc_box_acquire, lig_rows_free)

static void
clear_rows (gpointer box)
{
  LigRows *self = box;
  g_clear_pointer (&self->input, lig_tensor_unref);
  g_clear_pointer (&self->targets, lig_tensor_unref);
  g_clear_pointer (&self->lines, g_ptr_array_unref);
}

void
lig_rows_free (LigRows *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear_rows);
}

LigRows *
lig_rows_new (gint64 count, gint64 features, gint64 targets, GError **error)
{
  LigShape shape;
  g_autoptr (LigRows) self = g_atomic_rc_box_new0 (LigRows);
  self->count = count;
  lig_shape_init (&shape, 2, count, features);
  self->input = lig_tensor_new (LIG_FP32, &shape, error);
  if (!self->input || targets == 0)
    return self->input ? g_steal_pointer (&self) : NULL;
  lig_shape_init (&shape, 2, count, targets);
  self->targets = lig_tensor_new (LIG_FP32, &shape, error);
  return self->targets ? g_steal_pointer (&self) : NULL;
}
