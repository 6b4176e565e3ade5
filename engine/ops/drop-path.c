/* SPDX-License-Identifier: MIT */
/* Drops whole samples with probability p in training and scales the others by 1 / (1 - p) (Huang
 * and others, 2016). A sample is an element of the first axis. */
#include "engine/ops/define.h"
#include <ligature/params-random.h>

static const LigParam params[] = {
  {LIG_PARAM_FLOAT, "p", N_ ("Probability"),
   N_ ("Fraction of the samples that become zero in training"), 0, 1, 0.1, LIG_PARAM_POSITIONAL,
   G_STRUCT_OFFSET (LigDropPathParams, probability), NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  if (!lig_check_has_axis (self, error) || !lig_check_own_rows (self, error) ||
      !lig_check_batch (self, error))
    return FALSE;
  ((LigDropPathParams *) self->params)->samples = self->x.axes[0];
  return TRUE;
}

static void
place (void *values, const char *path)
{
  ((LigDropPathParams *) values)->path_hash = lig_hash_path (path);
}

static void
lower_forward (LigLowering *lowering)
{
  const LigDropPathParams *values = lig_lower_params (lowering, 0);
  gboolean drops = lig_lower_is_training (lowering) && values->probability > 0;
  lig_lower_or_pass (lowering, drops ? "drop_path" : NULL);
}

/* The same random numbers again, so nothing has to be saved. */
static void
lower_backward (LigLowering *lowering)
{
  const LigDropPathParams *values = lig_lower_params (lowering, 0);
  lig_lower_backward_or_pass (lowering, values->probability > 0 ? "drop_path" : NULL);
}

LIG_DEFINE_OP (drop_path) = {
  LIG_OP_INFO_SIZES,
  .name = "drop-path",
  .title = N_ ("Drop path"),
  .category = N_ ("Other"),
  .summary = N_ ("Zeroes its input for random samples in training (stochastic depth)"),
  .formula = "y = x mask[sample] / (1 - p)",
  .example = "drop-path (0.25) @ 8x16",
  .params = params,
  .params_size = sizeof (LigDropPathParams),
  .kernel_params_size = sizeof (LigDropPathParams),
  .infer = infer,
  .place = place,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .onnx = lig_onnx_pass_x,
};
