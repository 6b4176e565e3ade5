/* SPDX-License-Identifier: MIT */
/* Quantized copies of several matrices of equal size in one launch, such as the weights of experts:
 * one persistent kernel processes the tiles of all of them, like quantize_tiles those of one.
 * Lower bound: the source is read once, and each copy written once; scales of whole rows, columns
 * or matrices need one pass more. */
#include "kernels/cuda/quantize-groups.cuh"
#include "kernels/cuda/quantize-source.cuh"

namespace lig
{
/* The matrices: their number, the tiles, the elements and the bytes of each in the source, and the
 * scales of its copies. */
struct Matrices {
  int count, tiles;
  int64_t size, bytes, row_scales, transposed_scales;
};

/* A tile of a matrix. */
struct TileOfMatrix {
  int matrix;
  TilePlace place;
};

__device__ inline TileOfMatrix
tile_of (const Quantization &q, const Matrices &all, int number)
{
  return {number / all.tiles, tile_at (q, number % all.tiles)};
}

/* Returns the operands of a matrix. */
__device__ inline Quantization
of_matrix (const Quantization &q, const Matrices &all, int64_t matrix)
{
  Quantization own = q;
  own.row += q.row ? matrix * all.size : 0;
  own.transposed += q.transposed ? matrix * all.size : 0;
  own.row_scale += q.row_scale ? matrix * all.row_scales : 0;
  own.transposed_scale += q.transposed_scale ? matrix * all.transposed_scales : 0;
  own.amax += q.amax ? matrix : 0;
  own.row_amaxes += q.row_amaxes ? matrix * q.rows : 0;
  own.column_amaxes += q.column_amaxes ? matrix * q.columns : 0;
  return own;
}

template <class S>
__device__ inline S
source_of (const S &source, const Matrices &all, int64_t matrix)
{
  S own = source;
  own.f.x.data = (char *) source.f.x.data + matrix * all.bytes;
  return own;
}

/* Calls `use` with each tile of a threadblock, the operands of its matrix, its elements and the
 * amaxes of its warps if there are scales of tiles, while the next tile is loaded. */
template <class S, class F>
__device__ inline void
each_tile (const Quantization &q, const S &source, const Matrices &all, int places, F use)
{
  using T = typename S::Type;
  constexpr int PLACE = S::STAGED / sizeof (uint4);
  __shared__ float warps[2][S::Block::N_WARPS];
  extern __shared__ uint4 staged[];
  int turn = 0;
  TileOfMatrix next = tile_of (q, all, blockIdx.x);
  source_of (source, all, next.matrix).fetch (q, next.place, staged);
#pragma unroll 1
  for (int number = blockIdx.x; number < q.tiles; number += gridDim.x, turn = places - 1 - turn) {
    const TileOfMatrix tile = next;
    uint4 *const elements = staged + turn * PLACE;
    const bool more = number < q.tiles - (int) gridDim.x;
    Extremes<T> extremes[1] = {};
    if (more)
      next = tile_of (q, all, number + (int) gridDim.x);
    const S own = source_of (source, all, tile.matrix);
    own.stage (q, tile.place, elements, extremes);
    if (q.has_scales_of_tiles ())
      leave_amax<T> (extremes[0].amax (), warps[turn]);
    __syncthreads ();
    if (more && places > 1)
      source_of (source, all, next.matrix).fetch (q, next.place, staged + (1 - turn) * PLACE);
    use (tile, of_matrix (q, all, tile.matrix), elements, warps[turn]);
    if (places == 1)
      __syncthreads ();
    if (more && places == 1)
      source_of (source, all, next.matrix).fetch (q, next.place, elements);
  }
}

/* Finds the amaxes of whole rows, columns and matrices. */
template <class S>
__global__ void
__launch_bounds__ (S::Block::EACH, S::BLOCKS) find_matrices (const __grid_constant__ Quantization q,
                                                             const __grid_constant__ S source,
                                                             const __grid_constant__ Matrices all,
                                                             const __grid_constant__ Lines to,
                                                             int places)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  each_tile (
    q, source, all, places,
    [&] (const TileOfMatrix &tile, const Quantization &own, const uint4 *elements, const auto &) {
      Square<T> square;
      if (S::Block::takes_rows () && (to.of_rows || to.of_all)) {
        read_square<true> (elements, square);
        const float amax = line_amax<true> (square);
        if (to.of_rows)
          raise_line<true> (own, to.of_rows + tile.matrix * q.rows, tile.place.first_row (), amax);
        if (to.of_all)
          raise (to.of_all + tile.matrix, amax);
      }
      if (S::Block::takes_columns () && to.of_columns) {
        read_square<false> (elements, square);
        raise_line<false> (own, to.of_columns + tile.matrix * q.columns, tile.place.first_column (),
                           line_amax<false> (square));
      }
    });
#endif
}

/* Writes the scale of a whole matrix. */
__device__ inline void
write_whole (const Side &side, float scale)
{
  if (side.scales && side.kind == LIG_SCALES_TENSOR)
    *side.scales = lig_quantize_inverse (scale);
}

