/* SPDX-License-Identifier: MIT */
/* y = -x. */
#include "engine/ops/define.h"
#include <ligature/lowering.h>
#include <ligature/params-matmul.h>

static const LigScaleParams minus = {.factor = -1};

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scale", NULL, &minus, sizeof minus);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "scale", "x=dy y=dx", &minus, sizeof minus);
}

LIG_DEFINE_OP (negate) = {
  LIG_OP_INFO_SIZES,
  .name = "negate",
  .title = N_ ("Negate"),
  .category = N_ ("Other"),
  .summary = N_ ("Changes the sign"),
  .formula = "y = -x",
  .example = "negate @ 4x13",
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
};
