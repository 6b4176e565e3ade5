/* SPDX-License-Identifier: MIT */
/* The shared formulas against libm in double precision, Philox against its published vectors, and
 * the kernels that depend only on them: dropout and conversion. */
#include "tests/kernels/case.h"
#include "tests/kernels/formula-text.h"

#include "kernels/gated-formulas.h"
#include <ligature/params-random.h>

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* Returns the distance in units in the last place; results below the smallest normal number count
 * as that number. */
static double
ulps (float got, double want)
{
  int exponent;
  if (isinf ((float) want) || isinf (got))
    return got == (float) want ? 0 : INFINITY;
  frexp (want, &exponent);
  return fabs ((double) got - want) / ldexp (1, MAX (exponent, -125) - 24);
}

/* Calls a check for every 1,021st pattern of fp32 that is not NaN, including both infinities. */
static void
compare (float (*formula) (float), double (*reference) (double), double limit, double smallest)
{
  for (uint64_t bits = 0; bits < (uint64_t) 1 << 32; bits += 1021) {
    uint32_t pattern = (uint32_t) bits;
    float x;
    memcpy (&x, &pattern, sizeof x);
    if (isnan (x))
      continue;
    double want = reference ((double) x), distance = ulps (formula (x), want);
    if (!(distance <= limit) && !(fabs (want) < smallest && fabs ((double) formula (x)) < smallest))
      g_error ("at %g: %g, expected %g, %g units off", x, formula (x), want, distance);
  }
}

#define CALLABLE(name) \
  static float name##_f (float x) \
  { \
    return lig_##name (x); \
  }
CALLABLE (exp)
CALLABLE (tanh)
CALLABLE (sigmoid)

static void
test_accuracy (void)
{
  compare (exp_f, exp, 1.5, 0);
  compare (tanh_f, tanh, 2, 0);
  compare (sigmoid_f, sigmoid, 3, 0x1p-125);
  g_assert_true (lig_exp (-INFINITY) == 0 && isinf (lig_exp (INFINITY)) && isnan (lig_exp (NAN)));
  g_assert_true (lig_tanh (-INFINITY) == -1 && lig_tanh (INFINITY) == 1 && isnan (lig_tanh (NAN)));
  g_assert_true (lig_sigmoid (-INFINITY) == 0 && lig_sigmoid (INFINITY) == 1);
  g_assert_true (isnan (lig_sigmoid (NAN)));
}

/* The documented formula of the activation under test. Its constants have eight digits, and in the
 * far tails it cancels even in double. */
static Formula shown;

static double
value_shown (double x)
{
  return formula_value (&shown, x, 1);
}

#define ACTIVATION(name, ...) CALLABLE (name)
LIG_EACH_ACTIVATION (ACTIVATION)
#undef ACTIVATION

