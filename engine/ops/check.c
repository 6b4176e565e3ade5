/* SPDX-License-Identifier: MIT */
/* Checks that ops share to infer shapes. */
#include "engine/ops/experts.h"
#include "engine/ops/gated.h"
#include "engine/ops/norm.h"

#include <inttypes.h>
#include <string.h>

gboolean
lig_check_has_axis (const LigInfer *infer, GError **error)
{
  if (infer->x.n_axes > 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("input has 0 axes, expected at least 1"));
  return FALSE;
}

gboolean
lig_check_features (const LigInfer *infer, gint64 features, GError **error)
{
  if (!lig_check_has_axis (infer, error))
    return FALSE;
  gint64 observed = lig_shape_columns (&infer->x);
  if (features == 0 || observed == features)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               g_dngettext (GETTEXT_PACKAGE, "input has %" PRId64 " feature, expected %" PRId64,
                            "input has %" PRId64 " features, expected %" PRId64,
                            (gulong) (observed)),
               observed, features);
  return FALSE;
}

gboolean
lig_check_trailing (const LigInfer *infer, const LigShape *wanted, GError **error)
{
  int lead = infer->x.n_axes - wanted->n_axes;
  if (lead >= 0 && memcmp (infer->x.axes + lead, wanted->axes,
                           (gsize) wanted->n_axes * sizeof *wanted->axes) == 0)
    return TRUE;
  g_autofree char *observed = lig_shape_to_string (&infer->x);
  g_autofree char *expected = lig_shape_to_string (wanted);
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("input is %s, expected its last axes to be %s"), observed, expected);
  return FALSE;
}

gboolean
lig_check_extra (LigInfer *infer,
                 int index,
                 const char *name,
                 const LigShape *wanted,
                 LigDtype dtype,
                 GError **error)
{
  if (!infer->present[index])
    return TRUE;
  if (infer->extra_inputs[index].n_axes < 0) {
    infer->extra_inputs[index] = *wanted;
    infer->extra_input_dtypes[index] = dtype;
    return TRUE;
  }
  g_autofree char *observed = lig_shape_to_string (&infer->extra_inputs[index]);
  g_autofree char *expected = lig_shape_to_string (wanted);
  if (!lig_shape_equal (&infer->extra_inputs[index], wanted)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s is %s, expected %s"), name, observed,
                 expected);
    return FALSE;
  }
  if (infer->extra_input_dtypes[index] != dtype) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("%s is %s, expected %s"), name,
                 lig_dtype_name (infer->extra_input_dtypes[index]), lig_dtype_name (dtype));
    return FALSE;
  }
  return TRUE;
}

LigShape
lig_shape_without (const LigShape *shape, int axes)
{
  LigShape result = {.n_axes = MAX (shape->n_axes - axes, 0)};
  memcpy (result.axes, shape->axes, (gsize) result.n_axes * sizeof *result.axes);
  return result;
}

const LigParam lig_gated_params[] = {
  LIG_INTERLEAVE,
  {.name = NULL},
};

gboolean
lig_check_order (const LigInfer *infer, int index, const char *name, GError **error)
{
  int order = infer->x_order, other = infer->extra_orders[index];
  if (order == other)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               order == LIG_ORDER_BATCH || other == LIG_ORDER_BATCH
                 ? _ ("the rows of either its input or %s are sorted by expert; connect both "
                      "before permute, or both after it")
                 : _ ("the rows of its input and %s are sorted by different permutes; connect both "
                      "after the same one"),
               name);
  return FALSE;
}

gboolean
lig_check_batch (const LigInfer *infer, GError **error)
{
  if (infer->x_sharding.kind == LIG_SHARDING_EXPERTS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the rows of its input are those of this rank's experts (expert=%d), expected "
                    "those of its batch; put combine before it"),
                 infer->expert_ranks);
    return FALSE;
  }
  if (infer->x_order == LIG_ORDER_BATCH)
    return TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_SHAPE,
    _ ("the rows of its input are sorted by expert, expected the order of the batch; put "
       "unpermute before it"));
  return FALSE;
}

gboolean
lig_check_own_rows (const LigInfer *infer, GError **error)
{
  if (infer->x_sharding.kind != LIG_SHARDING_EXPERTS)
    return TRUE;
  g_set_error (
    error, LIG_ERROR, LIG_ERROR_SHAPE,
    _ ("its input has the rows of all expert ranks (expert=%d), whose random numbers would "
       "depend on their order; put it before dispatch, or after combine"),
    infer->expert_ranks);
  return FALSE;
}

/* If the columns are sharded, each rank has the same part of both halves, or, if they are
 * interleaved, some of the blocks. */
