/* SPDX-License-Identifier: MIT */
/* Lifetimes of values: the steps between which each needs memory. A step may write in place if its
 * kernel can and no later step reads the input. */
#include "engine/graph/lifetimes.h"

#include "engine/graph/awaits.h"
#include "engine/graph/place.h"
#include "engine/graph/value.h"

#define ALIGNMENT 256

gboolean
lig_value_in_arena (const LigPlanValue *value)
{
  return value->role != LIG_VALUE_PARAMETER && value->role != LIG_VALUE_PARAMETER_GRADIENT &&
         value->role != LIG_VALUE_STATE && value->role != LIG_VALUE_SCALING &&
         value->role != LIG_VALUE_QUANTIZERS && value->role != LIG_VALUE_CACHE;
}

/* Extends the lifetime to [step, end]. */
static void
use (LigGraph *graph, int value, int step, int end)
{
  LigPlanValue *used = lig_value (graph, value);
  LigValueWork *work = lig_value_work (graph, value);
  used->first = MIN (used->first, step);
  used->last = MAX (used->last, end);
  if (end > step)
    work->beside = MAX (work->beside, end);
}

static void
find_lifetimes (LigGraph *graph)
{
  lig_find_awaits (graph);
  for (int i = 0; i < (int) graph->values->len; i++) {
    lig_value (graph, i)->first = G_MAXINT;
    lig_value (graph, i)->last = lig_value_work (graph, i)->beside = -1;
  }
  for (int i = 0; i < (int) graph->values->len; i++) {
    LigPlanValue *value = lig_value (graph, i);
    LigPlanValue *root = lig_value (graph, lig_graph_root (graph, i));
    /* The caller writes these before a run and may run again without writing them. */
    if (value->role == LIG_VALUE_INPUT || value->role == LIG_VALUE_EXTRA ||
        value->role == LIG_VALUE_GIVEN) {
      root->first = -1;
      root->last = G_MAXINT;
    }
    if (value->kept_to_end)
      root->last = G_MAXINT;
  }
  /* Copies of parameters are kept until the parameters change. */
  for (int i = 0; i < graph->phases.forward; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int j = step->plan.n_inputs; j < step->plan.n_operands; j++) {
      if (step->values[j] < 0 || lig_value_work (graph, step->values[j])->brief)
        continue;
      LigPlanValue *root = lig_value (graph, lig_graph_root (graph, step->values[j]));
      root->first = -1;
      root->last = G_MAXINT;
    }
  }
  for (int i = 0; i < (int) graph->steps->len; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    int end = lig_end_of_step (graph, i);
    for (int j = 0; j <= step->plan.n_operands; j++) {
      int value = j < step->plan.n_operands ? step->values[j]
                  : step->code.scratch > 0  ? step->code.scratch
                                            : -1;
      if (value < 0)
        continue;
      use (graph, lig_graph_root (graph, value), i, end);
    }
  }
}

/* Returns whether output `to` of a step may use the memory of its input `from`: no later step reads
 * the input, no overlapping step of another lane may read it, and no other operand shares its
 * memory. */
static gboolean
may_replace (const LigGraph *graph, int index, int from, int to)
{
  const LigGraphStep *step = lig_step (graph, index);
  if (step->values[from] < 0 || step->values[to] < 0)
    return FALSE;
  int old = lig_graph_root (graph, step->values[from]);
  int new = lig_graph_root (graph, step->values[to]);
  const LigPlanValue *input = lig_value (graph, old), *output = lig_value (graph, new);
  gboolean fits = lig_value_in_arena (input) && lig_value_in_arena (output) &&
                  input->bytes == output->bytes && input->dtype == output->dtype &&
                  input->last == index && lig_value_work (graph, old)->beside < index &&
                  input->first >= 0 && output->first == index;
  for (int i = 0; i < step->plan.n_operands && fits; i++)
    if (i != from && i != to && step->values[i] >= 0) {
      int other = lig_graph_root (graph, step->values[i]);
      fits = other != old && other != new;
    }
  return fits;
}

/* Places outputs of a step in the extents of inputs, where its kernel's signature allows it. */
static void
reuse_inputs (LigGraph *graph, int index, GArray *extents, int *numbers)
{
  const LigGraphStep *step = lig_step (graph, index);
  unsigned taken = 0;
  for (int to = step->plan.n_inputs; step->plan.kernel && to < step->plan.n_operands; to++) {
    unsigned places = step->ports->ports[to].places & ~taken;
    for (int from = 0; places >> from; from++) {
      if (!(places >> from & 1) || !may_replace (graph, index, from, to))
        continue;
      int old = lig_graph_root (graph, step->values[from]);
      int new = lig_graph_root (graph, step->values[to]);
      LigExtent *kept = &g_array_index (extents, LigExtent, numbers[old]);
      LigExtent *gone = &g_array_index (extents, LigExtent, numbers[new]);
      kept->last = MAX (kept->last, gone->last);
      gone->bytes = 0;
      numbers[new] = numbers[old];
      taken |= 1u << from;
      break;
    }
  }
}

GArray *
lig_find_extents (LigGraph *graph, int *slots)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (LigExtent));
  find_lifetimes (graph);
  for (int i = 0; i < (int) graph->values->len; i++) {
    const LigPlanValue *value = lig_value (graph, i);
    slots[i] = -1;
    if (!lig_value_in_arena (value) || value->alias >= 0 || value->last < 0 ||
        value->first == G_MAXINT)
      continue;
    LigExtent slot = {(MIN (value->bytes, G_MAXINT64 / 2) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
                      value->first, value->last, 0};
    slots[i] = (int) list->len;
    g_array_append_val (list, slot);
  }
  for (int i = 0; i < (int) graph->steps->len; i++)
    reuse_inputs (graph, i, list, slots);
  return list;
}

gint64 *
lig_sum_extents (const LigGraph *graph, const GArray *slots, gint64 *peak)
{
  guint count = graph->steps->len;
  gint64 *change = g_new0 (gint64, count + 2);
  for (guint i = 0; i < slots->len; i++) {
    const LigExtent *slot = &g_array_index (slots, LigExtent, i);
    change[MAX (slot->first, 0)] += slot->bytes;
    if (slot->last < (int) count)
      change[slot->last + 1] -= slot->bytes;
  }
  *peak = 0;
  for (guint i = 0; i <= count; i++) {
    change[i] += i > 0 ? change[i - 1] : 0;
    *peak = MAX (*peak, change[i]);
  }
  return change;
}
