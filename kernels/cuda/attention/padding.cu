/* SPDX-License-Identifier: MIT */
/* The handling of lengths that cuDNN leaves to its caller: it clamps lengths to the tensors' sizes,
 * and writes zeros past the lengths, in the inputs and in the outputs of cuDNN. */
#include "kernels/cuda/attention/padding.h"

namespace
{

constexpr int threads = 256;

__global__ void
limit_lengths (const int32_t *lengths,
               int64_t batch,
               int32_t length,
               int32_t keys,
               bool memory,
               int32_t *query_lengths,
               int32_t *key_lengths)
{
  int64_t b = (int64_t) blockIdx.x * threads + threadIdx.x;
  if (b >= batch)
    return;
  int32_t limited = min (max (lengths[b], 0), keys);
  key_lengths[b] = limited;
  query_lengths[b] = memory ? length : limited;
}

/* One threadblock loops over the rows of a batch that are to be zeroed. */
__global__ void
clear_rows (LigPadded padded, const int32_t *lengths)
{
  int64_t b = blockIdx.y;
  int64_t length = min ((int64_t) max (lengths[b], 0), padded.rows);
  int64_t first = padded.whole ? length > 0 ? padded.rows : 0 : length;
  int64_t words = padded.bytes / 4, missing = (padded.rows - first) * words;
  for (int64_t group = 0; group < padded.groups; group++) {
    int64_t start = ((b * padded.groups + group) * padded.rows + first) * words;
    uint32_t *data = static_cast<uint32_t *> (padded.data) + start;
    for (int64_t i = (int64_t) blockIdx.x * threads + threadIdx.x; i < missing;
         i += (int64_t) gridDim.x * threads)
      data[i] = 0;
  }
}

__global__ void
copy_rows (LigPadded padded, const uint4 *from, const int32_t *lengths)
{
  int64_t b = blockIdx.y, words = padded.bytes / 16, count = padded.rows * words;
  int64_t kept = min ((int64_t) max (lengths[b], 0), padded.rows) * words;
  uint4 *to = static_cast<uint4 *> (padded.data) + b * count;
  from += b * count;
  for (int64_t i = (int64_t) blockIdx.x * threads + threadIdx.x; i < count;
       i += (int64_t) gridDim.x * threads)
    to[i] = i < kept ? from[i] : make_uint4 (0, 0, 0, 0);
}

} // namespace

extern "C" cudaError_t
lig_attention_lengths (const int32_t *lengths,
                       int64_t batch,
                       int32_t length,
                       int32_t keys,
                       bool memory,
                       int32_t *query_lengths,
                       int32_t *key_lengths,
                       cudaStream_t stream)
{
  unsigned blocks = (unsigned) ((batch + threads - 1) / threads);
  limit_lengths<<<blocks, threads, 0, stream>>> (lengths, batch, length, keys, memory,
                                                 query_lengths, key_lengths);
  return cudaPeekAtLastError ();
}

extern "C" cudaError_t
lig_attention_clear (const LigPadded *padded, const int32_t *lengths, cudaStream_t stream)
{
  dim3 grid (16, (unsigned) padded->batch);
  clear_rows<<<grid, threads, 0, stream>>> (*padded, lengths);
  return cudaPeekAtLastError ();
}

extern "C" cudaError_t
lig_attention_copy (const LigPadded *padded,
                    const void *from,
                    const int32_t *lengths,
                    cudaStream_t stream)
{
  constexpr int64_t max = 512;
  int64_t blocks = (padded->rows * padded->bytes / 16 + threads - 1) / threads;
  dim3 grid ((unsigned) (blocks < max ? blocks : max), (unsigned) padded->batch);
  copy_rows<<<grid, threads, 0, stream>>> (*padded, static_cast<const uint4 *> (from), lengths);
  return cudaPeekAtLastError ();
}
