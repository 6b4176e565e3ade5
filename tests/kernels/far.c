/* SPDX-License-Identifier: MIT */
/* Norms of rows whose mean is far from 0 compared with their standard deviation, against references
 * in double precision of the same fp32 values. */
#include "tests/kernels/case.h"
#include <ligature/params-norm.h>

enum { ROWS = 40 };

/* Returns random rows around an offset; every seventh has equal values. */
static LigOperand
rows_around (int64_t rows, int64_t columns, double offset, double std)
{
  LigOperand x = random_tensor (LIG_FP32, rows, columns);
  float *values = x.data;
  for (int64_t i = 0; i < x.size; i++)
    values[i] = (float) (offset + (i / columns % 7 == 3 ? 0 : std * (double) values[i]));
  return x;
}

static const struct {
  double mean, std;
} places[] = {{0, 1}, {1234.567, 0}, {-1e5, 0}, {101325, 0.05}, {1e5, 3}, {-3e7, 100}};
static const int64_t widths[] = {31, 768, 1000, 4096};

/* The mean is stored in fp32, as in PyTorch: its rounding shifts all elements of y. */
static void
check_forward (
  LigOperand x, LigOperand y, LigOperand mean, LigOperand rstd, double gain, double shift)
{
  const float *values = x.data, *out = y.data, *means = mean.data, *rstds = rstd.data;
  for (int64_t row = 0; row < ROWS; row++) {
    double sum = 0, squares = 0, n = (double) x.columns;
    for (int64_t i = 0; i < x.columns; i++)
      sum += (double) values[row * x.columns + i] / n;
    for (int64_t i = 0; i < x.columns; i++)
      squares += pow ((double) values[row * x.columns + i] - sum, 2) / n;
    double wanted = 1 / sqrt (squares + 1e-5), ulp = fabs (sum) * 0x1p-23;
    g_assert_cmpfloat_with_epsilon ((double) means[row], sum, ulp + 1e-6 * sqrt (squares) + 1e-9);
    g_assert_cmpfloat_with_epsilon ((double) rstds[row], wanted, 2e-6 * wanted);
    for (int64_t i = 0; i < x.columns; i++) {
      double h = ((double) values[row * x.columns + i] - sum) * wanted;
      double got = (double) out[row * x.columns + i];
      g_assert_cmpfloat_with_epsilon (got, gain * h + shift,
                                      gain * (ulp * wanted + 1e-5 * (1 + fabs (h))));
      if (squares == 0)
        g_assert_cmpfloat (got, ==, shift);
    }
  }
}

/* The gradient with the statistics of the forward pass. */
static double *
slopes_of (
  LigOperand x, LigOperand dy, LigOperand mean, LigOperand rstd, double gain, double *dweight)
{
  double *slopes = doubles (x.size), *values = wide (x), *dys = wide (dy), n = (double) x.columns;
  double *means = wide (mean), *rstds = wide (rstd);
  for (int64_t row = 0; row < ROWS; row++) {
    double u = 0, uh = 0;
    for (int64_t i = row * x.columns; i < (row + 1) * x.columns; i++) {
      double h = (values[i] - means[row]) * rstds[row];
      u += gain * dys[i] / n;
      uh += gain * dys[i] * h / n;
      dweight[i % x.columns] += dys[i] * h;
    }
    for (int64_t i = row * x.columns; i < (row + 1) * x.columns; i++) {
      double h = (values[i] - means[row]) * rstds[row];
      slopes[i] = rstds[row] * (gain * dys[i] - u - h * uh);
    }
  }
  return slopes;
}

static void
test_norms (void)
{
  const LigNormParams params = {.eps = 1e-5f};
  for (size_t i = 0; i < G_N_ELEMENTS (places); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (widths); j++) {
      case_begin ();
      int64_t columns = widths[j];
      LigOperand x = rows_around (ROWS, columns, places[i].mean, places[i].std);
      LigOperand weight = blank (LIG_FP32, 1, columns), bias = blank (LIG_FP32, 1, columns);
      LigOperand y = blank (LIG_FP32, ROWS, columns), dy = random_tensor (LIG_FP32, ROWS, columns);
      LigOperand mean = blank (LIG_FP32, ROWS, 1), rstd = blank (LIG_FP32, ROWS, 1);
      LigOperand dx = blank (LIG_FP32, ROWS, columns), dweight = blank (LIG_FP32, 1, columns);
      LigOperand dbias = blank (LIG_FP32, 1, columns), none = blank (LIG_FP32, ROWS, columns);
      double *dweights = doubles (columns);
      memset (none.data, 0, (size_t) none.size * sizeof (float));
      for (int64_t k = 0; k < columns; k++) {
        ((float *) weight.data)[k] = 1.5f;
        ((float *) bias.data)[k] = 0.25f;
      }
      run ("layer_norm", (LigOperand[]){x, weight, bias, y, mean, rstd}, &params, false);
      check_forward (x, y, mean, rstd, 1.5, 0.25);
      double *want = slopes_of (x, dy, mean, rstd, 1.5, dweights);
      run ("layer_norm_backward", (LigOperand[]){dy, x, weight, mean, rstd, dx, dweight, dbias},
           &params, false);
      check_within (dx, want, 1e-5 * norm_of (want, dx.size), "dx");
      check_within (dweight, dweights, 1e-5 * norm_of (dweights, columns) + 1e-4, "dweight");
      run ("add_layer_norm", (LigOperand[]){x, none, weight, bias, copy (x), y, mean, rstd},
           &params, false);
      check_forward (x, y, mean, rstd, 1.5, 0.25);
      case_end ();
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/far/norms", test_norms);
  return g_test_run ();
}
