/* SPDX-License-Identifier: MIT */
/* Rotary position embedding of packed query, key and value heads (Su and others, 2021). */
#include "kernels/rotary.h"
#include "engine/ops/define.h"
#include <ligature/params-positions.h>

#include <math.h>

typedef struct {
  LigRotaryParams kernel;
  gint64 heads, kv_heads;
  LigRotation rotation;
} RotaryParams;

static const LigParam params[] = {
  LIG_HEADS (RotaryParams, heads),
  LIG_KV_HEADS (RotaryParams, kv_heads),
  LIG_ROTATION_PARAMS (RotaryParams, rotation, ""),
  {.name = NULL},
};

static const LigParamGroup groups[] = {
  {N_ ("Sizes"), "heads kv-heads"},
  {N_ ("Positions"), "base fraction interleaved"},
  {N_ ("Rotary scaling"), "scaling factor low high original magnitude truncate"},
  {.title = NULL},
};

/* Returns the factor of queries and keys. */
static float
find_magnitude (const LigRotation *rotation)
{
  if (rotation->scaling != LIG_ROTARY_YARN)
    return 1;
  if (rotation->magnitude > 0)
    return rotation->magnitude;
  return rotation->factor > 1 ? (float) (0.1 * log ((double) rotation->factor) + 1) : 1;
}

static gboolean
check_scaling (const LigInfer *self, const LigRotation *rotation, GError **error)
{
  gboolean yarn = rotation->scaling == LIG_ROTARY_YARN;
  const char *low = lig_infer_param_name (self, "low"), *high = lig_infer_param_name (self, "high");
  const char *base = lig_infer_param_name (self, "base");
  const char *scaling = lig_infer_param_name (self, "scaling");
  if ((yarn || rotation->scaling == LIG_ROTARY_LLAMA3) && rotation->low >= rotation->high) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s is %g, expected less than %s, %g"), low,
                 (double) rotation->low, high, (double) rotation->high);
    return FALSE;
  }
  if (yarn && rotation->base <= 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("%s is %g, expected more than 1 with %s=yarn"), base, (double) rotation->base,
                 scaling);
    return FALSE;
  }
  return TRUE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  RotaryParams *values = (RotaryParams *) self->params;
  const LigRotation *rotation = &values->rotation;
  LigHeads packed;
  if (!lig_check_batch (self, error) ||
      !lig_infer_heads (self, values->heads, values->kv_heads, FALSE, &packed, error))
    return FALSE;
  /* The margin is for fractions that fp32 cannot represent. */
  int rotated = (int) floor (packed.features * (double) rotation->fraction + 1e-4);
  if (rotated % 2 != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("it rotates %d of a head dim of %d, expected an even number"), rotated,
                 packed.features);
    return FALSE;
  }
  if (!check_scaling (self, rotation, error))
    return FALSE;
  values->kernel = (LigRotaryParams){
    .heads = packed.heads,
    .kv_heads = packed.kv_heads,
    .features = packed.features,
    .length = packed.length,
    .rotated = rotated,
    .interleaved = rotation->interleaved,
    .scaling = rotation->scaling,
    .original = (int32_t) rotation->original,
    .base = rotation->base,
    .factor = rotation->factor,
    .low = rotation->low,
    .high = rotation->high,
    .ranks = self->n_ranks[LIG_GROUP_CONTEXT],
    .rank = self->places[LIG_GROUP_CONTEXT],
    .truncate = rotation->truncate,
    .magnitude = find_magnitude (rotation),
  };
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  if (lig_lower_has (lowering, "$starts"))
    lig_lower_kernel (lowering, "rotary_at", "starts=$starts", NULL, 0);
  else
    lig_lower_kernel (lowering, "rotary", NULL, NULL, 0);
}

/* --- ONNX ---------------------------------------------------------------------------------- */

/* Writes the nodes of the cosines and sines [positions, 1, pairs], times the magnitude. */
static void
write_table (LigOnnx *onnx, const char *x, const char *table[2])
{
  const LigRotaryParams *p = lig_onnx_get_params (onnx);
  int n_axes = lig_onnx_count_axes (onnx, "x");
  /* A value with one axis is at position 0. */
  const LigShape shape = n_axes > 1 ? (LigShape){.n_axes = 3, .axes = {1, 1, p->rotated / 2}}
                                    : (LigShape){.n_axes = 2, .axes = {1, p->rotated / 2}};
  const char *positions = lig_onnx_number (onnx, 0);
  g_autofree float *frequencies = g_new (float, (gsize) p->rotated / 2);
  for (int32_t pair = 0; pair < p->rotated / 2; pair++)
    frequencies[pair] = lig_rotary_frequency (p, pair);
  if (n_axes > 1) {
    positions =
      lig_onnx_node (onnx, "Range", lig_onnx_integer (onnx, 0),
                     lig_onnx_length (onnx, x, n_axes - 2), lig_onnx_integer (onnx, 1), NULL);
    positions = lig_onnx_node (onnx, "Unsqueeze", lig_onnx_cast_number (onnx, positions),
                               lig_onnx_integers (onnx, 2, (gint64) 1, (gint64) 2), NULL);
  }
  const char *angles =
    lig_onnx_node (onnx, "Mul", positions, lig_onnx_numbers (onnx, &shape, frequencies), NULL);
  const char *magnitude = lig_onnx_number (onnx, (double) lig_rotary_magnitude (p));
  for (int i = 0; i < 2; i++) {
    table[i] = lig_onnx_node (onnx, i == 0 ? "Cos" : "Sin", angles, NULL);
    if (lig_rotary_magnitude (p) != 1)
      table[i] = lig_onnx_node (onnx, "Mul", table[i], magnitude, NULL);
  }
}

