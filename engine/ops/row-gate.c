/* SPDX-License-Identifier: MIT */
/* Multiplies each row by the sigmoid of a number, such as the gate of an expert that sees all
 * tokens (Yang and others, 2024, Qwen2). The sigmoid is that of a router with a single expert. */
#include "engine/ops/define.h"
#include <ligature/params-experts.h>

typedef struct {
  LigShape rows; /* a number for each row */
} RowGateParams;

static const LigRouterParams sigmoid = {.top_k = 1,
                                        .score = LIG_SCORE_SIGMOID,
                                        .first = LIG_FIRST_SELECT,
                                        .groups = 1,
                                        .group_top_k = 1,
                                        .scale = 1};

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "gate", N_ ("Gate"),
   N_ ("Name of the branch with a number for each row; default: a tensor from the caller"), 0, 0, 0,
   0, 0, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  RowGateParams *values = (RowGateParams *) self->params;
  values->rows = self->x;
  if (!lig_check_has_axis (self, error))
    return FALSE;
  values->rows.axes[self->x.n_axes - 1] = 1;
  return lig_check_extra (self, 0, "gate", &values->rows, self->compute, error) &&
         lig_check_order (self, 0, "gate", error);
}

/* Computes the sigmoids, `scales`, and for their gradients also what the router's need. They are
 * recomputed in the backward pass: that is less work than keeping them. */
static void
lower_sigmoid (LigLowering *lowering, gboolean slopes)
{
  const RowGateParams *values = lig_lower_params (lowering, 0);
  const LigShape one = {.n_axes = 1, .axes = {1}};
  lig_lower_value (lowering, "scales", &values->rows, LIG_FP32);
  if (slopes) {
    lig_lower_value (lowering, "experts", &values->rows, LIG_INT32);
    lig_lower_value (lowering, "load", &one, LIG_FP32);
    lig_lower_value (lowering, "slopes", &values->rows, LIG_FP32);
  }
  lig_lower_kernel (lowering, "router",
                    slopes ? "x=gate correction=- weights=scales losses=-"
                           : "x=gate correction=- weights=scales experts=- load=- losses=-",
                    &sigmoid, sizeof sigmoid);
}

static void
lower_forward (LigLowering *lowering)
{
  lower_sigmoid (lowering, FALSE);
  lig_lower_kernel (lowering, "scaled_rows", NULL, NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  gboolean gate = lig_lower_has (lowering, "dgate");
  lower_sigmoid (lowering, gate);
  lig_lower_kernel (lowering, "scaled_rows_backward", gate ? "dscales=slopes" : "dscales=-", NULL,
                    0);
  if (gate)
    lig_lower_kernel (lowering, "router_backward", "dweights=slopes loss=- x=gate dx=dgate",
                      &sigmoid, sizeof sigmoid);
}

static void
write_onnx (LigOnnx *onnx)
{
  const char *gate = lig_onnx_sigmoid (onnx, lig_onnx_get (onnx, "gate"));
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Mul", lig_onnx_get (onnx, "x"), gate, NULL));
}

LIG_DEFINE_OP (row_gate) = {
  LIG_OP_INFO_SIZES,
  .name = "row-gate",
  .title = N_ ("Row gate"),
  .category = N_ ("Experts"),
  .summary = N_ ("Multiplies each row by the sigmoid of a number"),
  .formula = "y = sigmoid (gate) x",
  .example = "row-gate @ 3x8",
  .params = params,
  .params_size = sizeof (RowGateParams),
  .extra_inputs = "gate",
  .saves = "x gate",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = write_onnx,
};
