/* SPDX-License-Identifier: MIT */
/* Orders elements like another program, and reads MXFP4 (Open Compute Project, Microscaling
 * Formats, 2023): 32 elements of 4 bits (e2m1) share a scale of 8 bits (e8m0). */
#include "engine/tensor/names-layout.h"

#include <math.h>

#define BLOCK 32 /* elements that share a scale */
#define TILE 64  /* rows and columns that are transposed at once */

/* Matrices of a tensor, in the layout of the parameter: those of the experts, or one. */
typedef struct {
  gint64 count, rows, columns;
} Matrices;

static Matrices
matrices_of (const LigNameRule *rule, const LigShape *shape)
{
  int first = rule->merged && shape->n_axes > 1 ? 1 : 0;
  return (Matrices){first ? shape->axes[0] : 1, shape->n_axes > first ? shape->axes[first] : 1,
                    shape->n_axes > first + 1 ? shape->axes[first + 1] : 1};
}

LigShape
lig_layout_turn (const LigNameRule *rule, const LigShape *shape)
{
  LigShape turned = *shape;
  if (rule->transposed && shape->n_axes > 1) {
    turned.axes[shape->n_axes - 1] = shape->axes[shape->n_axes - 2];
    turned.axes[shape->n_axes - 2] = shape->axes[shape->n_axes - 1];
  }
  return turned;
}

gboolean
lig_layout_fits (const LigNameRule *rule, const LigShape *shape)
{
  if (rule->scales && shape->axes[shape->n_axes - 1] % BLOCK != 0)
    return FALSE;
  return !rule->interleaved || matrices_of (rule, shape).rows % 2 == 0;
}

gboolean
lig_layout_differs (const LigNameRule *rule)
{
  return rule->transposed || rule->interleaved;
}

/* Copies the elements of one matrix, tile by tile. */
#define COPY(type) \
  for (gint64 row = 0; row < m.rows; row += TILE) \
    for (gint64 column = 0; column < m.columns; column += TILE) \
      for (gint64 r = row; r < MIN (row + TILE, m.rows); r++) \
        for (gint64 c = column; c < MIN (column + TILE, m.columns); c++) { \
          gint64 half = m.rows / 2; \
          gint64 theirs = !rule->interleaved || r >= 2 * half ? r \
                          : r < half                          ? 2 * r \
                                                              : 2 * (r - half) + 1; \
          gint64 own = r * m.columns + c, \
                 other = rule->transposed ? c * m.rows + theirs : theirs * m.columns + c; \
          ((type *) target)[back ? other : own] = ((const type *) source)[back ? own : other]; \
        }

void
lig_layout_copy (const LigNameRule *rule,
                 const LigShape *shape,
                 gsize size,
                 gboolean back,
                 gconstpointer from,
                 gpointer to)
{
  const Matrices m = matrices_of (rule, shape);
  for (gint64 i = 0; i < m.count; i++) {
    const char *source = (const char *) from + (gsize) (i * m.rows * m.columns) * size;
    char *target = (char *) to + (gsize) (i * m.rows * m.columns) * size;
    if (size == 1)
      COPY (guint8)
    else if (size == 2)
      COPY (guint16)
    else
      COPY (guint32)
  }
}

/* --- MXFP4 --------------------------------------------------------------------------------- */

LigShape
lig_mxfp4_shape (const LigShape *parameter, gboolean scales)
{
  LigShape shape = *parameter;
  int last = shape.n_axes - 1;
  shape.axes[last] /= BLOCK;
  if (!scales)
    shape.axes[shape.n_axes++] = BLOCK / 2;
  return shape;
}

LigTensor *
lig_mxfp4_read (const LigTensor *blocks, const LigTensor *scales, GError **error)
{
  static const float values[] = {0,    0.5f,  1,  1.5f,  2,  3,  4,  6,
                                 -0.f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
  LigShape shape = scales->shape;
  shape.axes[shape.n_axes - 1] *= BLOCK;
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_BF16, &shape, error);
  for (gint64 i = 0; tensor && i < scales->size; i++) {
    const guint8 *pairs = (const guint8 *) blocks->data + i * BLOCK / 2;
    int exponent = ((const guint8 *) scales->data)[i] - 127;
    float numbers[BLOCK];
    /* The lower half of a byte comes first. An exponent of all ones is NaN. */
    for (int j = 0; j < BLOCK; j++)
      numbers[j] = exponent > 127 ? NAN : ldexpf (values[pairs[j / 2] >> j % 2 * 4 & 15], exponent);
    lig_narrow (LIG_BF16, numbers, (guint16 *) tensor->data + i * BLOCK, BLOCK);
  }
  return g_steal_pointer (&tensor);
}
