/* SPDX-License-Identifier: MIT */
/* Collectives of processes: each peer reduces one piece, in the order of the peers, and then all
 * gather the pieces. So all have the same bits, of which neither the number of threads nor the
 * arrival of messages decides any, and a value in 16 bits is rounded once. They run in a thread
 * beside the one that computes, and so begin no parallel region. */
#include "kernels/cpu/rows.h"
#include "kernels/demands.h"
#include <ligature/params-collective.h>

#include <string.h>

/* Adds a piece of a peer to the sum, or takes the greater elements. */
static void
combine (LigReduction reduction, const float *from, float *sum, int64_t count)
{
  if (reduction == LIG_REDUCE_MAX)
    for (int64_t i = 0; i < count; i++)
      sum[i] = from[i] > sum[i] || sum[i] != sum[i] ? from[i] : sum[i];
  else
    for (int64_t i = 0; i < count; i++)
      sum[i] += from[i];
}

/* Reduces what the peers sent: `each` elements of every one, which lie behind one another. */
static void
reduce_pieces (const LigOperand *pieces, int peers, LigReduction reduction, const LigOperand *to)
{
  int64_t each = to->size;
  for (int64_t at = 0; at < each; at += LIG_PIECE) {
    float in[LIG_PIECE], out[LIG_PIECE], sum[LIG_PIECE];
    int64_t count = lig_piece (each, at);
    memcpy (sum, lig_load (pieces, at, count, in), (size_t) count * sizeof *sum);
    for (int peer = 1; peer < peers; peer++)
      combine (reduction, lig_load (pieces, peer * each + at, count, in), sum, count);
    for (int64_t i = 0; i < count && reduction == LIG_REDUCE_MEAN; i++)
      sum[i] /= (float) peers;
    float *staged = lig_stage (to, at, out);
    memcpy (staged, sum, (size_t) count * sizeof *sum);
    lig_commit (to, at, count, staged);
  }
}

/* Fills in the offset of each peer's piece of `each` elements in bytes, and the last one's end. */
static void
find_bounds (const LigOperand *x, int64_t each, int peers, int64_t *bounds)
{
  int64_t size = (int64_t) lig_dtype_size (x->dtype);
  for (int i = 0; i <= peers; i++)
    bounds[i] = (i * each < x->size ? i * each : x->size) * size;
}

/* Checks the types, and that the launch has the peers of its params. One without any computes this
 * process's part, which takes as long but for the collective; the others are absent. */
static LigStatus
check (LigLaunch *launch)
{
  const LigCollectiveParams *params = launch->params;
  const LigPeers *peers = launch->peers;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (peers && (peers->count > LIG_MAX_PEERS || !params || params->peers != peers->count))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the launch has other peers than the plan; compile it again");
  return LIG_OK;
}

/* Checks that the tensor `whole` has the rows of all peers, of which each has as many as `part`. */
static LigStatus
check_parts (LigLaunch *launch, const LigOperand *whole, const LigOperand *part)
{
  const LigCollectiveParams *params = launch->params;
  LigStatus status = check (launch);
  if (status == LIG_OK &&
      (whole->size != part->size * (params ? params->peers : 1) || whole->dtype != part->dtype))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the parts are not those of the whole; compile it again");
  return status;
}

/* Sends each peer its piece of x, and reduces the pieces that arrive to this peer's of y. */
static LigStatus
reduce_own (LigLaunch *launch, const int64_t *bounds, const LigOperand *own)
{
  const LigCollectiveParams *params = launch->params;
  const LigPeers *peers = launch->peers;
  const LigOperand *x = &launch->operands[0];
  LigStatus status = peers->collective (peers, x->data, bounds, launch->scratch, &launch->where);
  LigOperand pieces = {launch->scratch, own->size * peers->count, 1, x->dtype};
  if (status == LIG_OK)
    reduce_pieces (&pieces, peers->count, (LigReduction) params->reduction, own);
  return status;
}

