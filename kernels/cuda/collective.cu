/* SPDX-License-Identifier: MIT */
/* Collectives among the devices of several processes, through NCCL. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/connect/nccl.h"
#include <ligature/params-collective.h>

extern "C" LigStatus lig_cuda_convert (LigLaunch *launch);

namespace
{

/* Returns the NCCL constant of a floating type. */
int
type_of (LigDtype dtype)
{
  return dtype == LIG_FP32 ? LIG_NCCL_FP32 : dtype == LIG_FP16 ? LIG_NCCL_FP16 : LIG_NCCL_BF16;
}

int
reduction_of (const LigCollectiveParams *params)
{
  return params->reduction == LIG_REDUCE_MAX    ? LIG_NCCL_MAX
         : params->reduction == LIG_REDUCE_MEAN ? LIG_NCCL_MEAN
                                                : LIG_NCCL_SUM;
}

char *
element (const LigOperand *operand, int64_t at)
{
  return (char *) operand->data + at * (int64_t) lig_dtype_size (operand->dtype);
}

/* Checks the types, and that the launch has the peers of its params. */
LigStatus
check (LigLaunch *launch)
{
  auto params = (const LigCollectiveParams *) launch->params;
  const LigPeers *peers = launch->peers;
  if (!lig::all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (peers && launch->operands[0].dtype != launch->operands[1].dtype)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not one type; convert the input before it");
  if (peers && (!params || params->peers != peers->count))
    return LIG_FAIL (
      launch, LIG_FAILED,
      "collective: the launch and the plan have different peers; compile the plan again");
  return LIG_OK;
}

/* Checks that the tensor `whole` has the rows of all peers, each of which has as many as `part`. */
LigStatus
check_parts (LigLaunch *launch, const LigOperand *whole, const LigOperand *part)
{
  auto params = (const LigCollectiveParams *) launch->params;
  LigStatus status = check (launch);
  if (status == LIG_OK &&
      (whole->size != part->size * (params ? params->peers : 1) || whole->dtype != part->dtype))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the shards do not match the whole; compile the plan again");
  return status;
}

LigStatus
finish (LigLaunch *launch, int error)
{
  if (error == 0)
    return LIG_OK;
  launch->where = lig_nccl ()->describe (error);
  return LIG_FAILED;
}

LigStatus
copy (LigLaunch *launch, void *to, const void *from, const LigOperand *like)
{
  size_t bytes = (size_t) like->size * lig_dtype_size (like->dtype);
  if (to != from && bytes > 0 &&
      cudaMemcpyAsync (to, from, bytes, cudaMemcpyDeviceToDevice, (cudaStream_t) launch->stream) !=
        cudaSuccess)
    return LIG_LAUNCHED (launch);
  return LIG_OK;
}

/* Sends to the next peer while receiving from the previous one; the group has to be ended even
 * after a failure. */
int
pass_on (
  const LigOperand *x, const LigOperand *y, int distance, const LigPeers *peers, void *stream)
{
  const LigNccl *nccl = lig_nccl ();
  int next = (peers->rank + distance) % peers->count;
  int last = (peers->rank + peers->count - distance) % peers->count, type = type_of (x->dtype);
  int error = nccl->group_start ();
  if (error)
    return error;
  error = nccl->send (x->data, (size_t) x->size, type, next, peers->handle, stream);
  if (!error)
    error = nccl->receive (y->data, (size_t) y->size, type, last, peers->handle, stream);
  int ended = nccl->group_end ();
  return error ? error : ended;
}

/* Sends an equal part of x to each peer, and receives as much from each, at once; the group has to
 * be ended even after a failure. Elements of four bytes may be integers, which are not computed
 * with. */
int
exchange_all (const LigOperand *x, const LigOperand *y, const LigPeers *peers, void *stream)
{
  const LigNccl *nccl = lig_nccl ();
  int64_t part = x->size / peers->count;
  int type = x->dtype == LIG_INT32 ? (int) LIG_NCCL_FP32 : type_of (x->dtype);
  int error = nccl->group_start ();
  if (error)
    return error;
  for (int peer = 0; peer < peers->count && !error; peer++) {
    error = nccl->send (element (x, peer * part), (size_t) part, type, peer, peers->handle, stream);
    if (!error)
      error =
        nccl->receive (element (y, peer * part), (size_t) part, type, peer, peers->handle, stream);
  }
  int ended = nccl->group_end ();
  return error ? error : ended;
}

/* Sums contiguous parts of `size` elements. */
template <class A>
__global__ void
__launch_bounds__ (lig::THREADS) sum_parts (lig::Target x, lig::Target y, int64_t size, int parts)
{
  constexpr int W = A::W;
  int64_t step = (int64_t) gridDim.x * lig::THREADS * W;
  for (int64_t at = ((int64_t) blockIdx.x * lig::THREADS + threadIdx.x) * W; at < size;
       at += step) {
    float sum[W] = {};
    for (int part = 0; part < parts; part++) {
      float values[W];
      A::widen (A::read (x, part * size + at), x, values);
#pragma unroll
      for (int i = 0; i < W; i++)
        sum[i] += values[i];
    }
    A::write (y, at, A::narrow (sum, y));
  }
}
} // namespace

