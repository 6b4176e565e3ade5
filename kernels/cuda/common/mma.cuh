/* SPDX-License-Identifier: MIT */
/* The warp-level matmul of 16-bit elements on tensor cores, mma.sync m16n8k16.
 *
 * In a matmul of a[16, 16] and b[16, 8], lane l has g = l / 4 and t = l % 4. Of the accumulators c
 * it holds c[g, 2 t], c[g, 2 t + 1], c[g + 8, 2 t], c[g + 8, 2 t + 1]; of a it holds pairs of
 * neighbours in rows g and g + 8 from column 2 t on, then those from column 2 t + 8 on; of b the
 * pairs in column g from row 2 t and from row 2 t + 8 on. */
#pragma once

#include "kernels/cuda/common/convert.cuh"

namespace lig
{
/* Accumulates the matmul of a and b in c. */
template <class T>
__device__ inline void
multiply (float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
  if constexpr (std::is_same_v<T, bf16>)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
} /* namespace lig */
