/* SPDX-License-Identifier: MIT */
/* Element types: names, sizes, and conversions rounded to nearest with ties to even.
 *
 * One pair of formulas serves fp16 and both fp8 formats, which differ only in their field widths.
 * They are branch-free and work on bits, so the loops over them vectorize, and neither the rounding
 * of doubles nor a flush-to-zero mode set by the embedding program can change a result. */
#include <ligature/dtype.h>

#include <math.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define WIDE __attribute__ ((target ("avx2,f16c")))
#endif
#define INLINE static inline __attribute__ ((always_inline))

/* The table of types: constant, name, the prefix of its conversions (WORD_from and WORD_to below),
 * the C type of an element, its name in safetensors files, and its roles. */
#define EACH_TYPE(ROW) \
  ROW (LIG_FP32, "fp32", fp32, float, "F32", LIG_DTYPE_COMPUTES) \
  ROW (LIG_FP16, "fp16", fp16, uint16_t, "F16", LIG_DTYPE_COMPUTES | LIG_DTYPE_NARROW) \
  ROW (LIG_BF16, "bf16", bf16, uint16_t, "BF16", LIG_DTYPE_COMPUTES) \
  ROW (LIG_FP8_E4M3, "fp8e4m3", e4m3, uint8_t, "F8_E4M3", LIG_DTYPE_QUANTIZED) \
  ROW (LIG_FP8_E5M2, "fp8e5m2", e5m2, uint8_t, "F8_E5M2", LIG_DTYPE_QUANTIZED) \
  ROW (LIG_INT32, "int32", int32, int32_t, "I32", LIG_DTYPE_COUNTS | LIG_DTYPE_INDEXES) \
  ROW (LIG_UINT8, "uint8", uint8, uint8_t, "U8", LIG_DTYPE_COUNTS) \
  ROW (LIG_BOOL, "bool", bool, uint8_t, "BOOL", LIG_DTYPE_COUNTS)

typedef struct {
  const char *name, *file_name;
  size_t size;
  unsigned roles;
} Type;

static const Type dtypes[] = {
#define ROW(dtype, name, word, type, file_name, roles) \
  [dtype] = {name, file_name, sizeof (type), roles},
  EACH_TYPE (ROW)
#undef ROW
};

_Static_assert(sizeof dtypes / sizeof *dtypes == LIG_N_DTYPES, "each type has a row");

/* Returns the row of a type. An invalid number from outside gets a row with a name and no role. */
static const Type *
type_of (LigDtype dtype)
{
  static const Type unknown = {"unknown", "unknown", 1, 0};
  return (unsigned) dtype < LIG_N_DTYPES ? &dtypes[dtype] : &unknown;
}

size_t
lig_dtype_size (LigDtype dtype)
{
  return type_of (dtype)->size;
}

const char *
lig_dtype_name (LigDtype dtype)
{
  return type_of (dtype)->name;
}

bool
lig_dtype_from_name (const char *name, LigDtype *dtype)
{
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (strcmp (dtypes[i].name, name) == 0) {
      *dtype = (LigDtype) i;
      return true;
    }
  return false;
}

bool
lig_dtype_is_floating (LigDtype dtype)
{
  return type_of (dtype)->roles & LIG_DTYPE_COMPUTES;
}

bool
lig_dtype_has (LigDtype dtype, unsigned roles)
{
  return type_of (dtype)->roles & roles;
}

unsigned
lig_dtypes_with (unsigned roles)
{
  unsigned set = 0;
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (dtypes[i].roles & roles)
      set |= 1u << i;
  return set;
}

const char *
lig_dtype_file_name (LigDtype dtype)
{
  return type_of (dtype)->file_name;
}

