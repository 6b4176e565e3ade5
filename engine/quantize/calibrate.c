/* SPDX-License-Identifier: MIT */
/* Calibration: matmuls stay in the compute type, and separate steps record the amaxes of the
 * operands that their recipes would quantize. Ops and fusions are the same as without a recipe,
 * unless a fusion would leave no value to record. */
#include "engine/quantize/calibrate.h"

#include "engine/graph/op.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/quantize/quantizers.h"
#include "engine/sequence/recipes.h"
#include <ligature/params-quantize.h>
#include <ligature/state-arrays.h>

/* Adds an operand to record, unless an earlier matmul of the same recipe has the same values;
 * `known` maps the source of the values to the recipe. */
static void
add_operand (LigGraph *graph, GHashTable *known, int matmul, LigMatmulRole role, int of)
{
  const LigPart *part = lig_part (graph, matmul);
  gpointer source = GINT_TO_POINTER (lig_find_source (graph, of));
  LigCalibration calibration = {
    .recipe = part->recipe, .role = role, .of = of, .part = matmul, .recorded = -1};
  if (known && g_hash_table_lookup (known, source) == part->recipe)
    return;
  if (known)
    g_hash_table_insert (known, source, (gpointer) part->recipe);
  if (part->histories < 0)
    return;
  calibration.recorded = lig_add_history_value (graph, part->histories + (int) role, 1);
  g_array_append_val (graph->calibrations, calibration);
}

/* Returns whether the gradients of the part's input and output are equal. */
static gboolean
passes_gradient (const LigPart *part)
{
  gboolean transparent = (part->plan.info->flags & LIG_OP_TRANSPARENT) || part->plan.implicit;
  return part->plan.info->flags & LIG_OP_PASSES_GRADIENT ||
         (transparent && !lig_branch_is_used (part));
}

int
lig_calibration_list (const LigGraph *graph,
                      const LigCalibration *calibration,
                      int values[LIG_MAX_CALIBRATED])
{
  int count = 0;
  values[count++] = calibration->of;
  if (calibration->role != LIG_ROLE_GRADIENT)
    return count;
  for (int i = calibration->part + 1; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    int gradient = lig_value (graph, part->y)->gradient;
    if (lig_part_loads_branch (part) || !passes_gradient (part) || gradient < 0 ||
        count == LIG_MAX_CALIBRATED)
      break;
    values[count++] = gradient;
  }
  return count;
}

static void
add_matmul (LigGraph *graph, GHashTable *known, int index)
{
  const LigPart *part = lig_part (graph, index), *after = lig_part (graph, index + 1);
  gboolean weight = part->plan.needs_backward && lig_part_trains (graph, part, 0);
  gboolean input = part->plan.needs_backward && part->dx >= 0;
  add_operand (graph, known, index, LIG_ROLE_INPUT, lig_part (graph, index - 1)->x);
  add_operand (graph, known, index, LIG_ROLE_WEIGHT, part->parameters[0]);
  if ((weight || input) && after->plan.needs_backward && after->dx >= 0)
    add_operand (graph, NULL, index, LIG_ROLE_GRADIENT, lig_value (graph, part->y)->gradient);
}

void
lig_calibrate_matmuls (LigGraph *graph)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  if (!graph->request->options.calibrating || !graph->request->options.training)
    return;
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    gboolean forward = FALSE;
    if (part->calibrating && !part->plan.unquantized) {
      add_matmul (graph, known, i);
    } else if (part->recipe && !part->plan.implicit && part->plan.info->flags & LIG_OP_QUANTIZES) {
      g_object_get (part->plan.op, "forward", &forward, NULL);
      /* Matmuls read the copies of a `quantize` op that the user wrote, and record nothing. */
      if (forward)
        g_hash_table_insert (known, GINT_TO_POINTER (part->y), (gpointer) part->recipe);
    }
  }
}

/* Returns whether a step writes the value, or no op computes it. */
static gboolean
is_written (const LigGraph *graph, int value)
{
  int root = lig_graph_root (graph, value);
  if (lig_value (graph, root)->op < 0)
    return TRUE;
  for (guint i = graph->steps->len; i > 0; i--) {
    const LigGraphStep *step = lig_step (graph, i - 1);
    for (int j = step->plan.n_inputs; j < step->plan.n_operands; j++)
      if (step->values[j] >= 0 && lig_graph_root (graph, step->values[j]) == root)
        return TRUE;
  }
  return FALSE;
}

/* Returns the preferred value to record: for a weight that is kept only in fp32 and fp8, its copy
 * in the compute type, from which later steps make the quantized copies. */
static int
recorded_value (const LigGraph *graph, const LigCalibration *calibration)
{
  const LigPlanValue *of = lig_value (graph, calibration->of);
  gboolean master = of->role == LIG_VALUE_PARAMETER && of->array == LIG_STATE_MASTER;
  return master ? lig_part (graph, calibration->part)->representations[0] : calibration->of;
}

/* Adds the step that records an operand, from a value equal to it that has memory. */
static void
record (LigGraph *graph, const LigCalibration *calibration, LigPass pass)
{
  enum { RECORDED = 6 }; /* an operand of the kernel `quantize` */
  int values[] = {-1, -1, -1, -1, -1, -1, -1, -1, -1}, equal[LIG_MAX_CALIBRATED];
  int count = lig_calibration_list (graph, calibration, equal);
  LigQuantizeParams params = {
    .format = (int32_t) lig_recipe_dtype (calibration->recipe, calibration->role),
    .row = (int32_t) calibration->recipe->info->row[calibration->role],
    .transposed = (int32_t) calibration->recipe->info->transposed[calibration->role],
  };
  for (int i = 0; i < count && values[0] < 0; i++)
    if (calibration->role != LIG_ROLE_GRADIENT || is_written (graph, equal[i]))
      values[0] = i == 0 ? recorded_value (graph, calibration) : equal[i];
  values[RECORDED] = calibration->recorded;
  lig_step_append (graph, graph->steps, pass, calibration->part, "quantize", values, &params,
                   sizeof params);
}

void
lig_schedule_calibration (LigGraph *graph, const LigPlanGroup *group, LigPass pass)
{
  LigMatmulRole role = !group                      ? LIG_ROLE_WEIGHT
                       : pass == LIG_PASS_BACKWARD ? LIG_ROLE_GRADIENT
                                                   : LIG_ROLE_INPUT;
  for (guint i = 0; i < graph->calibrations->len; i++) {
    const LigCalibration calibration = g_array_index (graph->calibrations, LigCalibration, i);
    gboolean inside = !group || (calibration.part >= group->first &&
                                 calibration.part < group->first + group->count);
    if (inside && calibration.role == role)
      record (graph, &calibration, pass);
  }
}
