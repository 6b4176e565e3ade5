/* SPDX-License-Identifier: MIT */
/* Repeats its body: op I of the body has the path BLOCK.R.I in repetition R. */
#include "engine/ops/define.h"

typedef struct {
  gint64 repeat;
  int32_t recompute, recipe;
} BlockParams;

static const LigParam params[] = {
  LIG_INT (BlockParams,
           repeat,
           "repeat",
           N_ ("Repeat"),
           N_ ("Number of repetitions"),
           1,
           1000000,
           1,
           LIG_PARAM_POSITIONAL),
  LIG_RECOMPUTE_PARAM (BlockParams, recompute),
  LIG_RECIPE_PARAM (BlockParams, recipe),
  {.name = NULL},
};

LIG_DEFINE_OP (block) = {
  LIG_OP_INFO_SIZES,
  .name = "block",
  .title = N_ ("Block"),
  .category = N_ ("Other"),
  .summary = N_ ("Repeats its ops, each time with separate parameters"),
  .formula = "y = ops (… ops (x))",
  .example = "block (2) { layer-norm ! linear (8) } @ 4x8",
  .flags = LIG_OP_BLOCK,
  .params = params,
  .params_size = sizeof (BlockParams),
};
