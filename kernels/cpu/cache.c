/* SPDX-License-Identifier: MIT */
/* The keys and values of texts in progress. */
#include "kernels/cpu/cpu.h"
#include <ligature/params-cache.h>

#include <string.h>

/* Copies the last columns of each row to its place in the cache. */
LigStatus
LIG_CPU (cache_append) (LigLaunch *launch)
{
  const LigCacheParams *p = launch->params;
  const LigOperand *x = &launch->operands[0], *cache = &launch->operands[3];
  const int32_t *starts = launch->operands[1].data, *slots = launch->operands[2].data;
  int64_t rows = lig_rows (x), n_slots = p && p->capacity > 0 ? lig_rows (cache) / p->capacity : 0;
  if (n_slots < 1 || p->length < 1 || rows % p->length != 0 || x->columns < cache->columns ||
      x->dtype != cache->dtype)
    return LIG_FAIL (launch, LIG_FAILED, "cache: the parameters do not fit the rows; correct them");
  size_t size = lig_dtype_size (x->dtype), bytes = (size_t) cache->columns * size;
  int64_t column = x->columns - cache->columns;
#pragma omp parallel for schedule(static) if (rows * cache->columns > LIG_PARALLEL_FROM)
  for (int64_t row = 0; row < rows; row++) {
    int64_t text = row / p->length, position = starts[text] + row % p->length;
    if (p->capacity % LIG_CACHE_UNIT == 0 && position >= 0)
      position %= p->capacity;
    int64_t slot = slots[text] < 0 ? 0 : slots[text] < n_slots ? slots[text] : n_slots - 1;
    if (position >= 0 && position < p->capacity)
      memcpy (lig_at (cache, (slot * p->capacity + position) * cache->columns),
              lig_at (x, row * x->columns + column), bytes);
  }
  return LIG_OK;
}
