/* SPDX-License-Identifier: MIT */
/* Conversions of element types: every bit pattern, every tie, and millions of fp32 values against a
 * reference that rounds doubles by their exponent. */
#include <ligature/tensor.h>

#include <glib.h>
#include <math.h>
#include <string.h>

typedef struct {
  LigDtype dtype;
  int mantissa, bias;
  unsigned largest; /* bits of the largest finite number */
  bool saturates;
} Format;

static const Format formats[] = {
  {LIG_FP16, 10, 15, 0x7bff, false},
  {LIG_BF16, 7, 127, 0x7f7f, false},
  {LIG_FP8_E4M3, 3, 7, 0x7e, true},
  {LIG_FP8_E5M2, 2, 15, 0x7b, true},
};

static unsigned
sign_bit (const Format *format)
{
  return lig_dtype_size (format->dtype) == 2 ? 0x8000 : 0x80;
}

static float
float_of (uint32_t bits)
{
  float value;
  memcpy (&value, &bits, sizeof value);
  return value;
}

static unsigned
from_float (const Format *format, float value)
{
  switch (format->dtype) {
  case LIG_FP16:
    return lig_fp16_from_float (value);
  case LIG_BF16:
    return lig_bf16_from_float (value);
  case LIG_FP8_E4M3:
    return lig_e4m3_from_float (value);
  default:
    return lig_e5m2_from_float (value);
  }
}

static float
to_float (const Format *format, unsigned bits)
{
  switch (format->dtype) {
  case LIG_FP16:
    return lig_fp16_to_float ((uint16_t) bits);
  case LIG_BF16:
    return lig_bf16_to_float ((uint16_t) bits);
  case LIG_FP8_E4M3:
    return lig_e4m3_to_float ((uint8_t) bits);
  default:
    return lig_e5m2_to_float ((uint8_t) bits);
  }
}

/* Returns the value of positive, finite bits by the definition of the format. */
static double
decode (const Format *format, unsigned bits)
{
  int exponent = (int) (bits >> format->mantissa);
  double fraction = bits & ((1u << format->mantissa) - 1);
  if (exponent == 0)
    return ldexp (fraction, 1 - format->bias - format->mantissa);
  return ldexp (fraction + (1 << format->mantissa), exponent - format->bias - format->mantissa);
}

/* Returns the bits of a positive, finite double, without sign. */
static unsigned
encode (const Format *format, double value)
{
  int exponent;
  frexp (value, &exponent);
  exponent = MAX (exponent - 1, 1 - format->bias);
  double units = rint (ldexp (value, format->mantissa - exponent));
  unsigned whole = (unsigned) (exponent + format->bias - 1) << format->mantissa;
  unsigned bits = whole + (unsigned) units;
  return MIN (bits, format->largest + !format->saturates);
}

static unsigned
reference (const Format *format, float value)
{
  unsigned sign = signbit (value) ? sign_bit (format) : 0;
  if (isinf (value))
    return sign | (format->largest + !format->saturates);
  return sign | (value == 0 ? 0 : encode (format, fabs ((double) value)));
}

static bool
is_nan (const Format *format, unsigned bits)
{
  return (bits & (sign_bit (format) - 1)) > format->largest + (format->dtype != LIG_FP8_E4M3);
}

static void
test_patterns (gconstpointer data)
{
  const Format *format = data;
  unsigned sign = sign_bit (format);
  for (unsigned bits = 0; bits < 2 * sign; bits++) {
    float value = to_float (format, bits);
    unsigned magnitude = bits & (sign - 1);
    g_assert_cmpint (!!signbit (value), ==, !!(bits & sign));
    if (is_nan (format, bits)) {
      g_assert_true (isnan (value));
      g_assert_true (is_nan (format, from_float (format, value)));
      g_assert_cmpuint (from_float (format, value) & sign, ==, bits & sign);
    } else if (magnitude <= format->largest) {
      g_assert_true (fabs ((double) value) == decode (format, magnitude));
      g_assert_cmphex (from_float (format, value), ==, bits);
    } else {
      g_assert_true (isinf (value));
      g_assert_cmphex (from_float (format, value), ==, format->saturates ? bits - 1 : bits);
    }
  }
  if (format->saturates) {
    g_assert_cmphex (from_float (format, NAN), ==, 0x7f);
    g_assert_cmphex (from_float (format, -NAN), ==, 0xff);
  }
}

