/* SPDX-License-Identifier: MIT */
/* Reads and writes arrays that are sharded over a data-parallel group. A range of elements is split
 * evenly over the ranks, in their order; see engine/parallel/shares.c. */
#include "engine/state/shares.h"

#include "engine/ranks/messages.h"
#include "engine/state/part.h"
#include <ligature/ranks.h>

gboolean
lig_state_shares (LigState *self, LigStateArray array)
{
  return array > LIG_STATE_GRADIENTS && self->layout->shares->len > 0;
}

/* The elements of a parameter that a rank has. */
typedef struct {
  gint64 at, count; /* from the parameter's first element on */
  gint64 kept;      /* offset into the array, which has only this rank's elements */
} Piece;

/* Returns the elements of a parameter among those of a rank in a share. */
static Piece
find_piece (LigState *self, const LigShare *share, const LigParameter *parameter, int rank)
{
  gint64 each = share->own.end - share->own.first, own = share->all.first + rank * each;
  gint64 first =
    CLAMP (own, parameter->offset, parameter->offset + lig_shape_size (&parameter->shape));
  gint64 end =
    CLAMP (own + each, parameter->offset, parameter->offset + lig_shape_size (&parameter->shape));
  return (Piece){first - parameter->offset, end - first, share->kept + first - own};
}

static const LigShare *
get_share (LigState *self, guint i)
{
  return &g_array_index (self->layout->shares, LigShare, i);
}

/* Reads this rank's elements of a share into their places in the tensor. */
static gboolean
read_piece (LigState *self, LigStateArray array, Piece piece, LigTensor *tensor, GError **error)
{
  gsize size = lig_dtype_size (tensor->dtype);
  return piece.count == 0 ||
         lig_device_download (self->device, (char *) tensor->data + (gsize) piece.at * size,
                              self->arrays[array] + (gsize) piece.kept * size,
                              (gsize) piece.count * size, error);
}

LigTensor *
lig_state_collect (LigState *self,
                   LigStateArray array,
                   const LigParameter *parameter,
                   GError **error)
{
  LigRanks *all = lig_device_get_ranks (self->device);
  int replicas = lig_device_get_n_ranks (self->device, lig_device_get_replicas (self->device));
  LigDtype dtype = lig_state_array_dtype (self, array);
  g_autoptr (LigTensor) tensor = lig_tensor_new (dtype, &parameter->shape, error);
  g_autofree gint64 *bounds = g_new (gint64, replicas + 1);
  for (guint i = 0; tensor && i < self->layout->shares->len; i++) {
    const LigShare *share = get_share (self, i);
    if (share->all.first >= parameter->offset + lig_shape_size (&parameter->shape) ||
        share->all.end <= parameter->offset)
      continue;
    const LigPeers *peers = lig_ranks_get_peers (all, share->group);
    int ranks = lig_device_get_n_ranks (self->device, share->group);
    int rank = lig_device_get_rank (self->device, share->group);
    for (int j = 0; j < ranks; j++) {
      Piece piece = find_piece (self, share, parameter, j);
      bounds[j] = piece.at * (gint64) lig_dtype_size (dtype);
      bounds[j + 1] = (piece.at + piece.count) * (gint64) lig_dtype_size (dtype);
    }
    if (!read_piece (self, array, find_piece (self, share, parameter, rank), tensor, error) ||
        !lig_state_gather (peers, tensor->data, bounds, error))
      return NULL;
  }
  return g_steal_pointer (&tensor);
}

gboolean
lig_state_write_share (LigState *self,
                       LigStateArray array,
                       const LigParameter *parameter,
                       LigTensor *tensor,
                       GError **error)
{
  gsize size = lig_dtype_size (tensor->dtype);
  for (guint i = 0; i < self->layout->shares->len; i++) {
    int rank = lig_device_get_rank (self->device, get_share (self, i)->group);
    Piece piece = find_piece (self, get_share (self, i), parameter, rank);
    if (piece.count > 0 &&
        !lig_device_upload (self->device, self->arrays[array] + (gsize) piece.kept * size,
                            (char *) tensor->data + (gsize) piece.at * size,
                            (gsize) piece.count * size, error))
      return FALSE;
  }
  return TRUE;
}
