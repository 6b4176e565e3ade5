/* SPDX-License-Identifier: MIT */
/* The two sides of a plan with a cache: the text, whose ops run for each token, and the source that
 * cross attention reads, whose ops run once. The last op is on the side of the text; so are the ops
 * on which it depends, other than through an input that the cache keeps. The ops on which that
 * input depends are those of the source. */
#include "engine/compile/compilation.h"

#include <ligature/error.h>

#include <glib/gi18n-lib.h>
#include <string.h>

typedef struct {
  LigGraph *graph;
  gboolean *visited;
  int start; /* the part with which the side begins, or -1 */
} Side;

int
lig_part_kept_input (const LigPart *part)
{
  const char *kept = part->plan.info->cached_input;
  for (int i = 0; i < part->n_inputs && kept; i++)
    if (part->present[i] && strcmp (part->ports->extra_inputs->ports[i].name, kept) == 0)
      return i;
  return -1;
}

/* Visits a part and those on which it depends; with `source`, also through inputs that are kept. */
static void
visit (Side *self, int part, gboolean source)
{
  for (int at = part; !self->visited[at]; at--) {
    const LigPart *here = lig_part (self->graph, at);
    self->visited[at] = TRUE;
    gboolean loads = lig_part_loads_branch (here);
    for (int i = 0; i < here->n_inputs; i++)
      if (here->input_parts[i] >= 0 && (source || i != lig_part_kept_input (here)))
        visit (self, here->input_parts[i], source);
    if (at == 0 || (loads && here->input_parts[0] < 0))
      self->start = at;
    if (at == 0 || loads)
      return;
  }
}

static gboolean
reject (const LigGraph *graph, int part, const char *problem, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("%s at %s: %s"),
               lig_part (graph, part)->plan.info->name, lig_part (graph, part)->plan.path, problem);
  return lig_error_set_path (error, lig_part (graph, part)->plan.path);
}

/* Marks what the kept input of a part depends on. */
static gboolean
mark_source (LigGraph *graph, int part, int slot, const Side *text, GError **error)
{
  Side side = {graph, g_new0 (gboolean, graph->parts->len), -1};
  g_autofree gboolean *visited = side.visited;
  int from = lig_part (graph, part)->input_parts[slot];
  if (graph->request->options.cache.memory == 0)
    return reject (graph, part,
                   _ ("it reads a memory; give the cache a size for it, LigCacheShape.memory"),
                   error);
  if (from >= 0)
    visit (&side, from, TRUE);
  if (from < 0 || side.start != 0 || lig_part_loads_branch (lig_part (graph, 0)))
    return reject (graph, part,
                   _ ("its memory comes from the caller; a cache needs one that is computed from "
                      "the sequence's input"),
                   error);
  for (guint i = 0; i < graph->parts->len; i++) {
    if (visited[i] && text->visited[i])
      return reject (graph, (int) i,
                     _ ("the text and the memory of cross attention depend on it; a cache needs "
                        "separate ops"),
                     error);
    lig_part (graph, i)->source |= visited[i];
  }
  return TRUE;
}

gboolean
lig_find_sources (LigGraph *graph, GError **error)
{
  int count = (int) graph->parts->len;
  gboolean any = FALSE;
  if (count == 0)
    return TRUE;
  Side text = {graph, g_new0 (gboolean, count), -1};
  g_autofree gboolean *visited = text.visited;
  visit (&text, count - 1, FALSE);
  for (int i = 0; i < count; i++) {
    int slot = visited[i] ? lig_part_kept_input (lig_part (graph, i)) : -1;
    if (slot >= 0 && !mark_source (graph, i, slot, &text, error))
      return FALSE;
    any |= slot >= 0;
  }
  if (any == (graph->request->options.cache.memory > 0)) {
    graph->text_start = any ? text.start : -1;
    return TRUE;
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("the cache has a size for a memory, but no op reads one; set memory to 0"));
  return FALSE;
}
