/* SPDX-License-Identifier: MIT */
/* A macro: basic-linear, then bias unless disabled. Its parts have no names, because their
 * parameters have different ones: `1.weight`, `1.bias`. On several ranks the exchanges with the
 * others are parts, too. */
#include "engine/ops/define.h"

static const LigParam params[] = {
  LIG_LINEAR_PARAMS ("none|column|row|auto",
                     LIG_PARALLEL_AUTO,
                     N_ ("The part that ranks of a tensor group divide: none, the out-features, or "
                         "the in-features; auto: the out-features if a cross-entropy follows and "
                         "the ranks divide them evenly, else none")),
  LIG_BOOLEAN (
    LigLinearOpParams, bias, "bias", N_ ("Bias"), N_ ("Adds a trained vector to each row"), TRUE),
  LIG_BOOLEAN (LigLinearOpParams,
               sequence_parallel,
               "sequence-parallel",
               N_ ("Sequence parallel"),
               N_ ("Ranks have a part of the rows each, before parallel=column or after "
                   "parallel=row"),
               FALSE),
  {.name = NULL},
};

static void
expand (LigOp *self, LigParts *parts)
{
  const LigLinearOpParams *values = lig_op_get_params (self);
  LigParallel parallel = (LigParallel) values->parallel;
  if (parallel == LIG_PARALLEL_AUTO)
    parallel = lig_parts_divides_vocabulary (parts) ? LIG_PARALLEL_COLUMN : LIG_PARALLEL_NONE;
  LigOp *product = lig_op_new ("basic-linear", NULL);
  g_autofree char *tied = NULL;
  g_object_get (self, "tied", &tied, NULL);
  g_object_set (product, "out-features", values->out_features, "in-features", values->in_features,
                "init-std", (double) values->init_std, "tied", tied, "parallel",
                lig_parallel_name (parallel), "sections", &values->sections, NULL);
  lig_parts_add_before (parts, parallel, values->sequence_parallel);
  lig_parts_add (parts, NULL, product);
  lig_parts_add_after (parts, parallel, values->sequence_parallel);
  if (values->bias)
    lig_parts_add (parts, NULL, lig_op_new ("bias", NULL));
}

LIG_DEFINE_OP (linear) = {
  LIG_OP_INFO_SIZES,
  .name = "linear",
  .title = N_ ("Linear"),
  .category = N_ ("Linear"),
  .summary = N_ ("Multiplies each row by a weight matrix and adds a bias"),
  .formula = "y = x weight^T + bias",
  .example = "linear (12) @ 5x8",
  .params = params,
  .params_size = sizeof (LigLinearOpParams),
  .expand = expand,
};
