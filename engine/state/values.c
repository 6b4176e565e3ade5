/* SPDX-License-Identifier: MIT */
/* Reads and writes the arrays of single parameters, and counts their values for histograms. */
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
reject_untrained (const LigParameter *parameter, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX,
               parameter->own_update
                 ? _ ("%s is changed by its op: it has no gradient and no optimizer state")
                 : _ ("%s is frozen: it has no gradient and no optimizer state"),
               parameter->path);
  return NULL;
}

/* Returns the type of a parameter in an array. */
static LigDtype
find_dtype (LigState *self, LigStateArray array, const LigParameter *parameter)
{
  return array == LIG_STATE_PARAMETERS ? parameter->dtype : lig_state_array_dtype (self, array);
}

/* Returns the device memory of a parameter in an array that is not sharded. */
static char *
find_memory (LigState *self, LigStateArray array, const LigParameter *parameter)
{
  gint64 at = array == LIG_STATE_PARAMETERS ? parameter->stored : parameter->offset;
  return self->arrays[array] + (gsize) at * lig_dtype_size (lig_state_array_dtype (self, array));
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
  g_autoptr (LigTensor) tensor =
    lig_tensor_new (find_dtype (self, array, parameter), &parameter->shape, error);
  return tensor &&
             lig_device_download (self->device, tensor->data, find_memory (self, array, parameter),
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
  g_autoptr (LigTensor) converted =
    lig_tensor_convert (tensor, find_dtype (self, array, parameter), error);
  if (!converted || !lig_state_ensure_array (self, array, error))
    return FALSE;
  if (lig_state_shares (self, array))
    return lig_state_write_share (self, array, parameter, converted, error);
  return lig_device_upload (self->device, find_memory (self, array, parameter), converted->data,
                            lig_tensor_bytes (converted), error);
}

LigTensor *
lig_state_get (LigState *self, LigStateArray array, const char *path, GError **error)
{
  const LigParameter *parameter = lig_state_find (self, path, error);
  if (!parameter)
    return NULL;
  if (array != LIG_STATE_PARAMETERS && !parameter->trained)
    return reject_untrained (parameter, error);
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
  g_autoptr (LigTensor) rounded = lig_tensor_convert (tensor, parameter->dtype, error);
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
    return reject_untrained (parameter, error) != NULL;
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

/* --- Counting ------------------------------------------------------------------------------ */

/* Over all ranks, each element of the whole parameter is counted once. */

/* The elements that are read from the device at a time. */
#define PIECE (1 << 20)

/* The array to count, the factor of its values, and memory for a piece of it. */
typedef struct {
  LigState *state;
  LigStateArray array;
  float factor;
  guint8 *stored;
  float *values;
} Reader;

static gboolean
count_range (const Reader *self, gint64 first, gint64 end, LigHistogram *to, GError **error)
{
  LigDtype dtype = lig_state_array_dtype (self->state, self->array);
  gsize size = lig_dtype_size (dtype);
  for (gint64 at = first; at < end; at += PIECE) {
    gsize count = (gsize) MIN (end - at, (gint64) PIECE);
    if (!lig_device_download (self->state->device, self->stored,
                              self->state->arrays[self->array] + (gsize) at * size, count * size,
                              error))
      return FALSE;
    lig_widen (dtype, self->stored, self->values, count);
    for (gsize i = 0; self->factor != 1 && i < count; i++)
      self->values[i] *= self->factor;
    lig_histogram_add (to, self->values, count);
  }
  return TRUE;
}

/* Returns whether this rank counts parameters that other ranks have, too. */
static gboolean
counts_replicas (LigState *self, const LigParameter *parameter)
{
  LigRankGroup replicas = lig_parameter_kind (parameter) == LIG_PARAMETER_EXPERT
                            ? LIG_GROUP_EXPERT_REPLICAS
                            : lig_device_get_replicas (self->device);
  return lig_device_get_rank (self->device, replicas) == 0 &&
         (parameter->sharding.axis >= 0 ||
          lig_device_get_rank (self->device, LIG_GROUP_TENSOR) == 0);
}

/* Counts the gradients whose means this rank has: if the update is sharded, only those of its
 * shares. */
static gboolean
count_gradients (const Reader *self,
                 const LigParameter *parameter,
                 LigHistogram *to,
                 GError **error)
{
  const GArray *shares = self->state->layout->shares;
  gint64 first = parameter->offset, end = first + lig_shape_size (&parameter->shape);
  if (shares->len == 0)
    return !counts_replicas (self->state, parameter) || count_range (self, first, end, to, error);
  if (parameter->sharding.axis < 0 &&
      lig_device_get_rank (self->state->device, LIG_GROUP_TENSOR) > 0)
    return TRUE;
  for (guint i = 0; i < shares->len; i++) {
    LigElements own = g_array_index (shares, LigShare, i).own;
    if (!count_range (self, MAX (own.first, first), MIN (own.end, end), to, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
count_parameter (Reader *self, const LigParameter *parameter, LigHistogram *to, GError **error)
{
  gint64 count = lig_shape_size (&parameter->shape), at = parameter->stored;
  if (!counts_replicas (self->state, parameter))
    return TRUE;
  if (parameter->dtype != self->state->layout->dtype) {
    g_autoptr (LigTensor) wide = read_array (self->state, self->array, parameter, error);
    if (wide)
      lig_histogram_add (to, wide->data, (gsize) count);
    return wide != NULL;
  }
  /* A weight that is kept in fp8 has only its master. */
  if (at < 0) {
    self->array = LIG_STATE_MASTER;
    at = parameter->offset;
  }
  return count_range (self, at, at + count, to, error);
}

gboolean
lig_state_count_values (
  LigState *self, LigStateArray array, const char *path, LigHistogram *to, GError **error)
{
  g_return_val_if_fail (array <= LIG_STATE_GRADIENTS, FALSE);
  const LigParameter *parameter = lig_state_find (self, path, error);
  gboolean gradient = array == LIG_STATE_GRADIENTS;
  LigScaling scaling = {.carried = 1};
  if (!parameter)
    return FALSE;
  if (gradient && (!parameter->trained || !self->arrays[array])) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_INDEX, _ ("the state has no gradient of '%s'"), path);
    return FALSE;
  }
  if (gradient && self->scaled && !lig_state_get_scaling (self, &scaling, error))
    return FALSE;
  gsize size = (gsize) MIN (lig_shape_size (&parameter->shape), (gint64) PIECE);
  g_autofree guint8 *stored = g_malloc (size * sizeof (float));
  g_autofree float *values = g_new (float, MAX (size, 1));
  Reader reader = {self, array, 1 / scaling.carried, stored, values};
  return gradient ? count_gradients (&reader, parameter, to, error)
                  : count_parameter (&reader, parameter, to, error);
}
