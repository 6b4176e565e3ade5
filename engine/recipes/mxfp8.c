/* SPDX-License-Identifier: MIT */
/* One scale, a power of two in a byte, per 32 values of a row (OCP Microscaling Formats 1.0;
 * TransformerEngine's MXFP8BlockScaling). Matmuls of such operands require compute capability 10.0
 * or higher, and can be planned for described devices, but not run. */
#include "engine/recipes/define.h"

static const LigParam params[] = {
  {.name = NULL},
};

LIG_DEFINE_RECIPE (mxfp8) = {
  .name = "mxfp8",
  .title = N_ ("MXFP8"),
  .help = N_ ("One power-of-two scale per 32 values of a row; can be planned for described "
              "devices, but not run"),
  .params = params,
  .row = LIG_FOR_ALL (LIG_SCALES_MX),
  .transposed = LIG_FOR_ALL (LIG_SCALES_MX),
  .capability = 100,
  .multiple = 32,
  .described = TRUE,
  .bits = 8,
};
