/* SPDX-License-Identifier: MIT */
/* Finds kernels that a device lacks. The built-in ones support all floating types on all backends;
 * those of the embedding program list the types and backends that they support. */
#include "engine/lower/kernels.h"

#include "engine/graph/problems.h"
#include "engine/graph/step.h"
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>

const LigKernel *
lig_find_missing_kernel (const LigGraph *graph, const GArray *steps, guint first, LigDtype *dtype)
{
  for (guint i = first; i < steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    if (!step->plan.kernel)
      continue;
    *dtype = lig_served_dtype (graph, step);
    if (!lig_device_has_kernel (graph->request->device, step->plan.kernel, *dtype))
      return step->plan.kernel;
  }
  return NULL;
}

gboolean
lig_check_kernels (const LigGraph *graph,
                   const LigPlanGroup *group,
                   const GArray *steps,
                   guint first,
                   GError **error)
{
  LigDtype dtype;
  const LigKernel *kernel = lig_find_missing_kernel (graph, steps, first, &dtype);
  const LigPart *part = lig_part (graph, group->first);
  const char *name = group->fusion ? group->fusion->name : part->plan.title;
  if (!kernel)
    return TRUE;
  const char *types = lig_dtype_names (kernel->types, ", ");
  if (kernel->types & LIG_TYPES (dtype))
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: its kernel %s cannot run on %s"),
                 name, part->plan.path, kernel->name, lig_device_get_name (graph->request->device));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP,
                 _ ("%s at %s: its kernel %s supports %s, not "
                    "%s"),
                 name, part->plan.path, kernel->name, *types ? types : _ ("no type"),
                 lig_dtype_name (dtype));
  return lig_error_set_path (error, part->plan.path);
}

gboolean
lig_check_single_ops (LigGraph *graph, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  for (int i = 0; i < (int) graph->parts->len; i++)
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
      LigPlanGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
      LigProbe probe;
      if (pass == LIG_PASS_BACKWARD && !lig_part (graph, i)->plan.needs_backward)
        continue;
      g_array_set_size (steps, 0);
      if ((!lig_lower_group (graph, &group, pass, steps, &probe, error) ||
           !lig_check_kernels (graph, &group, steps, 0, error)) &&
          !lig_graph_collect_problem (graph, i, error))
        return FALSE;
    }
  return TRUE;
}