/* Writes the nodes that rotate the pairs (a, b). */
static void
write_rotation (LigOnnx *onnx, const char *const table[2], const char *pair[2])
{
  const char *a = pair[0], *b = pair[1], *cosines = table[0], *sines = table[1];
  pair[0] = lig_onnx_node (onnx, "Sub", lig_onnx_node (onnx, "Mul", a, cosines, NULL),
                           lig_onnx_node (onnx, "Mul", b, sines, NULL), NULL);
  pair[1] = lig_onnx_node (onnx, "Add", lig_onnx_node (onnx, "Mul", b, cosines, NULL),
                           lig_onnx_node (onnx, "Mul", a, sines, NULL), NULL);
}

/* Rotates features of heads [.., heads, rotated]. */
static const char *
write_heads (LigOnnx *onnx, const char *heads, int n_axes, const char *const table[2])
{
  const LigRotaryParams *p = lig_onnx_get_params (onnx);
  const char *pair[2], *last = lig_onnx_integers (onnx, 1, (gint64) n_axes);
  if (!p->interleaved) {
    lig_onnx_halve (onnx, heads, n_axes - 1, pair);
    write_rotation (onnx, table, pair);
    const char *y = lig_onnx_node (onnx, "Concat", pair[0], pair[1], NULL);
    lig_onnx_attribute (onnx, "axis", n_axes - 1);
    return y;
  }
  const char *pairs = lig_onnx_shape (onnx, n_axes - 1, 2, (gint64) p->rotated / 2, (gint64) 2);
  lig_onnx_halve (onnx, lig_onnx_node (onnx, "Reshape", heads, pairs, NULL), n_axes, pair);
  for (int i = 0; i < 2; i++)
    pair[i] = lig_onnx_node (onnx, "Squeeze", pair[i], last, NULL);
  write_rotation (onnx, table, pair);
  for (int i = 0; i < 2; i++)
    pair[i] = lig_onnx_node (onnx, "Unsqueeze", pair[i], last, NULL);
  const char *y = lig_onnx_node (onnx, "Concat", pair[0], pair[1], NULL);
  lig_onnx_attribute (onnx, "axis", n_axes);
  return lig_onnx_node (onnx, "Reshape", y,
                        lig_onnx_shape (onnx, n_axes - 1, 1, (gint64) p->rotated), NULL);
}

static void
write_onnx (LigOnnx *onnx)
{
  const LigRotaryParams *p = lig_onnx_get_params (onnx);
  int n_axes = lig_onnx_count_axes (onnx, "x");
  const gint64 lengths[] = {p->heads + p->kv_heads, p->kv_heads};
  const gint64 features[] = {p->rotated, p->features - p->rotated};
  const char *x = lig_onnx_get (onnx, "x"), *heads[2], *pieces[2], *table[2];
  if (p->rotated == 0) {
    lig_onnx_pass_x (onnx);
    return;
  }
  write_table (onnx, x, table);
  const char *all = lig_onnx_split_heads (onnx, x, n_axes, p->features);
  lig_onnx_split (onnx, all, n_axes - 1, lengths, p->kv_heads > 0 ? 2 : 1, heads);
  lig_onnx_split (onnx, heads[0], n_axes, features, features[1] > 0 ? 2 : 1, pieces);
  const char *y = write_heads (onnx, pieces[0], n_axes + 1, table);
  if (features[1] > 0) {
    y = lig_onnx_node (onnx, "Concat", y, pieces[1], NULL);
    lig_onnx_attribute (onnx, "axis", n_axes);
  }
  if (p->kv_heads > 0) {
    y = lig_onnx_node (onnx, "Concat", y, heads[1], NULL);
    lig_onnx_attribute (onnx, "axis", n_axes - 1);
  }
  const char *rows = lig_onnx_shape (onnx, n_axes - 1, 1, (gint64) -1);
  lig_onnx_set (onnx, "y", lig_onnx_node (onnx, "Reshape", y, rows, NULL));
}

LIG_DEFINE_OP (rotary) = {
  LIG_OP_INFO_SIZES,
  .name = "rotary",
  .title = N_ ("Rotary"),
  .category = N_ ("Attention"),
  .summary = N_ ("Rotary position embedding of the queries and keys"),
  .formula =
    "(a, b) -> (a cos t - b sin t, b cos t + a sin t), t = position base^(-2 i / features)",
  .example = "rotary (2) @ 2x5x24",
  .params = params,
  .groups = groups,
  .params_size = sizeof (RotaryParams),
  .kernel_params_size = sizeof (LigRotaryParams),
  .infer = infer,
  .lower_forward = lower_forward,
  .backward = "rotary_backward",
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .onnx = write_onnx,
};
