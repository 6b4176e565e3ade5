/* SPDX-License-Identifier: MIT */
/* The formulas that every backend shares: exponentials, activations, gated units, random numbers.
 *
 * Everything is plain C without branches, so that a loop over a formula vectorizes, and is fit for
 * CUDA as well, where the few steps that a GPU has instructions for use those. The activations are
 * written with the logistic function: 0.5 (1 + tanh u) equals sigmoid (2 u) but does not cancel in
 * the negative tail. No finite input, and no infinity, gives NaN where the limit exists; NaN stays
 * NaN. */
#pragma once

#include "kernels/activations.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define LIG_FORMULA static __host__ __device__ inline
#define LIG_DEVICE_FORMULA static __device__ inline
#else
#define LIG_FORMULA static inline __attribute__ ((always_inline, unused))
#endif

#ifdef __CUDACC__
/* Approximations by one instruction each, with a relative error of at most 2^-22. Subnormal numbers
 * count as 0. */
LIG_DEVICE_FORMULA float
lig_quick_power (float exponent)
{
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

LIG_DEVICE_FORMULA float
lig_quick_inverse (float x)
{
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/* Unlike fminf and fmaxf, these keep NaN. */
LIG_DEVICE_FORMULA float
lig_at_most (float x, float limit)
{
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(limit));
  return result;
}

LIG_DEVICE_FORMULA float
lig_at_least (float x, float limit)
{
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(limit));
  return result;
}

/* e^x for |x| < 88.6, and 0 below -87.33. Rounding x / ln 2 costs |x| units of the last place,
 * which a factor makes good: e^x = 2^h e^d, where d = x - h ln 2 is so small that e^d = 1 + d. */
LIG_DEVICE_FORMULA float
lig_quick_exp (float x)
{
  float h = x * 1.44269504f, d = __fmaf_rn (h, -0.693147181f, x), power = lig_quick_power (h);
  return __fmaf_rn (power, d, power);
}
#endif

