/* SPDX-License-Identifier: MIT */
/* Random words of several Philox counters at once, one word per 64-bit lane. */
#pragma once

#include "kernels/formulas.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* The product of two lanes needs only their lower halves, and only the lower half of a word is ever
 * used, so the upper halves may contain anything. The compiler does not see this and would multiply
 * 64-bit lanes. */
#if defined(__AVX512F__)
#define LIG_LANES 8
#define LIG_MULTIPLY(a, b) ((LigLanes) _mm512_mul_epu32 ((__m512i) (a), (__m512i) (b)))
#elif defined(__AVX2__)
#define LIG_LANES 4
#define LIG_MULTIPLY(a, b) ((LigLanes) _mm256_mul_epu32 ((__m256i) (a), (__m256i) (b)))
#elif defined(__SSE2__)
#define LIG_LANES 2
#define LIG_MULTIPLY(a, b) ((LigLanes) _mm_mul_epu32 ((__m128i) (a), (__m128i) (b)))
#else
#define LIG_LANES 2
#define LIG_MULTIPLY(a, b) (((a) &UINT32_MAX) * ((b) &UINT32_MAX))
#endif
typedef uint64_t LigLanes __attribute__ ((vector_size (8 * LIG_LANES)));

/* Computes lig_random_words () of a quad in each lane: words[k] has word k in the lower halves. */
static inline __attribute__ ((always_inline)) void
lig_random_lanes (
  uint64_t seed, LigLanes quad, uint64_t path_hash, uint64_t micro_step, LigLanes words[4])
{
  const LigLanes zero = {0};
  LigLanes a = quad, b = quad >> 32, c = zero + path_hash, d = zero + micro_step;
  uint32_t key0 = (uint32_t) seed, key1 = (uint32_t) (seed >> 32);
#pragma GCC unroll 10
  for (uint32_t i = 0; i < 10; i++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
    LigLanes low = LIG_MULTIPLY (a, zero + 0xd2511f53u);
    LigLanes high = LIG_MULTIPLY (c, zero + 0xcd9e8d57u);
    a = high >> 32 ^ b ^ key0;
    c = low >> 32 ^ d ^ key1;
    b = high;
    d = low;
  }
  words[0] = a;
  words[1] = b;
  words[2] = c;
  words[3] = d;
}
