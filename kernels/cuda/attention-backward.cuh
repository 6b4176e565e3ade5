/* SPDX-License-Identifier: MIT */
/* The inner steps of attention's backward pass on tensor cores: the contributions of some rows of
 * the other operand to the gradients that a warp accumulates in registers. */
#pragma once

#include "kernels/cuda/attention-fast.cuh"

namespace lig
{
/* The tile sizes of a kernel: a warp processes TILES times 16 rows of the threadblock's operand,
 * and STEP rows of the other operand at a time, which is copied BLOCK rows at a time. Larger sizes
 * read shared memory less often, and need more registers; BLOCKS threadblocks should fit on an
 * SM. */
template <int TILES_, int STEP_, int BLOCK_, int BLOCKS_> struct Sizes {
  static constexpr int TILES = TILES_, STEP = STEP_, BLOCK = BLOCK_, BLOCKS = BLOCKS_;
  static constexpr int MINE = 16 * TILES, ROWS = MINE * FAST_WARPS;
  /* Returns the bytes of two tiles of ROWS rows, and of two pipeline stages of two tiles of BLOCK
   * rows. */
  static constexpr size_t
  bytes (int columns)
  {
    return (size_t) (2 * ROWS + 4 * BLOCK) * (size_t) columns * 2;
  }
};
template <int D>
using KeySizes = std::conditional_t<D == 64, Sizes<2, 32, 64, 2>, Sizes<1, 64, 64, 2>>;
template <int D>
using QuerySizes = std::conditional_t<D == 64, Sizes<2, 32, 64, 3>, Sizes<2, 32, 32, 2>>;

/* The part of a threadblock's tile that a warp processes: its rows begin at `mine` in the tiles of
 * the threadblock's operand, and belong to the queries from `query` on, or to the keys from `key`
 * on. */
struct Place {
  int mine, query, key;
};

/* Converts products of keys and queries to powers of 2; `rows` are the Attention.rows of the
 * queries. */
template <bool EXTRA, class S>
__device__ inline void
raise (Sums16<S::TILES, S::STEP> &powers,
       const float2 *rows,
       const Extras &extras,
       Place at,
       float scale)
{
  const float4 *pairs = reinterpret_cast<const float4 *> (rows) + threadIdx.x % 4;
  if constexpr (EXTRA)
    each_score<true> (powers, at.query, at.key, [&] (float &score, int i, int j) {
      float unused;
      score = extras.score (score, i, j, &unused);
    });
#pragma unroll
  for (int n = 0; n < S::STEP / 8; n++) {
    float4 pair = pairs[4 * n];
#pragma unroll
    for (int m = 0; m < S::TILES; m++)
#pragma unroll
      for (int c = 0; c < 4; c++)
        powers.v[m][n][c] =
          lig_quick_power (__fmaf_rn (powers.v[m][n][c], scale, c % 2 ? -pair.z : -pair.x));
  }
}

/* Corrects powers for the rounding errors of their queries, which are the columns. */
template <class S>
__device__ inline void
restore (Sums16<S::TILES, S::STEP> &powers, const float *lost)
{
#pragma unroll
  for (int n = 0; n < S::STEP / 8; n++)
#pragma unroll
    for (int c = 0; c < 2; c++) {
      const float factor = exp2f (-lost[8 * n + 2 * ((int) threadIdx.x % 4) + c]);
#pragma unroll
      for (int m = 0; m < S::TILES; m++) {
        powers.v[m][n][c] *= factor;
        powers.v[m][n][c + 2] *= factor;
      }
    }
}

/* Converts products of values and dy to the gradients of scores. Powers that are marked as dropped
 * by their sign become 0, the others are scaled as dropout scales them. */
template <bool EXTRA, class S>
__device__ inline void
derive (Sums16<S::TILES, S::STEP> &slopes,
        Sums16<S::TILES, S::STEP> &powers,
        const float2 *rows,
        float kept)
{
  const float4 *pairs = reinterpret_cast<const float4 *> (rows) + threadIdx.x % 4;
#pragma unroll
  for (int n = 0; n < S::STEP / 8; n++) {
    float4 pair = pairs[4 * n];
#pragma unroll
    for (int m = 0; m < S::TILES; m++)
#pragma unroll
      for (int c = 0; c < 4; c++) {
        float power = powers.v[m][n][c], mean = c % 2 ? pair.w : pair.y;
        float factor = !EXTRA ? 1 : signbit (power) ? 0 : kept;
        slopes.v[m][n][c] = fabsf (power) * (factor * slopes.v[m][n][c] - mean);
        powers.v[m][n][c] = factor * power;
      }
  }
}

/* Accumulates the contributions of STEP queries, `queries`, to the gradients of the warp's `keys`;
 * `lost` is null if rounding errors are negligible. */
template <class T, bool EXTRA, class S, int D>
__device__ inline void
add_queries (Sums16<S::TILES, D> &dk,
             Sums16<S::TILES, D> &dv,
             const Tile<D> (&keys)[2],
             const Tile<D> (&queries)[2],
             const float2 *rows,
             const float *lost,
             const Sight &s,
             const Documents &documents,
             const Extras &extras,
             Place at,
             float scale)
{
  Sums16<S::TILES, S::STEP> powers, slopes;
  powers.clear ();
  add_scores<T> (powers, keys[0], at.mine, queries[0]);
  raise<EXTRA, S> (powers, rows, extras, at, scale);
  if (lost)
    restore<S> (powers, lost);
  if (documents.of || !s.clear (at.query, S::STEP, at.key, S::MINE))
    hide<true> (powers, s, documents, at.query, at.key, 0);
  if constexpr (!EXTRA)
    add_weighted<T> (dv, powers, queries[1]);
  slopes.clear ();
  add_scores<T> (slopes, keys[1], at.mine, queries[1]);
  if constexpr (EXTRA)
    if (extras.threshold > 0)
      each_dropped (powers, dropped<true, S::TILES, S::STEP> (extras, at.query, at.key),
                    [] (float &power, bool drops) { power = drops ? -power : power; });
  derive<EXTRA, S> (slopes, powers, rows, extras.kept);
  if constexpr (EXTRA)
    add_weighted<T> (dv, powers, queries[1]);
  if (EXTRA && extras.softcap > 0) {
    powers.clear ();
    add_scores<T> (powers, keys[0], at.mine, queries[0]);
#pragma unroll
    for (int i = 0; i < S::TILES * S::STEP / 2; i++) {
      float cap;
      extras.score (powers.v[i / (S::STEP / 2)][i / 4 % (S::STEP / 8)][i % 4], 0, 0, &cap);
      slopes.v[i / (S::STEP / 2)][i / 4 % (S::STEP / 8)][i % 4] *= cap;
    }
  }
  add_weighted<T> (dk, slopes, queries[0]);
}

/* Accumulates the contributions of STEP keys, `keys`, to the gradient of the warp's `queries`;
 * `rows` are the Attention.rows of the lane's queries. The sums correct their rounding errors. */
template <class T, bool EXTRA, class S, int D>
__device__ inline void
add_keys (Sums16<S::TILES, D> &dq,
          const Tile<D> (&queries)[2],
          const Tile<D> (&keys)[2],
          const float2 (&rows)[S::TILES][2],
          const Sight &s,
          const Documents &documents,
          const Extras &extras,
          Place at,
          float scale)
{
  Sums16<S::TILES, S::STEP> powers, slopes;
  powers.clear ();
  slopes.clear ();
  add_scores<T> (powers, queries[0], at.mine, keys[0]);
  add_scores<T> (slopes, queries[1], at.mine, keys[1]);
  int i = at.query + (int) threadIdx.x % 32 / 4, j = at.key + 2 * ((int) threadIdx.x % 4);
  uint64_t bits = 0;
  if constexpr (EXTRA)
    if (extras.threshold > 0)
      bits = dropped<false, S::TILES, S::STEP> (extras, at.query, at.key);
#pragma unroll
  for (int m = 0; m < S::TILES; m++)
#pragma unroll
    for (int n = 0; n < S::STEP / 8; n++)
#pragma unroll
      for (int c = 0; c < 4; c++) {
        float score = powers.v[m][n][c], slope = slopes.v[m][n][c], cap = 1;
        if constexpr (EXTRA) {
          int query = i + 16 * m + c / 2 * 8, key = j + 8 * n + c % 2;
          score = extras.score (score, query, key, &cap);
          slope = bit_of<S::STEP> (bits, m, n, c) ? 0 : slope * extras.kept;
        }
        slope = (slope - rows[m][c / 2].y) * cap;
        slopes.v[m][n][c] = lig_quick_power (__fmaf_rn (score, scale, -rows[m][c / 2].x)) * slope;
      }
  if (documents.of || !s.clear (at.query, S::MINE, at.key, S::STEP))
    hide<false> (slopes, s, documents, at.query, at.key, 0);
  add_weighted<T> (dq, slopes, keys[0]);
}
} /* namespace lig */
