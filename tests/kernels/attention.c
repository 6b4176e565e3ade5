/* SPDX-License-Identifier: MIT */
/* Attention on the CPU, with and without sinks: against a plain reference in double precision for
 * every mask, window, length and document, the reference against central differences, and the same
 * bits with any number of threads. */
#include "tests/kernels/attention-case.h"

static Shape
shape_of (int batch, int heads, int kv_heads, int length, int features)
{
  return (Shape){.params = {.heads = heads,
                            .kv_heads = kv_heads,
                            .features = features,
                            .length = length,
                            .memory_length = length,
                            .scale = 1 / sqrtf ((float) features),
                            .path_hash = 77},
                 .batch = batch};
}

/* With 16-bit types the rounding of y affects the gradients of the scores, where larger terms
 * cancel. */
static void
check_loosely (LigOperand got, const double *want, const char *what)
{
  bool wide = got.dtype == LIG_FP32;
  double rounding = wide ? 2e-7 : got.dtype == LIG_FP16 ? 1.5e-4 : 1.2e-3;
  check_within (got, want,
                (wide ? 1 : 3) * allowed (got, want) + rounding * sqrt ((double) got.size), what);
}

static void
check_shape (Shape shape)
{
  case_begin ();
  Problem p = problem (shape);
  Results got = compute (&p);
  Reference want = reference (&p, p.xs);
  check (got.y, want.y, "y");
  check (got.lse, want.lse, "lse");
  check_loosely (got.dx, want.dx, "dx");
  if (shape.with_sinks)
    check_loosely (got.dsinks, want.dsinks, "dsinks");
  if (shape.cross)
    check_loosely (got.dmemory, want.dmemory, "dmemory");
  case_end ();
}

/* Every mask, window, padding and packing of a problem. */
static void
check_all (Shape shape)
{
  const LigAttentionParams *p = &shape.params;
  int windows[] = {0, 1, p->length / 3 + 1, 2 * p->memory_length};
  for (int mask = LIG_MASK_CAUSAL; mask <= LIG_MASK_CAUSAL_BOTTOM_RIGHT; mask++)
    for (size_t w = 0; w < G_N_ELEMENTS (windows); w++)
      for (int kind = 0; kind < (shape.cross ? 2 : 4); kind++) {
        Shape variant = shape;
        variant.params.mask = mask;
        variant.params.window = windows[w];
        variant.with_lengths = kind % 2;
        variant.with_documents = kind / 2;
        check_shape (variant);
      }
}

static void
masks (void)
{
  static const int lengths[] = {1, 17, 130}, features[] = {16, 64, 80, 128};
  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (size_t f = 0; f < G_N_ELEMENTS (features); f++) {
      Shape shape = shape_of (2, 4, f % 2 ? 2 : 4, lengths[i], features[f]);
      shape.dtype = (i + f) % 3 == 2 ? LIG_BF16 : LIG_FP32;
      check_all (shape);
    }
}

static void
odd_heads (void)
{
  Shape shape = shape_of (3, 6, 1, 37, 20);
  check_all (shape);
  shape.dtype = LIG_FP16;
  check_all (shape);
  check_all (shape_of (1, 3, 3, 70, 1));
}

static void
long_rows (void)
{
  Shape shape = shape_of (1, 2, 1, 1000, 64);
  check_shape (shape);
  shape.params.window = 100;
  shape.with_documents = true;
  check_shape (shape);
  shape.dtype = LIG_BF16;
  shape.params.mask = LIG_MASK_NONE;
  check_shape (shape);
  shape.with_lengths = true;
  check_shape (shape);
}

static void
cross (void)
{
  static const int lengths[][2] = {{1, 17}, {17, 1}, {70, 130}, {130, 70}, {70, 70}};
  for (size_t i = 0; i < G_N_ELEMENTS (lengths); i++) {
    Shape shape = shape_of (2, 4, 2, lengths[i][0], i % 2 ? 32 : 24);
    shape.params.memory_length = lengths[i][1];
    shape.cross = true;
    shape.dtype = i == 3 ? LIG_BF16 : LIG_FP32;
    check_all (shape);
  }
}

static void
scores (void)
{
  Shape shape = shape_of (2, 6, 2, 72, 32);
  shape.params.alibi = true;
  check_all (shape);
  shape.params.softcap = 0.7f;
  check_all (shape);
  shape.params.dropout = 0.25f;
  check_all (shape);
  shape.params.alibi = false;
  shape.dtype = LIG_BF16;
  check_all (shape);
  shape.params.memory_length = 33;
  shape.params.alibi = true;
  shape.cross = true;
  check_all (shape);
}

static void
sinks (void)
{
  Shape shape = shape_of (2, 6, 2, 72, 20);
  shape.with_sinks = true;
  for (int type = 0; type < 3; type++) {
    shape.dtype = floating[type];
    check_all (shape);
  }
  shape.params.dropout = 0.25f;
  shape.params.softcap = 0.7f;
  check_all (shape);
  shape.params.memory_length = 33;
  shape.cross = true;
  check_all (shape);
}

