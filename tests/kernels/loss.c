/* SPDX-License-Identifier: MIT */
/* Losses on the CPU against a reference in double precision and central differences. */
#include "tests/kernels/case.h"
#include <ligature/params-loss.h>

static const int64_t row_counts[] = {1, 2, 17, 600};
static const int64_t column_counts[] = {1, 3, 7, 31, 33, 1000, 2100};

/* Calls `test` for odd sizes and all types. */
static void
each (gconstpointer data)
{
  void (*test) (int64_t, int64_t, LigDtype) = *(void (*const *) (int64_t, int64_t, LigDtype)) data;
  for (size_t i = 0; i < G_N_ELEMENTS (row_counts); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (column_counts); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
        case_begin ();
        test (row_counts[i], column_counts[j], floating[k]);
        case_end ();
      }
}

/* Every fifth row is ignored, unless all rows would be. */
static LigOperand
classes (int64_t rows, int64_t columns, int32_t ignored)
{
  LigOperand targets = blank (LIG_INT32, 1, rows);
  for (int64_t i = 0; i < rows; i++)
    ((int32_t *) targets.data)[i] = i % 5 == 1 ? ignored : (int32_t) (i * 37 % columns);
  return targets;
}

typedef struct {
  double loss, count, *lse;
} Entropy;

static Entropy
entropy (const double *x, LigOperand targets, int64_t columns, const LigCrossEntropyParams *params)
{
  Entropy e = {.lse = doubles (2 * targets.size)};
  double smoothing = (double) params->label_smoothing;
  for (int64_t row = 0; row < targets.size; row++, x += columns) {
    double max = -INFINITY, sum = 0, mean = 0;
    int32_t target = ((int32_t *) targets.data)[row];
    for (int64_t i = 0; i < columns; i++)
      max = MAX (max, x[i]);
    for (int64_t i = 0; i < columns; i++) {
      sum += exp (x[i] - max);
      mean += x[i] / (double) columns;
    }
    double lse = max + log (sum);
    e.lse[2 * row] = max;
    e.lse[2 * row + 1] = log (sum);
    if (target == params->ignored)
      continue;
    e.loss += (1 - smoothing) * (lse - x[target]) + smoothing * (lse - mean);
    e.count++;
  }
  e.loss /= e.count;
  return e;
}

static double *
entropy_slopes (const double *x,
                LigOperand targets,
                int64_t columns,
                const LigCrossEntropyParams *params,
                double dy)
{
  Entropy e = entropy (x, targets, columns, params);
  double *slopes = doubles (targets.size * columns), smoothing = (double) params->label_smoothing;
  for (int64_t at = 0; at < targets.size * columns; at++) {
    int32_t target = ((int32_t *) targets.data)[at / columns];
    double wanted = (at % columns == target ? 1 - smoothing : 0) + smoothing / (double) columns;
    if (target != params->ignored)
      slopes[at] =
        dy * (exp (x[at] - e.lse[2 * (at / columns)] - e.lse[2 * (at / columns) + 1]) - wanted) /
        e.count;
  }
  return slopes;
}

