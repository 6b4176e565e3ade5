/* SPDX-License-Identifier: MIT */
/* Losses of logits with a large common offset, norms of rows whose mean is far from 0 compared with
 * their deviation, and attention with large scores, against references in double of the same
 * values. */
#include "tests/kernels/case.h"
#include <ligature/params-attention.h>
#include <ligature/params-loss.h>
#include <ligature/params-norm.h>

static const double offsets[] = {0, 1e4, 1e6, 1e8, -1e8};
static const float smoothings[] = {0, 0.1f};
enum { ROWS = 40, CLASSES = 96, RANKS = 3 };

/* Returns random rows around an offset; every seventh has equal values. */
static LigOperand
rows_around (int64_t rows, int64_t columns, double offset, double deviation)
{
  LigOperand x = random_tensor (LIG_FP32, rows, columns);
  float *values = x.data;
  for (int64_t i = 0; i < x.size; i++)
    values[i] = (float) (offset + (i / columns % 7 == 3 ? 0 : deviation * (double) values[i]));
  return x;
}

/* --- Losses -------------------------------------------------------------------------------- */

typedef struct {
  double loss, *slopes;
} Loss;

static Loss
reference (const double *x, const int32_t *targets, double smoothing)
{
  Loss loss = {0, doubles ((gsize) ROWS * CLASSES)};
  for (int row = 0; row < ROWS; row++, x += CLASSES) {
    double most = x[0], sum = 0, mean = 0;
    for (int i = 1; i < CLASSES; i++)
      most = MAX (most, x[i]);
    for (int i = 0; i < CLASSES; i++) {
      sum += exp (x[i] - most);
      mean += (x[i] - most) / CLASSES;
    }
    loss.loss += (1 - smoothing) * (most - x[targets[row]] + log (sum)) / ROWS;
    loss.loss += smoothing * (log (sum) - mean) / ROWS;
    for (int i = 0; i < CLASSES; i++) {
      double wanted = (i == targets[row] ? 1 - smoothing : 0) + smoothing / CLASSES;
      loss.slopes[row * CLASSES + i] = (exp (x[i] - most) / sum - wanted) / ROWS;
    }
  }
  return loss;
}

static LigOperand
some_targets (void)
{
  LigOperand targets = blank (LIG_INT32, 1, ROWS);
  for (int i = 0; i < ROWS; i++)
    ((int32_t *) targets.data)[i] = i * 37 % CLASSES;
  return targets;
}

static void
check_loss (LigOperand y, LigOperand dx, const Loss *want)
{
  check_within (y, &want->loss, 1e-5 * (1 + fabs (want->loss)), "loss");
  check_within (dx, want->slopes, 1e-5 * norm_of (want->slopes, dx.size), "dx");
}

/* Returns the columns of one rank. */
static LigOperand
columns_of (LigOperand x, int rank)
{
  int64_t width = CLASSES / RANKS;
  LigOperand part = blank (LIG_FP32, ROWS, width);
  for (int64_t i = 0; i < part.size; i++)
    ((float *) part.data)[i] = ((float *) x.data)[i / width * CLASSES + rank * width + i % width];
  return part;
}

/* The same by ranks that have a part of the classes each. */
static void
check_parts (LigOperand x, LigOperand targets, float smoothing, const Loss *want)
{
  LigOperand parts = blank (LIG_FP32, RANKS * ROWS, 4), y = number (NAN), count = number (NAN);
  LigOperand lse = blank (LIG_FP32, ROWS, 2), dx = blank (LIG_FP32, ROWS, CLASSES);
  LigCrossEntropyParams params = {
    .ignored = -100, .label_smoothing = smoothing, .part = {0, CLASSES}};
  int64_t width = CLASSES / RANKS;
  for (int rank = 0; rank < RANKS; rank++) {
    LigOperand part = {(float *) parts.data + rank * ROWS * 4, ROWS * 4, 4, LIG_FP32};
    params.part.first = rank * width;
    run ("cross_entropy_part", (LigOperand[]){columns_of (x, rank), targets, part}, &params, false);
  }
  run ("cross_entropy_join", (LigOperand[]){parts, targets, y, lse, count}, &params, false);
  for (int rank = 0; rank < RANKS; rank++) {
    LigOperand slopes = blank (LIG_FP32, ROWS, width);
    params.part.first = rank * width;
    run ("cross_entropy_backward",
         (LigOperand[]){number (1), columns_of (x, rank), targets, lse, count, slopes}, &params,
         false);
    for (int64_t i = 0; i < slopes.size; i++)
      ((float *) dx.data)[i / width * CLASSES + rank * width + i % width] =
        ((float *) slopes.data)[i];
  }
  check_loss (y, dx, want);
}