static void
test_ties (gconstpointer data)
{
  const Format *format = data;
  unsigned sign = sign_bit (format);
  for (unsigned bits = 0; bits <= format->largest; bits++) {
    double next = decode (format, bits + 1), step = next - decode (format, bits);
    float middle = (float) (decode (format, bits) + step / 2);
    if (bits == format->largest && format->saturates)
      break;
    if (isinf (middle))
      continue;
    unsigned even = bits + (bits & 1);
    g_assert_cmphex (from_float (format, middle), ==, even);
    g_assert_cmphex (from_float (format, -middle), ==, even | sign);
    g_assert_cmphex (from_float (format, nextafterf (middle, 0)), ==, bits);
    g_assert_cmphex (from_float (format, nextafterf (middle, INFINITY)), ==, bits + 1);
  }
}

/* Converts ten million patterns of fp32 in arrays of every length and alignment. */
static void
test_values (gconstpointer data)
{
  const Format *format = data;
  uint32_t state = 1;
  for (int round = 0; round < 10000; round++) {
    float values[1007];
    uint16_t wide[1007] = {0};
    size_t count = 1000 + (size_t) (round % 8);
    for (size_t i = 0; i < count; i++)
      values[i] = float_of (state = state * 1664525u + 1013904223u + (uint32_t) round % 3);
    lig_narrow (format->dtype, values, wide, count);
    for (size_t i = 0; i < count; i++) {
      unsigned bits = lig_dtype_size (format->dtype) == 2 ? wide[i] : ((uint8_t *) wide)[i];
      if (isnan (values[i]))
        g_assert_true (is_nan (format, bits));
      else if (bits != reference (format, values[i]))
        g_error ("%a gives %x, expected %x", values[i], bits, reference (format, values[i]));
      if (bits != from_float (format, values[i]))
        g_error ("%a gives %x in a loop, %x alone", values[i], bits,
                 from_float (format, values[i]));
    }
  }
}

static void
test_widen (gconstpointer data)
{
  const Format *format = data;
  size_t size = lig_dtype_size (format->dtype), count = 2 * (size_t) sign_bit (format);
  g_autofree uint8_t *source = g_malloc (count * size);
  g_autofree float *target = g_new (float, count);
  for (size_t i = 0; i < count; i++) {
    source[i * size] = (uint8_t) i;
    if (size == 2)
      memcpy (source + i * size, &(uint16_t){(uint16_t) i}, 2);
  }
  for (size_t skip = 0; skip < 9; skip++) {
    lig_widen (format->dtype, source + skip * size, target, count - skip);
    for (size_t i = skip; i < count; i++) {
      float expected = to_float (format, (unsigned) i);
      g_assert_true (isnan (expected) ? isnan (target[i - skip]) : expected == target[i - skip]);
    }
  }
}

static void
test_integers (void)
{
  const float values[] = {0.5f, 1.5f,     -2.5f,     254.5f,         255.5f,   3e9f,   -3e9f,
                          NAN,  INFINITY, -INFINITY, 0x1.fffffep30f, -0x1p31f, 0x1p31f};
  const int32_t wanted[] = {0, 2,         -2,        254,        256,       INT32_MAX, INT32_MIN,
                            0, INT32_MAX, INT32_MIN, 2147483520, INT32_MIN, INT32_MAX};
  const uint8_t bytes[] = {0, 2, 0, 254, 255, 255, 0, 0, 255, 0, 255, 0, 255};
  int32_t ints[G_N_ELEMENTS (values)];
  uint8_t narrow[G_N_ELEMENTS (values)];
  float back[3];
  lig_narrow (LIG_INT32, values, ints, G_N_ELEMENTS (values));
  g_assert_cmpmem (ints, sizeof ints, wanted, sizeof wanted);
  lig_narrow (LIG_UINT8, values, narrow, G_N_ELEMENTS (values));
  g_assert_cmpmem (narrow, sizeof narrow, bytes, sizeof bytes);
  lig_narrow (LIG_BOOL, (float[]){0, -0.0f, 0.25f}, narrow, 3);
  g_assert_cmpmem (narrow, 3, ((uint8_t[]){0, 0, 1}), 3);
  lig_widen (LIG_BOOL, (uint8_t[]){0, 1, 7}, back, 3);
  g_assert_true (back[0] == 0 && back[1] == 1 && back[2] == 1);
  lig_widen (LIG_INT32, (int32_t[]){-1, INT32_MIN, 16777216}, back, 3);
  g_assert_true (back[0] == -1 && back[1] == -0x1p31f && back[2] == 16777216);
}