static void
cross_entropy_case (int64_t rows, int64_t columns, LigDtype dtype)
{
  LigCrossEntropyParams params = {.ignored = -100, .label_smoothing = columns % 2 ? 0 : 0.1f};
  LigOperand x = random_tensor (dtype, rows, columns), targets = classes (rows, columns, -100);
  LigOperand y = number (NAN), lse = blank (LIG_FP32, rows, 2), count = number (NAN);
  LigOperand dx = blank (dtype, rows, columns), dy = number (0.375), none = absent (LIG_FP32, 1, 1);
  double *values = wide (x);
  Entropy want = entropy (values, targets, columns, &params);
  run ("cross_entropy", (LigOperand[]){x, targets, y, lse, count}, &params, false);
  check_within (y, &want.loss, 1e-6 * (want.loss + 1), "loss");
  check_within (lse, want.lse, 1e-6 * sqrt ((double) rows) * 10, "lse");
  check (count, &want.count, "count");
  LigOperand again = number (NAN);
  run ("cross_entropy", (LigOperand[]){x, targets, again, none, none}, &params, false);
  check_same_bits (y, again);

  double *slopes = entropy_slopes (values, targets, columns, &params, 0.375);
  run ("cross_entropy_backward", (LigOperand[]){dy, x, targets, lse, count, dx}, &params, false);
  /* With one class the gradient is 0, except for the rounding of lse. */
  check_within (dx, slopes, allowed (dx, slopes) + 1e-6, "dx");
  run ("cross_entropy_backward", (LigOperand[]){dy, x, targets, lse, count, x}, &params, false);
  check_same_bits (x, dx);
  if (rows * columns > 64 || dtype != LIG_FP32)
    return;
  for (int64_t i = 0; i < rows * columns; i++) {
    double *above = doubles_copy (values, dx.size), *below = doubles_copy (values, dx.size);
    above[i] += 1e-5;
    below[i] -= 1e-5;
    double rise = entropy (above, targets, columns, &params).loss -
                  entropy (below, targets, columns, &params).loss;
    g_assert_cmpfloat_with_epsilon (slopes[i], 0.375 * rise / 2e-5, 1e-8);
  }
}

static void
accuracy_case (int64_t rows, int64_t columns, LigDtype dtype)
{
  LigOperand x = random_tensor (dtype, rows, columns), targets = classes (rows, columns, -100);
  LigOperand correct = number (NAN), count = number (NAN);
  double *values = wide (x), hits = 0, counted = 0;
  for (int64_t row = 0; row < rows; row++) {
    const double *at = values + row * columns;
    int32_t target = ((int32_t *) targets.data)[row];
    int64_t best = 0;
    for (int64_t i = 1; i < columns; i++)
      best = at[i] > at[best] ? i : best;
    hits += target == best;
    counted += target != -100;
  }
  run ("accuracy", (LigOperand[]){x, targets, correct, count}, NULL, false);
  g_assert_cmpfloat (*wide (correct), ==, hits);
  g_assert_cmpfloat (*wide (count), ==, counted);
}

static void
mean_squared_error_case (int64_t rows, int64_t columns, LigDtype dtype)
{
  LigOperand x = random_tensor (dtype, rows, columns);
  LigOperand targets = random_tensor (LIG_FP32, rows, columns), y = number (NAN);
  LigOperand dx = blank (dtype, rows, columns), dtargets = blank (LIG_FP32, rows, columns);
  LigOperand none = absent (dtype, rows, columns), dy = number (-2), alone = copy (dx);
  double *a = wide (x), *b = wide (targets), *slopes = doubles (x.size), *other = doubles (x.size);
  double sum = 0, n = (double) x.size;
  for (int64_t i = 0; i < x.size; i++) {
    sum += (a[i] - b[i]) * (a[i] - b[i]) / n;
    slopes[i] = -4 * (a[i] - b[i]) / n;
    other[i] = -slopes[i];
  }
  run ("mean_squared_error", (LigOperand[]){x, targets, y}, NULL, false);
  check (y, &sum, "mean squared error");
  LigOperand operands[] = {dy, x, targets, dx, dtargets};
  run ("mean_squared_error_backward", operands, NULL, false);
  check (dx, slopes, "dx");
  check (dtargets, other, "dtargets");
  run ("mean_squared_error_backward", (LigOperand[]){dy, x, targets, alone, none}, NULL, false);
  check_same_bits (alone, dx);
}

