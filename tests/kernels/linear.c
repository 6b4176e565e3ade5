/* SPDX-License-Identifier: MIT */
/* Matmuls on the CPU against a reference in double precision, unfused and with all fused
 * epilogues. */
#include "tests/kernels/case.h"
#include <ligature/params-matmul.h>

typedef struct {
  int64_t m, k, n;
} Shape;

/* Odd sizes, and some that need several blocks in each direction. */
static const Shape shapes[] = {
  {1, 1, 1},    {2, 3, 7},     {17, 7, 31},   {600, 31, 33}, {17, 33, 1000},
  {1, 1000, 3}, {2, 33, 1000}, {2100, 2, 40}, {3, 2000, 20}, {5, 2, 4200},
  {4, 1025, 9}, {6, 40, 130},  {7, 1100, 65}, {8, 300, 129}, {9, 48, 64},
};

/* Compute type, and the type of parameters. */
static const LigDtype types[][2] = {
  {LIG_FP32, LIG_FP32}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_BF16},
  {LIG_BF16, LIG_FP32}, {LIG_FP32, LIG_BF16},
};

typedef void (*Case) (Shape shape, LigDtype compute, LigDtype parameters);

static void
each (gconstpointer data)
{
  Case function = *(const Case *) data;
  for (size_t i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (types); j++) {
      case_begin ();
      function (shapes[i], types[j][0], types[j][1]);
      case_end ();
    }
}

/* Computes factor op (a) [m, k] op (b) [k, n]. */
static double *
matmul (LigOperand a, bool a_transposed, LigOperand b, bool b_transposed, Shape s, double factor)
{
  double *left = wide (a), *right = wide (b), *result = doubles (s.m * s.n);
  for (int64_t i = 0; i < s.m; i++)
    for (int64_t l = 0; l < s.k; l++) {
      double value = factor * left[a_transposed ? l * s.m + i : i * s.k + l];
      for (int64_t j = 0; j < s.n; j++)
        result[i * s.n + j] += value * right[b_transposed ? j * s.k + l : l * s.n + j];
    }
  return result;
}

static LigOperand
rows_of (LigOperand from, int64_t first, int64_t rows)
{
  size_t bytes = (size_t) (first * from.columns) * lig_dtype_size (from.dtype);
  return (LigOperand){(char *) from.data + bytes, rows * from.columns, from.columns, from.dtype};
}

