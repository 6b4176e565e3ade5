/* SPDX-License-Identifier: MIT */
/* Losses of padded logits: they equal those of the classes without padding, computed in double
 * precision, whatever the padding contains; on one rank, on ranks with sharded classes, and fused
 * with the matmul that computes the logits. */
#include "tests/kernels/case.h"
#include <ligature/params-loss.h>

enum { ROWS = 23, IGNORED = -100 };

static const struct {
  int64_t classes, columns;
  int ranks;
} shapes[] = {{1, 2, 1}, {7, 12, 3}, {33, 64, 4}, {50, 64, 2}, {1000, 1100, 1}, {1100, 2200, 2}};
static const float paddings[] = {0, 1e4f, INFINITY, NAN};

typedef struct {
  LigCrossEntropyParams params;
  int64_t classes, columns;
  int ranks;
  LigOperand x, targets;
  double loss, hits, *slopes; /* gradients [ROWS, columns] */
} Case;

/* Computes the loss of the classes, its gradients and the number of correct rows. */
static void
compute (Case *c)
{
  double *values = wide (c->x), smoothing = (double) c->params.label_smoothing;
  double n = (double) c->classes, counted = 0;
  c->slopes = doubles (ROWS * c->columns);
  for (int row = 0; row < ROWS; row++)
    counted += ((int32_t *) c->targets.data)[row] != IGNORED;
  for (int row = 0; row < ROWS; row++) {
    const double *x = values + row * c->columns;
    int32_t target = ((int32_t *) c->targets.data)[row];
    double sum = 0, mean = 0;
    int64_t best = 0;
    for (int64_t i = 0; i < c->classes; i++) {
      sum += exp (x[i]);
      mean += x[i] / n;
      best = x[i] > x[best] ? i : best;
    }
    if (target == IGNORED)
      continue;
    c->hits += best == target;
    c->loss +=
      ((1 - smoothing) * (log (sum) - x[target]) + smoothing * (log (sum) - mean)) / counted;
    for (int64_t i = 0; i < c->classes; i++)
      c->slopes[row * c->columns + i] =
        (exp (x[i]) / sum - (i == target ? 1 - smoothing : 0) - smoothing / n) / counted;
  }
}

static Case
make_case (size_t shape, float padding, float smoothing)
{
  Case c = {.params = {.ignored = IGNORED, .label_smoothing = smoothing},
            .classes = shapes[shape].classes,
            .columns = shapes[shape].columns,
            .ranks = shapes[shape].ranks};
  c.params.classes = c.classes;
  c.x = random_tensor (LIG_FP32, ROWS, c.columns);
  c.targets = blank (LIG_INT32, 1, ROWS);
  for (int64_t i = 0; i < c.x.size; i++)
    if (i % c.columns >= c.classes)
      ((float *) c.x.data)[i] = padding;
  for (int row = 0; row < ROWS; row++)
    ((int32_t *) c.targets.data)[row] = row % 5 == 1 ? IGNORED : (int32_t) (row * 7919 % c.classes);
  compute (&c);
  return c;
}

static void
check_whole (const Case *c)
{
  LigOperand y = number (NAN), lse = blank (LIG_FP32, ROWS, 2), count = number (NAN);
  LigOperand dx = blank (LIG_FP32, ROWS, c->columns), correct = number (NAN), rows = number (NAN);
  run ("cross_entropy", (LigOperand[]){c->x, c->targets, y, lse, count}, &c->params, false);
  run ("cross_entropy_backward", (LigOperand[]){number (1), c->x, c->targets, lse, count, dx},
       &c->params, false);
  run ("accuracy", (LigOperand[]){c->x, c->targets, correct, rows}, &c->params, false);
  check_within (y, &c->loss, 1e-6 * (c->loss + 1), "loss");
  check_within (dx, c->slopes, 1e-6, "dx");
  g_assert_cmpfloat (*wide (correct), ==, c->hits);
}

/* Returns the columns of one rank. */
static LigOperand
columns_of (const Case *c, int rank)
{
  int64_t width = c->columns / c->ranks;
  LigOperand part = blank (LIG_FP32, ROWS, width);
  for (int64_t i = 0; i < part.size; i++)
    ((float *) part.data)[i] =
      ((float *) c->x.data)[i / width * c->columns + rank * width + i % width];
  return part;
}

