/* SPDX-License-Identifier: MIT */
/* Kernels with a vocabulary sharded over ranks, on the CPU: the combined results against a
 * reference in double precision, and against the unsharded kernels. */
#include "tests/kernels/case.h"
#include <ligature/params-loss.h>

enum { IGNORED = -7 };

/* A problem of `ranks` shards of `columns` classes. */
typedef struct {
  int64_t rows, columns;
  int ranks;
  LigDtype dtype;
  float smoothing;
} Case;

static const int64_t row_counts[] = {1, 17, 600};
static const int64_t column_counts[] = {1, 7, 33, 1100};
static const int rank_counts[] = {1, 2, 3, 8};

static LigCrossEntropyParams
params_of (const Case *c, int rank)
{
  return (LigCrossEntropyParams){.ignored = IGNORED,
                                 .label_smoothing = c->smoothing,
                                 .part = {rank * c->columns, c->ranks * c->columns}};
}

/* Returns the columns of a rank. */
static LigOperand
slice (LigOperand whole, const Case *c, int rank)
{
  LigOperand part = blank (whole.dtype, whole.size / whole.columns, c->columns);
  size_t size = lig_dtype_size (whole.dtype), bytes = (size_t) c->columns * size;
  for (int64_t row = 0; row < part.size / part.columns; row++)
    memcpy ((char *) part.data + (size_t) row * bytes,
            (char *) whole.data + (size_t) (row * whole.columns + rank * c->columns) * size, bytes);
  return part;
}

/* Returns targets in all shards, every fifth of which is ignored, unless all would be. */
static LigOperand
targets_of (const Case *c)
{
  LigOperand targets = blank (LIG_INT32, 1, c->rows);
  for (int64_t i = 0; i < c->rows; i++)
    ((int32_t *) targets.data)[i] =
      i % 5 == 1 ? IGNORED : (int32_t) (i * 7919 % (c->ranks * c->columns));
  return targets;
}

/* Returns the statistics that a kernel computes on the shards of all ranks, in rank order. */
static LigOperand
gather (const char *kernel, const Case *c, LigOperand x, LigOperand targets, int64_t width)
{
  LigOperand parts = blank (LIG_FP32, c->ranks * c->rows, width);
  for (int rank = 0; rank < c->ranks; rank++) {
    LigCrossEntropyParams params = params_of (c, rank);
    LigOperand part = {(float *) parts.data + rank * c->rows * width, c->rows * width, width,
                       LIG_FP32};
    run (kernel, (LigOperand[]){slice (x, c, rank), targets, part}, &params, false);
  }
  return parts;
}

/* The loss of unsharded rows, in double precision, and the gradients of all classes for dy. */
typedef struct {
  double loss, count, *lse, *slopes;
} Reference;

static Reference
reference (const double *x, const int32_t *targets, const Case *c, double dy)
{
  int64_t classes = c->ranks * c->columns;
  double s = (double) c->smoothing, even = s / (double) classes;
  Reference r = {0, 0, doubles (2 * c->rows), doubles (c->rows * classes)};
  for (int64_t row = 0; row < c->rows; row++) {
    const double *at = x + row * classes;
    double max = -INFINITY, sum = 0, mean = 0;
    for (int64_t i = 0; i < classes; i++)
      max = MAX (max, at[i]);
    for (int64_t i = 0; i < classes; i++) {
      sum += exp (at[i] - max);
      mean += at[i] / (double) classes;
    }
    double lse = max + log (sum);
    r.lse[2 * row] = max;
    r.lse[2 * row + 1] = log (sum);
    if (targets[row] == IGNORED)
      continue;
    r.loss += (1 - s) * (lse - at[targets[row]]) + s * (lse - mean);
    r.count++;
    for (int64_t i = 0; i < classes; i++)
      r.slopes[row * classes + i] =
        dy * (exp (at[i] - lse) - even - (i == targets[row] ? 1 - s : 0));
  }
  for (int64_t i = 0; i < c->rows * classes; i++)
    r.slopes[i] /= r.count;
  r.loss /= r.count;
  return r;
}