static void
test_losses (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (offsets); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (smoothings); j++) {
      case_begin ();
      LigOperand x = rows_around (ROWS, CLASSES, offsets[i], 5), targets = some_targets ();
      LigOperand y = number (NAN), count = number (NAN), lse = blank (LIG_FP32, ROWS, 2);
      LigOperand dx = blank (LIG_FP32, ROWS, CLASSES);
      LigCrossEntropyParams params = {.ignored = -100, .label_smoothing = smoothings[j]};
      Loss want = reference (wide (x), targets.data, (double) smoothings[j]);
      run ("cross_entropy", (LigOperand[]){x, targets, y, lse, count}, &params, false);
      run ("cross_entropy_backward", (LigOperand[]){number (1), x, targets, lse, count, dx},
           &params, false);
      check_loss (y, dx, &want);
      check_parts (x, targets, smoothings[j], &want);
      case_end ();
    }
}

/* --- Norms --------------------------------------------------------------------------------- */

static const struct {
  double mean, deviation;
} places[] = {{0, 1}, {1234.567, 0}, {-1e5, 0}, {101325, 0.05}, {1e5, 3}, {-3e7, 100}};
static const int64_t widths[] = {31, 768, 1000, 4096};

/* The mean is a number of fp32, as in PyTorch: its rounding moves all elements of y. */
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

/* The gradient for the statistics that the forward pass gave. */
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
      LigOperand x = rows_around (ROWS, columns, places[i].mean, places[i].deviation);
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

/* --- Attention ----------------------------------------------------------------------------- */

enum { BATCH = 2, HEADS = 2, LENGTH = 70, FEATURES = 16 };
static const double scores[] = {0, 300, 4e6, -4e6, 1e8};

/* Rows whose scores are `score` plus small differences: the first feature of the queries and keys
 * gives the score, exactly, the others are random. */
static LigOperand
rows_with_scores (double score, bool equal)
{
  LigOperand x = random_tensor (LIG_FP32, BATCH * LENGTH, 3 * HEADS * FEATURES);
  float *values = x.data, root = sqrtf ((float) fabs (score));
  for (int64_t i = 0; i < x.size; i++) {
    int64_t column = i % x.columns, feature = column % FEATURES;
    if (column >= 2 * HEADS * FEATURES)
      continue;
    if (equal)
      values[i] = 0;
    if (feature == 0)
      values[i] = column < HEADS * FEATURES && score < 0 ? -root : root;
  }
  return x;
}

/* Checks that the weights of each query add up to 1 when the backward pass computes them again: the
 * gradients of the values add up to those of y. */
static void
check_values (LigOperand dy, LigOperand dx)
{
  const float *dys = dy.data, *dxs = dx.data;
  for (int64_t column = 0; column < HEADS * FEATURES; column++)
    for (int64_t b = 0; b < BATCH; b++) {
      double given = 0, got = 0, size = 0;
      for (int64_t row = b * LENGTH; row < (b + 1) * LENGTH; row++) {
        given += (double) dys[row * dy.columns + column];
        size += fabs ((double) dys[row * dy.columns + column]);
        got += (double) dxs[row * dx.columns + 2 * HEADS * FEATURES + column];
      }
      g_assert_cmpfloat_with_epsilon (got, given, 1e-5 * size);
    }
}

static void
test_attention (void)
{
  const LigAttentionParams params = {.heads = HEADS,
                                     .kv_heads = HEADS,
                                     .features = FEATURES,
                                     .length = LENGTH,
                                     .memory_length = LENGTH,
                                     .mask = LIG_MASK_CAUSAL,
                                     .scale = 1};
  for (size_t i = 0; i < 2 * G_N_ELEMENTS (scores); i++) {
    case_begin ();
    bool equal = i % 2 == 0;
    LigOperand x = rows_with_scores (scores[i / 2], equal), none = {.dtype = LIG_FP32};
    LigOperand ints = {.dtype = LIG_INT32};
    LigOperand y = blank (LIG_FP32, BATCH * LENGTH, HEADS * FEATURES);
    LigOperand dy = random_tensor (LIG_FP32, BATCH * LENGTH, HEADS * FEATURES);
    LigOperand lse = blank (LIG_FP32, 2 * BATCH * HEADS, LENGTH);
    LigOperand dx = blank (LIG_FP32, BATCH * LENGTH, x.columns);
    run ("attention", (LigOperand[]){x, none, ints, ints, y, lse}, &params, false);
    run ("attention_backward", (LigOperand[]){dy, x, none, ints, ints, y, lse, dx, none}, &params,
         false);
    check_values (dy, dx);
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/far/losses", test_losses);
  g_test_add_func ("/kernels/far/norms", test_norms);
  g_test_add_func ("/kernels/far/attention", test_attention);
  return g_test_run ();
}
