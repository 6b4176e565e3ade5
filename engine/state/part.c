/* SPDX-License-Identifier: MIT */
/* Shards parameters over a tensor-parallel group or an expert-parallel one: each rank has an equal
 * part of each section of one of the first two axes. */
#include "engine/state/part.h"

#include "engine/ranks/messages.h"
#include <ligature/ranks.h>

#include <glib/gi18n-lib.h>
#include <string.h>

/* Copies the part of rank `rank` of `count` out of the whole parameter, or into it. */
static void
copy_part (const LigParameter *parameter,
           char *whole,
           char *part,
           gsize size,
           int rank,
           int count,
           gboolean into)
{
  const LigSections *sections = &parameter->sharding.sections;
  gint64 rows = parameter->sharding.axis == 0 ? 1 : parameter->whole.axes[0];
  gsize unit = (gsize) (lig_shape_size (&parameter->whole) /
                        MAX (rows * parameter->whole.axes[parameter->sharding.axis], 1)) *
               size;
  for (gint64 row = 0; row < rows; row++)
    for (int i = 0; i < sections->count; i++) {
      gsize bytes = (gsize) (sections->lengths[i] / count) * unit;
      char *at = whole + (gsize) rank * bytes;
      memcpy (into ? at : part, into ? part : at, bytes);
      whole += (gsize) sections->lengths[i] * unit;
      part += bytes;
    }
}

LigTensor *
lig_state_take_part (LigState *self,
                     const LigParameter *parameter,
                     LigTensor *whole,
                     GError **error)
{
  if (parameter->sharding.axis < 0)
    return lig_tensor_ref (whole);
  LigTensor *part = lig_tensor_new (whole->dtype, &parameter->shape, error);
  if (part)
    copy_part (parameter, whole->data, part->data, lig_dtype_size (whole->dtype),
               lig_device_get_rank (self->device, parameter->sharding.group),
               lig_device_get_n_ranks (self->device, parameter->sharding.group), FALSE);
  return part;
}

gboolean
lig_state_gather (const LigPeers *peers, void *data, const gint64 *bounds, GError **error)
{
  const char *where = NULL;
  if (!peers || peers->gather (peers, data, bounds, &where) == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("ranks: MPI failed: %s; start the run again"),
               where);
  return FALSE;
}

LigTensor *
lig_state_join_parts (LigState *self,
                      const LigParameter *parameter,
                      LigTensor *part,
                      GError **error)
{
  const LigPeers *peers =
    lig_ranks_get_peers (lig_device_get_ranks (self->device), parameter->sharding.group);
  if (parameter->sharding.axis < 0 || !peers)
    return lig_tensor_ref (part);
  gsize bytes = lig_tensor_bytes (part);
  g_autoptr (LigTensor) whole = lig_tensor_new (part->dtype, &parameter->whole, error);
  g_autoptr (LigTensor) parts = lig_tensor_new (part->dtype, &parameter->whole, error);
  g_autofree gint64 *bounds = g_new (gint64, peers->count + 1);
  if (!whole || !parts)
    return NULL;
  for (int i = 0; i <= peers->count; i++)
    bounds[i] = i * (gint64) bytes;
  memcpy ((char *) parts->data + bounds[peers->rank], part->data, bytes);
  if (!lig_state_gather (peers, parts->data, bounds, error))
    return NULL;
  for (int i = 0; i < peers->count; i++)
    copy_part (parameter, whole->data, (char *) parts->data + bounds[i],
               lig_dtype_size (part->dtype), i, peers->count, TRUE);
  return g_steal_pointer (&whole);
}
