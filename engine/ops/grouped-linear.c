/* SPDX-License-Identifier: MIT */
/* A linear layer with a weight and a bias for each group of rows, such as the experts of a mixture.
 * The first rows of groups are read on the device, so that their sizes may differ in each step
 * while the plan stays the same. */
#include "engine/ops/experts.h"

#include <inttypes.h>

typedef struct {
  gint64 out_features, groups, in_features;
  float init_std;
  bool bias;
} GroupedLinearParams;

enum { OFFSETS, SCALES };

static const LigParam params[] = {
  LIG_INT (GroupedLinearParams,
           out_features,
           "out-features",
           N_ ("Out features"),
           N_ ("Length of the output's last axis"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL),
  LIG_INT (
    GroupedLinearParams,
    groups,
    "groups",
    N_ ("Groups"),
    N_ ("Number of groups of rows, each with its own weight; default: as many as the offsets "
        "have"),
    1,
    LIG_MAX_EXPERTS,
    0,
    LIG_PARAM_INFERRED),
  LIG_INT (GroupedLinearParams,
           in_features,
           "in-features",
           N_ ("In features"),
           N_ ("Length of the input's last axis; default: that of the actual input"),
           1,
           LIG_MAX_FEATURES,
           0,
           LIG_PARAM_INFERRED),
  LIG_BOOLEAN (GroupedLinearParams,
               bias,
               "bias",
               N_ ("Bias"),
               N_ ("Adds a trainable vector to the rows of each group"),
               TRUE),
  LIG_FLOAT (GroupedLinearParams,
             init_std,
             "init-std",
             N_ ("Initial std"),
             N_ ("Standard deviation of the initial weights"),
             0,
             1000,
             0.023),
  {LIG_PARAM_INPUT, "offsets", N_ ("Offsets"),
   N_ ("Channel of the first row of each group and the end of the last one; default: a tensor from "
       "the caller"),
   0, 0, 0, 0, OFFSETS, NULL},
  {LIG_PARAM_INPUT, "scales", N_ ("Scales"),
   N_ ("Channel of a number for each row by which its bias is multiplied"), 0, 0, 0, 0, SCALES,
   NULL},
  {.name = NULL},
};

static const LigParameterInfo parameters[] = {
  {.name = "weight", .init = LIG_INIT_NORMAL, .matmul = TRUE, .decays = TRUE},
  {.name = "bias", .init = LIG_INIT_ZEROS},
  {.name = NULL}};

/* Finds the number of groups, that of the channel's offsets; the caller's are of one group unless
 * the parameter is set. */
static gboolean
find_groups (LigInfer *self, const GroupedLinearParams *values, gint64 *groups, GError **error)
{
  const LigShape *given = &self->extra_inputs[OFFSETS];
  LigShape wanted;
  *groups = values->groups > 0 ? values->groups : given->n_axes == 1 ? given->axes[0] - 1 : 1;
  if (*groups < 1 || *groups > LIG_MAX_EXPERTS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the length of its offsets is %" PRId64 ", expected 2 to %d"), *groups + 1,
                 LIG_MAX_EXPERTS + 1);
    return FALSE;
  }
  lig_shape_init (&wanted, 1, *groups + 1);
  if (given->n_axes == 1 && given->axes[0] != *groups + 1) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("groups is %" PRId64 ", that of its offsets is %" PRId64 "; give both the same number"),
      values->groups, given->axes[0] - 1);
    return FALSE;
  }
  return lig_check_extra (self, OFFSETS, "offsets", &wanted, LIG_INT32, error);
}

static gboolean
infer (LigInfer *self, GError **error)
{
  const GroupedLinearParams *values = self->params;
  LigShape rows = lig_shape_without (&self->x, 1);
  gint64 groups;
  if (!lig_check_features (self, values->in_features, error) ||
      !find_groups (self, values, &groups, error) ||
      !lig_check_extra (self, SCALES, "scales", &rows, LIG_FP32, error))
    return FALSE;
  if (self->present[SCALES] && !values->bias) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("it has scales, but no bias that they multiply; omit scales"));
    return FALSE;
  }
  self->extra_ranges[OFFSETS] = (LigRange){0, G_MAXINT32, 0};
  self->y.axes[self->y.n_axes - 1] = values->out_features;
  lig_shape_init (&self->parameters[0], 3, groups, values->out_features,
                  lig_shape_columns (&self->x));
  lig_shape_init (&self->parameters[1], 2, groups, values->out_features);
  self->n_parameters = values->bias ? 2 : 1;
  return TRUE;
}

LIG_DEFINE_OP (grouped_linear) = {
  LIG_OP_INFO_SIZES,
  .name = "grouped-linear",
  .title = N_ ("Grouped linear"),
  .category = N_ ("Experts"),
  .summary = N_ ("Linear layer with its own weight for each group of rows"),
  .formula = "y[i] = x[i] weight[g]^T + bias[g] scales[i], offsets[g] <= i < offsets[g + 1]",
  .example = "grouped-linear (12, groups=3) @ 6x8",
  .flags = LIG_OP_GROUPED,
  .shardings = LIG_COMPUTES_ROWS,
  .params = params,
  .params_size = sizeof (GroupedLinearParams),
  .extra_inputs = "offsets scales?",
  .parameters = parameters,
  .saves = "x weight offsets bias scales",
  .infer = infer,
  .forward = "grouped_linear",
  .backward = "grouped_backward_weight grouped_backward_input",
  .noun = N_ ("a grouped matmul"),
};
