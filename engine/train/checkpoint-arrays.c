/* SPDX-License-Identifier: MIT */
/* Checks that a checkpoint has the complete optimizer state: without it the run would continue with
 * different updates. */
#include "engine/tensor/names.h"
#include "engine/train/checkpoint.h"
#include "engine/train/run-private.h"
#include <ligature/optimizer.h>
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

/* Returns whether the optimizer has the array with these settings. */
static gboolean
is_kept (const LigOptimizer *optimizer,
         const LigOptimizerInfo *info,
         const LigOptimizerArray *array)
{
  for (const LigParam *param = info->params; array->needs && param->name; param++)
    if (g_str_equal (param->name, array->needs))
      return lig_optimizer_get (optimizer, param) != 0;
  return TRUE;
}

/* Adds the name of an array of a parameter if the file has none. */
static void
look_for (LigTensorFile *file, const char *array, const char *path, LigDifferences *missing)
{
  g_autofree char *name = g_strdup_printf ("optimizer.%s.%s", array, path);
  if (!lig_tensor_file_has (file, name))
    lig_differences_add (missing, "%s is missing", name);
}

gboolean
lig_run_check_arrays (LigRun *self, LigTensorFile *file, gint64 step, GError **error)
{
  LigOptimizer optimizer;
  LigDifferences missing = {0};
  const LigOptimizerInfo *info = lig_optimizer_info_find (self->settings.optimizer, error);
  if (!info || !lig_run_settings_get_optimizer (&self->settings, &optimizer, error))
    return FALSE;
  for (const char *const *path = lig_state_get_paths (self->state); *path && step > 0; path++) {
    LigShape shape;
    LigDtype dtype;
    if (!lig_state_is_trained (self->state, *path))
      continue;
    if (lig_tensor_file_get_shape (file, *path, &shape, &dtype) && dtype != LIG_FP32)
      look_for (file, lig_state_array_name (LIG_STATE_MASTER), *path, &missing);
    for (const LigOptimizerArray *array = info->arrays; array && array->name; array++)
      if (is_kept (&optimizer, info, array))
        look_for (file, array->name, *path, &missing);
  }
  /* Checkpoints of the first version lack it. Unlike other arrays it has an initial value. */
  if (step > 0 && !lig_tensor_file_has (file, "optimizer.scaling") && !self->weights_note)
    self->weights_note =
      g_strdup (_ ("optimizer.scaling is missing, as in checkpoints of the first version; the loss "
                   "scale, which only fp16 uses, restarts from its initial value"));
  return lig_differences_end (
    &missing, _ ("the optimizer state is incomplete; start a new run from the weights"), error);
}
