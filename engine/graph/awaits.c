/* SPDX-License-Identifier: MIT */
/* Steps of the communication lane, which overlap those after them: which steps wait for them, and
 * how long their operands stay in memory. */
#include "engine/graph/awaits.h"

#include "engine/graph/graph.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"

/* Returns whether the main lane waits for all other lanes before the step. */
static gboolean
joins_all (const LigGraph *graph, int index)
{
  return index == graph->phases.update || !lig_step (graph, index)->plan.kernel;
}

/* Returns whether two values share bytes. */
static gboolean
overlap (const LigGraph *graph, int a, int b)
{
  if (a < 0 || b < 0 || lig_graph_root (graph, a) != lig_graph_root (graph, b))
    return FALSE;
  const LigPlanValue *x = lig_value (graph, a), *y = lig_value (graph, b);
  return x->alias_offset < y->alias_offset + y->bytes &&
         y->alias_offset < x->alias_offset + x->bytes;
}

/* Returns whether a step conflicts with the operands of an earlier collective. Collectives of the
 * same ranks must start in the same order on all of them. */
static gboolean
needs (const LigGraph *graph, const LigGraphStep *step, const LigGraphStep *collective)
{
  LigRankGroup group = lig_step_group (step);
  if (group < LIG_N_GROUPS && group == lig_step_group (collective))
    return TRUE;
  for (int i = 0; i < step->plan.n_operands; i++)
    for (int j = i < step->plan.n_inputs ? collective->plan.n_inputs : 0;
         j < collective->plan.n_operands; j++)
      if (overlap (graph, step->values[i], collective->values[j]))
        return TRUE;
  return FALSE;
}

/* Finds the last collective that the step waits for. `open` contains those that nothing has waited
 * for yet; they run one after another, so the earlier ones have ended, too. */
static void
find_awaited (const LigGraph *graph, LigGraphStep *steps, LigGraphStep *step, GArray *open)
{
  for (guint k = open->len; k-- > 0;)
    if (needs (graph, step, &steps[g_array_index (open, int, k)])) {
      step->plan.awaits = g_array_index (open, int, k);
      g_array_remove_range (open, 0, k + 1);
      return;
    }
}

static void
find_awaits (const LigGraph *graph, LigGraphStep *steps, guint count, int joined)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) count; i++) {
    steps[i].plan.awaits = -1;
    if (i == joined || !steps[i].plan.kernel)
      g_array_set_size (open, 0);
    if (steps[i].plan.lane == LIG_LANE_COMMUNICATION)
      g_array_append_val (open, i);
    else
      find_awaited (graph, steps, &steps[i], open);
  }
}

void
lig_find_awaits (LigGraph *graph)
{
  find_awaits (graph, (LigGraphStep *) (gpointer) graph->steps->data, graph->steps->len,
               graph->phases.update);
}

void
lig_find_awaits_in (const LigGraph *graph, LigGraphStep *steps, guint count)
{
  find_awaits (graph, steps, count, -1);
}

/* Adjacent steps of the communication lane run in order without waiting, so the later ones may
 * already use the memory. */
static int
end_of_exchange (const LigGraph *graph, int index)
{
  int end = index, collectives = 0;
  for (; end + 1 < (int) graph->steps->len && !joins_all (graph, end + 1); end++) {
    const LigGraphStep *next = lig_step (graph, end + 1);
    if (next->plan.awaits >= index)
      return end - collectives;
    collectives = next->plan.lane == LIG_LANE_COMMUNICATION ? collectives + 1 : 0;
  }
  return end;
}

int
lig_end_of_step (const LigGraph *graph, int index)
{
  const LigLane lane = lig_step (graph, index)->plan.lane;
  if (lane == LIG_LANE_COMMUNICATION)
    return end_of_exchange (graph, index);
  while (lane == LIG_LANE_SIDE && index + 1 < (int) graph->steps->len &&
         !joins_all (graph, index + 1) && lig_step (graph, index + 1)->plan.lane != LIG_LANE_SIDE)
    index++;
  return index;
}
