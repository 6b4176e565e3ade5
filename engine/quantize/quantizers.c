/* SPDX-License-Identifier: MIT */
/* Gives each quantized matmul its operands: the quantizers of its input, its weight and the
 * gradient of its output, with the copies that the matmul reads. Matmuls that read one value
 * through branches share one quantizer; the first of them writes the copies for all. */
#include "engine/quantize/quantizers.h"

#include "engine/graph/op.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/parallel/reduce.h"
#include "engine/sequence/recipes.h"
#include "kernels/quantize.h"
#include <ligature/params-matmul.h>
#include <ligature/params-quantize.h>
#include <ligature/state-arrays.h>

#include <string.h>

/* --- The copies --------------------------------------------------------------------------- */

/* Returns the number of matrices in a weight: one for each group of rows. */
static gint64
count_groups (const LigGraph *graph, const LigQuantizer *quantizer)
{
  gboolean grouped = quantizer->role == LIG_ROLE_WEIGHT &&
                     lig_part (graph, quantizer->part)->plan.info->flags & LIG_OP_GROUPED;
  return grouped ? lig_value (graph, quantizer->of)->shape.axes[0] : 1;
}

/* Returns the shape of the scales of matrices, those of each after those of the one before. */
static LigShape
scale_shape (LigScales kind, gint64 groups, gint64 rows, gint64 columns)
{
  LigShape shape = {0};
  if (kind == LIG_SCALES_ROW)
    lig_shape_init (&shape, 1, groups * rows);
  else if (groups > 1)
    lig_shape_init (&shape, 2, groups * (kind == LIG_SCALES_TILE ? lig_scales_blocks (rows) : 1),
                    kind == LIG_SCALES_TILE ? lig_scales_stride (columns) : (gint64) 1);
  else if (kind == LIG_SCALES_BLOCK)
    lig_shape_init (&shape, 2, lig_scales_blocks (columns), rows);
  else if (kind == LIG_SCALES_TILE)
    lig_shape_init (&shape, 2, lig_scales_blocks (rows), lig_scales_stride (columns));
  else if (kind == LIG_SCALES_MX)
    lig_shape_init (&shape, 2, lig_scales_mx_rows (rows), lig_scales_mx_columns (columns));
  else if (kind == LIG_SCALES_NV)
    lig_shape_init (&shape, 1, lig_scales_nv_bytes (rows, columns));
  return shape;
}

static int
add_value (LigGraph *graph,
           const LigQuantizer *quantizer,
           const LigShape *shape,
           LigDtype dtype,
           const char *suffix)
{
  LigValueRole role =
    quantizer->role == LIG_ROLE_GRADIENT ? LIG_VALUE_GRADIENT : LIG_VALUE_COMPUTED;
  g_autofree char *name = g_strdup (lig_value (graph, quantizer->of)->name);
  return lig_graph_add_value (graph, role, shape, dtype, quantizer->part, "%s:%s", name, suffix);
}

/* Returns the type of the scales of a kind. */
static LigDtype
scale_dtype (LigScales kind)
{
  return kind == LIG_SCALES_MX || kind == LIG_SCALES_NV ? LIG_UINT8 : LIG_FP32;
}

/* Changes the shape of a matrix to that of its copy: two 4-bit elements share a byte. */
static void
pack_copy (const LigQuantizer *quantizer, LigShape *shape)
{
  shape->axes[shape->n_axes - 1] /= 8 / quantizer->recipe->info->bits;
}

/* Adds the row-major or the transposed copy of a quantizer, unless it exists. `saved`: the backward
 * pass reads it. */
static void
want (LigGraph *graph, int number, gboolean transposed, gboolean saved)
{
  LigQuantizer quantizer = *lig_quantizer (graph, number);
  LigForm *form = transposed ? &quantizer.transposed : &quantizer.row;
  const LigRecipeInfo *info = quantizer.recipe->info;
  LigScales kind = (transposed ? info->transposed : info->row)[quantizer.role];
  LigShape shape = lig_value (graph, quantizer.of)->shape;
  gint64 groups = count_groups (graph, &quantizer), columns = lig_shape_columns (&shape);
  gint64 rows = lig_shape_size (&shape) / MAX (columns, 1) / MAX (groups, 1);
  LigForm other = transposed ? quantizer.row : quantizer.transposed;
  if (form->data < 0) {
    if (transposed)
      lig_shape_init (&shape, 2, groups * columns, rows);
    LigShape scales =
      scale_shape (kind, groups, transposed ? columns : rows, transposed ? rows : columns);
    gboolean shares = groups == 1 && other.scale >= 0 &&
                      info->row[quantizer.role] == LIG_SCALES_TENSOR &&
                      info->transposed[quantizer.role] == LIG_SCALES_TENSOR;
    pack_copy (&quantizer, &shape);
    form->data =
      add_value (graph, &quantizer, &shape, lig_recipe_dtype (quantizer.recipe, quantizer.role),
                 transposed ? "transposed" : "row");
    form->scale = shares ? other.scale
                         : add_value (graph, &quantizer, &scales, scale_dtype (kind),
                                      transposed ? "transposed-scale" : "row-scale");
    *lig_quantizer (graph, number) = quantizer;
  }
  lig_value (graph, form->data)->saved |= saved;
  lig_value (graph, form->scale)->saved |= saved;
}

