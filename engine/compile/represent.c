/* SPDX-License-Identifier: MIT */
/* represent: inserts a conversion where a consumer needs a value in a type that its producer does
 * not provide: the input in the compute type, weights as operands of matmuls, and the
 * gradient of the input in the input's own type; and adds the quantized copies that matmuls
 * read. */
#include "engine/compile/compilation.h"
#include "engine/graph/gradients.h"
#include "engine/graph/op.h"
#include "engine/graph/value.h"
#include "engine/quantize/calibrate.h"
#include "engine/quantize/quantizers.h"

static void
convert (LigGraph *graph, int from, int to, int part)
{
  LigConversion conversion = {from, to, part};
  g_array_append_val (graph->gradients->conversions, conversion);
}

/* Converts the gradient of a value that the caller provides to that value's type: the caller
 * receives it in the type of its tensor. Returns the converted gradient. */
static int
convert_gradient (LigGraph *graph, int gradient, int of)
{
  LigShape shape = lig_value (graph, of)->shape;
  LigDtype dtype = lig_value (graph, of)->dtype;
  g_autofree char *name = g_strdup (lig_value (graph, of)->name);
  int to = lig_graph_add_value (graph, LIG_VALUE_GRADIENT, &shape, dtype, -1, "d%s", name);
  lig_value (graph, gradient)->kept_to_end = FALSE;
  lig_value (graph, to)->kept_to_end = TRUE;
  lig_value (graph, of)->gradient = to;
  convert (graph, gradient, to, LIG_AFTER_BACKWARD);
  return to;
}

static void
convert_input_gradients (LigGraph *graph)
{
  int from = graph->ends.input_gradient;
  for (guint i = 0, count = graph->gradients->conversions->len; i < count; i++) {
    LigConversion at = g_array_index (graph->gradients->conversions, LigConversion, i);
    int gradient = lig_value (graph, at.to)->gradient;
    if (lig_value (graph, at.from)->role == LIG_VALUE_EXTRA && gradient >= 0)
      convert_gradient (graph, gradient, at.from);
  }
  if (from >= 0 && lig_value (graph, from)->dtype != graph->request->input_dtype)
    graph->ends.input_gradient = convert_gradient (graph, from, graph->ends.input);
}

/* Converts a parameter to the compute type, once for all ops that share it. `copies` has the copy
 * of each parameter, 0 for none. */
static void
represent_parameter (LigGraph *graph, int index, int slot, int *copies)
{
  int from = lig_part (graph, index)->parameters[slot];
  int *copy = &copies[lig_value (graph, from)->parameter];
  if (*copy == 0) {
    LigShape shape = lig_value (graph, from)->shape;
    g_autofree char *name = g_strdup (lig_value (graph, from)->name);
    *copy = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, graph->request->compute, index,
                                 "%s:%s", name, lig_dtype_name (graph->request->compute));
    convert (graph, from, *copy, LIG_BEFORE_FORWARD);
  }
  lig_value (graph, *copy)->saved |= lig_part (graph, index)->plan.needs_backward;
  lig_part (graph, index)->representations[slot] = *copy;
}

/* Keeps the outputs of all ops, and their gradients, alive to the end. Those that exist only as
 * quantized copies have no memory. */
static void
keep_values (LigGraph *graph)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    int gradient = lig_part_gradient (graph, i);
    if (!lig_part (graph, i)->plan.implicit)
      lig_value (graph, lig_part (graph, i)->y)->kept_to_end = TRUE;
    if (!lig_part (graph, i)->plan.implicit && gradient >= 0)
      lig_value (graph, gradient)->kept_to_end = TRUE;
  }
}

gboolean
lig_represent (LigGraph *graph, GError **error)
{
  int first = lig_part (graph, 0)->x;
  if (first != graph->ends.input)
    convert (graph, graph->ends.input, first, -1);
  convert_input_gradients (graph);
  lig_quantize_matmuls (graph);
  lig_calibrate_matmuls (graph);
  if (graph->request->options.keep_values)
    keep_values (graph);
  if (graph->request->parameter_dtype == graph->request->compute && !graph->request->fp8_parameters)
    return TRUE;
  g_autofree int *copies = g_new0 (int, graph->layout->parameters->len);
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPart *part = lig_part (graph, i);
    for (int j = 0; j < part->n_parameters; j++)
      if (part->plan.info->parameters[j].matmul && !lig_part_is_quantized (part) &&
          lig_value (graph, part->parameters[j])->dtype != graph->request->compute)
        represent_parameter (graph, i, j, copies);
  }
  return TRUE;
}
