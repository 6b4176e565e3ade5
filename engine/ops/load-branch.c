/* SPDX-License-Identifier: MIT */
/* The main line continues from a channel's value, so that any acyclic graph can be written as a
 * sequence. The line before it ends there; no bytes are copied. */
#include "engine/ops/define.h"

typedef struct {
  LigShape shape;
  gint32 dtype;
} LoadBranchParams;

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "from", N_ ("From"),
   N_ ("Branch to continue from; default: a tensor from "
       "the caller"),
   0, 0, 0, LIG_PARAM_POSITIONAL, 0, NULL},
  {LIG_PARAM_SHAPE, "shape", N_ ("Shape"),
   N_ ("The shape, with at most one -1 for that axis of the sequence's input; default: the "
       "branch's shape, or for a tensor from the caller the shape of the sequence's input"),
   -1, G_MAXINT32, 0, LIG_PARAM_INFERRED, G_STRUCT_OFFSET (LoadBranchParams, shape), NULL},
  LIG_CHOICE (
    LoadBranchParams,
    dtype,
    "dtype",
    N_ ("Type"),
    N_ ("The type; input: the branch's type, or for a tensor from the caller the type of the "
        "sequence's input; floating: the same, but if that is an integer type, the compute type "
        "and the shape of the line before"),
    "input|fp32|fp16|bf16|int32|floating",
    0),
  {.name = NULL},
};

enum { SAME, FLOATING = 5 };

/* Returns whether a value from the caller is like that of the line before: the main line cannot
 * continue from the integers of the sequence's input. */
static gboolean
is_like_line (const LigInfer *self)
{
  return ((const LoadBranchParams *) self->params)->dtype == FLOATING &&
         !lig_dtype_is_floating (self->input_dtype);
}

/* Finds the shape that the parameters give; FALSE if the sequence's input lacks the axis. */
static gboolean
find_shape (const LigInfer *self, LigShape *shape, GError **error)
{
  *shape = ((const LoadBranchParams *) self->params)->shape;
  if (shape->n_axes < 0)
    *shape = is_like_line (self) ? self->x : self->input;
  for (int i = 0; i < shape->n_axes; i++) {
    if (shape->axes[i] >= 0)
      continue;
    if (i >= self->input.n_axes) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                   _ ("shape is -1 for axis %d, the last axis of the sequence's input is %d"), i,
                   self->input.n_axes - 1);
      return FALSE;
    }
    shape->axes[i] = self->input.axes[i];
  }
  return TRUE;
}

/* Of the choices between SAME and FLOATING. */
static const LigDtype dtypes[] = {LIG_FP32, LIG_FP32, LIG_FP16, LIG_BF16, LIG_INT32};

/* Returns whether a channel's value matches the parameters that are set. */
static gboolean
check_channel (const LigInfer *self, GError **error)
{
  const LoadBranchParams *wanted = self->params;
  const LigShape *value = &self->extra_inputs[0];
  LigDtype dtype = self->extra_input_dtypes[0];
  LigShape shape = *value;
  if (wanted->shape.n_axes >= 0 && !find_shape (self, &shape, error))
    return FALSE;
  if (!lig_shape_equal (&shape, value)) {
    g_autofree char *given = lig_shape_to_string (&shape);
    g_autofree char *there = lig_shape_to_string (value);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("shape is %s, the channel's value is %s; omit shape, or reshape the value"),
                 given, there);
    return FALSE;
  }
  if (wanted->dtype == SAME || wanted->dtype == FLOATING || dtypes[wanted->dtype] == dtype)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
               _ ("dtype is %s, the channel's value is %s; omit dtype"),
               lig_dtype_name (dtypes[wanted->dtype]), lig_dtype_name (dtype));
  return FALSE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  if (self->extra_inputs[0].n_axes < 0) {
    int choice = ((const LoadBranchParams *) self->params)->dtype;
    if (!find_shape (self, &self->extra_inputs[0], error))
      return FALSE;
    self->extra_input_dtypes[0] = is_like_line (self)                    ? self->compute
                                  : choice == SAME || choice == FLOATING ? self->input_dtype
                                                                         : dtypes[choice];
  } else if (!check_channel (self, error))
    return FALSE;
  /* Another floating type is converted, like that of the sequence's input. */
  self->y = self->extra_inputs[0];
  self->y_dtype = lig_dtype_is_floating (self->extra_input_dtypes[0]) ? self->compute
                                                                      : self->extra_input_dtypes[0];
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "y", "from");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_alias (lowering, "dfrom", "dy");
}

static void
write_onnx (LigOnnx *onnx)
{
  lig_onnx_pass (onnx, "from", "y");
}

LIG_DEFINE_OP (load_branch) = {
  LIG_OP_INFO_SIZES,
  .name = "load-branch",
  .title = N_ ("Load branch"),
  .category = N_ ("Branches"),
  .summary = N_ ("Continues from a branch that an earlier op made, or from the caller"),
  .formula = "y = from; dfrom = dy",
  .example = "load-branch @ 4x8",
  .flags = LIG_OP_LOADS_BRANCH | LIG_OP_ANY_TYPE,
  .params = params,
  .params_size = sizeof (LoadBranchParams),
  .extra_inputs = "from",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .onnx = write_onnx,
};
