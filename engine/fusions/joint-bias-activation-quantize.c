/* SPDX-License-Identifier: MIT */
/* The quantized copies of an activation of x + bias, and those of its gradient, for which the sum
 * is recomputed: the preceding matmul writes only x, and nothing else is kept for the backward
 * pass. */
#include "engine/fusions/define.h"

enum { QUANTIZE_GRADIENT, BIAS, ACTIVATION, QUANTIZE };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "3.y", rejection) &&
         lig_lower_is_quantized (match, "0.dx", rejection);
}

/* Writes the value that a `quantize` op at an end of the match passes on in the direction without
 * copies: unchanged, or rounded if the user asks for it. */
static void
pass_on (LigLowering *lowering, const char *from, const char *to)
{
  LigRejection none = {0};
  g_autofree char *bindings = g_strdup_printf ("x=%s dbias=-", from);
  if (lig_lower_is_quantized (lowering, to, &none))
    lig_lower_quantize (lowering, bindings, to);
  else
    lig_lower_alias (lowering, to, from);
  g_free (none.observed);
  g_free (none.required);
}

static void
lower (LigLowering *lowering)
{
  pass_on (lowering, "0.x", "0.y");
  lig_lower_quantized (lowering, ACTIVATION, "x=0.y bias=1.bias sum=- y=2.y", "3.y");
}

static void
lower_backward (LigLowering *lowering)
{
  pass_on (lowering, "3.dy", "3.dx");
  lig_lower_quantized (lowering, ACTIVATION, "dy=3.dx x=0.y bias=1.bias dx=- dbias=1.dbias",
                       "0.dx");
}

LIG_DEFINE_FUSION (joint_bias_activation_quantize) = {
  .size = sizeof (LigFusion),
  .name = "joint-bias-activation-quantize",
  .pass = LIG_PASS_JOINT,
  .summary = N_ ("Adds the bias, applies the activation and quantizes in one pass, forward and "
                 "backward"),
  .pattern = "quantize bias gelu|gelu-erf|qgelu|silu|srelu quantize",
  .allows = allows,
  .lower = lower,
  .lower_backward = lower_backward,
  .saves = "0.y",
};
