/* SPDX-License-Identifier: MIT */
/* Slices of packed rows, and merged attention over two sets of keys: against sums in double
 * precision, and against attention over all keys at once. */
#include "tests/kernels/case.h"
#include <ligature/params-attention.h>
#include <ligature/params-positions.h>

enum { BATCH = 3, LENGTH = 10, COLUMNS = 14, WIDTH = 5 };

/* The slices of a row: all of it, its halves, and a few columns of a few positions. */
static const struct {
  LigSliceParams params;
  int64_t columns;
} slices[] = {{{LENGTH, 0, LENGTH, 0}, COLUMNS},
              {{LENGTH, 0, LENGTH / 2, 0}, WIDTH},
              {{LENGTH, LENGTH / 2, LENGTH / 2, COLUMNS - WIDTH}, WIDTH},
              {{1, 0, 1, COLUMNS / 2}, COLUMNS / 2},
              {{LENGTH, 3, 4, 2}, 1}};

static void
launch (const char *name, const LigOperand *operands, const void *params)
{
  LigLaunch launch = {
    .operands = operands, .params = params, .workspace = scratch (LIG_WORKSPACE_SIZE)};
  if (lig_kernel_find (name)->functions[LIG_BACKEND_CPU](&launch) != LIG_OK)
    g_error ("%s: %s", name, launch.where);
}

static LigStatus
reject (const char *name, const LigOperand *operands, const void *params)
{
  LigLaunch launch = {.operands = operands, .params = params};
  return lig_kernel_find (name)->functions[LIG_BACKEND_CPU](&launch);
}

static float *
widen (const LigOperand *operand)
{
  float *values = g_new (float, operand->size);
  lig_widen (operand->dtype, operand->data, values, (gsize) operand->size);
  return values;
}

/* Returns the element of the whole rows that is element `i` of the slice. */
static int64_t
place (const LigSliceParams *p, int64_t columns, int64_t i)
{
  int64_t row = i / columns, from = row / p->count * p->length + p->first + row % p->count;
  return from * COLUMNS + p->column + i % columns;
}

/* A slice has those elements, and adding it to zeros or to values changes only these. */
static void
test_slices (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (slices); i++)
    for (LigDtype dtype = LIG_FP32; dtype <= LIG_BF16; dtype++) {
      const LigSliceParams *p = &slices[i].params;
      int64_t rows = BATCH * LENGTH / p->length * p->count, columns = slices[i].columns;
      LigOperand x = random_tensor (dtype, BATCH * LENGTH, COLUMNS),
                 y = blank (dtype, rows, columns);
      LigOperand sum = blank (LIG_FP32, BATCH * LENGTH, COLUMNS), none = {.size = x.size};
      launch ("slice", (LigOperand[]){x, y}, p);
      g_autofree float *all = widen (&x), *part = widen (&y);
      g_autofree double *wanted = g_new0 (double, x.size);
      for (int64_t k = 0; k < y.size; k++) {
        g_assert_cmpfloat (part[k], ==, all[place (p, columns, k)]);
        wanted[place (p, columns, k)] = (double) part[k];
      }
      launch ("add_slice", (LigOperand[]){none, y, sum}, p);
      for (int64_t k = 0; k < x.size; k++)
        g_assert_cmpfloat ((double) ((float *) sum.data)[k], ==, wanted[k]);
      launch ("add_slice", (LigOperand[]){sum, y, sum}, p);
      for (int64_t k = 0; k < x.size; k++)
        g_assert_cmpfloat ((double) ((float *) sum.data)[k], ==, 2 * wanted[k]);
    }
}

static void
test_rejected (void)
{
  static const LigSliceParams bad[] = {{LENGTH, 6, 5, 0},  {LENGTH, -1, 5, 0}, {LENGTH, 0, 0, 0},
                                       {LENGTH, 0, 5, 10}, {7, 0, 5, 0},       {LENGTH, 0, 4, 0}};
  LigOperand x = random_tensor (LIG_FP32, BATCH * LENGTH, COLUMNS);
  LigOperand y = blank (LIG_FP32, BATCH * 5, WIDTH);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_assert_cmpint (reject ("slice", (LigOperand[]){x, y}, &bad[i]), ==, LIG_FAILED);
    g_assert_cmpint (reject ("add_slice", (LigOperand[]){x, y, x}, &bad[i]), ==, LIG_FAILED);
  }
  const LigMergeParams merge = {2, 7, LENGTH, 6, 5};
  LigOperand lse = blank (LIG_FP32, BATCH * 4, LENGTH), part = blank (LIG_FP32, BATCH * 5, COLUMNS);
  LigOperand part_lse = blank (LIG_FP32, BATCH * 4, 5);
  g_assert_cmpint (
    reject ("attention_merge", (LigOperand[]){x, lse, part, part_lse, x, lse}, &merge), ==,
    LIG_FAILED);
}

/* --- Merging ------------------------------------------------------------------------------- */

enum { HEADS = 2, FEATURES = 7 };

/* Returns a log-sum-exp and its rounding error, from the second half of lse. */
static double
both (const float *lse, int64_t size, int64_t at)
{
  return (double) lse[at] + (double) lse[size / 2 + at];
}

