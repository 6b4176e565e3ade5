/* SPDX-License-Identifier: MIT */
/* The formulas that every backend shares: exponentials, activations, gated units, random numbers.
 *
 * Everything is branch-free plain C, so that loops over a formula vectorize, and compiles as CUDA
 * too, where a few steps use GPU instructions. The activations are written with the logistic
 * function: 0.5 (1 + tanh u) equals sigmoid (2 u) but does not cancel in the negative tail. No
 * finite or infinite input gives NaN where the limit exists; NaN stays NaN. */
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
/* Returns 2^exponent by one instruction, with a relative error of at most 2^-22; subnormals are
 * flushed to 0. */
LIG_DEVICE_FORMULA float
lig_quick_power (float exponent)
{
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
  return power;
}

/* Returns 1 / x by one instruction, with a relative error of at most 2^-22; subnormals are flushed
 * to 0. */
LIG_DEVICE_FORMULA float
lig_quick_inverse (float x)
{
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
  return inverse;
}

/* Returns the smaller of both; NaN if x is NaN, unlike fminf. */
LIG_DEVICE_FORMULA float
lig_min_float (float x, float limit)
{
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(limit));
  return result;
}

/* Returns the larger of both; NaN if x is NaN, unlike fmaxf. */
LIG_DEVICE_FORMULA float
lig_max_float (float x, float limit)
{
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(x), "f"(limit));
  return result;
}

/* Returns e^-x, flushed to 0 or infinity beyond the normal range, with a relative error of at most
 * (2 + |x|) 2^-23, because x / ln 2 is rounded. */
LIG_DEVICE_FORMULA float
lig_quick_decay (float x)
{
  return lig_quick_power (x * -1.44269504f);
}
#endif