static void
check_gradients (
  const Case *c, LigOperand x, LigOperand targets, LigOperand lse, const Reference *want)
{
  LigOperand dy = number (0.375), count = number (want->count);
  for (int rank = 0; rank < c->ranks; rank++) {
    LigCrossEntropyParams params = params_of (c, rank);
    LigOperand part = slice (x, c, rank), dx = blank (c->dtype, c->rows, c->columns);
    double *slopes = doubles (part.size);
    for (int64_t i = 0; i < part.size; i++)
      slopes[i] = want->slopes[i / c->columns * x.columns + rank * c->columns + i % c->columns];
    LigOperand operands[] = {dy, part, targets, lse, count, dx};
    run ("cross_entropy_backward", operands, &params, false);
    check_within (dx, slopes, allowed (dx, slopes) + 1e-6, "dx");
    operands[5] = part; /* in place */
    run ("cross_entropy_backward", operands, &params, false);
    check_same_bits (part, dx);
  }
}

static void
loss_case (const Case *c)
{
  LigOperand x = random_tensor (c->dtype, c->rows, c->ranks * c->columns);
  LigOperand targets = targets_of (c), parts = gather ("cross_entropy_part", c, x, targets, 4);
  LigOperand y = number (NAN), lse = blank (LIG_FP32, c->rows, 2), count = number (NAN);
  LigOperand none = absent (LIG_FP32, 1, 1), again = number (NAN);
  LigCrossEntropyParams params = params_of (c, c->ranks - 1);
  Reference want = reference (wide (x), targets.data, c, 0.375);
  run ("cross_entropy_join", (LigOperand[]){parts, targets, y, lse, count}, &params, false);
  check_within (y, &want.loss, 1e-6 * (want.loss + 1), "loss");
  check_within (lse, want.lse, 1e-6 * sqrt ((double) c->rows) * 10, "lse");
  check (count, &want.count, "count");
  run ("cross_entropy_join", (LigOperand[]){parts, targets, again, none, none}, &params, false);
  check_same_bits (y, again);
  check_gradients (c, x, targets, lse, &want);
}

/* Few logits differ, so that many rows have several maxima. */
static void
accuracy_case (const Case *c)
{
  LigOperand x = random_tensor (LIG_FP32, c->rows, c->ranks * c->columns);
  LigOperand targets = targets_of (c), y[2] = {number (NAN), number (NAN)};
  LigOperand counts[2] = {number (NAN), number (NAN)};
  LigCrossEntropyParams params = params_of (c, 0);
  for (int64_t i = 0; i < x.size; i++)
    ((float *) x.data)[i] = i % 977 == 5 ? NAN : roundf (((float *) x.data)[i]);
  LigOperand parts = gather ("accuracy_part", c, x, targets, 3);
  run ("accuracy", (LigOperand[]){x, targets, y[0], counts[0]}, &params, false);
  run ("accuracy_join", (LigOperand[]){parts, targets, y[1], counts[1]}, &params, false);
  check_same_bits (y[1], y[0]);
  check_same_bits (counts[1], counts[0]);
}

/* Calls `test` for all sizes, numbers of ranks and types. */
static void
each (gconstpointer data)
{
  void (*test) (const Case *) = *(void (*const *) (const Case *)) data;
  for (size_t i = 0; i < G_N_ELEMENTS (row_counts); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (column_counts); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (rank_counts); k++)
        for (size_t l = 0; l < G_N_ELEMENTS (floating); l++) {
          Case c = {row_counts[i], column_counts[j], rank_counts[k], floating[l],
                    (i + j) % 2 ? 0.1f : 0};
          case_begin ();
          test (&c);
          case_end ();
        }
}