/* Computes the sum, the mean or the maximum of x over all peers; with only one process y = x. */
extern "C" LigStatus
lig_cuda_all_reduce (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigPeers *peers = launch->peers;
  LigStatus status = check (launch);
  if (status != LIG_OK || !peers)
    return status != LIG_OK ? status : lig_cuda_convert (launch);
  return finish (
    launch, lig_nccl ()->all_reduce (x->data, y->data, (size_t) x->size, type_of (x->dtype),
                                     reduction_of ((const LigCollectiveParams *) launch->params),
                                     peers->handle, launch->stream));
}

/* Computes this peer's rows of the reduction of x over all peers; y may be these rows of x. */
extern "C" LigStatus
lig_cuda_reduce_scatter (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigPeers *peers = launch->peers;
  LigStatus status = check_parts (launch, x, y);
  if (status != LIG_OK || !peers)
    return status != LIG_OK ? status : copy (launch, y->data, x->data, y);
  return finish (launch, lig_nccl ()->reduce_scatter (
                           x->data, y->data, (size_t) y->size, type_of (x->dtype),
                           reduction_of ((const LigCollectiveParams *) launch->params),
                           peers->handle, launch->stream));
}

/* Gathers the rows of all peers; x may be this peer's rows of y. */
extern "C" LigStatus
lig_cuda_all_gather (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  const LigPeers *peers = launch->peers;
  LigStatus status = check_parts (launch, y, x);
  if (status == LIG_OK && peers)
    return finish (launch,
                   lig_nccl ()->all_gather (x->data, y->data, (size_t) x->size, type_of (x->dtype),
                                            peers->handle, launch->stream));
  for (int64_t at = 0; status == LIG_OK && at < y->size; at += x->size)
    status = copy (launch, element (y, at), x->data, x);
  return status;
}

/* Sends x to the peer at the distance given in the params, and receives y from the peer at the same
 * distance before this one. */
extern "C" LigStatus
lig_cuda_ring_exchange (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  LigStatus status = check (launch);
  if (status == LIG_OK && (x->size != y->size || x->dtype != y->dtype))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: x and y differ in size or type; compile the plan again");
  if (status != LIG_OK || !launch->peers)
    return status != LIG_OK ? status : copy (launch, y->data, x->data, y);
  auto params = (const LigRingParams *) launch->params;
  int distance = (1 + params->skipped) % launch->peers->count;
  return finish (launch, pass_on (x, y, distance, launch->peers, launch->stream));
}

/* Sends an equal part of x to each peer; y has the parts that the peers sent, in their order. */
extern "C" LigStatus
lig_cuda_all_to_all (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  auto params = (const LigCollectiveParams *) launch->params;
  const LigPeers *peers = launch->peers;
  int64_t count = params ? params->peers : 1;
  bool moves = x->dtype == LIG_INT32 || lig_dtype_is_floating (x->dtype);
  if (!moves || x->size != y->size || x->dtype != y->dtype || count < 1 || x->size % count != 0 ||
      (peers && peers->count != count))
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the launch and the plan differ; compile the plan again");
  return peers ? finish (launch, exchange_all (x, y, peers, launch->stream))
               : copy (launch, y->data, x->data, y);
}

/* Computes the sum, in order, of the parts of x, each as long as y; it is rounded once. */
extern "C" LigStatus
lig_cuda_add_parts (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  if (!lig::all_floating (launch, 2))
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "collective: not a floating type; convert to fp32, fp16 or bf16");
  if (y->size > 0 && x->size % y->size != 0)
    return LIG_FAIL (launch, LIG_FAILED,
                     "collective: the shards do not match the whole; compile the plan again");
  if (y->size == 0)
    return LIG_OK;
  int parts = (int) (x->size / y->size);
  bool packs = lig::packable ({x, y}) && y->size % (x->dtype == LIG_FP32 ? 4 : 8) == 0;
  return lig::dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    int64_t chunks = (y->size + A::W - 1) / A::W;
    unsigned blocks = lig::blocks_for (launch, chunks, lig::THREADS, 16);
    sum_parts<A><<<blocks, lig::THREADS, 0, lig::stream (launch)>>> (
      lig::target (x), lig::target (y), y->size, parts);
    return LIG_LAUNCHED (launch);
  });
}

/* Copies this peer's rows of x. */
extern "C" LigStatus
lig_cuda_shard_rows (LigLaunch *launch)
{
  const LigOperand *x = &launch->operands[0], *y = &launch->operands[1];
  int rank = launch->peers ? launch->peers->rank : 0;
  LigStatus status = check_parts (launch, x, y);
  return status == LIG_OK ? copy (launch, y->data, element (x, rank * y->size), y) : status;
}
