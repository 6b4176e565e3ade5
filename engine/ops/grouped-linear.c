/* SPDX-License-Identifier: MIT */
/* A linear layer with a weight and a bias for each group of rows, such as the experts of a mixture.
 * The first rows of groups are read on the device, so that their sizes may differ in each step
 * while the plan stays the same. */
#include "engine/ops/experts.h"

#include <inttypes.h>

typedef struct {
  LigGroupedParams kernel;
  gint64 out_features, groups, in_features;
  float init_std;
  int32_t parallel;
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
  LIG_EXPERTS_PARALLEL (GroupedLinearParams, parallel),
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

/* Returns the number of ranks that share the groups. */
static int
count_ranks (const LigInfer *self, const GroupedLinearParams *values)
{
  return values->parallel == LIG_EXPERTS_DIVIDED ? self->expert_ranks : 1;
}

/* Finds the number of this rank's groups, that of the channel's offsets; the caller's are of one
 * group unless the parameter is set, which counts those of all ranks. */
static gboolean
find_groups (LigInfer *self, const GroupedLinearParams *values, gint64 *groups, GError **error)
{
  const LigShape *given = &self->extra_inputs[OFFSETS];
  const char *name = lig_infer_param_name (self, "groups");
  const int ranks = count_ranks (self, values);
  LigShape wanted;
  if (values->groups % ranks != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s is %" PRId64 ", expected a multiple of expert, %d"), name, values->groups,
                 ranks);
    return lig_infer_suggest (self, "groups", (values->groups + ranks - 1) / ranks * ranks, error);
  }
  *groups = values->groups > 0   ? values->groups / ranks
            : given->n_axes == 1 ? given->axes[0] - 1
                                 : 1;
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
      _ ("%s is %" PRId64 ", that of its offsets is %" PRId64 "; give both the same number"), name,
      *groups, given->axes[0] - 1);
    return lig_infer_suggest (self, "groups", (given->axes[0] - 1) * ranks, error);
  }
  return lig_check_extra (self, OFFSETS, "offsets", &wanted, LIG_INT32, error);
}

/* Checks that ranks with other weights get the rows of their groups from all ranks. */
static gboolean
check_rows (const LigInfer *self, const GroupedLinearParams *values, GError **error)
{
  gboolean divided = count_ranks (self, values) > 1;
  gboolean apart = self->x_sharding.kind == LIG_SHARDING_EXPERTS;
  if (divided == apart)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               divided ? _ ("each expert rank has its own groups (expert=%d), but the rows of all; "
                            "put dispatch before it, or set parallel=none")
                       : _ ("its input has the rows of the groups of one expert rank (expert=%d); "
                            "set parallel=expert"),
               self->expert_ranks);
  return FALSE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  const GroupedLinearParams *values = self->params;
  LigShape rows = lig_shape_without (&self->x, 1);
  gint64 groups = 0;
  if (!lig_check_features (self, values->in_features, error) || !check_rows (self, values, error) ||
      !find_groups (self, values, &groups, error) ||
      !lig_check_extra (self, SCALES, "scales", &rows, LIG_FP32, error) ||
      !lig_check_order (self, SCALES, "scales", error))
    return FALSE;
  if (self->present[SCALES] && !values->bias) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_CHANNEL,
                 _ ("it has scales, but no bias that they multiply; omit scales"));
    return FALSE;
  }
  /* After dispatch, most of the rows are room for an uneven load. */
  gboolean apart = self->x_sharding.kind == LIG_SHARDING_EXPERTS;
  ((GroupedLinearParams *) self->params)->kernel.rows =
    apart ? self->x_sharding.sections.lengths[0] : 0;
  self->extra_ranges[OFFSETS] = (LigRange){0, G_MAXINT32, 0};
  self->y.axes[self->y.n_axes - 1] = values->out_features;
  lig_shape_init (&self->parameters[0], 3, groups, values->out_features,
                  lig_shape_columns (&self->x));
  lig_shape_init (&self->parameters[1], 2, groups, values->out_features);
  self->n_parameters = values->bias ? 2 : 1;
  for (int i = 0; i < self->n_parameters && count_ranks (self, values) > 1; i++)
    self->parameter_shardings[i] = (LigParameterSharding){
      0, {.count = 1, .lengths = {groups * count_ranks (self, values)}}, LIG_GROUP_EXPERT};
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
  .kernel_params_size = sizeof (LigGroupedParams),
  .extra_inputs = "offsets scales?",
  .parameters = parameters,
  .saves = "x weight offsets bias scales",
  .infer = infer,
  .forward = "grouped_linear",
  .backward = "grouped_backward_weight grouped_backward_input",
  .noun = N_ ("a grouped matmul"),
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
