/* SPDX-License-Identifier: MIT */
/* Reads and writes the arrays of single parameters. */
#include "engine/state/part.h"
#include "engine/state/shares.h"
#include <ligature/loss-scaling.h>

#include <glib/gi18n-lib.h>

/* Multiplies the tensor by the loss scale of the gradients, or divides it, and converts it to the
 * type. */
static LigTensor *
rescale (LigState *self, LigTensor *tensor, gboolean divide, LigDtype dtype, GError **error)
{
  LigScaling scaling;
  if (!lig_state_get_scaling (self, &scaling, error))
    return NULL;
  float factor = divide ? 1 / scaling.carried : scaling.carried;
  g_autoptr (LigTensor) wide = lig_tensor_convert (tensor, LIG_FP32, error);
  g_autoptr (LigTensor) scaled = wide ? lig_tensor_new (LIG_FP32, &wide->shape, error) : NULL;
  if (!scaled)
    return NULL;
  for (gint64 i = 0; i < wide->size; i++)
    ((float *) scaled->data)[i] = factor * ((const float *) wide->data)[i];
  return lig_tensor_convert (scaled, dtype, error);
}

LigTensor *
lig_state_unscale (LigState *self, LigTensor *gradients, LigDtype dtype, GError **error)
{
  return rescale (self, gradients, TRUE, dtype, error);
}

static gpointer
reject_frozen (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("%s is frozen: it has no gradient and no optimizer state"), path);
  return NULL;
}

static gpointer
reject_missing (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("the state does not have this array of '%s' yet"), path);
  return NULL;
}

static gpointer
reject_shared (LigState *self, LigStateArray array, const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               _ ("%s: each rank has 1/%d of its array '%s'; lig_state_store() collects it"), path,
               lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device)),
               lig_state_array_name (array));
  return NULL;
}

static LigTensor *
read_array (LigState *self, LigStateArray array, const LigParameter *parameter, GError **error)
{
  LigDtype dtype = lig_state_array_dtype (self, array);
  gint64 at = array == LIG_STATE_PARAMETERS ? parameter->stored : parameter->offset;
  g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &parameter->shape, error);
  return tensor && lig_device_download (self->device, tensor->data,
                                        self->arrays[array] + (gsize) at * lig_dtype_size (dtype),
                                        lig_tensor_bytes (tensor), error)
           ? g_steal_pointer (&tensor)
           : NULL;
}

/* Writes a tensor of the parameter's shape, which it converts to the type of the array. */
static gboolean
write_array (LigState *self,
             LigStateArray array,
             const LigParameter *parameter,
             LigTensor *tensor,
             GError **error)
{
  LigDtype dtype = lig_state_array_dtype (self, array);
  gint64 at = array == LIG_STATE_PARAMETERS ? parameter->stored : parameter->offset;
  g_autoptr (LigTensor) converted = lig_tensor_convert (tensor, dtype, error);
  if (!converted || !lig_state_ensure_array (self, array, error))
    return FALSE;
  if (lig_state_shares (self, array))
    return lig_state_write_share (self, array, parameter, converted, error);
  return lig_device_upload (self->device, self->arrays[array] + (gsize) at * lig_dtype_size (dtype),
                            converted->data, lig_tensor_bytes (converted), error);
}

LigTensor *
lig_state_get (LigState *self, LigStateArray array, const char *path, GError **error)
{
  const LigParameter *parameter = lig_state_find (self, path, error);
  if (!parameter)
    return NULL;
  if (array != LIG_STATE_PARAMETERS && !parameter->trained)
    return reject_frozen (path, error);
  if (lig_state_shares (self, array))
    return reject_shared (self, array, path, error);
  gboolean hidden = array == LIG_STATE_PARAMETERS && parameter->stored < 0;
  LigStateArray from = hidden ? LIG_STATE_MASTER : array;
  gboolean early = array == LIG_STATE_MASTER && lig_state_hides (self) && !self->updated;
  if (!self->arrays[from] || early)
    return reject_missing (path, error);
  g_autoptr (LigTensor) tensor = read_array (self, from, parameter, error);
  if (tensor && hidden)
    return lig_tensor_convert (tensor, self->layout->dtype, error);
  /* A gradient that was scaled to fit fp16 is returned in fp32. */
  if (tensor && array == LIG_STATE_GRADIENTS && self->scaled)
    return lig_state_unscale (self, tensor, LIG_FP32, error);
  return g_steal_pointer (&tensor);
}

/* Writes a parameter and its master. Once an update was planned, the master keeps the precision of
 * the caller's tensor; before, it is the parameter. */
static gboolean
set_parameter (LigState *self, const LigParameter *parameter, LigTensor *tensor, GError **error)
{
  gboolean masters = self->arrays[LIG_STATE_MASTER] && parameter->trained;
  g_autoptr (LigTensor) rounded = lig_tensor_convert (tensor, self->layout->dtype, error);
  self->version++;
  return rounded &&
         (parameter->stored < 0 ||
          write_array (self, LIG_STATE_PARAMETERS, parameter, rounded, error)) &&
         (!masters ||
          write_array (self, LIG_STATE_MASTER, parameter,
                       lig_state_hides (self) && !self->updated ? rounded : tensor, error));
}

gboolean
lig_state_set (
  LigState *self, LigStateArray array, const char *path, LigTensor *tensor, GError **error)
{
  const LigParameter *parameter = lig_state_find (self, path, error);
  if (!parameter)
    return FALSE;
  if (!lig_shape_equal (&parameter->whole, &tensor->shape)) {
    g_autofree char *observed = lig_shape_to_string (&tensor->shape);
    g_autofree char *expected = lig_shape_to_string (&parameter->whole);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("%s is %s, expected %s"), path, observed,
                 expected);
    return FALSE;
  }
  if (array != LIG_STATE_PARAMETERS && !parameter->trained)
    return reject_frozen (path, error) != NULL;
  g_autoptr (LigTensor) part = lig_state_take_part (self, parameter, tensor, error);
  if (!part)
    return FALSE;
  if (array == LIG_STATE_PARAMETERS)
    return set_parameter (self, parameter, part, error);
  if (array == LIG_STATE_MASTER) {
    self->updated = TRUE;
    /* Copies of weights that are kept in fp8 follow their masters. */
    self->version += lig_state_hides (self);
  }
  g_autoptr (LigTensor) scaled = array == LIG_STATE_GRADIENTS && self->scaled
                                   ? rescale (self, part, FALSE, self->gradient_dtype, error)
                                   : lig_tensor_ref (part);
  return scaled && write_array (self, array, parameter, scaled, error);
}

LigTensor *
lig_state_get_whole (LigState *self, LigStateArray array, const char *path, GError **error)
{
  const LigParameter *parameter = lig_state_find (self, path, error);
  gboolean shared = parameter && parameter->trained && lig_state_shares (self, array);
  if (shared && !self->arrays[array])
    return reject_missing (path, error);
  g_autoptr (LigTensor) part = shared      ? lig_state_collect (self, array, parameter, error)
                               : parameter ? lig_state_get (self, array, path, error)
                                           : NULL;
  return part ? lig_state_join_parts (self, parameter, part, error) : NULL;
}
