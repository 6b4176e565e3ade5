/* SPDX-License-Identifier: MIT */
/* The first row of each group, from the sizes of the groups. */
#include "engine/ops/experts.h"

typedef struct {
  LigRowOffsetsParams kernel;
  gint64 align;
} RowOffsetsParams;

static const LigParam params[] = {
  LIG_INT (RowOffsetsParams,
           align,
           "align",
           N_ ("Align"),
           N_ ("Each size is rounded up to a multiple of this number"),
           1,
           4096,
           1,
           0),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  RowOffsetsParams *values = (RowOffsetsParams *) self->params;
  if (!lig_check_groups (self, error))
    return FALSE;
  values->kernel.align = (int32_t) values->align;
  self->x_range = (LigRange){0, G_MAXINT32, 0};
  lig_shape_init (&self->y, 1, lig_shape_size (&self->x) + 1);
  return TRUE;
}

LIG_DEFINE_OP (row_offsets) = {
  LIG_OP_INFO_SIZES,
  .name = "row-offsets",
  .title = N_ ("Row offsets"),
  .category = N_ ("Experts"),
  .summary = N_ ("Sums the sizes of groups of rows: where each group begins"),
  .formula = "y[g] = x[0] + … + x[g - 1], each rounded up to a multiple of align",
  .example = "row-offsets @ 4:int32",
  .flags = LIG_OP_INTEGER_INPUT,
  .params = params,
  .params_size = sizeof (RowOffsetsParams),
  .kernel_params_size = sizeof (LigRowOffsetsParams),
  .infer = infer,
  .forward = "row_offsets",
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