/* Returns the statistics that a kernel computes on the shards of all ranks. */
static LigOperand
find_parts (const Case *c, const char *kernel, int64_t numbers)
{
  LigOperand parts = blank (LIG_FP32, c->ranks * ROWS, numbers);
  LigCrossEntropyParams params = c->params;
  for (int rank = 0; rank < c->ranks; rank++) {
    LigOperand part = {(float *) parts.data + rank * ROWS * numbers, ROWS * numbers, numbers,
                       LIG_FP32};
    params.part = (LigVocabularyPart){rank * (c->columns / c->ranks), c->columns};
    run (kernel, (LigOperand[]){columns_of (c, rank), c->targets, part}, &params, false);
  }
  return parts;
}

static void
check_parts (const Case *c)
{
  LigOperand y = number (NAN), lse = blank (LIG_FP32, ROWS, 2), count = number (NAN);
  LigOperand dx = blank (LIG_FP32, ROWS, c->columns), correct = number (NAN), rows = number (NAN);
  LigCrossEntropyParams params = c->params;
  int64_t width = c->columns / c->ranks;
  params.part.count = c->columns;
  run ("cross_entropy_join",
       (LigOperand[]){find_parts (c, "cross_entropy_part", 4), c->targets, y, lse, count}, &params,
       false);
  run ("accuracy_join",
       (LigOperand[]){find_parts (c, "accuracy_part", 3), c->targets, correct, rows}, &params,
       false);
  for (int rank = 0; rank < c->ranks; rank++) {
    LigOperand slopes = blank (LIG_FP32, ROWS, width);
    params.part.first = rank * width;
    run ("cross_entropy_backward",
         (LigOperand[]){number (1), columns_of (c, rank), c->targets, lse, count, slopes}, &params,
         false);
    for (int64_t i = 0; i < slopes.size; i++)
      ((float *) dx.data)[i / width * c->columns + rank * width + i % width] =
        ((float *) slopes.data)[i];
  }
  check_within (y, &c->loss, 1e-6 * (c->loss + 1), "loss of parts");
  check_within (dx, c->slopes, 1e-6, "dx of parts");
  g_assert_cmpfloat (*wide (correct), ==, c->hits);
}

/* The matmul with the identity returns the logits unchanged; only finite ones, because 0 times
 * infinity is NaN. */
static void
check_matmul (const Case *c)
{
  int64_t columns = c->columns;
  LigOperand weight = blank (LIG_FP32, columns, columns), none = absent (LIG_FP32, 1, columns);
  LigOperand y = number (NAN), count = number (NAN), gx = blank (LIG_FP32, ROWS, columns);
  LigOperand gweight = blank (LIG_FP32, columns, columns);
  double *slopes = doubles (gx.size);
  memset (weight.data, 0, (size_t) weight.size * sizeof (float));
  for (int64_t i = 0; i < columns; i++)
    ((float *) weight.data)[i * columns + i] = 1;
  LigOperand operands[] = {c->x, weight, none, c->targets, y, count, gx, gweight, none};
  const LigKernel *kernel = lig_kernel_find ("linear_cross_entropy");
  LigLaunch launch = {
    .operands = operands, .params = &c->params, .workspace = scratch (LIG_WORKSPACE_SIZE)};
  launch.scratch = scratch ((size_t) lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU));
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
  for (int64_t i = 0; i < gx.size; i++)
    slopes[i] = c->slopes[i] * *wide (count);
  check_within (y, &c->loss, 1e-6 * (c->loss + 1), "loss of a matmul");
  check_within (gx, slopes, 1e-5, "gx");
  for (int64_t i = c->classes * columns; i < gweight.size; i++)
    g_assert_cmpfloat (((float *) gweight.data)[i], ==, 0);
}

static void
test_padding (void)
{
  for (size_t shape = 0; shape < G_N_ELEMENTS (shapes); shape++)
    for (size_t i = 0; i < 2 * G_N_ELEMENTS (paddings); i++) {
      float padding = paddings[i / 2];
      case_begin ();
      Case c = make_case (shape, padding, i % 2 ? 0.1f : 0);
      check_whole (&c);
      check_parts (&c);
      if (isfinite (padding) && c.columns < 100)
        check_matmul (&c);
      case_end ();
    }
}

/* A target in the padding is not a valid class. */
static void
test_outside (void)
{
  LigStatus status;
  case_begin ();
  Case c = make_case (1, 0, 0);
  LigOperand y = number (NAN), lse = blank (LIG_FP32, ROWS, 2), count = number (NAN);
  ((int32_t *) c.targets.data)[0] = (int32_t) c.classes;
  try_run ("cross_entropy", (LigOperand[]){c.x, c.targets, y, lse, count}, &c.params, NULL, false,
           &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  try_run ("accuracy", (LigOperand[]){c.x, c.targets, y, count}, &c.params, NULL, false, &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  case_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/padding/padding", test_padding);
  g_test_add_func ("/kernels/padding/outside", test_outside);
  return g_test_run ();
}
