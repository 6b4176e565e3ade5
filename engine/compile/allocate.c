/* SPDX-License-Identifier: MIT */
/* allocate: assigns values offsets in one arena by their lifetimes; larger values are placed
 * first. */
#include "engine/compile/compilation.h"
#include "engine/graph/graph.h"
#include "engine/graph/lifetimes.h"
#include "engine/graph/place.h"
#include "engine/graph/value.h"

#include <glib/gi18n-lib.h>

/* The values that the backward pass reads. An op's table declares the values that its backward pass
 * reads, but a part of that pass may be omitted, such as the gradient of a frozen weight. */

/* Marks the memory that steps of the backward pass read. */
static gboolean *
find_read (const LigGraph *graph)
{
  gboolean *read = g_new0 (gboolean, graph->values->len + 1);
  for (int i = graph->phases.backward; i < graph->phases.update; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int j = 0; j < step->plan.n_inputs; j++)
      if (step->values[j] >= 0)
        read[lig_graph_root (graph, step->values[j])] = TRUE;
  }
  return read;
}

/* A callback of the embedding program reads its values without a step. */
static void
keep_opaque (const LigGraph *graph, gboolean *read)
{
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    if (!part->plan.info->opaque_backward)
      continue;
    read[lig_graph_root (graph, part->x)] = TRUE;
    read[lig_graph_root (graph, part->y)] = TRUE;
  }
}

/* Unmarks values that ops save, but that no step of the backward pass reads. */
static void
forget_unread (LigGraph *graph)
{
  g_autofree gboolean *read = find_read (graph);
  keep_opaque (graph, read);
  for (int i = 0; i < (int) graph->values->len; i++)
    if (!read[lig_graph_root (graph, i)])
      lig_value (graph, i)->saved = FALSE;
}

gboolean
lig_allocate (LigGraph *graph, GError **error)
{
  forget_unread (graph);
  g_autofree int *numbers = g_new (int, graph->values->len);
  g_autoptr (GArray) slots = lig_find_extents (graph, numbers);
  graph->arena_bytes =
    lig_place ((LigExtent *) (gpointer) slots->data, slots->len, (int) graph->steps->len);
  if (graph->arena_bytes < 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                 _ ("the plan's values take more than 2^61 bytes"));
    return FALSE;
  }
  for (int i = 0; i < (int) graph->values->len; i++)
    if (numbers[i] >= 0)
      lig_value (graph, i)->offset = g_array_index (slots, LigExtent, numbers[i]).offset;
  g_free (lig_sum_extents (graph, slots, &graph->live_peak));
  return TRUE;
}
