/* SPDX-License-Identifier: MIT */
/* Instructions of compute capability 9.0 (sm_90a) for matmuls: mbarriers that count bytes, bulk
 * tensor copies (TMA) that complete on them, and warpgroup MMA, where a warpgroup is four
 * consecutive warps (PTX ISA, chapters "mbarrier", "cp.async.bulk.tensor" and "wgmma"). */
#pragma once

#include "kernels/cuda/common/cluster.cuh"
#include "kernels/cuda/common/cuda.cuh"

#include <cuda.h>

namespace lig
{
/* Returns a 32-bit shared memory address, as these instructions take it. */
__device__ inline uint32_t
shared_address (const void *pointer)
{
  return (uint32_t) __cvta_generic_to_shared (pointer);
}

/* Synchronizes the 128 threads of a warpgroup; `number` is that of the named barrier, from 1 on. */
__device__ inline void
warpgroup_sync (int number)
{
  asm volatile("bar.sync %0, 128;" ::"r"(number) : "memory");
}

/* Waits at a named barrier where another warpgroup only arrives; and the other side. */
__device__ inline void
turn_wait (int number)
{
  asm volatile("bar.sync %0, 256;" ::"r"(number) : "memory");
}
__device__ inline void
turn_pass (int number)
{
  asm volatile("bar.arrive %0, 256;" ::"r"(number) : "memory");
}

__device__ inline void
barrier_init (uint32_t barrier, uint32_t arrivals)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/* Makes initialized mbarriers visible to the cluster, after its next cluster_sync (). */
__device__ inline void
barriers_publish ()
{
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives, and makes the phase expect that many bytes in addition. */
__device__ inline void
barrier_expect (uint32_t barrier, uint32_t bytes)
{
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/* Arrives at the same mbarrier of a threadblock in the cluster. */
__device__ inline void
barrier_arrive (uint32_t barrier, uint32_t rank)
{
  asm volatile("{\n"
               ".reg .b32 there;\n"
               "mapa.shared::cluster.u32 there, %0, %1;\n"
               "mbarrier.arrive.shared::cluster.b64 _, [there];\n"
               "}" ::"r"(barrier),
               "r"(rank)
               : "memory");
}

/* Waits until the phase of that parity has completed. */
__device__ inline void
barrier_wait (uint32_t barrier, uint32_t parity)
{
  uint32_t over = 0;
  while (!over)
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}"
                 : "=r"(over)
                 : "r"(barrier), "r"(parity)
                 : "memory");
}

/* Issues the copy of a tile of a matrix to shared memory; it completes on the mbarrier. */
__device__ inline void
load_tile (uint32_t target, const CUtensorMap *map, int column, int row, uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];" ::"r"(target),
               "l"(map), "r"(column), "r"(row), "r"(barrier)
               : "memory");
}

/* Multicasts a tile to the same address in all threadblocks of the mask; it completes on the same
 * mbarrier of each. */
__device__ inline void
load_tile_for (
  uint32_t target, const CUtensorMap *map, int column, int row, uint32_t barrier, uint16_t mask)
{
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(target),
               "l"(map), "r"(column), "r"(row), "r"(barrier), "h"(mask)
               : "memory");
}

/* The same for a tile of a layer of a stack of matrices. */
__device__ inline void
load_layer (
  uint32_t target, const CUtensorMap *map, int column, int row, int layer, uint32_t barrier)
{
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(target),
               "l"(map), "r"(column), "r"(row), "r"(layer), "r"(barrier)
               : "memory");
}
__device__ inline void
load_layer_for (uint32_t target,
                const CUtensorMap *map,
                int column,
                int row,
                int layer,
                uint32_t barrier,
                uint16_t mask)
{
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(target),
               "l"(map), "r"(column), "r"(row), "r"(layer), "r"(barrier), "h"(mask)
               : "memory");
}

/* Returns the index of this thread's warp as a warp-uniform value: addresses and loops derived from
 * it use uniform registers. */
__device__ inline int
warp_number ()
{
  return __shfl_sync (~0u, (int) threadIdx.x / 32, 0);
}

/* Returns whether this thread is the elected one of its warp, always the same. */
__device__ inline bool
is_elected ()
{
  uint32_t elected;
  asm volatile("{\n"
               ".reg .pred p;\n"
               "elect.sync _|p, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, p;\n"
               "}"
               : "=r"(elected));
  return elected;
}

/* Issues the store of a tile in shared memory to a matrix, clipped to its bounds. */
__device__ inline void
store_tile (const CUtensorMap *map, int column, int row, uint32_t from)
{
  asm volatile(
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
    "r"(column), "r"(row), "r"(from)
    : "memory");
}