/* Returns 2^exponent for -126 <= exponent <= 127, by writing the exponent field. */
LIG_FORMULA float
lig_power_of_two (uint32_t exponent)
{
  uint32_t bits = (exponent + 127) << 23;
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Returns x clamped to [low, high]. NaN stays NaN, because both comparisons fail. */
LIG_FORMULA float
lig_clamp (float x, float low, float high)
{
#ifdef __CUDA_ARCH__
  return lig_min_float (lig_max_float (x, low), high);
#else
  float raised = x < low ? low : x;
  return raised > high ? high : raised;
#endif
}

/* Splits e^x = 2^n e^r for -104 < x < 90: returns e^r by a polynomial of degree 7 (Cephes,
 * expf), sets n. Adding 1.5 * 2^23 rounds x / ln 2 to a whole number in the low bits. For NaN,
 * e^r is NaN and n undefined. */
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

/* Returns e^x. 2^n is applied in two factors, because n ranges from -150, where the result is
 * subnormal, to 128, where it is infinite. Smaller results are set to 0 explicitly, because an
 * underflow costs a CPU a hundred cycles. A GPU returns 0 instead of subnormal numbers, too. */
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

/* Returns e^-|x|, or 0 below the smallest normal number. */
LIG_FORMULA float
lig_decay (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_decay (fabsf (x));
#else
  float magnitude = fabsf (x);
  int32_t n;
  float p = lig_exp_parts (magnitude > 87.33f ? 0 : -magnitude, &n);
  float result = p * lig_power_of_two ((uint32_t) n);
  return magnitude > 87.33f ? 0 : result;
#endif
}

/* Returns 1 / x for x >= 1. */
LIG_FORMULA float
lig_inverse (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_inverse (x);
#else
  return 1.0f / x;
#endif
}

/* Returns tanh x: near 0 an odd polynomial (Cephes, tanhf), elsewhere 1 - 2 / (e^2|x| + 1),
 * which would cancel near 0. */
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

/* Returns 1 / (1 + e^-x). It is computed from e^-|x|, which keeps its relative accuracy down to
 * 1e-38, and is 0 below. A GPU can compute it directly: its reciprocal of numbers above 2^126 is 0;
 * near 1e-38 five digits are correct. */
LIG_FORMULA float
lig_sigmoid (float x)
{
#ifdef __CUDA_ARCH__
  return lig_quick_inverse (1.0f + lig_quick_decay (x));
#else
  float e = lig_decay (x), r = 1.0f / (1.0f + e);
  return x < 0 ? e * r : r;
#endif
}

/* Returns sigmoid' (x) = sigmoid (x) sigmoid (-x), without a difference that could cancel. */
LIG_FORMULA float
lig_sigmoid_slope (float x)
{
  float e = lig_decay (x), r = lig_inverse (1.0f + e);
  return e * r * r;
}

/* Returns the gradient of sigmoid: dy sigmoid' (x). */
LIG_FORMULA float
lig_sigmoid_backward (float dy, float x)
{
  return dy * lig_sigmoid_slope (x);
}

/* Returns x sigmoid (z). Minus infinity is clamped to the lowest finite number, because minus
 * infinity times 0 would be NaN instead of the limit 0. */
LIG_FORMULA float
lig_gate (float x, float z)
{
#ifdef __CUDA_ARCH__
  return lig_max_float (x, -FLT_MAX) * lig_sigmoid (z);
#else
  return (x < -FLT_MAX ? -FLT_MAX : x) * lig_sigmoid (z);
#endif
}

/* The derivative of x sigmoid (z) is sigmoid (z) + rise sigmoid' (z), where rise = x z'.
 * lig_gate_slope () computes it from the same sigmoid (z), so that gated units compute that once.
 * `rise` has to be finite: callers clamp x to +-LIG_FLAT, beyond which sigmoid' (z) is 0. */
#define LIG_FLAT 200.0f

#ifdef __CUDACC__
/* The same from e = e^-z. sigmoid (-z) = e r needs no subtraction. Beyond 2^126 the reciprocal r is
 * 0, and so is the slope. */
LIG_DEVICE_FORMULA float
lig_quick_gate_slope (float rise, float e)
{
  float r = lig_quick_inverse (1.0f + e);
  return __fmaf_rn (rise * (lig_min_float (e, FLT_MAX) * r), r, r);
}

/* Returns e^-z for the z of gelu, whose coefficients include 1 / ln 2. */
LIG_DEVICE_FORMULA float
lig_quick_gelu_decay (float x)
{
  return lig_quick_power (x * __fmaf_rn (x * x, -0.102943240f, -2.30220819f));
}
#endif

LIG_FORMULA float
lig_gate_slope (float rise, float z)
{
#ifdef __CUDA_ARCH__
  return lig_quick_gate_slope (rise, lig_quick_decay (z));
#else
  return lig_sigmoid (z) + rise * lig_sigmoid_slope (z);
#endif
}

/* Returns 0.5 erfc (-x / sqrt 2), the probability that a standard normal number is at most x: near
 * 0 by an odd polynomial (Cephes, erff), elsewhere by t exp (p (t) - z^2) with t = 1 / (1 + z / 2)
 * and z = |x| / sqrt 2 (Press and others, Numerical Recipes, erfcc), whose relative error
 * is 1.2e-7. */
LIG_FORMULA float
lig_normal (float x)
{
  float u = x * 0.707106781f, z = fabsf (u), s = u * u;
  float near = 3.9269306e-5f;
  near = near * s - 4.0050968e-4f;
  near = near * s + 2.5941638e-3f;
  near = near * s - 1.34269069e-2f;
  near = near * s + 5.64179257e-2f;
  near = near * s - 0.188063129f;
  near = near * s + 0.564189583f;
  float t = lig_inverse (1.0f + 0.5f * z), p = 0.17087277f;
  p = p * t - 0.82215223f;
  p = p * t + 1.48851587f;
  p = p * t - 1.13520398f;
  p = p * t + 0.27886807f;
  p = p * t - 0.18628806f;
  p = p * t + 0.09678418f;
  p = p * t + 0.37409196f;
  p = p * t + 1.00002368f;
  float tail = t * lig_exp (p * t - 1.95865941f - s);
  return z < 1.0f ? 0.5f + near * u : x < 0 ? tail : 1.0f - tail;
}

/* Returns the exact gelu: x 0.5 (1 + erf (x / sqrt 2)) (Hendrycks and Gimpel, 2016). */
LIG_FORMULA float
lig_gelu_erf (float x)
{
  return (x < -FLT_MAX ? -FLT_MAX : x) * lig_normal (x);
}

/* Returns dy times its derivative: the probability, plus x times the density. */
LIG_FORMULA float
lig_gelu_erf_backward (float dy, float x)
{
  float flat = lig_clamp (x, -LIG_FLAT, LIG_FLAT);
  return dy * (lig_normal (x) + flat * 0.398942280f * lig_exp (-0.5f * flat * flat));
}

/* Returns silu: x sigmoid (x) (Hendrycks and Gimpel, 2016). */
LIG_FORMULA float
lig_silu (float x)
{
  return lig_gate (x, x);
}

/* Returns dy silu' (x). */
LIG_FORMULA float
lig_silu_backward (float dy, float x)
{
  return dy * lig_gate_slope (lig_clamp (x, -LIG_FLAT, LIG_FLAT), x);
}

/* Returns qgelu, the quick approximation of gelu: x sigmoid (1.702 x). */
LIG_FORMULA float
lig_qgelu (float x)
{
  return lig_gate (x, 1.702f * x);
}

/* Returns dy qgelu' (x). */
LIG_FORMULA float
lig_qgelu_backward (float dy, float x)
{
  return dy * lig_gate_slope (1.702f * lig_clamp (x, -LIG_FLAT, LIG_FLAT), 1.702f * x);
}

/* Returns the tanh approximation of gelu: 0.5 x (1 + tanh (0.79788456 x (1 + 0.044715 x^2)))
 * (Hendrycks and Gimpel, 2016). */
LIG_FORMULA float
lig_gelu (float x)
{
#ifdef __CUDA_ARCH__
  return lig_max_float (x, -FLT_MAX) * lig_quick_inverse (1.0f + lig_quick_gelu_decay (x));
#else
  return lig_gate (x, x * (1.5957691216f + 0.0713548162726f * (x * x)));
#endif
}

/* Returns x z' for the z of gelu. */
LIG_FORMULA float
lig_gelu_rise (float x)
{
  return x * (1.5957691216f + 0.2140644488178f * (x * x));
}

/* Returns dy gelu' (x). */
LIG_FORMULA float
lig_gelu_backward (float dy, float x)
{
  float rise = lig_gelu_rise (lig_clamp (x, -LIG_FLAT, LIG_FLAT));
#ifdef __CUDA_ARCH__
  return dy * lig_quick_gate_slope (rise, lig_quick_gelu_decay (x));
#else
  return dy * lig_gate_slope (rise, x * (1.5957691216f + 0.0713548162726f * (x * x)));
#endif
}

/* Returns relu: max (x, 0). Its gradient needs only the sign of the output. */
LIG_FORMULA float
lig_relu (float x)
{
  return x < 0 ? 0 : x;
}

/* Returns dy relu' (x), from y = relu (x) instead of x. */
LIG_FORMULA float
lig_relu_backward (float dy, float y)
{
  return y > 0 ? dy : 0;
}

/* Returns srelu: max (x, 0)^2 (So et al., 2021). */
LIG_FORMULA float
lig_srelu (float x)
{
  return lig_relu (x) * lig_relu (x);
}

/* Returns dy srelu' (x). */
LIG_FORMULA float
lig_srelu_backward (float dy, float x)
{
  return dy * (2.0f * lig_relu (x));
}

/* The gated units act (a) b (Shazeer, 2020), each with the activation of its gate a. For glu this
 * defines lig_glu (), which returns y, and lig_glu_backward (), which sets da = dy b sigmoid' (a)
 * and db = dy sigmoid (a); and in the same way lig_geglu (), lig_qgeglu (), lig_reglu (),
 * lig_sreglu () and lig_swiglu (). */
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

/* Replaces a counter by four random words: Philox4x32-10 (Salmon et al., 2011). The generator is
 * counter-based, so that any element of any tensor can be sampled independently, on any device, in
 * any order. */
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

/* Computes the four random words of the elements 4 quad to 4 quad + 3 of an op's tensor. */
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

/* Returns the smallest word for which dropout keeps an element; 2^32, for probability 1, exceeds
 * every word. */
LIG_FORMULA uint64_t
lig_dropout_threshold (float probability)
{
  return (uint64_t) ((double) probability * 4294967296.0);
}

/* Returns the midpoint of one of 2^23 equal subintervals of (0, 1). */
LIG_FORMULA float
lig_uniform_open (uint32_t word)
{
  return ((float) (word >> 9) + 0.5f) * 0x1p-23f;
}

/* Converts two random words to two independent standard normal numbers (Box and Muller, 1958). */
LIG_FORMULA void
lig_normal_pair (uint32_t first, uint32_t second, float *a, float *b)
{
  float radius = sqrtf (-2.0f * logf (lig_uniform_open (first)));
  float angle = 6.28318530718f * lig_uniform_open (second);
  *a = radius * cosf (angle);
  *b = radius * sinf (angle);
}
