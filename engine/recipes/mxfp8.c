/* SPDX-License-Identifier: MIT */
/* One scale, a power of two in a byte, for each 32 values of a row (OCP Microscaling Formats 1.0;
 * TransformerEngine's MXFP8BlockScaling). Matmuls of such operands exist from compute capability
 * 10.0 on, and are planned for described devices alone. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  {.name = NULL},
};

LIG_DEFINE_RECIPE (mxfp8) = {
  .name = "mxfp8",
  .title = N_ ("MX fp8"),
  .help = N_ ("One power of two for each 32 values of a row; planned for described GPUs alone"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_MX),
  .transposed = LIG_FOR_ALL (LIG_SCALES_MX),
  .capability = 100,
  .multiple = 32,
  .described = TRUE,
  .bits = 8,
};
