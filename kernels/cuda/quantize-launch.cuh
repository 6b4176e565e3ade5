/* SPDX-License-Identifier: MIT */
/* The launches that quantize a source: of the reading that finds amaxes, if scales follow from more
 * than a tile, and of that which writes the copies. */
#pragma once

#include "kernels/cuda/quantize-amaxes.cuh"

namespace lig
{
/* Returns whether the copies are aligned, so that SIDE bytes can be stored at once. */
inline bool
copies_pack (const Quantization &q)
{
  return q.columns % 16 == 0 && q.rows % 16 == 0 && ((uintptr_t) q.row & 15) == 0 &&
         ((uintptr_t) q.transposed & 15) == 0;
}

/* Returns the number of blocks that take the tiles of a launch. */
inline dim3
blocks_of (const LigLaunch *launch, const Quantization &q, int together)
{
  int most = launch->device->multiprocessors * together;
  return dim3 ((unsigned) (q.tiles < most ? q.tiles : most));
}

/* Finds the amaxes that the scales of more than a tile follow from. */
template <class S>
LigStatus
find_first (LigLaunch *launch, const Quantization &q, const Lines &lines, const S &source)
{
  if constexpr (S::UNORDERED) {
    return find_by_rows (launch, q, source, lines);
  } else {
    if (q.tiles == 0)
      return LIG_OK;
    cudaFuncSetAttribute (find_lines<S>, cudaFuncAttributeMaxDynamicSharedMemorySize, S::STAGED);
    find_lines<S>
      <<<blocks_of (launch, q, blocks_together<S, false>), THREADS, S::STAGED, stream (launch)>>> (
        q, source, lines);
    return LIG_LAUNCHED (launch);
  }
}

/* Writes the copies of the bands of a launch. */
template <bool PACKED, bool UNIFORM, class S>
LigStatus
write_copies (LigLaunch *launch, const Quantization &q, const S &source)
{
  auto kernel = quantize_tiles<S, PACKED, UNIFORM>;
  cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::STAGED);
  kernel<<<blocks_of (launch, q, blocks_together<S, UNIFORM>), THREADS, S::STAGED,
           stream (launch)>>> (q, source);
  return LIG_LAUNCHED (launch);
}

/* Quantizes the matrix [q.rows, q.columns] of a source; with `lines` it reads that twice. dbias, if
 * it is present, gets the sum of the rows. */
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
    if (status != LIG_OK || write_rows_alone (launch, q, source, &status))
      return status;
  for (int64_t band = 0; band < bands && status == LIG_OK; band += q.bands) {
    int count = (int) (bands - band < q.bands ? bands - band : q.bands);
    q.first_band = (int) band;
    q.tiles = (int) (across * count);
    status = S::UNORDERED && q.uniform ? write_copies<PACKED, S::UNORDERED> (launch, q, source)
                                       : write_copies<PACKED, false> (launch, q, source);
    if (q.sums && status == LIG_OK)
      status = sum_parts (launch, q.sums, count, q.columns, q.columns, target (dbias),
                          band > 0 || launch->accumulate, threads_for (count));
  }
  return status;
}
} /* namespace lig */
