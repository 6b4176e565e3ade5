/* SPDX-License-Identifier: MIT */
/* The passes of the compiler in order, and the functions that run them. */
#include "engine/choose/fuse.h"
#include "engine/choose/predict.h"
#include "engine/compile/compilation.h"
#include "engine/compile/verify.h"
#include "engine/graph/problems.h"
#include "engine/sequence/registry-lock.h"

#include <string.h>

enum { UNLESS_COMPARED = 1 << 0 }; /* not needed if the plan is only compared */

static gboolean
predict (LigGraph *graph, GError **error)
{
  lig_predict_lanes (graph);
  return TRUE;
}

/* A pass, and the conditions that hold after it. */
static const struct {
  const char *name;
  gboolean (*run) (LigGraph *graph, GError **error);
  gboolean (*verify) (const LigGraph *graph, GError **error); /* or null */
  unsigned flags;
} passes[] = {
  {"expand", lig_expand, lig_verify_parts, 0},
  {"infer", lig_infer, NULL, 0},
  {"differentiate", lig_differentiate, lig_verify_values, 0},
  {"represent", lig_represent, NULL, 0},
  {"fuse", lig_fuse, lig_verify_groups, 0},
  {"schedule", lig_schedule, lig_verify_steps, 0},
  {"recompute", lig_recompute, lig_verify_steps, UNLESS_COMPARED},
  {"allocate", lig_allocate, lig_verify_memory, UNLESS_COMPARED},
  {"predict", predict, NULL, 0},
};

/* Returns whether problems were collected. A pass continues after them, but its conditions need not
 * hold then. */
static gboolean
has_problems (const LigGraph *graph)
{
  return graph->problems && lig_collection_count (graph->problems) > 0;
}

gboolean
lig_run_passes (LigGraph *graph, const char *first, const char *last, GError **error)
{
  gboolean begun = FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (passes); i++) {
    begun |= strcmp (passes[i].name, first) == 0;
    if (!begun || (graph->request->compared && passes[i].flags & UNLESS_COMPARED))
      continue;
    if (!passes[i].run (graph, error))
      return FALSE;
    if (passes[i].verify && !has_problems (graph) && !passes[i].verify (graph, error))
      return FALSE;
    if (strcmp (passes[i].name, last) == 0)
      break;
  }
  return TRUE;
}

gboolean
lig_graph_compile (LigGraph *self, GError **error)
{
  lig_registry_hold ();
  gboolean fine = lig_run_passes (self, "expand", "predict", error);
  lig_registry_release ();
  return fine;
}

gboolean
lig_graph_infer (LigGraph *self, GError **error)
{
  lig_registry_hold ();
  gboolean fine = lig_run_passes (self, "expand", "infer", error);
  lig_registry_release ();
  return fine;
}
