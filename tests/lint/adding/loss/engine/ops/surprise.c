/* SPDX-License-Identifier: MIT */
/* A second loss over classes: other files recognize it only by its traits. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>
#include <ligature/params-loss.h>

typedef struct {
  LigCrossEntropyParams kernel;
  LigShape part, parts; /* the values that ranks with other classes communicate */
} SurpriseParams;

static const LigParam params[] = {
  LIG_INT (SurpriseParams,
           kernel.ignored,
           "ignored",
           N_ ("Ignored"),
           N_ ("Rows with this target are ignored"),
           G_MININT32,
           G_MAXINT32,
           -100,
           0),
  {.name = NULL},
};

/* Sets the classes of this rank; returns the total number. */
static gint64
shard (LigInfer *self, SurpriseParams *values)
{
  gint64 own = lig_shape_columns (&self->x), rows = self->kept[0].axes[0];
  values->kernel.part = (LigVocabularyPart){0, 0};
  if (self->x_sharding.kind != LIG_SHARDING_COLUMNS)
    return own;
  gint64 all = self->x_sharding.sections.lengths[0];
  values->kernel.part = (LigVocabularyPart){self->rank * own, all};
  lig_shape_init (&values->part, 2, rows, (gint64) 4);
  lig_shape_init (&values->parts, 3, (gint64) self->n_ranks[LIG_GROUP_TENSOR], rows, (gint64) 4);
  self->y_sharding = (LigSharding){0};
  return all;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  SurpriseParams *values = (SurpriseParams *) self->params;
  LigShape rows = lig_shape_without (&self->x, 1);
  if (!lig_check_has_axis (self, error) ||
      !lig_check_extra (self, 0, "targets", &rows, LIG_INT32, error))
    return FALSE;
  lig_shape_init (&self->kept[0], 2, lig_shape_size (&rows), (gint64) 2);
  if (!lig_shape_check (&self->kept[0], LIG_FP32, error))
    return FALSE;
  self->extra_ranges[0] =
    (LigRange){0, (gint32) shard (self, values) - 1, (gint32) values->kernel.ignored};
  self->kept[1] = self->y = (LigShape){0};
  self->y_dtype = LIG_FP32;
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  const SurpriseParams *values = lig_lower_params (lowering, 0);
  const LigCollectiveParams gather = {(int32_t) values->parts.axes[0], LIG_REDUCE_SUM,
                                      LIG_GROUP_TENSOR};
  const char *own = lig_lower_own_mean (lowering);
  if (values->kernel.part.count == 0)
    lig_lower_kernel (lowering, "cross_entropy", own, NULL, 0);
  else {
    lig_lower_value (lowering, "part", &values->part, LIG_FP32);
    lig_lower_value (lowering, "parts", &values->parts, LIG_FP32);
    lig_lower_kernel (lowering, "cross_entropy_part", NULL, NULL, 0);
    lig_lower_kernel (lowering, "all_gather", "x=part y=parts", &gather, sizeof gather);
    lig_lower_kernel (lowering, "cross_entropy_join", own, NULL, 0);
  }
  if (own)
    lig_lower_join_means (lowering, "y", "count");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "cross_entropy_backward", NULL, NULL, 0);
}

LIG_DEFINE_OP (surprise) = {
  LIG_OP_INFO_SIZES,
  .name = "surprise",
  .title = N_ ("Surprise"),
  .category = N_ ("Loss"),
  .summary = N_ ("Mean cross-entropy of the logits and the target classes"),
  .formula = "y = mean (log (sum (exp (x))) - x[target]) over rows with a target",
  .example = "surprise @ 6x10",
  .flags = LIG_OP_LOSS | LIG_OP_CLASSES,
  .params = params,
  .params_size = sizeof (SurpriseParams),
  .kernel_params_size = sizeof (LigCrossEntropyParams),
  .extra_inputs = "targets",
  .computes = "lse count",
  .saves = "x targets lse count",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ANY | LIG_COMPUTES_POSITIONS,
  .fuses_as = "cross-entropy",
};
