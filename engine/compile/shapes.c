/* SPDX-License-Identifier: MIT */
/* Infers the shapes of one op: presets those of its inputs, and checks the results of its shape
 * rule. */
#include "engine/compile/shapes.h"

#include "engine/parallel/positions.h"
#include "engine/parallel/sharding.h"
#include "engine/sequence/op-private.h"

#include <glib/gi18n-lib.h>

void
lig_infer_prepare (const LigGraph *graph, const LigPart *part, LigInfer *infer)
{
  const LigPlanValue *x = lig_value (graph, part->x);
  const LigRange all = {G_MININT32, G_MAXINT32, G_MININT32};
  const LigCacheShape none = {0}, *cache = part->source ? &none : &graph->request->options.cache;
  *infer = (LigInfer){
    .params = part->params,
    .name = part->plan.title,
    .compute = graph->request->compute,
    .x = x->shape,
    .x_dtype = x->dtype,
    .y = x->shape,
    .y_dtype = x->dtype,
    .input = graph->request->input,
    .input_dtype = graph->request->input_dtype,
    .n_parameters = part->n_parameters,
    .n_kept = part->n_kept,
    .x_range = all,
    .cache_length = cache->length,
    .cache_chunk = cache->chunk,
    .cache_memory = cache->memory,
    .cached_positions = cache->length,
    .x_order = lig_value_work (graph, part->x)->order,
    .y_order = lig_value_work (graph, part->x)->order,
  };
  if (part->plan.op != part->plan.written)
    infer->param_names = lig_op_get_param_names (part->plan.op);
  for (int i = 0; i < LIG_MAX_EXTRA; i++) {
    infer->extra_inputs[i].n_axes = -1;
    infer->extra_ranges[i] = all;
    infer->extra_output_ranges[i] = infer->channel_ranges[i] = all;
    infer->extra_input_dtypes[i] = graph->request->compute;
    infer->extra_outputs[i].n_axes = infer->extra_output_dtypes[i] = -1;
    infer->extra_output_orders[i] = LIG_ORDER_OF_Y;
    infer->extra_orders[i] = infer->x_order;
    infer->present[i] = part->present[i];
    infer->kept[i] = x->shape;
    infer->kept[i].n_axes = MAX (x->shape.n_axes - 1, 0);
    infer->kept_dtypes[i] = LIG_FP32;
  }
  for (int i = 0; i < part->n_inputs; i++)
    if (part->input_parts[i] >= 0) {
      const LigPart *producer = lig_part (graph, part->input_parts[i]);
      const LigPlanValue *value = lig_value (graph, producer->extra_outputs[part->input_slots[i]]);
      infer->extra_inputs[i] = value->shape;
      infer->extra_input_dtypes[i] = value->dtype;
      infer->channel_ranges[i] = producer->output_ranges[part->input_slots[i]];
      infer->extra_orders[i] =
        lig_value_work (graph, producer->extra_outputs[part->input_slots[i]])->order;
    }
  if (lig_part_loads_branch (part))
    infer->y_order = part->input_parts[0] >= 0 ? infer->extra_orders[0] : LIG_ORDER_BATCH;
  lig_sharding_prepare (graph, part, infer);
}

/* Checks that rows have features; zero rows are allowed. */
static gboolean
check_features (const LigInfer *infer, GError **error)
{
  gboolean fits = infer->x.n_axes == 0 || !lig_dtype_is_floating (infer->x_dtype) ||
                  lig_shape_columns (&infer->x) > 0;
  if (!fits)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input has 0 features, expected at least 1"));
  return fits;
}

static gboolean
check_type (const LigPart *part, const LigInfer *infer, GError **error)
{
  gboolean wants_integers = (part->plan.info->flags & LIG_OP_INTEGER_INPUT) != 0;
  gboolean any = (part->plan.info->flags & (LIG_OP_ANY_TYPE | LIG_OP_LOADS_BRANCH)) != 0;
  gboolean fits = wants_integers ? lig_dtype_has (infer->x_dtype, LIG_DTYPE_INDEXES)
                                 : any || lig_dtype_is_floating (infer->x_dtype);
  if (!fits)
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_DTYPE, _ ("input is %s, expected %s"),
      lig_dtype_name (infer->x_dtype),
      lig_dtype_names (lig_dtypes_with (wants_integers ? LIG_DTYPE_INDEXES : LIG_DTYPE_COMPUTES),
                       _ (" or ")));
  return fits;
}

/* Checks the shape and the type that the op's infer function gave a value. */
static gboolean
check_value (const LigShape *shape, LigDtype dtype, const char *name, GError **error)
{
  if ((unsigned) dtype >= LIG_N_DTYPES)
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("the type of %s is %d, which is not a LigDtype"), name, (int) dtype);
  else if (shape->n_axes < 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of axes of %s is %d, expected at least 0"), name, shape->n_axes);
  else
    return lig_shape_check (shape, dtype, error);
  return FALSE;
}

const LigShape *
lig_infer_output_shape (const LigInfer *infer, int slot)
{
  return infer->extra_outputs[slot].n_axes < 0 ? &infer->y : &infer->extra_outputs[slot];
}

LigDtype
lig_infer_output_dtype (const LigInfer *infer, int slot)
{
  int dtype = infer->extra_output_dtypes[slot];
  return dtype == -1 ? infer->y_dtype : (LigDtype) dtype;
}

const LigShape *
lig_infer_input_shape (const LigInfer *infer, int slot)
{
  return infer->extra_inputs[slot].n_axes < 0 ? &infer->x : &infer->extra_inputs[slot];
}

/* Checks all results of the op's infer function. */
static gboolean
check_values (const LigGraph *graph, const LigPart *part, const LigInfer *infer, GError **error)
{
  gboolean fits = TRUE;
  for (int i = 0; i < part->n_inputs && fits; i++)
    fits = part->input_parts[i] >= 0 || !part->present[i] ||
           check_value (lig_infer_input_shape (infer, i), infer->extra_input_dtypes[i],
                        part->ports->extra_inputs->ports[i].name, error);
  fits = fits && check_value (&infer->y, infer->y_dtype, "y", error);
  for (int i = 0; i < part->n_outputs && fits; i++)
    fits = check_value (lig_infer_output_shape (infer, i), lig_infer_output_dtype (infer, i),
                        part->ports->extra_outputs->ports[i].name, error);
  for (int i = 0; i < infer->n_kept && fits; i++)
    fits = check_value (&infer->kept[i], infer->kept_dtypes[i],
                        part->ports->computes->ports[i].name, error);
  for (int i = 0; i < infer->n_parameters && fits; i++)
    fits = check_value (&infer->parameters[i], graph->request->parameter_dtype,
                        part->plan.info->parameters[i].name, error);
  return fits;
}

gboolean
lig_infer_shapes (const LigGraph *graph, const LigPart *part, LigInfer *infer, GError **error)
{
  return check_type (part, infer, error) &&
         (lig_part_loads_branch (part) || check_features (infer, error)) &&
         (!part->plan.info->infer || part->plan.info->infer (infer, error)) &&
         lig_sharding_check (part, infer, error) && lig_positions_check (part, infer, error) &&
         check_values (graph, part, infer, error);
}