/* Bits as a float; the exponent field of a power of two is filled without branches. */
LIG_FORMULA float
lig_power_of_two (uint32_t exponent)
{
  uint32_t bits = (exponent + 127) << 23;
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Keeps NaN, as both comparisons fail. */
LIG_FORMULA float
lig_clamp (float x, float low, float high)
{
#ifdef __CUDA_ARCH__
  return lig_at_most (lig_at_least (x, low), high);
#else
  float raised = x < low ? low : x;
  return raised > high ? high : raised;
#endif
}

/* e^x = 2^n e^r for -104 < x < 90: returns e^r, sets n. Adding 1.5 * 2^23 rounds x / ln 2 to a
 * whole number, in the low bits. Of NaN, e^r is NaN and n is anything. */
LIG_FORMULA float
lig_exp_parts (float x, int32_t *n)
{
  float shifted = x * 1.44269504f + 12582912.0f, whole = shifted - 12582912.0f;
  float r = x - whole * 0.693359375f - whole * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  uint32_t bits;
  memcpy (&bits, &shifted, sizeof bits);
  *n = (int32_t) (bits - 0x4b400000u);
  return p * (r * r) + r + 1.0f;
}

/* e^x. 2^n is applied in two factors, because n reaches from -150, where the result is subnormal,
 * to 128, where it is infinite. Below that the result is 0 by choice and not by underflow, which
 * takes processors a hundred cycles. On a GPU it is 0 instead of subnormal, too. */
LIG_FORMULA float
lig_exp (float x)
{
#ifdef __CUDA_ARCH__
  float bounded = lig_clamp (x, -88.0f, 89.0f), h = bounded * 1.44269504f;
  return lig_quick_power (h) * (1.0f + __fmaf_rn (h, -0.693147181f, bounded));
#else
  const float lowest = -103.98f;
  int32_t n;
  float p = lig_exp_parts (x < lowest ? 0 : x > 89.0f ? 89.0f : x, &n);
  float result = p * lig_power_of_two ((uint32_t) (n >> 1));
  result *= lig_power_of_two ((uint32_t) (n - (n >> 1)));
  return x < lowest ? 0 : result;
#endif
}

/* e^-|x|, or 0 where that is below the smallest normal number. */
LIG_FORMULA float
lig_decay (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_exp (-lig_at_most (fabsf (x), 88.0f));
#else
  float magnitude = fabsf (x);
  int32_t n;
  float p = lig_exp_parts (magnitude > 87.33f ? 0 : -magnitude, &n);
  float result = p * lig_power_of_two ((uint32_t) n);
  return magnitude > 87.33f ? 0 : result;
#endif
}

/* 1 / x for x from 1 on. */
LIG_FORMULA float
lig_inverse (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_inverse (x);
#else
  return 1.0f / x;
#endif
}

/* Odd polynomial about 0, where the quotient would cancel. */
LIG_FORMULA float
lig_tanh (float x)
{
  float magnitude = fabsf (x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  float near = p * z * x + x;
#ifdef __CUDA_ARCH__
  float rest = 2.0f * lig_quick_inverse (lig_exp (2.0f * magnitude) + 1.0f);
#else
  float rest = 2.0f / (lig_exp (2.0f * magnitude) + 1.0f);
#endif
  float far = copysignf (1.0f - rest, x);
  return magnitude < 0.625f ? near : far;
}

/* 1 / (1 + e^-x), through e^-|x|, which keeps its relative accuracy down to 1e-38, then 0. A GPU
 * needs no detour: its inverse of numbers above 2^126 is 0. */
LIG_FORMULA float
lig_sigmoid (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_inverse (1.0f + lig_quick_exp (-lig_clamp (x, -88.5f, 88.0f)));
#else
  float e = lig_decay (x), r = 1.0f / (1.0f + e);
  return x < 0 ? e * r : r;
#endif
}

/* sigmoid' (x) = sigmoid (x) sigmoid (-x); no difference that could cancel. */
LIG_FORMULA float
lig_sigmoid_slope (float x)
{
  float e = lig_decay (x), r = lig_inverse (1.0f + e);
  return e * r * r;
}

LIG_FORMULA float
lig_sigmoid_backward (float dy, float x)
{
  return dy * lig_sigmoid_slope (x);
}

/* x sigmoid (z); minus infinity times 0 would be NaN, its limit is 0. */
LIG_FORMULA float
lig_gate (float x, float z)
{
#ifdef __CUDA_ARCH__
  return lig_at_least (x, -FLT_MAX) * lig_sigmoid (z);
#else
  return (x < -FLT_MAX ? -FLT_MAX : x) * lig_sigmoid (z);
#endif
}

/* The derivative of x sigmoid (z) is sigmoid (z) + rise sigmoid' (z), rise = x z'. It is written
 * with the same sigmoid (z), so that gated units compute that once. `rise` must be finite, of x cut
 * to +-LIG_FLAT, beyond which sigmoid' (z) is 0. */
#define LIG_FLAT 200.0f

LIG_FORMULA float
lig_gate_slope (float rise, float z)
{
#ifdef __CUDA_ARCH__
  /* The lesser of sigmoid (z) and sigmoid (-z) is e r, the other r. */
  float e = lig_decay (z), r = lig_quick_inverse (1.0f + e), lesser = e * r;
  return __fmaf_rn (rise, lesser * r, z < 0 ? lesser : r);
#else
  return lig_sigmoid (z) + rise * lig_sigmoid_slope (z);
#endif
}

/* silu: x sigmoid (x) */
LIG_FORMULA float
lig_silu (float x)
{
  return lig_gate (x, x);
}

LIG_FORMULA float
lig_silu_backward (float dy, float x)
{
  return dy * lig_gate_slope (lig_clamp (x, -LIG_FLAT, LIG_FLAT), x);
}

/* qgelu: x sigmoid (1.702 x) */
LIG_FORMULA float
lig_qgelu (float x)
{
  return lig_gate (x, 1.702f * x);
}

LIG_FORMULA float
lig_qgelu_backward (float dy, float x)
{
  return dy * lig_gate_slope (1.702f * lig_clamp (x, -LIG_FLAT, LIG_FLAT), 1.702f * x);
}

/* gelu in its tanh form: 0.5 x (1 + tanh (0.79788456 x (1 + 0.044715 x^2))) */
LIG_FORMULA float
lig_gelu (float x)
{
  return lig_gate (x, x * (1.5957691216f + 0.0713548162726f * (x * x)));
}

LIG_FORMULA float
lig_gelu_backward (float dy, float x)
{
  float c = lig_clamp (x, -LIG_FLAT, LIG_FLAT);
  float rise = c * (1.5957691216f + 0.2140644488178f * (c * c));
  return dy * lig_gate_slope (rise, x * (1.5957691216f + 0.0713548162726f * (x * x)));
}

/* relu: max (x, 0); its gradient needs only the sign of the output. */
LIG_FORMULA float
lig_relu (float x)
{
  return x < 0 ? 0 : x;
}

LIG_FORMULA float
lig_relu_backward (float dy, float y)
{
  return y > 0 ? dy : 0;
}

/* srelu: max (x, 0)^2 */
LIG_FORMULA float
lig_srelu (float x)
{
  return lig_relu (x) * lig_relu (x);
}

LIG_FORMULA float
lig_srelu_backward (float dy, float x)
{
  return dy * (2.0f * lig_relu (x));
}

/* The gated units act (a) b, each with the activation of its gate. */
#define LIG_GATED(name, backward, biased, biased_backward, work, back, activation) \
  LIG_FORMULA float lig_##name (float a, float b) \
  { \
    return lig_##activation (a) * b; \
  } \
  LIG_FORMULA void lig_##backward (float dy, float a, float b, float *da, float *db) \
  { \
    *da = lig_##activation##_backward (dy * b, a); \
    *db = lig_##activation (a) * dy; \
  }
LIG_EACH_GATED (LIG_GATED)
#undef LIG_GATED

/* clamped swiglu: a' = min (a, limit), b' = clamp (b, -limit, limit) + offset,
 * y = a' sigmoid (alpha a') b'. On the limits themselves the gradient flows. */
LIG_FORMULA float
lig_clamped_swiglu (float a, float b, float limit, float alpha, float offset)
{
  float gate = a > limit ? limit : a;
  return lig_gate (gate, alpha * gate) * (lig_clamp (b, -limit, limit) + offset);
}

LIG_FORMULA void
lig_clamped_swiglu_backward (
  float dy, float a, float b, float limit, float alpha, float offset, float *da, float *db)
{
  float gate = a > limit ? limit : a, linear = lig_clamp (b, -limit, limit) + offset;
  float z = alpha * gate, slope = lig_gate_slope (lig_clamp (z, -LIG_FLAT, LIG_FLAT), z);
  *da = a > limit ? 0 : dy * linear * slope;
  *db = fabsf (b) > limit ? 0 : lig_gate (gate, z) * dy;
}

/* Philox4x32-10 (Salmon et al., 2011): counter-based random numbers, so that any element of any
 * tensor is drawn by itself, on any device, in any order. Turns a counter into four words. */
LIG_FORMULA void
lig_philox (uint32_t counter[4], uint64_t key)
{
  uint32_t key0 = (uint32_t) key, key1 = (uint32_t) (key >> 32);
  for (int i = 0; i < 10; i++, key0 += 0x9e3779b9u, key1 += 0xbb67ae85u) {
    uint64_t low = (uint64_t) 0xd2511f53u * counter[0];
    uint64_t high = (uint64_t) 0xcd9e8d57u * counter[2];
    counter[0] = (uint32_t) (high >> 32) ^ counter[1] ^ key0;
    counter[2] = (uint32_t) (low >> 32) ^ counter[3] ^ key1;
    counter[1] = (uint32_t) high;
    counter[3] = (uint32_t) low;
  }
}

/* The four words of elements 4 quad to 4 quad + 3 of an op's tensor. */
LIG_FORMULA void
lig_random_words (
  uint64_t seed, uint64_t quad, uint64_t path_hash, uint64_t micro_step, uint32_t words[4])
{
  words[0] = (uint32_t) quad;
  words[1] = (uint32_t) (quad >> 32);
  words[2] = (uint32_t) path_hash;
  words[3] = (uint32_t) micro_step;
  lig_philox (words, seed);
}

/* An element is kept if its word reaches this; 2^32, with probability 1, never is. */
LIG_FORMULA uint64_t
lig_dropout_threshold (float probability)
{
  return (uint64_t) ((double) probability * 4294967296.0);
}

/* The middle of one of 2^23 equal parts of (0, 1). */
LIG_FORMULA float
lig_uniform_open (uint32_t word)
{
  return ((float) (word >> 9) + 0.5f) * 0x1p-23f;
}

/* Two independent standard normal numbers (Box and Muller, 1958). */
LIG_FORMULA void
lig_normal_pair (uint32_t first, uint32_t second, float *a, float *b)
{
  float radius = sqrtf (-2.0f * logf (lig_uniform_open (first)));
  float angle = 6.28318530718f * lig_uniform_open (second);
  *a = radius * cosf (angle);
  *b = radius * sinf (angle);
}
