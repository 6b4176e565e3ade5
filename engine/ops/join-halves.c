/* SPDX-License-Identifier: MIT */
/* Concatenates `first` and x along the sequence axis. */
#include "engine/ops/define.h"
#include <ligature/params-positions.h>

#include <inttypes.h>

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "first", N_ ("First"),
   N_ ("Channel of the first half of the sequence; default: from the caller"), 0, 0, 0,
   LIG_PARAM_POSITIONAL, 0, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  LigHalvesParams *kernel = (LigHalvesParams *) self->params;
  gint64 length = lig_count_positions (self);
  if (!lig_check_extra (self, 0, "first", &self->x, self->compute, error))
    return FALSE;
  if (self->x.n_axes < 2 || length > LIG_MAX_POSITIONS / 2) {
    g_autofree char *shape = lig_shape_to_string (&self->x);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input is %s, expected a sequence axis of at most %d"), shape,
                 LIG_MAX_POSITIONS / 2);
    return FALSE;
  }
  *kernel = (LigHalvesParams){2 * length, lig_shape_columns (&self->x)};
  self->y.axes[self->y.n_axes - 2] *= 2;
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "join_halves", "second=x rest=- x=y", NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "split_halves", "x=dy first=dfirst second=dx rest=-", NULL, 0);
}

static void
write_onnx (LigOnnx *onnx)
{
  const char *first = lig_onnx_get (onnx, "first");
  const char *y = lig_onnx_node (onnx, "Concat", first, lig_onnx_get (onnx, "x"), NULL);
  lig_onnx_attribute (onnx, "axis", lig_onnx_count_axes (onnx, "x") - 2);
  lig_onnx_set (onnx, "y", y);
}

LIG_DEFINE_OP (join_halves) = {
  LIG_OP_INFO_SIZES,
  .name = "join-halves",
  .title = N_ ("Join halves"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Concatenates the two halves of the sequence"),
  .formula = "y = [first, x] along the sequence axis",
  .example = "join-halves @ 2x4x6",
  .params = params,
  .params_size = sizeof (LigHalvesParams),
  .kernel_params_size = sizeof (LigHalvesParams),
  .extra_inputs = "first",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS | LIG_COMPUTES_COLUMNS,
  .onnx = write_onnx,
};