/* With one rank the bits are those of the unsharded kernels. */
static void
test_alone (void)
{
  const Case c = {40, 300, 1, LIG_BF16, 0.1f};
  case_begin ();
  LigOperand x = random_tensor (c.dtype, c.rows, c.columns), targets = targets_of (&c);
  LigOperand lse[2], dx[2];
  LigCrossEntropyParams params = params_of (&c, 0),
                        whole = {.ignored = IGNORED, .label_smoothing = 0.1f};
  for (int i = 0; i < 2; i++) {
    LigOperand y = number (NAN), count = number (NAN);
    lse[i] = blank (LIG_FP32, c.rows, 2);
    dx[i] = blank (c.dtype, c.rows, c.columns);
    if (i == 0)
      run ("cross_entropy", (LigOperand[]){x, targets, y, lse[i], count}, &whole, false);
    else
      run (
        "cross_entropy_join",
        (LigOperand[]){gather ("cross_entropy_part", &c, x, targets, 4), targets, y, lse[i], count},
        &params, false);
    LigOperand operands[] = {number (1), x, targets, lse[0], count, dx[i]};
    run ("cross_entropy_backward", operands, i == 0 ? &whole : &params, false);
  }
  check_within (lse[1], wide (lse[0]), 1e-5, "lse");
  check_same_bits (dx[1], dx[0]);
  case_end ();
}

/* All classes of a shard may have probability 0, but not all classes; an invalid target is
 * rejected. */
static void
test_edges (void)
{
  const Case c = {2, 3, 2, LIG_FP32, 0};
  LigCrossEntropyParams params = params_of (&c, 0);
  LigStatus status;
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 2, 6), targets = blank (LIG_INT32, 1, 2);
  LigOperand y = number (NAN), lse = blank (LIG_FP32, 2, 2), count = number (NAN);
  float *logits = x.data;
  int32_t *target = targets.data;
  target[0] = 1;
  target[1] = IGNORED;
  for (int i = 3; i < 9; i++) /* the second part of row 0, the first of row 1 */
    logits[i] = -INFINITY;
  LigOperand parts = gather ("cross_entropy_part", &c, x, targets, 4);
  run ("cross_entropy_join", (LigOperand[]){parts, targets, y, lse, count}, &params, false);
  double sum = 0;
  for (int i = 0; i < 3; i++)
    sum += exp ((double) logits[i]);
  g_assert_cmpfloat_with_epsilon (*wide (y), log (sum) - (double) logits[1], 1e-6);
  for (int i = 9; i < 12; i++)
    logits[i] = -INFINITY;
  target[1] = 5;
  parts = gather ("cross_entropy_part", &c, x, targets, 4);
  run ("cross_entropy_join", (LigOperand[]){parts, targets, y, lse, count}, &params, false);
  g_assert_true (isnan (*wide (y)));
  for (int i = 0; i < 2; i++) {
    target[1] = i ? 6 : -1;
    LigOperand hits = gather ("accuracy_part", &c, x, targets, 3);
    LigOperand of_loss[] = {gather ("cross_entropy_part", &c, x, targets, 4), targets, y, lse,
                            count};
    LigOperand of_hits[] = {hits, targets, y, count};
    g_assert_nonnull (try_run ("cross_entropy_join", of_loss, &params, NULL, false, &status).where);
    g_assert_cmpint (status, ==, LIG_FAILED);
    g_assert_nonnull (try_run ("accuracy_join", of_hits, &params, NULL, false, &status).where);
    g_assert_cmpint (status, ==, LIG_FAILED);
  }
  case_end ();
}

/* --- Embeddings ---------------------------------------------------------------------------- */

/* Returns a rank's shard of the table. */
static LigOperand
table_of (LigOperand whole, int rank, int ranks)
{
  LigOperand part = whole;
  part.size /= ranks;
  part.data = (char *) whole.data + (size_t) (rank * part.size) * lig_dtype_size (whole.dtype);
  return part;
}

