/* SPDX-License-Identifier: MIT */
#include "engine/compile/inferred.h"

#include "engine/compile/compilation.h"

gboolean
lig_inferred_init (LigInferred *self,
                   LigSequence *sequence,
                   LigDevice *device,
                   const LigPlanOptions *options,
                   GError **error)
{
  g_autoptr (LigGraph) graph = lig_graph_new (sequence, device, options, 0, error);
  if (!graph || !lig_graph_infer (graph, error))
    return FALSE;
  *self = (LigInferred){.layout = g_steal_pointer (&graph->layout),
                        .gradient_dtype = graph->request->gradient_dtype,
                        .input = graph->request->input,
                        .ops = g_array_new (FALSE, FALSE, sizeof (LigPlanOp))};
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigPlanOp op = lig_part (graph, i)->plan;
    op.params = lig_part (graph, i)->params;
    g_array_append_val (self->ops, op);
  }
  self->graph = g_steal_pointer (&graph);
  return TRUE;
}

void
lig_inferred_clear (LigInferred *self)
{
  g_clear_pointer (&self->layout, lig_state_layout_free);
  g_clear_pointer (&self->ops, g_array_unref);
  g_clear_pointer (&self->graph, lig_compilation_free);
}