/* Computes the sum, the mean or the maximum of x over all peers: of a process alone, x. */
LigStatus
LIG_CPU (all_reduce) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigPeers *peers = launch->peers;
  int64_t bounds[LIG_MAX_PEERS + 1];
  LigStatus status = check (launch);
  if (status != LIG_OK)
    return status;
  if (!peers) {
    reduce_pieces (x, 1, LIG_REDUCE_SUM, y);
    return LIG_OK;
  }
  int64_t each = lig_collective_piece (x->size, peers->count);
  int64_t first = peers->rank * each < y->size ? peers->rank * each : y->size;
  int64_t left = y->size - first;
  LigOperand own = {lig_at (y, first), left < each ? left : each, 1, y->dtype};
  find_bounds (x, each, peers->count, bounds);
  status = reduce_own (launch, bounds, &own);
  if (status != LIG_OK)
    return status;
  find_bounds (y, each, peers->count, bounds);
  return peers->gather (peers, y->data, bounds, &launch->where);
}

/* Computes this peer's rows of the reduction of x over all peers; y may be these rows of x. */
LigStatus
LIG_CPU (reduce_scatter) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  int64_t bounds[LIG_MAX_PEERS + 1];
  LigStatus status = check_parts (launch, x, y);
  if (status != LIG_OK)
    return status;
  if (!launch->peers) {
    reduce_pieces (x, 1, LIG_REDUCE_SUM, y);
    return LIG_OK;
  }
  find_bounds (x, y->size, launch->peers->count, bounds);
  return reduce_own (launch, bounds, y);
}

/* Collects the rows of all peers; x may be this peer's rows of y. */
LigStatus
LIG_CPU (all_gather) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigPeers *peers = launch->peers;
  int64_t bounds[LIG_MAX_PEERS + 1];
  size_t bytes = (size_t) x->size * lig_dtype_size (x->dtype);
  LigStatus status = check_parts (launch, y, x);
  if (status != LIG_OK)
    return status;
  if (!peers) {
    for (int64_t at = 0; at < y->size; at += x->size)
      memcpy (lig_at (y, at), x->data, bytes);
    return LIG_OK;
  }
  if (lig_at (y, peers->rank * x->size) != x->data)
    memcpy (lig_at (y, peers->rank * x->size), x->data, bytes);
  find_bounds (y, x->size, peers->count, bounds);
  return peers->gather (peers, y->data, bounds, &launch->where);
}

/* Sends x to the peer at the distance of the params, and receives y of the one as far before. */
LigStatus
LIG_CPU (ring_exchange) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigRingParams *params = launch->params;
  const LigPeers *peers = launch->peers;
  int64_t bytes = x->size * (int64_t) lig_dtype_size (x->dtype);
  LigStatus status = check (launch);
  if (status != LIG_OK)
    return status;
  if (x->size != y->size || x->dtype != y->dtype)
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: x and y differ in size or type; compile it again");
  if (peers && peers->count > 1)
    return peers->shift (peers, (1 + params->skipped) % peers->count, x->data, y->data, bytes,
                         &launch->where);
  memcpy (y->data, x->data, (size_t) bytes);
  return LIG_OK;
}

/* Computes the sum of the parts of x that are as long as y, in their order; it is rounded once. */
LigStatus
LIG_CPU (add_parts) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (y->size > 0 && x->size % y->size != 0)
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the parts are not those of the whole; compile it again");
  if (y->size > 0)
    reduce_pieces (x, (int) (x->size / y->size), LIG_REDUCE_SUM, y);
  return LIG_OK;
}

/* Copies this peer's rows of x. */
LigStatus
LIG_CPU (shard_rows) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  int rank = launch->peers ? launch->peers->rank : 0;
  LigStatus status = check_parts (launch, x, y);
  if (status == LIG_OK)
    memcpy (y->data, lig_at (x, rank * y->size), (size_t) y->size * lig_dtype_size (y->dtype));
  return status;
}