/* Sinks far above or below the scores: y becomes 0, or stays the same; also if y is not computed in
 * place. */
static void
large_sinks (void)
{
  case_begin ();
  Shape shape = shape_of (2, 3, 3, 5, 300);
  const LigSinksParams params = {3, 300, 5};
  Problem p = problem (shape);
  Results all = compute (&p);
  const float numbers[] = {400, -400, 200};
  LigOperand own = {(void *) numbers, 3, 3, LIG_FP32};
  LigOperand y = blank (LIG_FP32, 10, 900), lse = blank (LIG_FP32, 12, 5);
  run_attention ("attention_sinks", (LigOperand[]){all.y, all.lse, own, y, lse}, &params);
  const float *before = all.y.data, *after = y.data, *sums = lse.data, *old = all.lse.data;
  for (int i = 0; i < 10 * 900; i++)
    g_assert_cmpfloat (after[i], ==, i / 300 % 3 == 1 ? before[i] : 0);
  for (int i = 0; i < 30; i++)
    g_assert_cmpfloat (sums[i], ==, i / 5 % 3 == 1 ? old[i] : numbers[i / 5 % 3]);
  LigStatus status;
  const LigSinksParams wrong = {2, 450, 5};
  try_run ("attention_sinks", (LigOperand[]){all.y, all.lse, own, y, lse}, &wrong, NULL, false,
           &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  case_end ();
}

/* Queries and keys that are two blocks of longer rows get the same dropout mask as those rows,
 * whether quads of random numbers are aligned with a block or not. */
static void
blocks (void)
{
  static const int sizes[][7] = {
    {24, 96, 8, 0, 64, 12, 72}, {24, 96, 16, 8, 72, 16, 60}, {26, 104, 13, 13, 65, 13, 78},
    {16, 33, 0, 0, 17, 5, 12},  {40, 80, 20, 20, 40, 40, 0},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (sizes); i++) {
    const int *size = sizes[i];
    Shape shape = shape_of (2, 2, 1, size[0], 16);
    shape.params.dropout = 0.4f;
    shape.params.whole = size[1];
    shape.params.query_half = size[2];
    shape.params.query_shift[0] = size[3];
    shape.params.query_shift[1] = size[4];
    shape.params.key_half = size[5];
    shape.params.key_shift[0] = size[3];
    shape.params.key_shift[1] = size[6];
    check_all (shape);
    shape.dtype = LIG_BF16;
    check_all (shape);
  }
}

static void
all_dropped (void)
{
  case_begin ();
  Shape shape = shape_of (1, 2, 2, 9, 16);
  shape.params.dropout = 1;
  Problem p = problem (shape);
  Results got = compute (&p);
  double *nothing = doubles (got.dx.size);
  check (got.y, nothing, "y");
  check (got.dx, nothing, "dx");
  case_end ();
}

static double *
reference_y (const void *data, const double *xs)
{
  return reference (data, xs).y;
}

static double *
y_of_sinks (const void *data, const double *numbers)
{
  Problem p = *(const Problem *) data;
  p.numbers = (double *) numbers;
  return reference (&p, p.xs).y;
}

/* The reference's own gradient. */
static void
differences (void)
{
  Shape shape = shape_of (1, 2, 1, 5, 3);
  shape.params.softcap = 1.5f;
  shape.params.alibi = true;
  shape.params.dropout = 0.2f;
  shape.params.window = 3;
  for (int i = 0; i < 2; i++) {
    shape.with_sinks = i > 0;
    case_begin ();
    Problem p = problem (shape);
    Reference at = reference (&p, p.xs);
    check_differences (reference_y, &p, p.xs, p.x.size, p.dys, p.dy.size, at.dx, 1e-7);
    if (shape.with_sinks)
      check_differences (y_of_sinks, &p, p.numbers, p.sinks.size, p.dys, p.dy.size, at.dsinks,
                         1e-7);
    case_end ();
  }
}

/* Large scores that are far apart: the running maximum keeps exponentials in range. */
static void
large_scores (void)
{
  case_begin ();
  Shape shape = shape_of (1, 2, 2, 300, 16);
  shape.params.scale = 60;
  Problem p = problem (shape);
  Results got = compute (&p);
  Reference want = reference (&p, p.xs);
  check_within (got.y, want.y, 1e-3 * norm_of (want.y, got.y.size), "y");
  check (got.lse, want.lse, "lse");
  case_end ();
}

static void
threads (void)
{
  int before = omp_get_max_threads ();
  for (int i = 0; i < 6; i++) {
    case_begin ();
    /* Few key heads are split into parts, many are not. */
    Shape shape = i < 3 ? shape_of (3, 4, 2, 200, 48) : shape_of (1, 4, 1, 500, 48);
    shape.dtype = floating[i % 3];
    shape.with_lengths = shape.with_sinks = true;
    Problem p = problem (shape);
    omp_set_num_threads (1);
    Results one = compute (&p);
    for (int count = 2; count <= 5; count++) {
      omp_set_num_threads (count);
      Results got = compute (&p);
      check_same_bits (one.y, got.y);
      check_same_bits (one.lse, got.lse);
      check_same_bits (one.dx, got.dx);
      check_same_bits (one.dsinks, got.dsinks);
    }
    omp_set_num_threads (before);
    case_end ();
  }
}

/* Queries that see no key: zeros, lse 0 and no gradient, also of their own keys. */
static void
empty_rows (void)
{
  case_begin ();
  Shape shape = shape_of (2, 2, 2, 20, 16);
  shape.with_lengths = true;
  Problem p = problem (shape);
  ((int32_t *) p.lengths.data)[0] = 0;
  ((int32_t *) p.lengths.data)[1] = 5;
  Results got = compute (&p);
  double *y = wide (got.y), *lse = wide (got.lse), *dx = wide (got.dx);
  for (int i = 0; i < 40; i++)
    for (int c = 0; c < 96; c++)
      if (i < 20 || i >= 25) {
        g_assert_true (y[i * 32 + c % 32] == 0 && dx[i * 96 + c] == 0);
        g_assert_true (lse[i / 20 * 40 + c / 48 * 20 + i % 20] == 0);
      }
  g_assert_true (y[20 * 32] != 0 && dx[20 * 96 + 64] != 0);
  case_end ();
}

/* Each output may be absent. */
static void
absent_outputs (void)
{
  case_begin ();
  Shape shape = shape_of (2, 2, 1, 40, 16);
  shape.cross = true;
  Problem p = problem (shape);
  Results want = compute (&p), got = compute (&p);
  const LigAttentionParams *params = &shape.params;
  LigOperand none = absent (LIG_FP32, 80, 32), no_lse = absent (LIG_FP32, 8, 40);
  LigOperand inputs[] = {p.dy, p.x, p.memory, p.lengths, p.documents, want.y, want.lse, none, none};
  LigOperand again = copy (got.y);
  memset (again.data, 0xff, (size_t) again.size * 4);
  run_attention ("attention", (LigOperand[]){p.x, p.memory, p.lengths, p.documents, again, no_lse},
                 params);
  check_same_bits (want.y, again);
  inputs[7] = got.dx;
  run_attention ("attention_backward", inputs, params);
  check_same_bits (want.dx, got.dx);
  inputs[7] = none;
  inputs[8] = got.dmemory;
  run_attention ("attention_backward", inputs, params);
  check_same_bits (want.dmemory, got.dmemory);
  case_end ();
}

static void
rejections (void)
{
  case_begin ();
  Shape shape = shape_of (2, 2, 2, 8, 16);
  shape.with_lengths = true;
  Problem p = problem (shape);
  LigStatus status;
  LigOperand y = blank (LIG_FP32, 16, 32), lse = blank (LIG_FP32, 8, 8);
  LigOperand operands[] = {p.x, p.memory, p.lengths, p.documents, y, lse};
  ((int32_t *) p.lengths.data)[1] = 9;
  LigLaunch launch = try_run ("attention", operands, &shape.params, &tick, false, &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  g_assert_nonnull (strstr (launch.where, "the length of row 1 is 9, expected at least 0 and at "
                                          "most 8"));
  shape.params.kv_heads = 1;
  try_run ("attention", operands, &shape.params, &tick, false, &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  case_end ();
}

/* --- Equal scores -------------------------------------------------------------------------- */

enum { BATCH = 2, HEADS = 2, LENGTH = 70, FEATURES = 16 };
static const double sizes[] = {0, 300, 4e6, -4e6, 1e8};

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

/* Checks that the weights of each query sum to 1 when the backward pass recomputes them: the
 * gradients of the values sum to those of y. */
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
equal_scores (void)
{
  const LigAttentionParams params = {.heads = HEADS,
                                     .kv_heads = HEADS,
                                     .features = FEATURES,
                                     .length = LENGTH,
                                     .memory_length = LENGTH,
                                     .mask = LIG_MASK_CAUSAL,
                                     .scale = 1};
  for (size_t i = 0; i < 2 * G_N_ELEMENTS (sizes); i++) {
    case_begin ();
    bool equal = i % 2 == 0;
    LigOperand x = rows_with_scores (sizes[i / 2], equal), none = {.dtype = LIG_FP32};
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
  g_test_add_func ("/attention/masks", masks);
  g_test_add_func ("/attention/odd-heads", odd_heads);
  g_test_add_func ("/attention/long-rows", long_rows);
  g_test_add_func ("/attention/cross", cross);
  g_test_add_func ("/attention/scores", scores);
  g_test_add_func ("/attention/sinks", sinks);
  g_test_add_func ("/attention/large-sinks", large_sinks);
  g_test_add_func ("/attention/blocks", blocks);
  g_test_add_func ("/attention/all-dropped", all_dropped);
  g_test_add_func ("/attention/differences", differences);
  g_test_add_func ("/attention/large-scores", large_scores);
  g_test_add_func ("/attention/equal-scores", equal_scores);
  g_test_add_func ("/attention/threads", threads);
  g_test_add_func ("/attention/empty-rows", empty_rows);
  g_test_add_func ("/attention/absent-outputs", absent_outputs);
  g_test_add_func ("/attention/rejections", rejections);
  return g_test_run ();
}
