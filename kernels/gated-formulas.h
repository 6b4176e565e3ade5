/* SPDX-License-Identifier: MIT */
/* The formulas of the gated units that have parameters; the others are in formulas.h. */
#pragma once

#include "kernels/formulas.h"
#include <ligature/params-gated.h>

/* Returns clamped swiglu: a' = min (a, limit), b' = clamp (b, -limit, limit) + offset, y = a'
 * sigmoid (alpha a') b'. */
LIG_FORMULA float
lig_clamped_swiglu (float a, float b, const LigGatedParams *p)
{
  float gate = a > p->limit ? p->limit : a;
  return lig_gate (gate, p->alpha * gate) * (lig_clamp (b, -p->limit, p->limit) + p->offset);
}

/* Sets the gradients of clamped swiglu. They are 0 outside the limits, but not at the limits
 * themselves. */
LIG_FORMULA void
lig_clamped_swiglu_backward (
  float dy, float a, float b, const LigGatedParams *p, float *da, float *db)
{
  float limit = p->limit, gate = a > limit ? limit : a;
  float linear = lig_clamp (b, -limit, limit) + p->offset, z = p->alpha * gate;
  float slope = lig_gate_slope (lig_clamp (z, -LIG_FLAT, LIG_FLAT), z);
  *da = a > limit ? 0 : dy * linear * slope;
  *db = fabsf (b) > limit ? 0 : lig_gate (gate, z) * dy;
}

/* Returns situ-glu: beta1 tanh (a / beta1) sigmoid (a) beta2 tanh (b / beta2), a gated unit whose
 * two factors are bounded. */
LIG_FORMULA float
lig_situ_glu (float a, float b, const LigGatedParams *p)
{
  float gate = p->beta1 * lig_tanh (a / p->beta1) * lig_sigmoid (a);
  return gate * (p->beta2 * lig_tanh (b / p->beta2));
}

/* Sets the gradients of situ-glu. */
LIG_FORMULA void
lig_situ_glu_backward (float dy, float a, float b, const LigGatedParams *p, float *da, float *db)
{
  float bounded = lig_tanh (a / p->beta1), other = lig_tanh (b / p->beta2);
  float gate = p->beta1 * bounded * lig_sigmoid (a);
  float slope = (1.0f - bounded * bounded) * lig_sigmoid (a) +
                p->beta1 * bounded * lig_sigmoid_backward (1.0f, a);
  *da = dy * (p->beta2 * other) * slope;
  *db = dy * gate * (1.0f - other * other);
}
