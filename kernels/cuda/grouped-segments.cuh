/* SPDX-License-Identifier: MIT */
/* The segments of rows of grouped matmuls, and their tiles. The first rows of groups are known only
 * on the device: a small kernel turns the offsets into borders of segments - the rows before the
 * first group, the groups, the rows after the last - and numbers the tiles of all segments. */
#pragma once

#include "kernels/cuda/experts.cuh"

#define LIG_GROUPED_MISFIT \
  "grouped matmul: operands that do not fit together, or of another type; pass what the " \
  "signature names"
#define LIG_TOO_MANY_TILES "grouped matmul: too many tiles; reduce the rows or columns"

namespace lig
{
namespace grouped
{
/* The segments: segment s has the rows from borders[s] to borders[s + 1], and its tiles are
 * numbered from tiles[s]. The first and the last segment belong to no group. */
struct Segments {
  int count;
  int *borders, *tiles; /* each count + 1 */
  int *next;            /* a counter, initially 0 */

  /* Returns the last of the ascending starts that is not after a number. */
  __device__ int
  find (const int *starts, int64_t number) const
  {
    int low = 0, high = count;
    while (low < high) {
      int middle = (low + high + 1) / 2;
      if (starts[middle] <= number)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
  /* The same, by all threads of a warp, with loads that do not wait for each other. */
  __device__ int
  find_by_warp (const int *starts, int64_t number) const
  {
    int before = 0, found = 32;
    for (int base = 0; base < count && found == 32; base += 32) {
      int i = base + (int) threadIdx.x % 32;
      found = __popc (__ballot_sync (~0u, i < count && starts[i] <= number));
      before += found;
    }
    return before - 1;
  }
  /* Returns whether a segment is one of the groups. */
  __device__ bool
  is_group (int segment) const
  {
    return segment > 0 && segment < count - 1;
  }
};

/* The number of tiles of a segment if each has that many rows. */
struct Tiles {
  int64_t length;
  __device__ int64_t
  operator() (bool, int64_t rows) const
  {
    return (rows + length - 1) / length;
  }
};

/* Sets the borders, with offsets as if each were at least the one before it and at most `rows`, and
 * numbers the tiles, of which a segment has count (is it a group, rows). */
template <class F>
__global__ void __launch_bounds__ (1024)
  set_segments (const int32_t *offsets, int64_t rows, F count, Segments s)
{
  if (threadIdx.x == 0) {
    s.borders[0] = s.tiles[0] = *s.next = 0;
    s.borders[s.count] = (int) rows;
  }
  scan_block (
    s.count - 1, 0, Largest{},
    [=] (int64_t i) { return min (max ((int64_t) offsets[i], (int64_t) 0), rows); },
    [=] (int64_t i, int64_t border) { s.borders[i + 1] = (int) border; });
  scan_block (
    s.count, 0, Total{},
    [=] (int64_t i) {
      return count (s.is_group ((int) i), (int64_t) s.borders[i + 1] - s.borders[i]);
    },
    [=] (int64_t i, int64_t end) { s.tiles[i + 1] = (int) end; });
}

/* Places the segments at the beginning of the workspace, and launches the kernel that sets them. */
template <class F>
static LigStatus
begin (LigLaunch *launch, const LigOperand *offsets, int64_t rows, F count, Segments *s)
{
  if (offsets->dtype != LIG_INT32 || offsets->size < 2 || rows > INT32_MAX ||
      (size_t) (offsets->size + 3) * 2 * sizeof (int) > LIG_WORKSPACE_SIZE / 2)
    return LIG_FAIL (launch, LIG_UNSUPPORTED, LIG_GROUPED_MISFIT);
  s->count = (int) offsets->size + 1;
  s->borders = (int *) launch->workspace;
  s->tiles = s->borders + s->count + 1;
  s->next = s->tiles + s->count + 1;
  set_segments<F>
    <<<1, 1024, 0, stream (launch)>>> ((const int32_t *) offsets->data, rows, count, *s);
  return LIG_LAUNCHED (launch);
}

/* Returns the most tiles that segments can have. */
inline int64_t
most_tiles (const Segments &s, int64_t rows, int64_t length)
{
  return rows / length + s.count;
}
} /* namespace grouped */
} /* namespace lig */
