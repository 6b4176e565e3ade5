/* SPDX-License-Identifier: MIT */
/* The units of work of a persistent kernel whose clusters of two threadblocks take the next one
 * when they are ready (dynamic scheduling): units of different lengths, known only on the device,
 * leave no cluster idle. Each unit is computed in the same way by whichever cluster takes it, so
 * that results do not depend on the order.
 *
 * A scheduler, a warp of the first threadblock, takes units from a counter in device memory and
 * sends what they are to both threadblocks, whose producers and consumers read it: it has time to
 * search for the group of a unit. Each reader sees all units in the same order. */
#pragma once

#include "kernels/cuda/matmul/finish.cuh"

namespace lig
{
/* The units on their way to each threadblock: more would be taken too early by a busy cluster. */
enum { UNITS_AHEAD = 3, UNIT_BYTES = 32, UNITS_BYTES = UNITS_AHEAD * (UNIT_BYTES + 16) };

/* The arrivals that free the place of a unit: those of the producer and of eight consumer warps of
 * each threadblock. */
enum { UNIT_READERS = 2 * (1 + 8) };

/* A tile of a unit as the scheduler sends it; `exists` is 0 at the end. The two tiles of a unit are
 * vertical neighbours, or `sideways`. */
struct SentTile {
  int exists, group, row, column, begin, end, sideways, unused;
  __device__ SentTile
  neighbour (int width) const
  {
    SentTile other = *this;
    other.row += sideways ? 0 : TILE_ROWS;
    other.column += sideways ? width : 0;
    return other;
  }
};
static_assert (sizeof (SentTile) == UNIT_BYTES, "a tile is sent as two vectors");

struct UnitQueue {
  uint32_t tiles, full, empty; /* addresses in shared memory; `empty` is used in the first block */

  /* Returns the queue at an address in shared memory, a multiple of 16. */
  __device__ static UnitQueue
  at (uint32_t address)
  {
    return UnitQueue{address, address + UNITS_AHEAD * UNIT_BYTES,
                     address + UNITS_AHEAD * (UNIT_BYTES + 8)};
  }

  /* Initializes the barriers, for the cluster after its next cluster_sync (). */
  __device__ void
  begin () const
  {
    if (threadIdx.x > 0)
      return;
    for (int i = 0; i < UNITS_AHEAD; i++) {
      barrier_init (full + 8 * i, 1);
      barrier_init (empty + 8 * i, UNIT_READERS);
    }
    barriers_publish ();
  }

  /* Writes the tile of a turn to a threadblock of the cluster, whose readers then see it. */
  __device__ void
  send (int turn, const SentTile &tile, int rank) const
  {
    asm volatile("{\n"
                 ".reg .b32 to, barrier;\n"
                 "mapa.shared::cluster.u32 to, %0, %9;\n"
                 "mapa.shared::cluster.u32 barrier, %1, %9;\n"
                 "st.shared::cluster.v4.s32 [to], {%2, %3, %4, %5};\n"
                 "st.shared::cluster.v4.s32 [to + 16], {%6, %7, %8, %8};\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [barrier];\n"
                 "}" ::"r"(tiles + turn % UNITS_AHEAD * UNIT_BYTES),
                 "r"(full + turn % UNITS_AHEAD * 8), "r"(tile.exists), "r"(tile.group),
                 "r"(tile.row), "r"(tile.column), "r"(tile.begin), "r"(tile.end),
                 "r"(tile.sideways), "r"(rank)
                 : "memory");
  }

  /* Waits like barrier_wait (), and sees what other threadblocks of the cluster have written. */
  __device__ static void
  wait (uint32_t barrier, uint32_t parity)
  {
    uint32_t over = 0;
    while (!over)
      asm volatile("{\n"
                   ".reg .pred p;\n"
                   "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                   "selp.u32 %0, 1, 0, p;\n"
                   "}"
                   : "=r"(over)
                   : "r"(barrier), "r"(parity)
                   : "memory");
  }

  /* The scheduler, a warp of the first threadblock: sends describe (unit) and its neighbour for all
   * units that this cluster takes; its first one has the number of the cluster. Tiles have `width`
   * columns. */
  template <class F>
  __device__ void
  schedule (int *next, int count, F describe, int width = TILE_COLUMNS) const
  {
    int clusters = (int) gridDim.x / 2, unit = (int) blockIdx.x / 2;
    for (int turn = 0;; turn++) {
      SentTile tile = {};
      int following = 0;
      if (unit < count) {
        if (threadIdx.x % 32 == 0)
          following = atomicAdd (next, 1);
        tile = describe (unit);
      }
      if (threadIdx.x % 32 == 0) {
        wait (empty + turn % UNITS_AHEAD * 8, (turn / UNITS_AHEAD & 1) ^ 1);
        send (turn, tile, 0);
        send (turn, tile.neighbour (width), 1);
      }
      __syncwarp ();
      if (!tile.exists)
        break;
      unit = clusters + __shfl_sync (~0u, following, 0);
    }
  }

  /* Returns the tile of a turn; one thread of a reader then calls free (). */
  __device__ SentTile
  read (int turn) const
  {
    SentTile tile;
    uint32_t from = tiles + turn % UNITS_AHEAD * UNIT_BYTES;
    wait (full + turn % UNITS_AHEAD * 8, turn / UNITS_AHEAD & 1);
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile.exists), "=r"(tile.group), "=r"(tile.row), "=r"(tile.column)
                 : "r"(from)
                 : "memory");
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tile.begin), "=r"(tile.end), "=r"(tile.sideways), "=r"(tile.unused)
                 : "r"(from + 16)
                 : "memory");
    return tile;
  }
  __device__ void
  free (int turn) const
  {
    asm volatile("{\n"
                 ".reg .b32 first;\n"
                 "mapa.shared::cluster.u32 first, %0, 0;\n"
                 "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [first];\n"
                 "}" ::"r"(empty + turn % UNITS_AHEAD * 8)
                 : "memory");
  }

  /* Returns the tile of a turn, for the producer, and for a consumer warp. */
  __device__ SentTile
  produce (int turn) const
  {
    SentTile tile = read (turn);
    free (turn);
    return tile;
  }
  __device__ SentTile
  consume (int turn) const
  {
    SentTile tile = read (turn);
    __syncwarp ();
    if (threadIdx.x % 32 == 0)
      free (turn);
    return tile;
  }
};
} /* namespace lig */