static double
gelu (double x)
{
  return 0.5 * x * (1 + tanh (0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double
gelu_slope (double x)
{
  double h = 1e-6;
  return (gelu (x + h) - gelu (x - h)) / (2 * h);
}

static double *
add (double *values, LigOperand other, int64_t count)
{
  const double *more = wide (other);
  for (int64_t i = 0; i < count; i++)
    values[i] += more[i % other.size];
  return values;
}

static void
forward (Shape s, LigDtype compute, LigDtype parameters)
{
  LigScaleParams scale = {0.75f};
  LigOperand x = random_tensor (compute, s.m, s.k), weight = random_tensor (parameters, s.n, s.k);
  LigOperand bias = random_tensor (parameters, 1, s.n), extra = random_tensor (compute, s.m, s.n);
  LigOperand y = blank (compute, s.m, s.n), none = absent (parameters, 1, s.n);
  double *want = matmul (x, false, weight, true, s, 0.75);

  run ("linear", (LigOperand[]){x, weight, y}, &scale, false);
  check (y, want, "linear");
  run ("linear_bias_add", (LigOperand[]){x, weight, none, extra, y}, &scale, false);
  check (y, add (doubles_copy (want, s.m * s.n), extra, s.m * s.n), "add");
  LigOperand in_place = copy (extra);
  run ("linear_bias_add", (LigOperand[]){x, weight, none, in_place, in_place}, &scale, false);
  check_same_bits (in_place, y);

  add (want, bias, s.m * s.n);
  run ("linear_bias", (LigOperand[]){x, weight, bias, y}, &scale, false);
  check (y, want, "bias");
  run ("linear_bias_add", (LigOperand[]){x, weight, bias, extra, y}, &scale, false);
  check (y, add (want, extra, s.m * s.n), "bias add");
}

static void
forward_activation (Shape s, LigDtype compute, LigDtype parameters)
{
  LigOperand x = random_tensor (compute, s.m, s.k), weight = random_tensor (parameters, s.n, s.k);
  LigOperand bias = random_tensor (parameters, 1, s.n), none = absent (parameters, 1, s.n);
  LigOperand sum = blank (compute, s.m, s.n), y = blank (compute, s.m, s.n), again = copy (y);
  LigOperand missing = absent (compute, s.m, s.n);
  int64_t count = s.m * s.n;

  for (int with_bias = 0; with_bias < 2; with_bias++) {
    LigOperand vector = with_bias ? bias : none;
    double *want = matmul (x, false, weight, true, s, 1);
    if (with_bias)
      add (want, bias, count);
    run ("linear_bias_gelu", (LigOperand[]){x, weight, vector, sum, y}, NULL, false);
    check (sum, want, "sum");
    /* gelu is applied to the rounded sum, whether the sum is stored or not. */
    double *activated = wide (sum);
    for (int64_t i = 0; i < count; i++)
      activated[i] = gelu (activated[i]);
    check (y, activated, "gelu");
    run ("linear_bias_gelu", (LigOperand[]){x, weight, vector, missing, again}, NULL, false);
    check_same_bits (again, y);
    run ("linear_bias_gelu", (LigOperand[]){x, weight, vector, again, missing}, NULL, false);
    check_same_bits (again, sum);

    for (int64_t i = 0; i < count; i++)
      want[i] = fmax (want[i], 0);
    run ("linear_bias_relu", (LigOperand[]){x, weight, vector, y}, NULL, false);
    check (y, want, "relu");
  }
}

/* The kernels that also sum dy compute the same bits of dx and dbias as those that do not. */
static void
check_last_sums (
  Shape s, LigOperand dy, LigOperand weight, LigOperand x, LigOperand gelu_dx, LigOperand dbias)
{
  LigScaleParams scale = {-1.5f};
  LigOperand dx = blank (x.dtype, s.m, s.k), again = blank (x.dtype, s.m, s.k);
  LigOperand dlast = blank (dbias.dtype, 1, s.n), first = blank (dbias.dtype, 1, s.k);
  LigOperand alone = blank (dbias.dtype, 1, s.n), none = absent (x.dtype, s.m, s.k);
  run ("bias_backward", (LigOperand[]){dy, alone}, NULL, false);
  run ("linear_backward_input", (LigOperand[]){dy, weight, dx}, &scale, false);
  run ("linear_backward_input_bias", (LigOperand[]){dy, weight, again, dlast}, &scale, false);
  check_same_bits (again, dx);
  check_same_bits (dlast, alone);
  run ("linear_backward_input_bias", (LigOperand[]){dy, weight, none, dlast}, &scale, false);
  check_same_bits (dlast, alone);
  run ("linear_backward_input_gelu_bias", (LigOperand[]){dy, weight, x, again, first, dlast},
       &scale, false);
  check_same_bits (again, gelu_dx);
  check_same_bits (first, dbias);
  check_same_bits (dlast, alone);
  double *sums = wide (dlast);
  run ("linear_backward_input_bias", (LigOperand[]){dy, weight, again, dlast}, &scale, true);
  check (dlast, add (sums, alone, s.n), "accumulated dbias");
}

static void
backward_input (Shape s, LigDtype compute, LigDtype parameters)
{
  LigScaleParams scale = {-1.5f};
  Shape inner = {s.m, s.n, s.k};
  LigOperand dy = random_tensor (compute, s.m, s.n), weight = random_tensor (parameters, s.n, s.k);
  LigOperand branch = random_tensor (compute, s.m, s.k), x = random_tensor (compute, s.m, s.k);
  LigOperand dx = blank (compute, s.m, s.k), dbias = blank (parameters, 1, s.k);
  double *want = matmul (dy, false, weight, false, inner, -1.5), *sums = doubles (s.k);
  double *slope = wide (x);

  run ("linear_backward_input", (LigOperand[]){dy, weight, dx}, &scale, false);
  check (dx, want, "dx");
  for (int64_t i = 0; i < s.m * s.k; i++)
    slope[i] = gelu_slope (slope[i]) * want[i];
  run ("linear_backward_input_gelu", (LigOperand[]){dy, weight, x, dx, dbias}, &scale, false);
  check (dx, slope, "gelu dx");
  double *rounded = wide (dx);
  for (int64_t i = 0; i < s.m * s.k; i++)
    sums[i % s.k] += rounded[i];
  check (dbias, sums, "dbias");
  LigOperand twice = copy (dbias), in_place = copy (x), none = absent (compute, s.m, s.k);
  run ("linear_backward_input_gelu", (LigOperand[]){dy, weight, in_place, in_place, twice}, &scale,
       true);
  check_same_bits (in_place, dx);
  check (twice, add (sums, dbias, s.k), "accumulated dbias");
  run ("linear_backward_input_gelu", (LigOperand[]){dy, weight, x, none, twice}, &scale, false);
  check_same_bits (twice, dbias);
  check_last_sums (s, dy, weight, x, dx, dbias);
  run ("linear_backward_input_add", (LigOperand[]){dy, weight, branch, dx}, &scale, false);
  check (dx, add (want, branch, s.m * s.k), "dx + branch");
  run ("linear_backward_input_add", (LigOperand[]){dy, weight, branch, branch}, &scale, false);
  check_same_bits (branch, dx);
}

static void
backward_weight (Shape s, LigDtype compute, LigDtype parameters)
{
  LigScaleParams scale = {0.5f};
  Shape inner = {s.n, s.m, s.k};
  LigOperand dy = random_tensor (compute, s.m, s.n), x = random_tensor (compute, s.m, s.k);
  LigOperand dweight = blank (parameters, s.n, s.k), dbias = blank (parameters, 1, s.n);
  LigOperand none = absent (parameters, 1, 1), alone = blank (parameters, 1, s.n);
  double *want = matmul (dy, true, x, false, inner, 0.5), *sums = doubles (s.n);
  double *values = wide (dy);
  for (int64_t i = 0; i < s.m * s.n; i++)
    sums[i % s.n] += values[i];

  run ("linear_backward_weight", (LigOperand[]){dy, x, dweight}, &scale, false);
  check (dweight, want, "dweight");
  LigOperand first = copy (dweight);
  run ("linear_backward_weight_bias", (LigOperand[]){dy, x, dweight, dbias}, &scale, false);
  check_same_bits (first, dweight);
  check (dbias, sums, "dbias");
  run ("bias_backward", (LigOperand[]){dy, alone}, NULL, false);
  check_same_bits (alone, dbias);
  run ("linear_backward_weight_bias", (LigOperand[]){dy, x, none, dbias}, &scale, false);
  check_same_bits (alone, dbias);

  run ("linear_backward_weight_bias", (LigOperand[]){dy, x, dweight, dbias}, &scale, true);
  check (dbias, add (sums, alone, s.n), "accumulated dbias");
  check (dweight, add (want, first, s.n * s.k), "accumulated dweight");
  run ("linear_backward_weight_bias", (LigOperand[]){dy, x, dweight, none}, &scale, false);
  check_same_bits (first, dweight);
}

/* The bits of one of a few rows do not depend on the others. */
static void
few_rows (void)
{
  case_begin ();
  for (size_t j = 0; j < G_N_ELEMENTS (types); j++) {
    LigOperand x = random_tensor (types[j][0], 8, 1100);
    LigOperand weight = random_tensor (types[j][1], 131, 1100),
               bias = random_tensor (types[j][1], 1, 131);
    LigOperand y = blank (types[j][0], 8, 131), some = blank (types[j][0], 8, 131);
    run ("linear_bias", (LigOperand[]){x, weight, bias, y}, NULL, false);
    for (int64_t first = 0; first < 8; first++)
      for (int64_t rows = 1; first + rows <= 8; rows++) {
        LigOperand in = rows_of (x, first, rows), out = rows_of (some, first, rows);
        run ("linear_bias", (LigOperand[]){in, weight, bias, out}, NULL, false);
        check_same_bits (out, rows_of (y, first, rows));
      }
  }
  case_end ();
}

/* A type that no matmul supports is rejected, not misread. */
static void
rejected (void)
{
  LigStatus status;
  case_begin ();
  LigOperand x = blank (LIG_INT32, 2, 3), weight = random_tensor (LIG_FP32, 4, 3);
  LigOperand operands[] = {x, weight, blank (LIG_FP32, 2, 4)};
  LigLaunch launch = try_run ("linear", operands, NULL, NULL, false, &status);
  g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
  g_assert_nonnull (strstr (launch.where, "floating"));
  case_end ();
}

int
main (int argc, char **argv)
{
  static const Case cases[] = {forward, forward_activation, backward_input, backward_weight};
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/linear/forward", &cases[0], each);
  g_test_add_data_func ("/kernels/linear/activation", &cases[1], each);
  g_test_add_data_func ("/kernels/linear/backward-input", &cases[2], each);
  g_test_add_data_func ("/kernels/linear/backward-weight", &cases[3], each);
  g_test_add_func ("/kernels/linear/few-rows", few_rows);
  g_test_add_func ("/kernels/linear/rejected", rejected);
  return g_test_run ();
}