static gboolean
shard_gated (LigInfer *infer, gint64 interleave, GError **error)
{
  const LigSections *sections = &infer->x_sharding.sections;
  if (infer->x_sharding.kind != LIG_SHARDING_COLUMNS)
    return TRUE;
  if (interleave > 0) {
    if (sections->count == 1) {
      infer->y_sharding.sections = (LigSections){1, {sections->lengths[0] / 2}};
      return TRUE;
    }
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("its halves are interleaved, but the number of sections of its columns is %d; "
                    "remove sections from the matmul before it"),
                 sections->count);
    return FALSE;
  }
  if (sections->count != 2 || sections->lengths[0] != sections->lengths[1]) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("its two halves are not each sharded over the ranks (tensor=%d); set sections=[1, 1] "
         "of the matmul before it"),
      infer->n_ranks[LIG_GROUP_TENSOR]);
    return FALSE;
  }
  infer->y_sharding.sections = (LigSections){1, {sections->lengths[0]}};
  return TRUE;
}

gboolean
lig_infer_gated (LigInfer *infer, GError **error)
{
  const LigGatedParams *params = infer->params;
  if (!lig_check_has_axis (infer, error))
    return FALSE;
  gint64 *columns = &infer->y.axes[infer->y.n_axes - 1];
  if (*columns % 2 != 0) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      g_dngettext (GETTEXT_PACKAGE, "input has %" PRId64 " feature, expected an even number",
                   "input has %" PRId64 " features, expected an even number", (gulong) (*columns)),
      *columns);
    return FALSE;
  }
  *columns /= 2;
  const char *name = lig_infer_param_name (infer, "interleave");
  if (params->interleave > 0 && *columns % params->interleave != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("%s is %" PRId64 ", expected a divisor of %" PRId64), name, params->interleave,
                 *columns);
    return lig_infer_suggest (infer, "interleave", lig_find_divisor (*columns, params->interleave),
                              error);
  }
  return shard_gated (infer, params->interleave, error);
}

gboolean
lig_check_groups (const LigInfer *infer, GError **error)
{
  gint64 groups = lig_shape_size (&infer->x);
  if (groups >= 1 && groups <= LIG_MAX_EXPERTS)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the number of groups is %" PRId64 ", expected 1 to %d"), groups,
               LIG_MAX_EXPERTS);
  return FALSE;
}

gint64
lig_find_divisor (gint64 number, gint64 limit)
{
  gint64 divisor = MIN (number, limit);
  while (divisor > 1 && number % divisor != 0)
    divisor--;
  return MAX (divisor, 1);
}

/* Checks the groups of which the best ones are selected first. */
static gboolean
check_group_choice (const LigExpertChoice *self,
                    const char *experts,
                    const char **param,
                    gint64 *value,
                    GError **error)
{
  const gint64 best = self->group_top_k, all = best * (self->experts / self->groups);
  *param = "group-top-k";
  *value = lig_find_divisor (self->top_k, MIN (best, self->groups));
  if (self->experts % self->groups != 0) {
    *param = "groups";
    *value = lig_find_divisor (self->experts, self->groups);
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("groups is %" PRId64 ", expected a divisor of %s, %" PRId64), self->groups,
                 experts, self->experts);
  } else if (best > self->groups)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("group-top-k is %" PRId64 ", expected at most groups, %" PRId64), best,
                 self->groups);
  else if (self->top_k % best != 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("group-top-k is %" PRId64 ", expected a divisor of top-k, %" PRId64), best,
                 self->top_k);
  else if (self->top_k > all) {
    *param = "top-k";
    *value = all / best * best;
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("top-k is %" PRId64 ", expected at most the experts of the selected groups, "
                    "%" PRId64),
                 self->top_k, all);
  } else
    return TRUE;
  return FALSE;
}

gboolean
lig_check_choice (const LigExpertChoice *self,
                  const char *experts,
                  const char **param,
                  gint64 *value,
                  GError **error)
{
  if (self->top_k <= self->experts)
    return self->groups == 1 || check_group_choice (self, experts, param, value, error);
  *param = "top-k";
  *value = self->experts;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("top-k is %" PRId64 ", expected at most %s, %" PRId64), self->top_k, experts,
               self->experts);
  return FALSE;
}

gboolean
lig_infer_scales (LigInfer *infer, GError **error)
{
  LigShape rows = lig_shape_without (&infer->x, 1);
  return lig_check_has_axis (infer, error) &&
         lig_check_extra (infer, 0, "scales", &rows, LIG_FP32, error) &&
         lig_check_order (infer, 0, "scales", error);
}

gboolean
lig_infer_scaled_gated (LigInfer *infer, GError **error)
{
  return lig_infer_gated (infer, error) && lig_infer_scales (infer, error);
}