int
lig_add_history_value (LigGraph *graph, int number, int field)
{
  const LigHistory *history = &g_array_index (graph->layout->histories, LigHistory, number);
  const LigShape scalar = {0};
  int value = lig_graph_add_value (graph, LIG_VALUE_QUANTIZERS, &scalar, LIG_FP32, -1, "%s.%s.%s",
                                   history->path, lig_matmul_role_name (history->role),
                                   field == 0 ? "scale" : "amax");
  lig_value (graph, value)->state_offset = history->offset + field;
  return value;
}

static int
add_quantizer (LigGraph *graph, const LigPart *matmul, LigMatmulRole role, int of, int part)
{
  LigQuantizer quantizer = {
    .recipe = matmul->recipe,
    .role = role,
    .of = of,
    .part = part,
    .row = {-1, -1},
    .transposed = {-1, -1},
    .scale = -1,
    .recorded = -1,
  };
  if (matmul->histories >= 0) {
    int history = matmul->histories + (int) role;
    quantizer.scale = lig_add_history_value (graph, history, 0);
    if (graph->request->options.training)
      quantizer.recorded = lig_add_history_value (graph, history, 1);
  }
  g_array_append_val (graph->quantizers, quantizer);
  return (int) graph->quantizers->len - 1;
}

/* --- The readers of a copy -----------------------------------------------------------------------
 */

int
lig_find_source (const LigGraph *graph, int value)
{
  for (;;) {
    int producer = lig_value (graph, value)->op;
    const LigPart *part = producer >= 0 ? lig_part (graph, producer) : NULL;
    if (lig_value (graph, value)->role != LIG_VALUE_COMPUTED || !part)
      return value;
    if (lig_part_loads_branch (part) && part->extra_inputs[0] >= 0)
      value = part->extra_inputs[0];
    else if ((part->plan.info->flags & LIG_OP_TRANSPARENT) || part->plan.implicit)
      value = part->x;
    else
      return value;
  }
}

/* Returns the quantizer that writes copies of `of` for a matmul: that of an earlier matmul of the
 * same recipe, or of an op `quantize`, which `known` maps from the source of the values, else a new
 * one in the part. */
static int
find_quantizer (
  LigGraph *graph, GHashTable *known, const LigPart *matmul, LigMatmulRole role, int of, int part)
{
  gpointer source = GINT_TO_POINTER (lig_find_source (graph, of)), number;
  if (g_hash_table_lookup_extended (known, source, NULL, &number) &&
      lig_quantizer (graph, GPOINTER_TO_INT (number))->recipe == matmul->recipe)
    return GPOINTER_TO_INT (number);
  int added = add_quantizer (graph, matmul, role, of, part);
  g_hash_table_insert (known, source, GINT_TO_POINTER (added));
  return added;
}

/* Adds the quantizers of a matmul. The gradient of the weights of groups reads no copies: it sums
 * over the rows of a group, whose borders only the device knows, and scales of blocks of rows would
 * have to follow these borders. */
static void
quantize_matmul (LigGraph *graph, GHashTable *known, int index)
{
  LigPart *part = lig_part (graph, index);
  gboolean grouped = part->plan.info->flags & LIG_OP_GROUPED;
  gboolean weight = !grouped && part->plan.needs_backward && lig_part_trains (graph, part, 0);
  gboolean input = part->plan.needs_backward && part->dx >= 0;
  int x = part->quantizers[LIG_ROLE_INPUT] =
    find_quantizer (graph, known, part, LIG_ROLE_INPUT, lig_part (graph, index - 1)->x, index - 1);
  lig_part (graph, index - 1)->quantizes[LIG_PASS_FORWARD] = x;
  lig_quantizer (graph, x)->keeps |= grouped && part->plan.needs_backward;
  want (graph, x, FALSE, FALSE);
  if (weight)
    want (graph, x, TRUE, TRUE);
  int w = part->quantizers[LIG_ROLE_WEIGHT] =
    find_quantizer (graph, known, part, LIG_ROLE_WEIGHT, part->parameters[0], index);
  want (graph, w, FALSE, FALSE);
  if (input)
    want (graph, w, TRUE, TRUE);
  LigPart *after = lig_part (graph, index + 1);
  if ((!weight && !input) || !after->plan.needs_backward || after->dx < 0)
    return;
  int dy = part->quantizers[LIG_ROLE_GRADIENT] =
    add_quantizer (graph, part, LIG_ROLE_GRADIENT, after->dx, index + 1);
  after->quantizes[LIG_PASS_BACKWARD] = dy;
  lig_quantizer (graph, dy)->keeps = grouped;
  if (input)
    want (graph, dy, FALSE, FALSE);
  if (weight)
    want (graph, dy, TRUE, FALSE);
}

