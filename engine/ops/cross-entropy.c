/* SPDX-License-Identifier: MIT */
/* The mean over counted rows of -log softmax(x)[target], natural logarithm. With tensor parallelism
 * the classes may be sharded: the ranks exchange a few numbers per row instead of the logits
 * (Shoeybi and others, 2019). Ranks with different rows exchange their numbers of counted rows. */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>
#include <ligature/params-loss.h>

#include <inttypes.h>

typedef struct {
  LigCrossEntropyParams kernel;
  LigShape part, parts; /* of this rank, and of all that shard the classes */
} CrossEntropyParams;

/* See cross_entropy_part in kernels/kernel-list.h. */
#define NUMBERS ((gint64) 4)
#define LSE ((gint64) 2)

static const LigParam params[] = {
  LIG_INT (CrossEntropyParams,
           kernel.ignored,
           "ignored",
           N_ ("Ignored"),
           N_ ("Rows with this target are ignored"),
           G_MININT32,
           G_MAXINT32,
           -100,
           0),
  LIG_FLOAT (CrossEntropyParams,
             kernel.label_smoothing,
             "label-smoothing",
             N_ ("Label smoothing"),
             N_ ("Probability that is spread evenly over all classes"),
             0,
             0.999,
             0),
  LIG_INT (
    CrossEntropyParams,
    kernel.classes,
    "classes",
    N_ ("Classes"),
    N_ ("Number of classes; later logits, such as those of a padded vocabulary, count as minus "
        "infinity; 0: all logits are classes"),
    0,
    G_MAXINT32,
    0,
    0),
  {.name = NULL},
};

/* Ignores the padding after the classes. */
static gboolean
leave_out_padding (const CrossEntropyParams *values, gint64 *classes, GError **error)
{
  if (values->kernel.classes > *classes) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      _ ("it has %" PRId64 " classes, expected at most %" PRId64 ", the number of logits"),
      values->kernel.classes, *classes);
    return lig_error_set_setting (error, "classes");
  }
  *classes = values->kernel.classes > 0 ? values->kernel.classes : *classes;
  return TRUE;
}

/* Sets the classes of this rank and their total number. */
static gboolean
find_classes (LigInfer *self, CrossEntropyParams *values, gint64 *classes, GError **error)
{
  const LigSharding *sharding = &self->x_sharding;
  gint64 rows = self->kept[0].axes[0];
  *classes = lig_shape_columns (&self->x);
  values->kernel.part = (LigVocabularyPart){0, 0};
  if (sharding->kind == LIG_SHARDING_NONE)
    return TRUE;
  if (sharding->kind != LIG_SHARDING_COLUMNS || sharding->sections.count > 1)
    return lig_infer_reject_sharding (self, error);
  values->kernel.part = (LigVocabularyPart){self->rank * *classes, sharding->sections.lengths[0]};
  *classes = sharding->sections.lengths[0];
  lig_shape_init (&values->part, 2, rows, NUMBERS);
  lig_shape_init (&values->parts, 3, (gint64) self->n_ranks[LIG_GROUP_TENSOR], rows, NUMBERS);
  self->y_sharding = (LigSharding){0};
  return lig_shape_check (&values->parts, LIG_FP32, error);
}

static gboolean
infer (LigInfer *self, GError **error)
{
  CrossEntropyParams *values = (CrossEntropyParams *) self->params;
  gint64 classes;
  LigShape rows = lig_shape_without (&self->x, 1);
  if (!lig_check_has_axis (self, error) || !lig_check_batch (self, error) ||
      !lig_check_extra (self, 0, "targets", &rows, LIG_INT32, error))
    return FALSE;
  lig_shape_init (&self->kept[0], 2, lig_shape_size (&rows), LSE);
  if (!lig_shape_check (&self->kept[0], LIG_FP32, error) ||
      !find_classes (self, values, &classes, error) || !leave_out_padding (values, &classes, error))
    return FALSE;
  self->extra_ranges[0] =
    (LigRange){0, (gint32) MIN (classes, G_MAXINT32) - 1, (gint32) values->kernel.ignored};
  self->kept[1] = self->y = (LigShape){0};
  self->y_dtype = LIG_FP32;
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  const CrossEntropyParams *values = lig_lower_params (lowering, 0);
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

LIG_DEFINE_OP (cross_entropy) = {
  LIG_OP_INFO_SIZES,
  .name = "cross-entropy",
  .title = N_ ("Cross-entropy"),
  .category = N_ ("Loss"),
  .summary = N_ ("Mean cross-entropy of the logits and the target classes"),
  .formula = "y = mean (log (sum (exp (x))) - x[target]) over rows with a target",
  .example = "cross-entropy @ 6x10",
  .flags = LIG_OP_LOSS | LIG_OP_CLASSES,
  .params = params,
  .params_size = sizeof (CrossEntropyParams),
  .kernel_params_size = sizeof (LigCrossEntropyParams),
  .extra_inputs = "targets",
  .computes = "lse count",
  .saves = "x targets lse count",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ANY | LIG_COMPUTES_POSITIONS,
  .no_onnx = N_ ("is a loss; the exported graph ends before it"),
};
