/* SPDX-License-Identifier: MIT */
/* Repeats a sequence of its own: repetition R of its op I has the path BLOCK.R.I. */
#include "engine/ops/define.h"

typedef struct {
  gint64 repeat;
} BlockParams;

static const LigParam params[] = {
  LIG_INT (BlockParams,
           repeat,
           "repeat",
           N_ ("Repeat"),
           N_ ("How often the ops follow each other"),
           1,
           1000000,
           1,
           LIG_PARAM_POSITIONAL),
  {.name = NULL},
};

LIG_DEFINE_OP (block) = {
  LIG_OP_INFO_SIZES,
  .name = "block",
  .title = N_ ("Block"),
  .category = N_ ("Other"),
  .summary = N_ ("Repeats a sequence, each time with parameters of its own"),
  .formula = "y = ops (… ops (x))",
  .example = "block (2) { layer-norm ! linear (8) } @ 4x8",
  .flags = LIG_OP_BLOCK,
  .params = params,
  .params_size = sizeof (BlockParams),
};
