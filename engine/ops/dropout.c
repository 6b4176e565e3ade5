/* SPDX-License-Identifier: MIT */
/* Drops elements with probability p in training and scales the others by 1 / (1 - p). */
#include "engine/ops/define.h"
#include <ligature/params-random.h>

static const LigParam params[] = {
  {LIG_PARAM_FLOAT, "p", N_ ("Probability"), N_ ("Fraction of the elements that become zero"), 0, 1,
   0.1, LIG_PARAM_POSITIONAL, G_STRUCT_OFFSET (LigDropoutParams, probability), NULL},
  {.name = NULL},
};

/* With a sharded sequence, each token gets the mask that it would have on a single rank. */
static gboolean
infer (LigInfer *self, GError **error)
{
  LigDropoutParams *values = (LigDropoutParams *) self->params;
  int ranks = self->n_ranks[LIG_GROUP_CONTEXT];
  values->block = 0;
  values->ranks = ranks;
  values->rank = self->places[LIG_GROUP_CONTEXT];
  if (!lig_check_own_rows (self, error) || (ranks > 1 && !lig_check_halves (self, error)))
    return FALSE;
  if (ranks > 1)
    values->block = lig_count_positions (self) / 2 * lig_shape_columns (&self->x);
  return TRUE;
}

/* The backward pass regenerates the mask from (seed, path, micro-step, element), so nothing has to
 * be saved. The hash of the path gives each dropout its own RNG stream. */
static void
place (void *values, const char *path)
{
  ((LigDropoutParams *) values)->path_hash = lig_hash_path (path);
}

static void
lower_forward (LigLowering *lowering)
{
  const LigDropoutParams *values = lig_lower_params (lowering, 0);
  gboolean drops = lig_lower_is_training (lowering) && values->probability > 0;
  lig_lower_or_pass (lowering, drops ? "dropout" : NULL);
}

static void
lower_backward (LigLowering *lowering)
{
  const LigDropoutParams *values = lig_lower_params (lowering, 0);
  lig_lower_backward_or_pass (lowering, values->probability > 0 ? "dropout" : NULL);
}

static gboolean
is_idle (const void *values)
{
  return ((const LigDropoutParams *) values)->probability == 0;
}

LIG_DEFINE_OP (dropout) = {
  LIG_OP_INFO_SIZES,
  .name = "dropout",
  .title = N_ ("Dropout"),
  .category = N_ ("Other"),
  .summary = N_ ("Drops random elements in training; otherwise does nothing"),
  .formula = "y = x mask / (1 - p)",
  .example = "dropout (0.25) @ 8x16",
  .params = params,
  .params_size = sizeof (LigDropoutParams),
  .kernel_params_size = sizeof (LigDropoutParams),
  .infer = infer,
  .place = place,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .idle = is_idle,
  .onnx = lig_onnx_pass_x,
};