/* Commits this thread's stores as a group. */
__device__ inline void
commit_stores ()
{
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Waits until at most N groups of this thread still read shared memory. */
template <int N>
__device__ inline void
await_stores ()
{
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

/* Stores four matrices of 8 rows of 16 bytes (stmatrix), where lane l passes the address of row l %
 * 8 of matrix l / 8 and holds two neighbours of row l / 4 of each; and loads them (ldmatrix). */
__device__ inline void
write_matrices (uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ inline void
read_matrices (uint32_t address, uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(address)
               : "memory");
}

/* Releases registers of this warpgroup, or acquires more, up to the number (setmaxnreg). */
template <int N>
__device__ inline void
release_registers ()
{
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ inline void
take_registers ()
{
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

__device__ inline void
matmuls_begin ()
{
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void
matmuls_commit ()
{
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Waits until at most N committed groups of MMAs are in flight. */
template <int N>
__device__ inline void
matmuls_wait ()
{
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/* Returns the descriptor of a matrix in shared memory, in rows of 128 bytes with the 128-byte
 * swizzle of bulk copies. Groups of 8 rows are consecutive; `leading` is the distance, in bytes, of
 * two such columns of groups if the rows are those of the depth. */
__device__ inline uint64_t
describe_tile (uint32_t address, uint32_t leading)
{
  return ((uint64_t) 1 << 62) | ((uint64_t) (1024 >> 4) << 32) | ((uint64_t) (leading >> 4) << 16) |
         ((uint64_t) (address & 0x3ffff) >> 4);
}

/* Returns the descriptor of a matrix in shared memory whose elements are all equal, from a multiple
 * of 16 on. */
__device__ inline uint64_t
describe_equal (uint32_t address)
{
  return (uint64_t) 16 << 32 | (uint64_t) 8 << 16 | (uint64_t) (address & 0x3ffff) >> 4;
}

/* Makes this thread's writes to shared memory visible to MMAs and bulk copies, after its next
 * barrier (proxy fence). */
__device__ inline void
publish_writes ()
{
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/* The operand lists of instructions with 32, 64 and 96 registers, and their names. */
#define LIG_8(d, i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
    "+f"(d[i + 6]), "+f"(d[i + 7])
#define LIG_32(d) LIG_8 (d, 0), LIG_8 (d, 8), LIG_8 (d, 16), LIG_8 (d, 24)
#define LIG_64(d) LIG_32 (d), LIG_8 (d, 32), LIG_8 (d, 40), LIG_8 (d, 48), LIG_8 (d, 56)
#define LIG_96(d) LIG_64 (d), LIG_8 (d, 64), LIG_8 (d, 72), LIG_8 (d, 80), LIG_8 (d, 88)
#define LIG_32_NAMES \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
  "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define LIG_64_NAMES \
  LIG_32_NAMES \
  ", " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, " \
  "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LIG_96_NAMES \
  LIG_64_NAMES \
  ", " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, " \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LIG_MULTIPLY_TILE(count, columns, a, b, add, left_rows, right_rows, type) \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n" columns "k16.f32." type "." type \
               " {" LIG_##count##_NAMES "}, " a ", " b ", p, 1, 1, " left_rows ", " right_rows \
                                        ";\n}" \
               : LIG_##count (d) \
               : "l"(left), "l"(right), "r"(adds), "n"(LEFT), "n"(RIGHT))
#define LIG_MULTIPLY_TILES(type) \
  if constexpr (COLUMNS == 64) \
    LIG_MULTIPLY_TILE (32, "64", "%32", "%33", "%34", "%35", "%36", type); \
  else if constexpr (COLUMNS == 128) \
    LIG_MULTIPLY_TILE (64, "128", "%64", "%65", "%66", "%67", "%68", type); \
  else \
    LIG_MULTIPLY_TILE (96, "192", "%96", "%97", "%98", "%99", "%100", type)

/* Issues d = left right, accumulated in d if `adds`: 64 rows, 64, 128 or 192 columns, a depth
 * of 16. LEFT and RIGHT mean that the rows of that tile are those of the depth. The registers of d
 * are free for other values until the first MMA that does not accumulate. */
template <class T, int LEFT, int RIGHT, int COLUMNS>
__device__ inline void
multiply_tile (float (&d)[96], uint64_t left, uint64_t right, int adds)
{
  static_assert (COLUMNS == 64 || COLUMNS == 128 || COLUMNS == 192, "no such instruction");
  if constexpr (std::is_same_v<T, bf16>) {
    LIG_MULTIPLY_TILES ("bf16");
  } else {
    LIG_MULTIPLY_TILES ("f16");
  }
}

#define LIG_MULTIPLY_COLUMNS(type, d, left, right, adds) \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\n" \
               "wgmma.mma_async.sync.aligned.m64n8k16.f32." type "." type " {%0, %1, %2, %3}, " \
               "%4, %5, p, 1, 1, 1, 0;\n}" \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) \
               : "l"(left), "l"(right), "n"(adds))

/* Issues d = left^T right, accumulated in d if ADDS: 16 rows of left with 64 columns, and 8 columns
 * of right. Lane l of warp w holds d of the columns 16 w + l / 4 of left, twice, and 8 further,
 * twice. */
template <class T, int ADDS>
__device__ inline void
multiply_columns (float (&d)[4], uint64_t left, uint64_t right)
{
  if constexpr (std::is_same_v<T, bf16>)
    LIG_MULTIPLY_COLUMNS ("bf16", d, left, right, ADDS);
  else
    LIG_MULTIPLY_COLUMNS ("f16", d, left, right, ADDS);
}
} /* namespace lig */
