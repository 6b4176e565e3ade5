/* SPDX-License-Identifier: MIT */
/* prune: removes the steps of a plan with a cache whose results nothing reads: those of the source
 * where tokens are added to a text, those of the text where its source is read, and those after the
 * last op that keeps keys and values where a run only appends some. */
#include "engine/compile/compilation.h"
#include "engine/graph/value.h"

/* Returns whether something outside the steps reads the value. */
static gboolean
is_result (const LigGraph *graph, int value)
{
  return lig_value (graph, value)->kept_to_end ||
         (lig_value (graph, value)->role == LIG_VALUE_CACHE &&
          !graph->request->options.cache.source);
}

/* Returns whether a needed value is among the outputs of a step; then its inputs are needed. */
static gboolean
follow (const LigGraph *graph, const LigGraphStep *step, gboolean *needed)
{
  gboolean wanted = FALSE;
  for (int i = step->plan.n_inputs; i < step->plan.n_operands; i++)
    wanted |= step->values[i] >= 0 && needed[lig_graph_root (graph, step->values[i])];
  for (int i = 0; i < step->plan.n_inputs && wanted; i++)
    if (step->values[i] >= 0)
      needed[lig_graph_root (graph, step->values[i])] = TRUE;
  return wanted;
}

gboolean
lig_prune (LigGraph *graph, GError **error)
{
  if (graph->request->options.cache.rows == 0)
    return TRUE;
  g_autofree gboolean *needed = g_new0 (gboolean, graph->values->len);
  for (int i = 0; i < (int) graph->values->len; i++)
    if (is_result (graph, i))
      needed[lig_graph_root (graph, i)] = TRUE;
  for (int i = (int) graph->steps->len - 1; i >= 0; i--) {
    if (follow (graph, lig_step (graph, i), needed))
      continue;
    g_array_remove_index (graph->steps, (guint) i);
    graph->phases.forward -= i < graph->phases.forward;
    graph->phases.backward -= i < graph->phases.backward;
    graph->phases.update -= i < graph->phases.update;
  }
  return TRUE;
}
