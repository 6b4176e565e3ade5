/* SPDX-License-Identifier: MIT */
/* y = x, and x again as an extra output: the start of a branch. Forward copies nothing. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  {LIG_PARAM_OUTPUT, "to", N_ ("To"), N_ ("Name of the branch; default: returned to the caller"), 0,
   0, 0, LIG_PARAM_POSITIONAL, 0, NULL},
  {LIG_PARAM_CALLER, "caller", N_ ("Caller too"), N_ ("Also returns the branch to the caller"), 0,
   1, 0, 0, 0, NULL},
  {.name = NULL},
};

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "y", "x");
  lig_lower_alias (lowering, "extra", "x");
}

/* A branch that no op reads has no gradient. */
static void
lower_backward (LigLowering *lowering)
{
  if (lig_lower_has (lowering, "dextra") && lig_lower_has (lowering, "dy"))
    lig_lower_kernel (lowering, "add", "a=dy b=dextra y=dx", NULL, 0);
  else
    lig_lower_alias (lowering, "dx", lig_lower_has (lowering, "dy") ? "dy" : "dextra");
}

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_pass_x (onnx);
  lig_onnx_pass (onnx, "x", "extra");
}

LIG_DEFINE_OP (make_extra_output) = {
  LIG_OP_INFO_SIZES,
  .name = "make-extra-output",
  .title = N_ ("Make branch"),
  .category = N_ ("Branches"),
  .summary = N_ ("Starts a branch that a later op reads"),
  .formula = "y = x, extra = x; dx = dy + dextra",
  .example = "make-extra-output @ 4x8",
  .flags = LIG_OP_TRANSPARENT | LIG_OP_ANY_TYPE,
  .params = params,
  .extra_outputs = "extra",
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .short_title = N_ ("Branch"),
  .noun = N_ ("a branch"),
  .onnx = write_onnx,
};