/* Merges the part, which has the queries from `first` on, in place or elsewhere. */
static void
check_merge (LigDtype from, LigDtype to, int64_t first, gboolean in_place)
{
  const LigMergeParams params = {HEADS, FEATURES, LENGTH, first, LENGTH - first};
  LigOperand x = random_tensor (from, BATCH * LENGTH, HEADS * FEATURES);
  LigOperand part = random_tensor (LIG_BF16, BATCH * params.count, HEADS * FEATURES);
  LigOperand lse = random_tensor (LIG_FP32, 2 * BATCH * HEADS, LENGTH);
  LigOperand part_lse = random_tensor (LIG_FP32, 2 * BATCH * HEADS, params.count);
  /* Exponentials beyond the range of fp32, on either side. */
  ((float *) lse.data)[LENGTH - 1] = 300;
  ((float *) part_lse.data)[2 * params.count - 1] = 500;
  g_autofree float *a = widen (&x), *b = widen (&part), *l = widen (&lse), *m = widen (&part_lse);
  LigOperand y = in_place ? x : blank (to, BATCH * LENGTH, HEADS * FEATURES);
  LigOperand whole = in_place ? lse : blank (LIG_FP32, 2 * BATCH * HEADS, LENGTH);
  launch ("attention_merge", (LigOperand[]){x, lse, part, part_lse, y, whole}, &params);
  g_autofree float *got = widen (&y);
  double spacing = to == LIG_FP32 ? 1e-6 : to == LIG_FP16 ? 0x1p-10 : 0x1p-7;
  for (int64_t i = 0; i < y.size; i++) {
    int64_t row = i / (HEADS * FEATURES), column = i % (HEADS * FEATURES), head = column / FEATURES;
    int64_t batch = row / LENGTH, at = row % LENGTH, group = batch * HEADS + head;
    double wanted = (double) a[i], own = both (l, lse.size, group * LENGTH + at), sum = own;
    if (at >= first) {
      double other = both (m, part_lse.size, group * params.count + at - first);
      double max = fmax (own, other);
      sum = max + log (exp (own - max) + exp (other - max));
      int64_t from_row = batch * params.count + at - first;
      wanted = exp (own - sum) * wanted +
               exp (other - sum) * (double) b[from_row * HEADS * FEATURES + column];
    }
    g_assert_cmpfloat (fabs ((double) got[i] - wanted), <=, spacing * (fabs (wanted) + 1));
    double merged = both (whole.data, whole.size, group * LENGTH + at);
    g_assert_cmpfloat (fabs (merged - sum), <=, 1e-6);
  }
}

static void
test_merge (void)
{
  for (LigDtype from = LIG_FP32; from <= LIG_BF16; from++)
    for (LigDtype to = LIG_FP32; to <= LIG_BF16; to++)
      for (int64_t first = 0; first <= LENGTH / 2; first += LENGTH / 2) {
        check_merge (from, to, first, FALSE);
        if (from == to)
          check_merge (from, to, first, TRUE);
      }
}

/* Attention over the first keys merged with attention over the others equals attention over all. */
static void
test_whole (void)
{
  enum { QUERIES = 9, KEYS = 12, EARLY = 5 };
  const LigAttentionParams all = {.heads = HEADS,
                                  .kv_heads = 1,
                                  .features = FEATURES,
                                  .length = QUERIES,
                                  .memory_length = KEYS,
                                  .mask = LIG_MASK_NONE,
                                  .scale = 0.7f,
                                  .softcap = 2};
  const LigMergeParams merge = {HEADS, FEATURES, QUERIES, 0, QUERIES};
  LigOperand x = random_tensor (LIG_FP32, BATCH * QUERIES, HEADS * FEATURES), none = {0};
  LigOperand memory = random_tensor (LIG_FP32, BATCH * KEYS, 2 * FEATURES), y[3], lse[3];
  for (int i = 0; i < 3; i++) {
    const LigSliceParams keys = {KEYS, i == 2 ? EARLY : 0,
                                 i == 0   ? KEYS
                                 : i == 1 ? EARLY
                                          : KEYS - EARLY,
                                 0};
    LigAttentionParams some = all;
    LigOperand own = blank (LIG_FP32, BATCH * keys.count, 2 * FEATURES);
    y[i] = blank (LIG_FP32, BATCH * QUERIES, HEADS * FEATURES);
    lse[i] = blank (LIG_FP32, 2 * BATCH * HEADS, QUERIES);
    some.memory_length = (int32_t) keys.count;
    launch ("slice", (LigOperand[]){memory, own}, &keys);
    launch ("attention", (LigOperand[]){x, own, none, none, y[i], lse[i]}, &some);
  }
  launch ("attention_merge", (LigOperand[]){y[1], lse[1], y[2], lse[2], y[1], lse[1]}, &merge);
  for (int64_t i = 0; i < y[0].size; i++)
    g_assert_cmpfloat (fabsf (((float *) y[1].data)[i] - ((float *) y[0].data)[i]), <=, 1e-6);
  for (int64_t i = 0; i < lse[0].size; i++)
    g_assert_cmpfloat (fabsf (((float *) lse[1].data)[i] - ((float *) lse[0].data)[i]), <=, 1e-5);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/kernels/slice/slices", test_slices);
  g_test_add_func ("/kernels/slice/rejected", test_rejected);
  g_test_add_func ("/kernels/slice/merge", test_merge);
  g_test_add_func ("/kernels/slice/whole", test_whole);
  case_begin ();
  int status = g_test_run ();
  case_end ();
  return status;
}
