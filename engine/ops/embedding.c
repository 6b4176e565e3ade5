/* SPDX-License-Identifier: MIT */
/* y = weight[x]: a row of weight for each integer of x; the features are a new last axis. With
 * tensor parallelism the rows may be sharded: a rank writes zeros for rows that it lacks, and y is
 * the sum over the ranks (Shoeybi and others, 2019). */
#include "engine/ops/define.h"
#include <ligature/params-collective.h>
#include <ligature/params-loss.h>

typedef struct {
  LigVocabularyPart part;
  gint64 features, vocabulary;
  float init_std;
  int32_t parallel, ranks; /* that shard the vocabulary */
  LigDtype dtype;          /* of y */
  LigShape shape;
} EmbeddingParams;

enum { AUTO, NONE, VOCABULARY };

static const LigParam params[] = {
  LIG_INT (EmbeddingParams,
           features,
           "features",
           N_ ("Features"),
           N_ ("Length of a row"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL),
  LIG_INT (EmbeddingParams,
           vocabulary,
           "vocabulary",
           N_ ("Vocabulary"),
           N_ ("Number of rows"),
           1,
           LIG_MAX_FEATURES,
           256,
           0),
  LIG_FLOAT (EmbeddingParams,
             init_std,
             "init-std",
             N_ ("Initial std"),
             N_ ("Standard deviation of the initial weights"),
             0,
             1000,
             0.02),
  LIG_CHOICE (
    EmbeddingParams,
    parallel,
    "parallel",
    N_ ("Parallel"),
    N_ ("Whether tensor parallelism shards the vocabulary; auto: if it is a multiple of the "
        "number of ranks, for all ops that share the weight"),
    "auto|none|vocabulary",
    AUTO),
  LIG_TIED,
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {
  {.name = "weight", .init = LIG_INIT_NORMAL, .decays = TRUE}, {.name = NULL}};

/* Shards the rows of the weight over a tensor-parallel group. */
static gboolean
shard (LigInfer *self, EmbeddingParams *values, GError **error)
{
  int ranks = self->n_ranks[LIG_GROUP_TENSOR];
  gint64 each = values->vocabulary / ranks;
  values->part = (LigVocabularyPart){0, 0};
  if (ranks == 1 || values->parallel == NONE ||
      (values->parallel == AUTO && !self->shards_vocabulary))
    return TRUE;
  if (!lig_check_sharding (self, "vocabulary", values->vocabulary, error))
    return FALSE;
  values->part = (LigVocabularyPart){self->rank * each, values->vocabulary};
  values->ranks = ranks;
  self->parameters[0].axes[0] = each;
  self->parameter_shardings[0] =
    (LigParameterSharding){0, {.count = 1, .lengths = {values->vocabulary}}, LIG_GROUP_TENSOR};
  return TRUE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  EmbeddingParams *values = (EmbeddingParams *) self->params;
  if (self->x.n_axes >= LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("input has %d axes, expected at most %d"),
                 self->x.n_axes, LIG_MAX_AXES - 1);
    return FALSE;
  }
  self->x_range = (LigRange){0, (gint32) values->vocabulary - 1, 0};
  self->y.axes[self->y.n_axes++] = values->features;
  self->y_dtype = self->compute;
  lig_shape_init (&self->parameters[0], 2, values->vocabulary, values->features);
  values->shape = self->y;
  values->dtype = self->y_dtype;
  return shard (self, values, error);
}

static void
lower_forward (LigLowering *lowering)
{
  const EmbeddingParams *values = lig_lower_params (lowering, 0);
  const LigCollectiveParams sum = {values->ranks, LIG_REDUCE_SUM, LIG_GROUP_TENSOR};
  if (values->part.count == 0) {
    lig_lower_kernel (lowering, "embedding", NULL, NULL, 0);
    return;
  }
  lig_lower_value (lowering, "part", &values->shape, values->dtype);
  lig_lower_kernel (lowering, "embedding", "y=part", &values->part, sizeof values->part);
  lig_lower_kernel (lowering, "all_reduce", "x=part", &sum, sizeof sum);
}

/* All ranks have the same gradient, and each uses the part for its rows. */
static void
lower_backward (LigLowering *lowering)
{
  const EmbeddingParams *values = lig_lower_params (lowering, 0);
  gboolean sharded = values->part.count > 0;
  lig_lower_kernel (lowering, "embedding_backward", NULL, sharded ? &values->part : NULL,
                    sharded ? sizeof values->part : 0);
}

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_set (onnx, "y", lig_onnx_rows (onnx, "weight", lig_onnx_get (onnx, "x")));
}

LIG_DEFINE_OP (embedding) = {
  LIG_OP_INFO_SIZES,
  .name = "embedding",
  .title = N_ ("Embedding"),
  .category = N_ ("Linear"),
  .summary = N_ ("Looks up a trainable row for each integer"),
  .formula = "y = weight[x]",
  .example = "embedding (8, vocabulary=16) @ 2x5:int32",
  .flags = LIG_OP_INTEGER_INPUT,
  .params = params,
  .params_size = sizeof (EmbeddingParams),
  .parameters = parameters,
  .saves = "x",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS,
  .vocabulary = "vocabulary",
  .vocabulary_choice = "vocabulary",
  .onnx = write_onnx,
};