gboolean
lig_infer_norm (LigInfer *infer, GError **error)
{
  const LigNormOpParams *params = infer->params;
  LigShape shape = params->normalized_shape;
  if (!lig_check_has_axis (infer, error))
    return FALSE;
  if (shape.n_axes < 0)
    lig_shape_init (&shape, 1, lig_shape_columns (&infer->x));
  if (!lig_check_trailing (infer, &shape, error))
    return FALSE;
  infer->parameters[0] = infer->parameters[1] = shape;
  infer->kept[0] = infer->kept[1] = lig_shape_without (&infer->x, shape.n_axes);
  return TRUE;
}

/* The FNV-1a hash. */
guint64
lig_hash_path (const char *path)
{
  guint64 hash = G_GUINT64_CONSTANT (14695981039346656037);
  for (const char *at = path; *at; at++)
    hash = (hash ^ (guchar) *at) * G_GUINT64_CONSTANT (1099511628211);
  return hash ^ hash >> 32;
}

gint64
lig_count_positions (const LigInfer *infer)
{
  return infer->x.n_axes < 2 ? 1 : infer->x.axes[infer->x.n_axes - 2];
}

gboolean
lig_check_samples (const LigInfer *infer, GError **error)
{
  return infer->x_sharding.kind != LIG_SHARDING_ROWS || infer->x.n_axes > 2 ||
         lig_infer_reject_sharding (infer, error);
}

gboolean
lig_check_halves (const LigInfer *infer, GError **error)
{
  gint64 positions = lig_count_positions (infer);
  if (infer->x.n_axes > 1 && positions % 2 == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the sequence length is %" PRId64 ", expected an even number"), positions);
  return FALSE;
}

/* Checks numbers that kernels count in 32 bits. */
static gboolean
check_counts (const LigInfer *infer, GError **error)
{
  gint64 columns = lig_shape_columns (&infer->x), positions = lig_count_positions (infer);
  if (columns > (gint64) LIG_MAX_FEATURES)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " features, expected at most %d"), columns,
                 (int) LIG_MAX_FEATURES);
  else if (positions > LIG_MAX_POSITIONS)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has %" PRId64 " positions, expected at most %d"), positions,
                 LIG_MAX_POSITIONS);
  else
    return TRUE;
  return FALSE;
}

/* Checks that the queries, keys and values of a row are separate sections. */
static gboolean
check_head_sections (
  const LigInfer *infer, gint64 heads, gint64 kv_heads, gboolean queries_alone, GError **error)
{
  const LigSections *sections = &infer->x_sharding.sections;
  const gint64 *lengths = sections->lengths;
  gboolean fits = queries_alone ? sections->count == 1
                                : sections->count == 3 && lengths[1] == lengths[2] &&
                                    lengths[0] * kv_heads == lengths[1] * heads;
  if (!fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("its heads (%" PRId64 ") and kv-heads (%" PRId64
                    ") are not each sharded over the ranks (tensor=%d); set sections of the "
                    "matmul before it"),
                 heads, kv_heads, infer->n_ranks[LIG_GROUP_TENSOR]);
  return fits;
}

gboolean
lig_infer_heads (const LigInfer *infer,
                 gint64 heads,
                 gint64 kv_heads,
                 gboolean queries_alone,
                 LigHeads *packed,
                 GError **error)
{
  gint64 columns = lig_shape_columns (&infer->x);
  kv_heads = kv_heads > 0 ? kv_heads : heads;
  if (!lig_check_has_axis (infer, error) || !check_counts (infer, error) ||
      !lig_check_samples (infer, error))
    return FALSE;
  if (heads % kv_heads != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("heads is %" PRId64 ", expected a multiple of kv-heads, %" PRId64), heads,
                 kv_heads);
    return FALSE;
  }
  if (infer->x_sharding.kind == LIG_SHARDING_COLUMNS) {
    if (!lig_check_sharding (infer, "heads", heads, error) ||
        !lig_check_sharding (infer, "kv-heads", kv_heads, error) ||
        !check_head_sections (infer, heads, kv_heads, queries_alone, error))
      return FALSE;
    heads /= infer->n_ranks[LIG_GROUP_TENSOR];
    kv_heads /= infer->n_ranks[LIG_GROUP_TENSOR];
  }
  gint64 all = heads + (queries_alone ? 0 : 2 * kv_heads);
  if (columns % all != 0) {
    if (queries_alone)
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("the number of features is %" PRId64
                      ", expected a multiple of the query heads, %" PRId64),
                   columns, heads);
    else
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("the number of features is %" PRId64
                      "; the heads of queries, keys and values in a packed row are %" PRId64
                      ", %" PRId64 " and %" PRId64 ", so expected a multiple of %" PRId64),
                   columns, heads, kv_heads, kv_heads, all);
    return FALSE;
  }
  *packed = (LigHeads){(int32_t) heads, (int32_t) kv_heads, (int32_t) (columns / all),
                       (int32_t) lig_count_positions (infer)};
  return TRUE;
}
