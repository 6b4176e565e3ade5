/* SPDX-License-Identifier: MIT */
/* Rotary position embedding of packed query, key and value heads (Su and others, 2021). */
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
};
