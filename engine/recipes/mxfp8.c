/* SPDX-License-Identifier: MIT */
/* One scale, a power of two in a byte, per 32 values of a row (OCP Microscaling Formats 1.0;
 * TransformerEngine's MXFP8BlockScaling). Matmuls of such operands require compute capability 10.0,
 * and are only planned, for device descriptions. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  {.name = NULL},
};

LIG_DEFINE_RECIPE (mxfp8) = {
  .name = "mxfp8",
  .title = N_ ("MX fp8"),
  .help = N_ ("One power-of-two scale per 32 values of a row; only for plans on device "
              "descriptions"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_MX),
  .transposed = LIG_FOR_ALL (LIG_SCALES_MX),
  .capability = 100,
  .multiple = 32,
  .described = TRUE,
  .bits = 8,
};
