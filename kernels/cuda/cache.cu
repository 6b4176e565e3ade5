/* SPDX-License-Identifier: MIT */
/* The keys and values of texts in progress. Lower bound: each crosses the memory bus twice. */
#include "kernels/cuda/common/access.cuh"
#include "kernels/cuda/common/early.cuh"
#include <ligature/params-cache.h>

namespace lig
{
/* Columns are counted in vectors of A::W elements; `column` is the first one that is kept. */
struct Append {
  int64_t size, length, capacity, columns, column, width;
  int n_slots;
  const int32_t *starts, *slots;
};

/* Copies each vector of the last columns of a row to its place in the cache. */
template <class A>
__global__ void
__launch_bounds__ (THREADS) append (Append p, Target x, Target cache)
{
  wait_for_previous ();
  let_next_begin ();
  int64_t i = (int64_t) blockIdx.x * THREADS + threadIdx.x;
  if (i >= p.size)
    return;
  int64_t row = i / p.width, text = row / p.length;
  int64_t position = p.starts[text] + row % p.length;
  int64_t slot = max (0, min (p.slots[text], p.n_slots - 1));
  if (p.capacity % LIG_CACHE_UNIT == 0 && position >= p.capacity)
    position %= p.capacity;
  if (position < 0 || position >= p.capacity)
    return;
  int64_t from = row * p.columns + p.column + i % p.width;
  int64_t to = (slot * p.capacity + position) * p.width + i % p.width;
  A::write (cache, to * A::W, A::read (x, from * A::W));
}
} /* namespace lig */

using namespace lig;

extern "C" LigStatus
lig_cuda_cache_append (LigLaunch *launch)
{
  const LigCacheParams *p = (const LigCacheParams *) launch->params;
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[3];
  if (!p || p->length < 1 || p->capacity < 1 || x->dtype != cache->dtype ||
      x->columns < cache->columns || rows (x) % p->length != 0)
    return LIG_FAIL (launch, LIG_FAILED, "cache: the parameters do not fit the rows; correct them");
  int64_t width = x->dtype == LIG_FP32 ? 4 : 8;
  bool packs = packable ({x, cache}) && x->columns % width == 0 && cache->columns % width == 0;
  return dispatch_access (launch, x->dtype, packs, [=] (auto access) {
    using A = decltype (access);
    Append one = {rows (x) * cache->columns / A::W,
                  p->length,
                  p->capacity,
                  x->columns / A::W,
                  (x->columns - cache->columns) / A::W,
                  cache->columns / A::W,
                  (int) (rows (cache) / p->capacity),
                  (const int32_t *) launch->operands[1].data,
                  (const int32_t *) launch->operands[2].data};
    int64_t blocks = (one.size + THREADS - 1) / THREADS;
    return launch_early (launch, is_short (launch, blocks), append<A>, dim3 ((unsigned) blocks),
                         dim3 (THREADS), 0, 1, one, target (x), target (cache));
  });
}