/* Adds the quantizers of an op `quantize` that the user wrote; other ops read their values too. */
static void
quantize_written (LigGraph *graph, GHashTable *known, int index)
{
  LigPart *part = lig_part (graph, index);
  gboolean forward, backward;
  g_object_get (part->plan.op, "forward", &forward, "backward", &backward, NULL);
  if (forward) {
    int x = part->quantizes[LIG_PASS_FORWARD] =
      add_quantizer (graph, part, LIG_ROLE_INPUT, part->x, index);
    g_hash_table_insert (known, GINT_TO_POINTER (part->y), GINT_TO_POINTER (x));
  }
  if (backward && part->dx >= 0)
    part->quantizes[LIG_PASS_BACKWARD] =
      add_quantizer (graph, part, LIG_ROLE_GRADIENT, lig_value (graph, part->y)->gradient, index);
}

void
lig_quantize_matmuls (LigGraph *graph)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  if (graph->request->options.calibrating)
    return;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (lig_part_is_quantized (part))
      quantize_matmul (graph, known, i);
    else if (part->recipe && !part->plan.implicit && part->plan.info->flags & LIG_OP_QUANTIZES)
      quantize_written (graph, known, i);
  }
}

/* --- Steps that belong to no op ------------------------------------------------------------ */

/* Returns the value from which the copies of a weight are made. A weight that is kept only in fp32
 * and fp8 is first rounded to the compute type, so that its copies equal those of a stored one. */
static int
round_weight (LigGraph *graph, const LigQuantizer *quantizer)
{
  const LigPlanValue *of = lig_value (graph, quantizer->of);
  if (of->role != LIG_VALUE_PARAMETER || of->array != LIG_STATE_MASTER)
    return quantizer->of;
  LigShape shape = of->shape;
  g_autofree char *name = g_strdup (of->name);
  int rounded = lig_graph_add_value (graph, LIG_VALUE_COMPUTED, &shape, graph->request->compute,
                                     quantizer->part, "%s:rounded", name);
  lig_value_work (graph, rounded)->brief = TRUE;
  const int values[] = {quantizer->of, rounded};
  lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, quantizer->part, "convert", values, NULL,
                   0);
  return rounded;
}

void
lig_schedule_weights (LigGraph *graph)
{
  for (guint i = 0; i < graph->quantizers->len; i++) {
    const LigQuantizer quantizer = *lig_quantizer (graph, i);
    LigQuantizeParams params = lig_quantize_params (&quantizer);
    if (quantizer.role != LIG_ROLE_WEIGHT)
      continue;
    params.groups = (int32_t) count_groups (graph, &quantizer);
    int row_scale = quantizer.row.scale, transposed_scale = quantizer.transposed.scale;
    int values[] = {round_weight (graph, &quantizer),
                    quantizer.scale,
                    quantizer.row.data,
                    row_scale,
                    quantizer.transposed.data,
                    transposed_scale == row_scale ? -1 : transposed_scale,
                    quantizer.recorded,
                    -1,
                    -1};
    lig_step_append (graph, graph->steps, LIG_PASS_FORWARD, quantizer.part, "quantize", values,
                     &params, sizeof params);
    if (lig_reads_again (&quantizer))
      g_array_index (graph->steps, LigGraphStep, graph->steps->len - 1).plan.read *= 2;
  }
}

/* Adds the step for the histories from `first` on that share a recipe; returns the first one after
 * them. */
static guint
schedule_recipe (LigGraph *graph, guint first)
{
  const LigHistory *begin = &g_array_index (graph->layout->histories, LigHistory, first);
  const LigRecipe *recipe = &begin->recipe;
  guint end = first;
  LigShape shape;
  while (end < graph->layout->histories->len &&
         g_array_index (graph->layout->histories, LigHistory, end).recipe.info == recipe->info)
    end++;
  lig_shape_init (&shape, 2, (gint64) (end - first), begin->length);
  LigHistoryParams params = {
    .margin = (int32_t) recipe->params.margin,
    .newest_only = recipe->params.amax == 1,
  };
  for (LigMatmulRole role = 0; role < LIG_N_ROLES; role++)
    params.formats[role] = (int32_t) lig_recipe_dtype (recipe, role);
  int value = lig_graph_add_value (graph, LIG_VALUE_QUANTIZERS, &shape, LIG_FP32, -1,
                                   "quantizers[%u]", first);
  lig_value (graph, value)->state_offset = begin->offset;
  lig_reduce_amaxes (graph, value);
  const int values[] = {graph->ends.gradient_norm, value};
  lig_step_append (graph, graph->steps, LIG_PASS_UPDATE, -1, "update_scales", values, &params,
                   sizeof params);
  return end;
}

void
lig_schedule_histories (LigGraph *graph)
{
  for (guint i = 0; i < graph->layout->histories->len;)
    i = schedule_recipe (graph, i);
}
