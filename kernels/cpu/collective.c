/* SPDX-License-Identifier: MIT */
/* Collectives among processes: each peer reduces one piece, in the order of the peers, and then the
 * pieces are gathered. So all peers get the same bits, independent of the number of threads and the
 * arrival of messages, and a 16-bit value is rounded once. Collectives run in a separate thread,
 * concurrently with computation, and so start no parallel region. */
#include "kernels/cpu/rows.h"
#include "kernels/demands.h"
#include <ligature/params-collective.h>

#include <string.h>

/* Adds a peer's piece to the sum, or takes the elementwise maximum. */
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

/* Reduces the pieces that the peers sent: `each` elements per peer, contiguous. */
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

/* Fills in the byte offset of each peer's piece of `each` elements, and the end of the last one. */
static void
find_bounds (const LigOperand *x, int64_t each, int peers, int64_t *bounds)
{
  int64_t size = (int64_t) lig_dtype_size (x->dtype);
  for (int i = 0; i <= peers; i++)
    bounds[i] = (i * each < x->size ? i * each : x->size) * size;
}

/* Checks the types, and that the launch has the peers of its params. A launch without peers
 * computes only this process's share, which takes as long except for communication; the other
 * shares are absent. */
static LigStatus
check (LigLaunch *launch)
{
  const LigCollectiveParams *params = launch->params;
  const LigPeers *peers = launch->peers;
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (peers && (peers->count > LIG_MAX_PEERS || !params || params->peers != peers->count))
    return LIG_FAIL (
      launch, LIG_FAILED,
      "collective: the launch and the plan have different peers; compile the plan again");
  return LIG_OK;
}

/* Checks that the tensor `whole` has the rows of all peers, each of which has as many as `part`. */
static LigStatus
check_parts (LigLaunch *launch, const LigOperand *whole, const LigOperand *part)
{
  const LigCollectiveParams *params = launch->params;
  LigStatus status = check (launch);
  if (status == LIG_OK &&
      (whole->size != part->size * (params ? params->peers : 1) || whole->dtype != part->dtype))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the shards do not match the whole; compile the plan again");
  return status;
}

/* Sends each peer its piece of x, and reduces the received pieces to this peer's piece of y. */
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

/* Computes the sum, the mean or the maximum of x over all peers; with only one process y = x. */
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

/* Gathers the rows of all peers; x may be this peer's rows of y. */
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

/* Sends x to the peer at the distance given in the params, and receives y from the peer at the same
 * distance before this one. */
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
                     "collective: x and y differ in size or type; compile the plan again");
  if (peers && peers->count > 1)
    return peers->shift (peers, (1 + params->skipped) % peers->count, x->data, y->data, bytes,
                         &launch->where);
  memcpy (y->data, x->data, (size_t) bytes);
  return LIG_OK;
}

/* Sends an equal part of x to each peer; y has the parts that the peers sent, in their order. The
 * elements may be integers. */
LigStatus
LIG_CPU (all_to_all) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigCollectiveParams *params = launch->params;
  const LigPeers *peers = launch->peers;
  int64_t bounds[LIG_MAX_PEERS + 1], count = params ? params->peers : 1;
  if (x->size != y->size || x->dtype != y->dtype || count < 1 || x->size % count != 0 ||
      (peers && (peers->count > LIG_MAX_PEERS || peers->count != count)))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the launch and the plan differ; compile the plan again");
  if (!peers) {
    memcpy (y->data, x->data, (size_t) x->size * lig_dtype_size (x->dtype));
    return LIG_OK;
  }
  find_bounds (x, x->size / count, peers->count, bounds);
  return peers->collective (peers, x->data, bounds, y->data, &launch->where);
}

/* Computes the sum, in order, of the parts of x, each as long as y; it is rounded once. */
LigStatus
LIG_CPU (add_parts) (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (y->size > 0 && x->size % y->size != 0)
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the shards do not match the whole; compile the plan again");
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