INLINE uint32_t
bits_of (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

INLINE float
float_of (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

#define MAGNITUDE 0x7fffffffu
#define INFINITE 0x7f800000u

/* Returns `yes` or `no` without a branch: a branch would let the compiler skip one of the sums, and
 * the loop would not vectorize. */
INLINE uint32_t
choose (bool condition, uint32_t yes, uint32_t no)
{
  uint32_t mask = -(uint32_t) condition;
  return (yes & mask) | (no & ~mask);
}

/* Returns the bits, without sign, of fp32 `magnitude` in a format with `mantissa` bits of mantissa,
 * at most `largest`. Below the format's normal range an addition does the rounding: the last bit of
 * the sum has the weight of the format's last bit. */
INLINE uint32_t
shorten (uint32_t magnitude, int mantissa, int bias, uint32_t largest)
{
  int shift = 23 - mantissa;
  uint32_t half = (1u << (shift - 1)) - 1 + (magnitude >> shift & 1);
  uint32_t normal = (magnitude + half - ((uint32_t) (127 - bias) << 23)) >> shift;
  uint32_t unit = (uint32_t) (151 - bias - mantissa) << 23;
  uint32_t subnormal = bits_of (float_of (magnitude) + float_of (unit)) - unit;
  uint32_t result = choose (magnitude < (uint32_t) (128 - bias) << 23, subnormal, normal);
  return result < largest ? result : largest;
}

/* Returns the fp32 bits of a finite `magnitude` in such a format. A subnormal input gets the
 * smallest normal number added as bits and subtracted as a number, so that no fp32 subnormal ever
 * appears. */
INLINE uint32_t
lengthen (uint32_t magnitude, int mantissa, int bias)
{
  int shift = 23 - mantissa;
  uint32_t base = (uint32_t) (128 - bias) << 23, bits = magnitude << shift;
  uint32_t subnormal = bits_of (float_of (bits + base) - float_of (base));
  return choose (magnitude < 1u << mantissa, subnormal, bits + base - (1u << 23));
}

INLINE uint16_t
fp16_from (float value)
{
  uint32_t bits = bits_of (value), magnitude = bits & MAGNITUDE;
  uint32_t result = shorten (magnitude, 10, 15, 0x7c00);
  result = choose (magnitude > INFINITE, 0x7e00 | (magnitude >> 13 & 0x3ff), result);
  return (uint16_t) ((bits >> 16 & 0x8000) | result);
}

INLINE float
fp16_to (uint16_t half)
{
  uint32_t magnitude = half & 0x7fff;
  uint32_t special = magnitude << 13 | (magnitude > 0x7c00 ? 0x7fc00000 : INFINITE);
  uint32_t result = choose (magnitude >= 0x7c00, special, lengthen (magnitude, 10, 15));
  return float_of ((half & 0x8000u) << 16 | result);
}

INLINE uint16_t
bf16_from (float value)
{
  uint32_t bits = bits_of (value), rounded = bits + 0x7fff + (bits >> 16 & 1);
  return (uint16_t) (((bits & MAGNITUDE) > INFINITE ? bits | 0x400000 : rounded) >> 16);
}

INLINE float
bf16_to (uint16_t bits)
{
  return float_of ((uint32_t) bits << 16);
}

INLINE uint8_t
fp8_from (float value, int mantissa, int bias, uint32_t largest)
{
  uint32_t bits = bits_of (value), magnitude = bits & MAGNITUDE;
  uint32_t result = shorten (magnitude, mantissa, bias, largest);
  return (uint8_t) ((bits >> 24 & 0x80) | choose (magnitude > INFINITE, 0x7f, result));
}

#define e4m3_from(value) fp8_from (value, 3, 7, 0x7e)
#define e5m2_from(value) fp8_from (value, 2, 15, 0x7b)

INLINE float
e4m3_to (uint8_t bits)
{
  uint32_t magnitude = bits & 0x7f;
  uint32_t result = choose (magnitude == 0x7f, 0x7fc00000, lengthen (magnitude, 3, 7));
  return float_of ((bits & 0x80u) << 24 | result);
}

/* Converts e5m2, which is the upper half of fp16. */
INLINE float
e5m2_to (uint8_t bits)
{
  return fp16_to ((uint16_t) (bits << 8));
}

INLINE int32_t
int32_from (float value)
{
  float clamped = value < -0x1p31f ? -0x1p31f : value > 0x1.fffffep30f ? 0x1.fffffep30f : value;
  int32_t result = (int32_t) rintf (clamped != clamped ? 0 : clamped);
  return value >= 0x1p31f ? INT32_MAX : result;
}

INLINE uint8_t
uint8_from (float value)
{
  float clamped = value > 0 ? value : 0;
  return (uint8_t) (int) rintf (clamped < 255 ? clamped : 255);
}

#define fp32_to(value) (value)
#define fp32_from(value) (value)
#define int32_to(value) ((float) (value))
#define uint8_to(value) ((float) (value))
#define bool_to(value) ((value) != 0)
#define bool_from(value) ((value) != 0)

#define FORMAT(name, type) \
  type lig_##name##_from_float (float value) \
  { \
    return name##_from (value); \
  } \
  float lig_##name##_to_float (type bits) \
  { \
    return name##_to (bits); \
  }
FORMAT (fp16, uint16_t)
FORMAT (bf16, uint16_t)
FORMAT (e4m3, uint8_t)
FORMAT (e5m2, uint8_t)
#undef FORMAT

#define WIDEN(dtype, name, word, type, ...) \
  case dtype: { \
    const type *restrict from = source; \
    for (size_t i = 0; i < count; i++) \
      target[i] = word##_to (from[i]); \
    break; \
  }

#define NARROW(dtype, name, word, type, ...) \
  case dtype: { \
    type *restrict to = target; \
    for (size_t i = 0; i < count; i++) \
      to[i] = word##_from (source[i]); \
    break; \
  }

INLINE void
widen (LigDtype dtype, const void *source, float *restrict target, size_t count)
{
  switch (dtype) {
    EACH_TYPE (WIDEN)
  default:
    break;
  }
}

INLINE void
narrow (LigDtype dtype, const float *restrict source, void *target, size_t count)
{
  switch (dtype) {
    EACH_TYPE (NARROW)
  default:
    break;
  }
}

/* Versions for CPUs with AVX2 and F16C, chosen at run time because this file is compiled for the
 * baseline. The fp16 instructions agree with the formulas bit for bit. */
#ifdef WIDE
WIDE static void
widen_wide (LigDtype dtype, const void *source, float *target, size_t count)
{
  if (dtype != LIG_FP16)
    return widen (dtype, source, target, count);
  const uint16_t *from = source;
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm256_storeu_ps (target + i, _mm256_cvtph_ps (_mm_loadu_si128 ((const __m128i *) (from + i))));
  widen (LIG_FP16, from + i, target + i, count - i);
}

WIDE static void
narrow_wide (LigDtype dtype, const float *source, void *target, size_t count)
{
  if (dtype != LIG_FP16)
    return narrow (dtype, source, target, count);
  uint16_t *to = target;
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128 ((__m128i *) (to + i),
                      _mm256_cvtps_ph (_mm256_loadu_ps (source + i), _MM_FROUND_TO_NEAREST_INT));
  narrow (LIG_FP16, source + i, to + i, count - i);
}

/* Returns whether the CPU has AVX2. Such CPUs have F16C as well, which not every compiler can query
 * by name. */
static bool
has_wide (void)
{
  return __builtin_cpu_supports ("avx2");
}
#else
#define has_wide() false
#define widen_wide widen
#define narrow_wide narrow
#endif

void
lig_widen (LigDtype dtype, const void *source, float *target, size_t count)
{
  if (has_wide ())
    return widen_wide (dtype, source, target, count);
  widen (dtype, source, target, count);
}

void
lig_narrow (LigDtype dtype, const float *source, void *target, size_t count)
{
  if (has_wide ())
    return narrow_wide (dtype, source, target, count);
  narrow (dtype, source, target, count);
}
