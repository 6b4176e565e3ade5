/* SPDX-License-Identifier: MIT */
/* Finds kernels that a device lacks. The built-in ones support all floating types on all backends;
 * those of the embedding program list the types and backends that they support. */
#include "engine/compile/kernels.h"

#include "engine/compile/collect.h"
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>

LigDtype
lig_served_dtype (const LigDraft *draft, const LigDraftStep *step)
{
  for (int i = 0; i < step->n_operands; i++)
    if (step->values[i] >= 0 && lig_dtype_is_floating (lig_value (draft, step->values[i])->dtype))
      return lig_value (draft, step->values[i])->dtype;
  return draft->compute;
}

const LigKernel *
lig_find_missing_kernel (const LigDraft *draft, const GArray *steps, guint first, LigDtype *dtype)
{
  for (guint i = first; i < steps->len; i++) {
    const LigDraftStep *step = &g_array_index (steps, LigDraftStep, i);
    if (!step->kernel)
      continue;
    *dtype = lig_served_dtype (draft, step);
    if (!lig_device_has_kernel (draft->device, step->kernel, *dtype))
      return step->kernel;
  }
  return NULL;
}

gboolean
lig_check_kernels (
  const LigDraft *draft, const LigGroup *group, const GArray *steps, guint first, GError **error)
{
  LigDtype dtype;
  const LigKernel *kernel = lig_find_missing_kernel (draft, steps, first, &dtype);
  const LigPart *part = lig_part (draft, group->first);
  const char *name = group->fusion ? group->fusion->name : part->title;
  if (!kernel)
    return TRUE;
  const char *types = lig_dtype_names (kernel->types, ", ");
  if (kernel->types & LIG_TYPES (dtype))
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: its kernel %s cannot run on %s"),
                 name, part->path, kernel->name, lig_device_get_name (draft->device));
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_OP, _ ("%s at %s: its kernel %s serves %s, not %s"),
                 name, part->path, kernel->name, *types ? types : _ ("no type"),
                 lig_dtype_name (dtype));
  return lig_error_set_path (error, part->path);
}

gboolean
lig_check_single_ops (LigDraft *draft, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigDraftStep));
  for (int i = 0; i < (int) draft->parts->len; i++)
    for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
      LigGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
      LigProbe probe;
      if (pass == LIG_PASS_BACKWARD && !lig_part (draft, i)->needs_backward)
        continue;
      g_array_set_size (steps, 0);
      if ((!lig_lower_group (draft, &group, pass, steps, &probe, error) ||
           !lig_check_kernels (draft, &group, steps, 0, error)) &&
          !lig_draft_goes_on (draft, i, error))
        return FALSE;
    }
  return TRUE;
}
