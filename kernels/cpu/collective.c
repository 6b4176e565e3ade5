/* SPDX-License-Identifier: MIT */
/* Collectives of processes: each peer reduces one piece, in the order of the peers, and then all
 * gather the pieces. So all have the same bits, of which neither the number of threads nor the
 * arrival of messages decides any, and a value in 16 bits is rounded once. They run in a thread
 * beside the one that computes, and so begin no parallel region. */
#include "kernels/cpu/rows.h"
#include "kernels/demands.h"

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

/* Fills in the offset of each peer's piece in bytes, and the last one's end. */
static void
find_bounds (const LigOperand *x, int peers, int64_t *bounds)
{
  int64_t each = lig_collective_piece (x->size, peers), size = (int64_t) lig_dtype_size (x->dtype);
  for (int i = 0; i <= peers; i++)
    bounds[i] = (i * each < x->size ? i * each : x->size) * size;
}

/* Computes the sum, the mean or the maximum of x over all peers: of a process alone, x. */
LigStatus
LIG_CPU (all_reduce) (LigLaunch *launch)
{
  static const LigCollectiveParams alone = {1, LIG_REDUCE_SUM};
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigCollectiveParams *params = launch->params ? launch->params : &alone;
  const LigPeers *peers = launch->peers;
  int count = peers ? peers->count : 1, rank = peers ? peers->rank : 0;
  int64_t bounds[LIG_MAX_PEERS + 1];
  if (!lig_all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "all-reduce: not a floating type; convert to fp32, fp16 or bf16");
  if (count > LIG_MAX_PEERS || params->peers != count)
    return LIG_FAIL (launch, LIG_FAILED,
                     "all-reduce: the launch has other peers than the plan; compile it again");
  if (count == 1) {
    reduce_pieces (x, 1, LIG_REDUCE_SUM, y);
    return LIG_OK;
  }
  find_bounds (x, count, bounds);
  LigStatus status = peers->exchange (peers, x->data, bounds, launch->scratch, &launch->where);
  if (status != LIG_OK)
    return status;
  find_bounds (y, count, bounds);
  int64_t own = (bounds[rank + 1] - bounds[rank]) / (int64_t) lig_dtype_size (y->dtype);
  LigOperand pieces = {launch->scratch, own * count, 1, x->dtype};
  LigOperand to = {(char *) y->data + bounds[rank], own, 1, y->dtype};
  reduce_pieces (&pieces, count, params->reduction, &to);
  return peers->gather (peers, y->data, bounds, &launch->where);
}
