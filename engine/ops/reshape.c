/* SPDX-License-Identifier: MIT */
/* y is x with another shape; no bytes are copied. */
#include "engine/ops/define.h"

#include <inttypes.h>

typedef struct {
  LigShape shape;
} ReshapeParams;

static const LigParam params[] = {
  {LIG_PARAM_SHAPE, "shape", N_ ("Shape"), N_ ("The new shape, with at most one -1"), -1,
   G_MAXINT32, 0, LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL, G_STRUCT_OFFSET (ReshapeParams, shape),
   NULL},
  {.name = NULL},
};

/* With context parallelism each rank has a part of the sequence, the second axis, which must not
 * change. */
static gboolean
check_positions (const LigInfer *self, GError **error)
{
  const LigShape *x = &self->x, *y = &self->y;
  int ranks = self->n_ranks[LIG_GROUP_CONTEXT];
  if (ranks == 1 ||
      (x->n_axes > 1 && y->n_axes > 1 && x->axes[0] == y->axes[0] && x->axes[1] == y->axes[1]))
    return TRUE;
  g_autofree char *from = lig_shape_to_string (x);
  g_autofree char *to = lig_shape_to_string (y);
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_SHAPE,
    _ ("on each rank it makes %s of %s; with context=%d the first two axes must not change"), to,
    from, ranks);
  return FALSE;
}

/* With data parallelism each rank has a part of the batch, the first axis: a fixed length would
 * merge other rows than on a single rank, and parameters could have another shape. */
static gboolean
check_batch (const LigInfer *self, const LigShape *wanted, GError **error)
{
  int ranks = self->n_ranks[LIG_GROUP_DATA];
  if (ranks == 1 || (wanted->n_axes > 0 && wanted->axes[0] == -1))
    return TRUE;
  g_autofree char *shape = lig_shape_to_string (wanted);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("%s has a fixed first axis, which is sharded (data=%d); begin the shape with "
                  "-1"),
               wanted->n_axes > 0 ? shape : _ ("a scalar"), ranks);
  return FALSE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  LigShape shape = ((const ReshapeParams *) self->params)->shape;
  gint64 size = lig_shape_size (&self->x), known = 1;
  int open = -1;
  if (!check_batch (self, &shape, error))
    return FALSE;
  for (int i = 0; i < shape.n_axes; i++)
    if (shape.axes[i] == -1)
      open = i;
    else if (__builtin_mul_overflow (known, shape.axes[i], &known))
      known = G_MAXINT64;
  if (open >= 0 && size % known == 0)
    shape.axes[open] = size / known;
  if (open >= 0 ? size % known != 0 : size != known) {
    g_autofree char *from = lig_shape_to_string (&self->x);
    g_autofree char *to = lig_shape_to_string (&shape);
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      g_dngettext (GETTEXT_PACKAGE, "input %s has %" PRId64 " element, %s needs %s%" PRId64,
                   "input %s has %" PRId64 " elements, %s needs %s%" PRId64, (gulong) (size)),
      from, size, to, open >= 0 ? _ ("a multiple of ") : "", known);
    return FALSE;
  }
  self->y = shape;
  return check_positions (self, error);
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "y", "x");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
}

static LigPositions
find_positions (const void *own, const LigShape *x, const LigShape *y, const char **reason)
{
  if (x->n_axes > 2 && y->n_axes > 2 && x->axes[0] == y->axes[0] && x->axes[1] == y->axes[1])
    return LIG_POSITIONS_EACH;
  *reason = N_ ("it mixes positions");
  return LIG_POSITIONS_ALL;
}

static void
write_onnx (LigOnnx *onnx)
{
  const LigShape *shape = &((const ReshapeParams *) lig_onnx_get_params (onnx))->shape;
  const int64_t *axes = shape->axes;
  lig_onnx_move (onnx, "Reshape",
                 lig_onnx_integers (onnx, shape->n_axes, axes[0], axes[1], axes[2], axes[3],
                                    axes[4], axes[5], axes[6], axes[7]));
}

LIG_DEFINE_OP (reshape) = {
  LIG_OP_INFO_SIZES,
  .name = "reshape",
  .title = N_ ("Reshape"),
  .category = N_ ("Other"),
  .summary = N_ ("Changes the shape without moving elements"),
  .formula = "y = x with the given shape",
  .example = "reshape ([2, -1]) @ 4x3x2",
  .flags = LIG_OP_ANY_TYPE,
  .params = params,
  .params_size = sizeof (ReshapeParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS,
  .positions = find_positions,
  .onnx = write_onnx,
};