static LigOperand
tokens_of (int64_t count, int64_t vocabulary)
{
  LigOperand tokens = blank (LIG_INT32, 1, count);
  for (int64_t i = 0; i < count; i++)
    ((int32_t *) tokens.data)[i] = (int32_t) (i * i * 31 % vocabulary);
  return tokens;
}

/* The outputs of the shards sum to that of the whole table, and each rank has the gradients of its
 * rows. */
static void
embedding_case (int64_t count, int64_t columns, int ranks, LigDtype dtype, bool accumulate)
{
  int64_t vocabulary = 24;
  LigOperand x = tokens_of (count, vocabulary), sum = blank (LIG_FP32, count, columns);
  LigOperand weight = random_tensor (dtype, vocabulary, columns),
             want = blank (dtype, count, columns);
  LigOperand dy = random_tensor (dtype, count, columns);
  LigOperand slopes = random_tensor (dtype, vocabulary, columns), whole = copy (slopes);
  double *total = doubles (want.size);
  run ("embedding", (LigOperand[]){x, weight, want}, NULL, false);
  run ("embedding_backward", (LigOperand[]){dy, x, whole}, NULL, accumulate);
  for (int rank = 0; rank < ranks; rank++) {
    LigVocabularyPart part = {rank * vocabulary / ranks, vocabulary};
    LigOperand y = blank (dtype, count, columns), table = table_of (weight, rank, ranks);
    run ("embedding", (LigOperand[]){x, table, y}, &part, false);
    double *values = wide (y);
    for (int64_t i = 0; i < y.size; i++)
      total[i] += values[i];
    run ("embedding_backward", (LigOperand[]){dy, x, table_of (slopes, rank, ranks)}, &part,
         accumulate);
  }
  for (int64_t i = 0; i < sum.size; i++)
    ((float *) sum.data)[i] = (float) total[i];
  check_within (sum, wide (want), 0, "rows");
  check_same_bits (slopes, whole);
}

static void
test_embedding (void)
{
  static const int64_t counts[] = {1, 50, 3000}, columns[] = {1, 7, 100};
  for (size_t i = 0; i < G_N_ELEMENTS (counts); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (columns); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++)
        for (int ranks = 1; ranks <= 4; ranks++) {
          case_begin ();
          embedding_case (counts[i], columns[j], ranks, floating[k], (i + j) % 2);
          case_end ();
        }
}

/* A token outside the vocabulary of all ranks is rejected on each of them. */
static void
test_outside (void)
{
  LigStatus status;
  case_begin ();
  LigOperand x = tokens_of (3, 24), table = random_tensor (LIG_FP32, 12, 5);
  LigOperand y = blank (LIG_FP32, 3, 5), dweight = blank (LIG_FP32, 12, 5);
  for (int rank = 0; rank < 2; rank++)
    for (int i = 0; i < 3; i++) {
      LigVocabularyPart part = {rank * 12, 24};
      ((int32_t *) x.data)[1] = i == 0 ? 23 : i == 1 ? 24 : -1;
      try_run ("embedding", (LigOperand[]){x, table, y}, &part, NULL, false, &status);
      g_assert_cmpint (status, ==, i == 0 ? LIG_OK : LIG_FAILED);
      try_run ("embedding_backward", (LigOperand[]){y, x, dweight}, &part, NULL, false, &status);
      g_assert_cmpint (status, ==, i == 0 ? LIG_OK : LIG_FAILED);
    }
  case_end ();
}

int
main (int argc, char **argv)
{
  static void (*const cases[]) (const Case *) = {loss_case, accuracy_case};
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/kernels/vocabulary/loss", &cases[0], each);
  g_test_add_data_func ("/kernels/vocabulary/accuracy", &cases[1], each);
  g_test_add_func ("/kernels/vocabulary/alone", test_alone);
  g_test_add_func ("/kernels/vocabulary/edges", test_edges);
  g_test_add_func ("/kernels/vocabulary/embedding", test_embedding);
  g_test_add_func ("/kernels/vocabulary/outside", test_outside);
  return g_test_run ();
}