static void
test_names (void)
{
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    LigDtype dtype = LIG_N_DTYPES;
    g_assert_true (lig_dtype_from_name (lig_dtype_name ((LigDtype) i), &dtype));
    g_assert_cmpint (dtype, ==, i);
    g_assert_cmpint (lig_dtype_is_floating (dtype), ==, i <= LIG_BF16);
  }
  LigDtype untouched = LIG_BOOL;
  g_assert_false (lig_dtype_from_name ("fp64", &untouched));
  g_assert_cmpint (untouched, ==, LIG_BOOL);
}

/* Every type of the table converts small integers exactly, and is found by its name. */
static void
test_table (void)
{
  for (int i = 0; i < LIG_N_DTYPES; i++) {
    LigDtype dtype = (LigDtype) i, found = (LigDtype) -1;
    const float values[] = {0, 1, 1, 0, 1};
    unsigned char stored[sizeof values];
    float back[G_N_ELEMENTS (values)];
    g_test_message ("%s", lig_dtype_name (dtype));
    g_assert_true (lig_dtype_from_name (lig_dtype_name (dtype), &found) && found == dtype);
    g_assert_cmpuint (lig_dtype_size (dtype), >, 0);
    g_assert_cmpuint (lig_dtype_size (dtype), <=, sizeof (float));
    lig_narrow (dtype, values, stored, G_N_ELEMENTS (values));
    lig_widen (dtype, stored, back, G_N_ELEMENTS (values));
    g_assert_cmpmem (values, sizeof values, back, sizeof back);
    g_assert_true (*lig_dtype_file_name (dtype));
    for (int j = 0; j < i; j++)
      g_assert_cmpstr (lig_dtype_file_name (dtype), !=, lig_dtype_file_name ((LigDtype) j));
    g_assert_cmpint (lig_dtype_is_floating (dtype), ==, lig_dtype_has (dtype, LIG_DTYPE_COMPUTES));
    g_assert_false (lig_dtype_has (dtype, LIG_DTYPE_COMPUTES) &&
                    lig_dtype_has (dtype, LIG_DTYPE_COUNTS));
  }
  g_assert_cmpuint (lig_dtypes_with (LIG_DTYPE_COMPUTES), ==, LIG_FLOATING_TYPES);
  g_assert_cmpuint (lig_dtypes_with (LIG_DTYPE_INDEXES), ==, LIG_TYPES (LIG_INT32));
  g_assert_cmpstr (lig_dtype_names (LIG_FLOATING_TYPES, " or "), ==, "fp32, fp16 or bf16");
  g_assert_cmpstr (lig_dtype_names (LIG_TYPES (LIG_BOOL), " or "), ==, "bool");
  g_assert_cmpstr (lig_dtype_names (0, " or "), ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  static const struct {
    const char *name;
    GTestDataFunc test;
  } tests[] = {{"patterns", test_patterns},
               {"ties", test_ties},
               {"values", test_values},
               {"widen", test_widen}};
  for (size_t i = 0; i < G_N_ELEMENTS (formats); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (tests); j++) {
      g_autofree char *path =
        g_strdup_printf ("/dtype/%s/%s", lig_dtype_name (formats[i].dtype), tests[j].name);
      g_test_add_data_func (path, &formats[i], tests[j].test);
    }
  g_test_add_func ("/dtype/integers", test_integers);
  g_test_add_func ("/dtype/names", test_names);
  g_test_add_func ("/dtype/table", test_table);
  return g_test_run ();
}