static void
test_shown (void)
{
#define ACTIVATION(name, backward, ...) \
  g_test_message (#name); \
  formula_read (&shown, #name); \
  compare (name##_f, value_shown, 64, 1e-9); \
  for (double x = -20; x < 20; x += 0.0137) { \
    double slope = (value_shown (x + 1e-5) - value_shown (x - 1e-5)) / 2e-5; \
    float got = lig_##backward (1, (float) x); \
    g_assert_cmpfloat_with_epsilon ((double) got, slope, 1e-6 + 1e-6 * fabs (slope)); \
  } \
  g_assert_true (isnan (lig_##name (NAN)) && isnan (lig_##backward (NAN, 1)));
  LIG_EACH_ACTIVATION (ACTIVATION)
#undef ACTIVATION
}

/* No intermediate result overflows such that the result is NaN. */
static void
test_extremes (void)
{
  static const float values[] = {30, 200, 1e10f, 1e20f, 3.4e38f, INFINITY};
  static const LigGatedParams defaults = {
    .limit = 7, .alpha = 1.702f, .offset = 1, .beta1 = 4, .beta2 = 25};
#define CHECK(name) \
  g_assert_true (lig_##name (x) == x && lig_##name##_backward (1, x) == 1); \
  g_assert_true (fabsf (lig_##name (-x)) < 1e-8f && fabsf (lig_##name##_backward (1, -x)) < 1e-8f)
  for (size_t i = 0; i < G_N_ELEMENTS (values); i++) {
    float x = values[i], da, db;
    CHECK (gelu);
    CHECK (gelu_erf);
    CHECK (qgelu);
    CHECK (silu);
    CHECK (relu);
    g_assert_true (isnan (lig_gelu (NAN)) && isnan (lig_relu (NAN)) && isnan (lig_silu (NAN)));
    g_assert_true (lig_clamped_swiglu (-x, 1, &defaults) < 1e-8f);
    lig_clamped_swiglu_backward (1, -x, x, &defaults, &da, &db);
    g_assert_true (fabsf (da) < 1e-8f && db == 0);
    g_assert_true (lig_situ_glu (x, x, &defaults) <= 100 && lig_situ_glu (-x, x, &defaults) <= 0);
    lig_situ_glu_backward (1, x, -x, &defaults, &da, &db);
    g_assert_true (fabsf (da) <= 25 && fabsf (db) <= 4);
  }
}

static void
test_philox (void)
{
  static const struct {
    uint32_t counter[4];
    uint64_t key;
    uint32_t words[4];
  } cases[] = {
    {{0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
     UINT64_MAX,
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     0x299f31d0a4093822,
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    uint32_t words[4];
    memcpy (words, cases[i].counter, sizeof words);
    lig_philox (words, cases[i].key);
    g_assert_cmpmem (words, sizeof words, cases[i].words, sizeof words);
  }
}

static void
test_normal (void)
{
  double sum = 0, squares = 0, fourth = 0;
  int pairs = 200000;
  g_assert_true (lig_uniform_open (0) > 0 && lig_uniform_open (UINT32_MAX) < 1);
  for (int i = 0; i < pairs; i++) {
    uint32_t words[4];
    float a, b;
    lig_random_words (42, (uint64_t) i, 7, 0, words);
    lig_normal_pair (words[0], words[1], &a, &b);
    double values[] = {(double) a, (double) b};
    for (int j = 0; j < 2; j++) {
      sum += values[j];
      squares += values[j] * values[j];
      fourth += pow (values[j], 4);
    }
  }
  g_assert_cmpfloat_with_epsilon (sum / (2 * pairs), 0, 0.008);
  g_assert_cmpfloat_with_epsilon (squares / (2 * pairs), 1, 0.012);
  g_assert_cmpfloat_with_epsilon (fourth / (2 * pairs), 3, 0.08);
}

static void
drop (LigOperand x, LigOperand y, float probability, uint64_t path_hash, const LigTick *tick)
{
  LigDropoutParams params = {.probability = probability, .path_hash = path_hash};
  LigStatus status;
  try_run ("dropout", (LigOperand[]){x, y}, &params, tick, false, &status);
  g_assert_cmpint (status, ==, LIG_OK);
}

/* Computes the dropout of x one element at a time, by its definition; counts the kept elements. */
static LigOperand
dropped (LigOperand x, float probability, uint64_t path_hash, const LigTick *tick, int64_t *kept)
{
  LigOperand y = blank (x.dtype, x.size / x.columns, x.columns);
  double *values = wide (x);
  float *results = scratch ((size_t) x.size * sizeof *results);
  *kept = 0;
  for (int64_t i = 0; i < x.size; i++) {
    uint32_t words[4];
    lig_random_words (tick->seed, (uint64_t) i / 4, path_hash, tick->micro_step, words);
    bool keep = words[i % 4] >= (uint64_t) ((double) probability * 0x1p32);
    results[i] = keep ? (float) values[i] * (1 / (1 - probability)) : 0;
    *kept += keep;
  }
  lig_narrow (x.dtype, results, y.data, (size_t) x.size);
  return y;
}

static void
test_dropout (void)
{
  static const float probabilities[] = {0, .0625f, .1f, .5f, .75f, 1};
  static const int64_t sizes[] = {1, 2, 3, 5, 31, 1023, 1025, 4099, 200003};
  for (size_t i = 0; i < 6 * 9 * 3; i++) {
    int64_t kept, size = sizes[i / 6 % 9];
    float p = probabilities[i % 6];
    LigTick tick = {.seed = 0x123456789abcdef, .micro_step = 3 + i};
    uint64_t path_hash = 0xfedcba9876543210 + i;
    case_begin ();
    LigOperand x = random_tensor (floating[i / 54], 1, size), y = blank (x.dtype, 1, size);
    LigOperand want = dropped (x, p, path_hash, &tick, &kept);
    drop (x, y, p, path_hash, &tick);
    if (p < 1)
      check_same_bits (y, want);
    else
      check_same_bits (y, (LigOperand){scratch ((size_t) size * 4), size, size, x.dtype});
    double std = sqrt ((double) p * (1 - (double) p) * (double) size);
    if (p > 0 && p < 1)
      g_assert_cmpfloat (fabs ((double) kept - (1 - (double) p) * (double) size), <, 5 * std + 1);
    drop (x, x, p, path_hash, &tick);
    check_same_bits (x, y);
    case_end ();
  }
}

/* Different steps, seeds and ops drop different elements. */
static void
test_dropout_streams (void)
{
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 10, 1000), first = copy (x);
  const LigTick ticks[] = {{.seed = 1},
                           {.seed = 2},
                           {.seed = (uint64_t) 1 << 32},
                           {.seed = 1, .micro_step = 1},
                           {.seed = 1}};
  drop (x, first, 0.5f, 0, &ticks[0]);
  for (size_t i = 1; i < G_N_ELEMENTS (ticks); i++) {
    LigOperand y = copy (x);
    drop (x, y, 0.5f, i == 4, &ticks[i]);
    int64_t alike = 0;
    for (int64_t j = 0; j < x.size; j++)
      alike += (((float *) y.data)[j] == 0) == (((float *) first.data)[j] == 0);
    g_assert_cmpint (alike, >, 4700);
    g_assert_cmpint (alike, <, 5300);
  }
  LigStatus status;
  LigLaunch launch = try_run ("dropout", (LigOperand[]){x, x},
                              &(LigDropoutParams){.probability = 1.5f}, &ticks[0], false, &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  g_assert_nonnull (strstr (launch.where, "outside"));
  case_end ();
}

static void
test_convert (void)
{
  for (int from = 0; from < LIG_N_DTYPES; from++)
    for (int to = 0; to < LIG_N_DTYPES; to++) {
      int64_t size = 70001;
      case_begin ();
      LigOperand x = random_tensor ((LigDtype) from, 1, size), y = blank ((LigDtype) to, 1, size);
      LigOperand want = copy (y);
      float *floats = scratch ((size_t) size * sizeof *floats);
      lig_widen (x.dtype, x.data, floats, (size_t) size);
      lig_narrow (want.dtype, floats, want.data, (size_t) size);
      run ("convert", (LigOperand[]){x, y}, NULL, false);
      check_same_bits (y, want);
      case_end ();
    }
  case_begin ();
  int32_t large[] = {16777217, -2147483647};
  LigOperand x = {large, 2, 2, LIG_INT32}, y = blank (LIG_INT32, 1, 2);
  run ("convert", (LigOperand[]){x, y}, NULL, false);
  check_same_bits (x, y);
  case_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formulas/accuracy", test_accuracy);
  g_test_add_func ("/formulas/shown", test_shown);
  g_test_add_func ("/formulas/extremes", test_extremes);
  g_test_add_func ("/formulas/philox", test_philox);
  g_test_add_func ("/formulas/normal", test_normal);
  g_test_add_func ("/dropout/definition", test_dropout);
  g_test_add_func ("/dropout/streams", test_dropout_streams);
  g_test_add_func ("/convert", test_convert);
  return g_test_run ();
}
