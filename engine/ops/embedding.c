/* SPDX-License-Identifier: MIT */
/* y = weight[x]: a row of weight for each integer of x; the features are a new last axis. */
#include "engine/ops/define.h"

typedef struct {
  gint64 features, vocabulary;
  float init_std;
} EmbeddingParams;

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
             N_ ("Initial deviation"),
             N_ ("Standard deviation of the initial weights"),
             0,
             1000,
             0.02),
  LIG_TIED,
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {{"weight", LIG_INIT_NORMAL, FALSE, TRUE},
                                              {.name = NULL}};

static gboolean
infer (LigInfer *self, GError **error)
{
  const EmbeddingParams *values = self->params;
  if (self->x.n_axes >= LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("input has %d axes, expected at most %d"),
                 self->x.n_axes, LIG_MAX_AXES - 1);
    return FALSE;
  }
  self->x_range = (LigRange){0, (gint32) values->vocabulary - 1, 0};
  self->y.axes[self->y.n_axes++] = values->features;
  self->y_dtype = self->compute;
  lig_shape_init (&self->parameters[0], 2, values->vocabulary, values->features);
  return TRUE;
}

LIG_DEFINE_OP (embedding) = {
  LIG_OP_INFO_SIZES,
  .name = "embedding",
  .title = N_ ("Embedding"),
  .category = N_ ("Linear"),
  .summary = N_ ("Looks up a trained row for each integer"),
  .formula = "y = weight[x]",
  .example = "embedding (8, vocabulary=16) @ 2x5:int32",
  .flags = LIG_OP_INTEGER_INPUT,
  .params = params,
  .params_size = sizeof (EmbeddingParams),
  .parameters = parameters,
  .saves = "x",
  .infer = infer,
  .forward = "embedding",
  .backward = "embedding_backward",
  .shardings = LIG_COMPUTES_POSITIONS,
};
