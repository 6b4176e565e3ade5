/* SPDX-License-Identifier: MIT */
/* Splits x = [q, k, v] into the queries of both halves of the sequence, and y, the keys and
 * values. */
#include "engine/ops/define.h"
#include <ligature/params-positions.h>

typedef struct {
  LigHalvesParams kernel;
  gint64 heads, kv_heads;
} SplitHeadsParams;

static const LigParam params[] = {
  LIG_HEADS (SplitHeadsParams, heads),
  LIG_KV_HEADS (SplitHeadsParams, kv_heads),
  {LIG_PARAM_OUTPUT, "first", N_ ("First"),
   N_ ("Channel of the queries of the first half of the sequence; default: returned to the "
       "caller"),
   0, 0, 0, 0, 0, NULL},
  {LIG_PARAM_OUTPUT, "second", N_ ("Second"),
   N_ ("Channel of the queries of the second half; default: returned to the caller"), 0, 0, 0, 0, 1,
   NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  SplitHeadsParams *values = (SplitHeadsParams *) self->params;
  LigHeads packed;
  if (!lig_check_batch (self, error) ||
      !lig_infer_heads (self, values->heads, values->kv_heads, FALSE, &packed, error) ||
      !lig_check_halves (self, error))
    return FALSE;
  gint64 queries = (gint64) packed.heads * packed.features;
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS) {
    const gint64 *lengths = self->x_sharding.sections.lengths;
    self->y_sharding.sections = (LigSections){2, {lengths[1], lengths[2]}};
    self->extra_output_shardings[0] = self->extra_output_shardings[1] =
      (LigSharding){LIG_SHARDING_COLUMNS, {1, {lengths[0]}}};
  }
  values->kernel = (LigHalvesParams){packed.length, queries};
  LigShape half = self->x;
  half.axes[half.n_axes - 1] = queries;
  half.axes[half.n_axes - 2] /= 2;
  self->extra_outputs[0] = self->extra_outputs[1] = half;
  self->y.axes[self->y.n_axes - 1] = 2 * (gint64) packed.kv_heads * packed.features;
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "split_halves", "rest=y", NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "join_halves", "first=dfirst second=dsecond rest=dy x=dx", NULL, 0);
}

static void
write_onnx (LigOnnx *onnx)
{
  const SplitHeadsParams *values = lig_onnx_get_params (onnx);
  int n_axes = lig_onnx_count_axes (onnx, "x");
  gint64 queries = values->kernel.columns, keys = queries / values->heads;
  keys *= values->kv_heads > 0 ? values->kv_heads : values->heads;
  const gint64 columns[] = {queries, 2 * keys};
  const char *pieces[2], *halves[2];
  lig_onnx_split (onnx, lig_onnx_get (onnx, "x"), n_axes - 1, columns, 2, pieces);
  lig_onnx_halve (onnx, pieces[0], n_axes - 2, halves);
  lig_onnx_set (onnx, "first", halves[0]);
  lig_onnx_set (onnx, "second", halves[1]);
  lig_onnx_set (onnx, "y", pieces[1]);
}

LIG_DEFINE_OP (split_heads) = {
  LIG_OP_INFO_SIZES,
  .name = "split-heads",
  .title = N_ ("Split heads"),
  .category = N_ ("Ranks"),
  .summary =
    N_ ("Splits packed heads into the queries of each half of the sequence, and keys and values"),
  .formula = "first, second = the queries of x = [q, k, v]; y = [k, v]",
  .example = "split-heads (2) @ 2x4x12",
  .params = params,
  .params_size = sizeof (SplitHeadsParams),
  .kernel_params_size = sizeof (LigHalvesParams),
  .extra_outputs = "first second",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS | LIG_COMPUTES_COLUMNS,
  .onnx = write_onnx,
};