/* The bits are the same for any number of threads. */
static void
threads_case (int64_t rows, int64_t columns, LigDtype dtype)
{
  LigOperand x = random_tensor (dtype, rows, columns), other = random_tensor (dtype, rows, columns);
  LigOperand targets = classes (rows, columns, -100), y[4], dx[2];
  int threads = omp_get_max_threads ();
  for (int i = 0; i < 2; i++) {
    omp_set_num_threads (i + 1);
    LigOperand lse = blank (LIG_FP32, rows, 2), count = number (NAN);
    y[i] = number (NAN);
    y[2 + i] = number (NAN);
    dx[i] = blank (dtype, rows, columns);
    run ("cross_entropy", (LigOperand[]){x, targets, y[i], lse, count}, NULL, false);
    run ("cross_entropy_backward", (LigOperand[]){number (1), x, targets, lse, count, dx[i]}, NULL,
         false);
    run ("mean_squared_error", (LigOperand[]){x, other, y[2 + i]}, NULL, false);
  }
  omp_set_num_threads (threads);
  check_same_bits (y[0], y[1]);
  check_same_bits (y[2], y[3]);
  check_same_bits (dx[0], dx[1]);
}

/* If no row is counted, loss and gradient are 0; an invalid target is rejected; classes with
 * probability 0 are allowed. */
static void
edges (void)
{
  LigStatus status;
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 2, 5), targets = blank (LIG_INT32, 1, 2);
  LigOperand y = number (NAN), lse = blank (LIG_FP32, 2, 2), count = number (NAN);
  LigOperand dx = blank (LIG_FP32, 2, 5), zero = copy (dx);
  LigCrossEntropyParams params = {.ignored = 3};
  int32_t *target = targets.data;
  memset (zero.data, 0, 10 * sizeof (float));
  target[0] = target[1] = 3;
  ((float *) x.data)[4] = -INFINITY;
  run ("cross_entropy", (LigOperand[]){x, targets, y, lse, count}, &params, false);
  g_assert_cmpfloat (*wide (y), ==, 0);
  LigOperand operands[] = {number (1), x, targets, lse, count, dx};
  run ("cross_entropy_backward", operands, &params, false);
  check_same_bits (dx, zero);

  target[1] = 0;
  target[0] = 2;
  run ("cross_entropy", (LigOperand[]){x, targets, y, lse, count}, &params, false);
  run ("cross_entropy_backward", operands, &params, false);
  g_assert_true (isfinite (*wide (y)));
  g_assert_cmpfloat (wide (dx)[4], ==, 0);
  for (int i = 0; i < 2; i++) {
    target[1] = i ? 5 : -1;
    LigOperand of_loss[] = {x, targets, y, lse, count}, of_hits[] = {x, targets, y, count};
    try_run ("cross_entropy", of_loss, &params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_FAILED);
    g_assert_nonnull (try_run ("accuracy", of_hits, &params, NULL, false, &status).where);
    g_assert_cmpint (status, ==, LIG_FAILED);
  }
  case_end ();
}

/* The mean of two ranks' shares is the mean over all rows; a rank, or all, may count no row. */
static void
weigh (void)
{
  const double means[] = {2, 0.5, 0, 3}, own[] = {6, 2, 0, 8};
  for (int i = 0; i < 4; i += 2) {
    case_begin ();
    double sum = 0, count = (own[i] + own[i + 1]) / 2;
    for (int k = i; k < i + 2; k++) {
      LigOperand y = number (NAN);
      LigOperand operands[] = {number (means[k]), number (own[k]), number (count), y};
      run ("cross_entropy_weigh", operands, NULL, false);
      sum += *wide (y);
    }
    double whole = (means[i] * own[i] + means[i + 1] * own[i + 1]) / (2 * count);
    g_assert_cmpfloat_with_epsilon (sum / 2, whole, 1e-6);
    case_end ();
  }
  case_begin ();
  LigOperand y = number (NAN);
  run ("cross_entropy_weigh", (LigOperand[]){number (0), number (0), number (0), y}, NULL, false);
  g_assert_cmpfloat (*wide (y), ==, 0);
  case_end ();
}

