/* SPDX-License-Identifier: MIT */
/* y = x + extra: the end of a branch. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "from", N_ ("From"),
   N_ ("Name of the branch; default: a tensor from the "
       "caller"),
   0, 0, 0, LIG_PARAM_POSITIONAL, 0, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  return lig_check_extra (self, 0, "extra input", &self->x, self->compute, error) &&
         lig_check_order (self, 0, "extra input", error);
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "add", "a=x b=extra", NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dx", "dy");
  lig_lower_alias (lowering, "dextra", "dy");
}

static void
write_onnx (LigOnnx *onnx)
{
  const char *x = lig_onnx_get (onnx, "x"), *extra = lig_onnx_get (onnx, "extra");
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Add", x, extra, NULL));
}

LIG_DEFINE_OP (add_extra_input) = {
  LIG_OP_INFO_SIZES,
  .name = "add-extra-input",
  .title = N_ ("Add branch"),
  .category = N_ ("Branches"),
  .summary = N_ ("Adds a branch that an earlier op started"),
  .formula = "y = x + extra",
  .example = "add-extra-input @ 4x8",
  .params = params,
  .extra_inputs = "extra",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .short_title = N_ ("Residual"),
  .noun = N_ ("a residual"),
  .onnx = write_onnx,
};
