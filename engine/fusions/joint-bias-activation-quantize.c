/* SPDX-License-Identifier: MIT */
/* The quantized copies of an activation of x + bias, and those of its gradient, which computes the
 * sum again: the matmul before writes x alone, and nothing else is kept for the backward pass. */
#include "engine/fusions/define.h"

enum { QUANTIZE_GRADIENT, BIAS, ACTIVATION, QUANTIZE };

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  return lig_lower_is_quantized (match, "3.y", rejection) &&
         lig_lower_is_quantized (match, "0.dx", rejection);
}

/* Writes what an op `quantize` at an end of the match passes on in the other direction than that of
 * the copies: the same values, or rounded ones if a person wants that. */
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
  .summary = N_ ("Adds the bias, activates and quantizes in one reading, in both passes"),
  .pattern = "quantize bias gelu|gelu-erf|qgelu|silu|srelu quantize",
  .allows = allows,
  .lower = lower,
  .lower_backward = lower_backward,
  .saves = "0.y",
};