/* Among equal logits the first is the predicted class; a NaN never is. */
static void
ties (void)
{
  case_begin ();
  float logits[] = {1, 2, 2, 0, 2, 2, 2, NAN, 1};
  int32_t targets[] = {1, 2, 0};
  LigOperand correct = number (NAN), count = number (NAN);
  LigOperand operands[] = {{logits, 9, 3, LIG_FP32}, {targets, 3, 3, LIG_INT32}, correct, count};
  run ("accuracy", operands, NULL, false);
  g_assert_cmpfloat (*wide (correct), ==, 1);
  case_end ();
}

/* --- Large logits -------------------------------------------------------------------------- */

static const double offsets[] = {0, 1e4, 1e6, 1e8, -1e8};
static const float smoothings[] = {0, 0.1f};
enum { ROWS = 40, CLASSES = 96, RANKS = 3 };

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

typedef struct {
  double loss, *slopes;
} Offset;

static Offset
offset_reference (const double *x, const int32_t *targets, double smoothing)
{
  Offset loss = {0, doubles ((gsize) ROWS * CLASSES)};
  for (int row = 0; row < ROWS; row++, x += CLASSES) {
    double max = x[0], sum = 0, mean = 0;
    for (int i = 1; i < CLASSES; i++)
      max = MAX (max, x[i]);
    for (int i = 0; i < CLASSES; i++) {
      sum += exp (x[i] - max);
      mean += (x[i] - max) / CLASSES;
    }
    loss.loss += (1 - smoothing) * (max - x[targets[row]] + log (sum)) / ROWS;
    loss.loss += smoothing * (log (sum) - mean) / ROWS;
    for (int i = 0; i < CLASSES; i++) {
      double wanted = (i == targets[row] ? 1 - smoothing : 0) + smoothing / CLASSES;
      loss.slopes[row * CLASSES + i] = (exp (x[i] - max) / sum - wanted) / ROWS;
    }
  }
  return loss;
}

static LigOperand
offset_targets (void)
{
  LigOperand targets = blank (LIG_INT32, 1, ROWS);
  for (int i = 0; i < ROWS; i++)
    ((int32_t *) targets.data)[i] = i * 37 % CLASSES;
  return targets;
}

static void
check_offset (LigOperand y, LigOperand dx, const Offset *want)
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

/* The same for ranks with sharded classes. */
static void
check_offset_parts (LigOperand x, LigOperand targets, float smoothing, const Offset *want)
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
  check_offset (y, dx, want);
}

static void
large_offsets (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (offsets); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (smoothings); j++) {
      case_begin ();
      LigOperand x = rows_around (ROWS, CLASSES, offsets[i], 5), targets = offset_targets ();
      LigOperand y = number (NAN), count = number (NAN), lse = blank (LIG_FP32, ROWS, 2);
      LigOperand dx = blank (LIG_FP32, ROWS, CLASSES);
      LigCrossEntropyParams params = {.ignored = -100, .label_smoothing = smoothings[j]};
      Offset want = offset_reference (wide (x), targets.data, (double) smoothings[j]);
      run ("cross_entropy", (LigOperand[]){x, targets, y, lse, count}, &params, false);
      run ("cross_entropy_backward", (LigOperand[]){number (1), x, targets, lse, count, dx},
           &params, false);
      check_offset (y, dx, &want);
      check_offset_parts (x, targets, smoothings[j], &want);
      case_end ();
    }
}

int
main (int argc, char **argv)
{
  static void (*const cases[]) (int64_t, int64_t, LigDtype) = {
    cross_entropy_case, accuracy_case, mean_squared_error_case, threads_case};
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/loss/cross-entropy", &cases[0], each);
  g_test_add_data_func ("/kernels/loss/accuracy", &cases[1], each);
  g_test_add_data_func ("/kernels/loss/mean-squared-error", &cases[2], each);
  g_test_add_data_func ("/kernels/loss/threads", &cases[3], each);
  g_test_add_func ("/kernels/loss/large-offsets", large_offsets);
  g_test_add_func ("/kernels/loss/edges", edges);
  g_test_add_func ("/kernels/loss/ties", ties);
  g_test_add_func ("/kernels/loss/weigh", weigh);
  return g_test_run ();
}
