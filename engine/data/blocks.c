/* SPDX-License-Identifier: MIT */
/* Shards the sequence axis of samples over the ranks of a context (CP) group. The sequence is cut
 * into 2 n equal blocks, and rank r gets blocks r and 2 n - 1 - r, which balances the work under a
 * causal mask. */
#include "engine/data/kind.h"
#include "engine/data/training.h"

#include <inttypes.h>
#include <string.h>

/* Returns whether axis 1 is a sequence axis: of tokens, or of rows of features. */
static gboolean
has_positions (const LigDataset *self)
{
  return self->input.n_axes == (self->dtype == LIG_INT32 ? 2 : 3);
}

gboolean
lig_dataset_share_positions (LigDataset *self, int rank, int count, GError **error)
{
  gint64 length = self->input.n_axes > 1 ? self->input.axes[1] : 1;
  if (count < 2)
    return TRUE;
  if (!has_positions (self)) {
    g_autofree char *shape = lig_shape_to_string (&self->input);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the input is %s %s, which has no sequence axis for context=%d to shard; train "
                    "on sequences of tokens, or shard the batch: data=%d"),
                 shape, lig_dtype_name (self->dtype), count, count);
    return FALSE;
  }
  if (length % (2 * count) != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the sequence length is %" PRId64
                    ", expected a multiple of %d: two blocks on each rank of context=%d"),
                 length, 2 * count, count);
    return FALSE;
  }
  self->blocks.rank = rank;
  self->blocks.ranks = count;
  return TRUE;
}

LigShape
lig_blocks_shape (const LigDataset *self, const LigShape *shape)
{
  LigShape own = *shape;
  if (self->blocks.ranks > 1)
    own.axes[1] /= self->blocks.ranks;
  return own;
}

/* Returns the bytes of a sample, of its inputs or its targets. */
static gsize
count_input (const LigDataset *self)
{
  return (gsize) (lig_shape_size (&self->input) / self->batch) * lig_dtype_size (self->dtype);
}

static gsize
count_target (const LigDataset *self)
{
  return (gsize) self->target_size * lig_dtype_size (self->target.dtype);
}

gboolean
lig_blocks_check_target (const LigDataset *self, gint64 size, GError **error)
{
  gint64 length = self->blocks.ranks > 1 ? self->input.axes[1] : 1;
  if (size % length == 0)
    return TRUE;
  return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                             _ ("the number of targets of a sample is %" PRId64
                                ", expected a multiple of %" PRId64
                                ", the sequence length, which is sharded by context=%d"),
                             size, length, self->blocks.ranks);
}

void
lig_blocks_bind (LigDataset *self)
{
  if (self->blocks.ranks < 2)
    return;
  self->blocks.input = g_realloc (self->blocks.input, count_input (self));
  self->blocks.target = g_realloc (self->blocks.target, count_target (self));
}

/* Copies this rank's blocks of a sample of `bytes` bytes. */
static void
take (const LigBlocks *blocks, const char *whole, gsize bytes, char *to)
{
  gsize block = bytes / (gsize) (2 * blocks->ranks);
  memcpy (to, whole + (gsize) blocks->rank * block, block);
  memcpy (to + block, whole + (gsize) (2 * blocks->ranks - 1 - blocks->rank) * block, block);
}

gboolean
lig_blocks_read (
  const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target, GError **error)
{
  const LigBlocks *blocks = &self->blocks;
  if (blocks->ranks < 2)
    return self->kind->read (self, part, sample, input, target, error);
  if (!self->kind->read (self, part, sample, blocks->input, target ? blocks->target : NULL, error))
    return FALSE;
  take (blocks, blocks->input, count_input (self), input);
  if (target)
    take (blocks, blocks->target, count_target (self), target);
  return TRUE;
}
