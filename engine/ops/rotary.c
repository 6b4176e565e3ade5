/* SPDX-License-Identifier: MIT */
/* Rotary position embedding of packed query, key and value heads (Su and others, 2021). */
#include "engine/ops/define.h"

#include <math.h>

typedef struct {
  LigRotaryParams kernel;
  gint64 heads, kv_heads, original;
  float fraction;
  bool interleaved;
} RotaryParams;

static const LigParam params[] = {
  LIG_HEADS (RotaryParams, heads),
  LIG_KV_HEADS (RotaryParams, kv_heads),
  LIG_FLOAT (RotaryParams,
             kernel.base,
             "base",
             N_ ("Rotary base"),
             N_ ("Base of the rotary frequencies"),
             1,
             1e9,
             10000),
  LIG_FLOAT (RotaryParams,
             fraction,
             "fraction",
             N_ ("Rotary fraction"),
             N_ ("Part of a head's features that is turned"),
             0,
             1,
             1),
  LIG_BOOLEAN (RotaryParams,
               interleaved,
               "interleaved",
               N_ ("Rotary interleaved"),
               N_ ("Pairs are neighbours instead of the two halves"),
               FALSE),
  LIG_CHOICE (RotaryParams,
              kernel.scaling,
              "scaling",
              N_ ("Rotary scaling"),
              N_ ("How the frequencies are scaled for longer texts"),
              "none|linear|llama3",
              0),
  LIG_FLOAT (RotaryParams,
             kernel.factor,
             "factor",
             N_ ("Rotary factor"),
             N_ ("Factor of the scaling"),
             1e-3,
             1e6,
             8),
  LIG_FLOAT (RotaryParams,
             kernel.low,
             "low",
             N_ ("Rotary low"),
             N_ ("Waves longer than original / low are scaled by llama3"),
             1e-3,
             1e6,
             1),
  LIG_FLOAT (RotaryParams,
             kernel.high,
             "high",
             N_ ("Rotary high"),
             N_ ("Waves shorter than original / high are not scaled by llama3"),
             1e-3,
             1e6,
             4),
  LIG_INT (RotaryParams,
           original,
           "original",
           N_ ("Rotary original"),
           N_ ("Length of the texts that the model was first trained with, for llama3"),
           1,
           G_MAXINT32,
           8192,
           0),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  RotaryParams *values = (RotaryParams *) self->params;
  LigRotaryParams *kernel = &values->kernel;
  LigHeads packed;
  if (!lig_infer_heads (self, values->heads, values->kv_heads, FALSE, &packed, error))
    return FALSE;
  /* The margin is for fractions that fp32 cannot represent. */
  int rotated = (int) floor (packed.features * (double) values->fraction + 1e-4);
  if (rotated % 2 != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("of a head's features it rotates %d of %d, expected an even number"), rotated,
                 packed.features);
    return FALSE;
  }
  if (kernel->scaling == LIG_ROTARY_LLAMA3 && kernel->low >= kernel->high) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("low is %g, expected less than high, %g"),
                 (double) kernel->low, (double) kernel->high);
    return FALSE;
  }
  kernel->heads = packed.heads;
  kernel->kv_heads = packed.kv_heads;
  kernel->features = packed.features;
  kernel->length = packed.length;
  kernel->rotated = rotated;
  kernel->interleaved = values->interleaved;
  kernel->original = (int32_t) values->original;
  return TRUE;
}

LIG_DEFINE_OP (rotary) = {
  LIG_OP_INFO_SIZES,
  .name = "rotary",
  .title = N_ ("Rotary"),
  .category = N_ ("Attention"),
  .summary = N_ ("Turns queries and keys by angles that grow with the position"),
  .formula =
    "(a, b) -> (a cos t - b sin t, b cos t + a sin t), t = position base^(-2 i / features)",
  .example = "rotary (2) @ 2x5x24",
  .params = params,
  .params_size = sizeof (RotaryParams),
  .kernel_params_size = sizeof (LigRotaryParams),
  .infer = infer,
  .forward = "rotary",
  .backward = "rotary_backward",
};
