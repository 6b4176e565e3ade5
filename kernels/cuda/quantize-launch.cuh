/* SPDX-License-Identifier: MIT */
/* The launches that quantize a source: of the amax pass, if scales cover more than a tile, and of
 * the pass that writes the copies. */
#pragma once

#include "kernels/cuda/quantize-amaxes.cuh"
#include "kernels/cuda/quantize-blocks.cuh"
#include "kernels/cuda/quantize-known.cuh"
#include "kernels/cuda/quantize-tiles.cuh"

namespace lig
{
/* Returns whether the copies are aligned, so that SIDE bytes can be stored at once. */
inline bool
copies_pack (const Quantization &q)
{
  return q.columns % 16 == 0 && q.rows % 16 == 0 && ((uintptr_t) q.row & 15) == 0 &&
         ((uintptr_t) q.transposed & 15) == 0;
}

/* Returns the number of buffers for a source in a threadblock's shared memory, at most two, leaving
 * room for the other threadblocks of an SM. All devices that support the formats give a threadblock
 * 99 KiB, some of them more. If two tiles are computed together, memory is idle so briefly that
 * prefetching others costs more than it gains. */
template <class S>
int
places_of (const LigLaunch *launch)
{
  constexpr size_t RESERVED = 2 << 10; /* for the kernel's static shared memory and the system's */
  int space = 99 << 10;
  if (2 * S::STAGED * S::BLOCKS + RESERVED > (size_t) space)
    cudaDeviceGetAttribute (&space, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                            launch->device->number);
  const size_t whole = (size_t) space - RESERVED;
  if (S::TILES == 1 && 2 * S::STAGED * S::BLOCKS <= whole)
    return 2;
  return S::STAGED <= whole;
}

/* Returns the number of threadblocks for the tiles of a launch. */
template <class S>
dim3
blocks_of (const LigLaunch *launch, const Quantization &q)
{
  int limit = launch->device->multiprocessors * S::BLOCKS;
  return dim3 ((unsigned) (q.tiles < limit ? max (q.tiles, 1) : limit));
}

/* Finds the amaxes of scales that cover more than a tile. */
template <class S>
LigStatus
find_first (LigLaunch *launch, const Quantization &q, const Lines &lines, const S &source)
{
  if constexpr (S::UNORDERED) {
    return find_by_rows (launch, q, source, lines);
  } else {
    S first = source;
    first.values = {};
    cudaFuncSetAttribute (find_lines<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::STAGED);
    find_lines<S>
      <<<blocks_of<S> (launch, q), S::Block::EACH, S::STAGED, stream (launch)>>> (q, first, lines);
    return LIG_LAUNCHED (launch);
  }
}

/* Returns whether the scales of the copies are known before their tiles are computed. */
inline bool
knows_scales (const Quantization &q)
{
  return (!q.row || q.row_kind == LIG_SCALES_TENSOR || q.row_kind == LIG_SCALES_ROW) &&
         (!q.transposed || q.transposed_kind == LIG_SCALES_TENSOR);
}

/* Returns whether all scales are computed from lines within a tile. */
inline bool
has_scales_of_blocks (const Quantization &q)
{
  return (!q.row || q.row_kind == LIG_SCALES_BLOCK) &&
         (!q.transposed || q.transposed_kind == LIG_SCALES_BLOCK);
}

/* Launches quantize_walk, if a threadblock can have the shared memory that it needs. */
template <class C, class S>
bool
walk_tiles (LigLaunch *launch, const Quantization &q, const S &source, LigStatus *status)
{
  auto kernel = quantize_walk<S, C>;
  const int bytes = WalkLayout<S, C>::bytes (q.sums),
            limit = launch->device->multiprocessors * C::BLOCKS;
  const int space = (int) launch->device->properties.sharedMemPerBlockOptin;
  if (q.rounded.data || bytes + (1 << 10) > space)
    return false;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<dim3 ((unsigned) (q.tiles < limit ? max (q.tiles, 1) : limit)), THREADS, bytes,
           stream (launch)>>> (q, source);
  *status = LIG_LAUNCHED (launch);
  return true;
}

/* Writes the copies of a launch's bands. */
template <bool PACKED, class S>
LigStatus
write_copies (LigLaunch *launch, const Quantization &q, const S &source)
{
  if constexpr (PACKED && S::UNORDERED) {
    LigStatus status = LIG_OK;
    if (knows_scales (q) && walk_tiles<KnownCopies<S>> (launch, q, source, &status))
      return status;
    if (has_scales_of_blocks (q) && walk_tiles<BlockCopies<S>> (launch, q, source, &status))
      return status;
  }
  auto kernel = quantize_tiles<S, PACKED>;
  const int places = places_of<S> (launch), bytes = places * (int) S::STAGED;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<blocks_of<S> (launch, q), S::Block::EACH, bytes, stream (launch)>>> (q, source, places);
  return LIG_LAUNCHED (launch);
}

/* Quantizes the matrix [q.rows, q.columns] of a source; with `lines` in two passes. dbias, if it is
 * present, gets the sum of the rows. */
template <bool PACKED, class S>
LigStatus
quantize_from (
  LigLaunch *launch, Quantization q, const Lines &lines, const S &source, const LigOperand *dbias)
{
  int64_t across = (q.columns / S::TILES + EDGE - 1) / EDGE, bands = (q.rows + EDGE - 1) / EDGE;
  LigStatus status = LIG_OK;
  if (across * bands > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: too many elements; reduce the batch size");
  q.across = (int) across;
  q.tiles = (int) (across * bands);
  if (lines.of_rows || lines.of_columns || lines.of_all)
    status = find_first (launch, q, lines, source);
  if constexpr (PACKED && S::UNORDERED)
    if (status != LIG_OK || (bands > 0 && write_rows_alone (launch, q, source, &status)))
      return status;
  /* Without rows, the per-tensor scale and the sums are written nevertheless. */
  for (int64_t band = 0; (band == 0 || band < bands) && status == LIG_OK; band += q.bands) {
    int count = (int) (bands - band < q.bands ? bands - band : q.bands);
    q.first_band = (int) band;
    q.tiles = (int) (across * count);
    status = write_copies<PACKED> (launch, q, source);
    if (q.sums && status == LIG_OK)
      status = sum_parts (launch, q.sums, count, q.columns, q.columns, target (dbias),
                          band > 0 || launch->accumulate, threads_for (count));
  }
  return status;
}
} /* namespace lig */