/* Quantizes the tiles of all matrices. */
template <class S, bool PACKED>
__global__ void
__launch_bounds__ (S::Block::EACH, S::BLOCKS)
  quantize_matrices (const __grid_constant__ Quantization q,
                     const __grid_constant__ S source,
                     const __grid_constant__ Matrices all,
                     int places)
{
#if LIG_QUANTIZES
  using T = typename S::Type;
  each_tile (q, source, all, places,
             [&] (const TileOfMatrix &tile, const Quantization &own, const uint4 *elements,
                  const auto &warps) {
               const Side rows = tile.place.side<true> (own),
                          columns = tile.place.side<false> (own);
               const float scale = own.tensor_scale ();
               if (S::Block::takes_rows ())
                 write_side<true, PACKED, T> (own, elements, tile.place, scale,
                                              known_amax<true> (own, rows), warps);
               if (S::Block::takes_columns ())
                 write_side<false, PACKED, T> (own, elements, tile.place, scale,
                                               known_amax<false> (own, columns), warps);
               if (threadIdx.x == 0 && tile.place.down == 0 && tile.place.across == 0) {
                 write_whole (rows, scale);
                 write_whole (columns, scale);
               }
             });
#endif
}

/* Launches the passes over a source. */
template <bool PACKED, class S>
static LigStatus
quantize_all (LigLaunch *launch,
              const Quantization &q,
              const Matrices &all,
              const Lines &lines,
              const S &source)
{
  const int places = places_of<S> (launch), bytes = places * (int) S::STAGED;
  LigStatus status = LIG_OK;
  if (lines.of_rows || lines.of_columns || lines.of_all) {
    auto find = find_matrices<S>;
    cudaFuncSetAttribute (find, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    find<<<blocks_of<S> (launch, q), S::Block::EACH, bytes, stream (launch)>>> (q, source, all,
                                                                                lines, places);
    status = LIG_LAUNCHED (launch);
  }
  if (status != LIG_OK)
    return status;
  auto write = quantize_matrices<S, PACKED>;
  cudaFuncSetAttribute (write, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  write<<<blocks_of<S> (launch, q), S::Block::EACH, bytes, stream (launch)>>> (q, source, all,
                                                                               places);
  return LIG_LAUNCHED (launch);
}

/* Places the amaxes of all matrices in the workspace, and clears them. */
static LigStatus
place_amaxes (LigLaunch *launch, Quantization *q, const Matrices &all, Lines *lines)
{
  const bool row = q->row_kind == LIG_SCALES_ROW && q->row;
  const bool column = q->transposed_kind == LIG_SCALES_ROW && q->transposed;
  const bool whole = (q->row_kind == LIG_SCALES_TENSOR && q->row) ||
                     (q->transposed_kind == LIG_SCALES_TENSOR && q->transposed);
  const int64_t rows = row ? all.count * q->rows : 0, columns = column ? all.count * q->columns : 0;
  const size_t used = (size_t) (rows + columns + (whole ? all.count : 0)) * sizeof (uint32_t);
  uint32_t *const begin = (uint32_t *) launch->workspace;
  if (used > LIG_WORKSPACE_SIZE)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: too many rows or columns; reduce them");
  lines->of_rows = row ? begin : nullptr;
  lines->of_columns = column ? begin + rows : nullptr;
  lines->of_all = whole ? begin + rows + columns : nullptr;
  q->row_amaxes = lines->of_rows;
  q->column_amaxes = lines->of_columns;
  q->amax = (const float *) lines->of_all;
  q->row_bits = 0;
  q->row_step = q->rows;
  clear (launch, used > 0 ? begin : nullptr, used);
  return LIG_OK;
}

LigStatus
quantize_groups (LigLaunch *launch, const LigQuantizeParams *params)
{
  const LigOperand *o = launch->operands, *x = &o[0];
  Quantization q = quantization (launch, params, x, &o[1], 2);
  if (o[1].data || o[6].data || o[7].data || o[8].data || rows (x) % params->groups != 0)
    return LIG_FAIL (launch, LIG_UNSUPPORTED,
                     "quantize: several matrices have only copies; omit the other operands");
  q.rows /= params->groups;
  const int64_t across = (q.columns + EDGE - 1) / EDGE, down = (q.rows + EDGE - 1) / EDGE;
  if (across * down * params->groups > INT32_MAX)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, "quantize: too many elements; use fewer groups");
  q.across = (int) across;
  q.tiles = (int) (across * down * params->groups);
  Matrices all = {params->groups, (int) (across * down), q.rows * q.columns};
  all.bytes = all.size * (int64_t) lig_dtype_size (x->dtype);
  all.row_scales = lig_scales_count ((LigScales) q.row_kind, q.rows, q.columns);
  all.transposed_scales = lig_scales_count ((LigScales) q.transposed_kind, q.columns, q.rows);
  Lines lines = {};
  LigStatus status = place_amaxes (launch, &q, all, &lines);
  const LooseSource<Plain> loose = {Plain{target (x)}, Target{}};
  if (status != LIG_OK)
    return status;
  if (!streams_pack ({x}, q.columns) || !copies_pack (q))
    return quantize_all<false> (launch, q, all, lines, loose);
  return dispatch (launch, q.source, [&] (auto zero) {
    using T = decltype (zero);
    const PackedSource<Plain, T> packed = {Plain{target (x)}, nullptr};
    if (places_of<PackedSource<Plain, T>> (launch) == 0)
      return quantize_all<false> (launch, q, all, lines, loose);
    return quantize_all<true> (launch, q, all, lines, packed);
  });
}
} /* namespace lig */
