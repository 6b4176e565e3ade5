/* SPDX-License-Identifier: MIT */
/* Matmuls of groups of quantized rows on the CPU against sums in double precision of the
 * dequantized operands, and the quantized copies of several matrices in one operand. */
#include "tests/kernels/quantize-case.h"

#include <ligature/params-matmul.h>

enum { GROUPS = 5 };

/* --- Several matrices ------------------------------------------------------------------------ */

static LigOperand
part (LigOperand whole, int64_t index, int64_t count)
{
  whole.size /= count;
  whole.data = (char *) whole.data + (size_t) (index * whole.size) * lig_dtype_size (whole.dtype);
  return whole;
}

/* Matrices that are quantized together have the bits of each quantized by itself. */
static void
check_matrices (const LigScales kind[2], LigDtype dtype, int64_t rows, int64_t columns, bool powers)
{
  enum { COUNT = 3 };
  LigQuantizeParams params = {LIG_FP8_E4M3, (int32_t) kind[0], (int32_t) kind[1], powers, COUNT};
  LigQuantizeParams single = params;
  single.groups = 0;
  case_begin ();
  LigOperand x = content_of (HUGE_ROW, dtype, COUNT * rows, columns), none = {0};
  LigOperand like[] = {
    blank (LIG_FP8_E4M3, COUNT * rows, columns), scales_for (kind[0], rows, columns),
    blank (LIG_FP8_E4M3, COUNT * columns, rows), scales_for (kind[1], columns, rows)};
  LigOperand row_scale = blank (LIG_FP32, COUNT * like[1].size / like[1].columns, like[1].columns);
  LigOperand column_scale =
    blank (LIG_FP32, COUNT * like[3].size / like[3].columns, like[3].columns);
  run ("quantize",
       (LigOperand[]){x, none, like[0], row_scale, like[2], column_scale, none, none, none},
       &params, false);
  for (int i = 0; i < COUNT; i++) {
    LigOperand want[] = {blank (LIG_FP8_E4M3, rows, columns), scales_for (kind[0], rows, columns),
                         blank (LIG_FP8_E4M3, columns, rows), scales_for (kind[1], columns, rows)};
    run ("quantize",
         (LigOperand[]){part (x, i, COUNT), none, want[0], want[1], want[2], want[3], none, none,
                        none},
         &single, false);
    check_same_bits (part (like[0], i, COUNT), want[0]);
    check_same_bits (part (row_scale, i, COUNT), want[1]);
    check_same_bits (part (like[2], i, COUNT), want[2]);
    check_same_bits (part (column_scale, i, COUNT), want[3]);
  }
  case_end ();
}

static void
test_matrices (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (kinds); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (matrices); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++)
        check_matrices (kinds[i], floating[k], matrices[j][0], matrices[j][1], j % 2);
}

/* A history, sums and rounded values belong to one matrix. */
static void
test_rejected (void)
{
  const LigQuantizeParams params = {LIG_FP8_E4M3, LIG_SCALES_ROW, LIG_SCALES_ROW, FALSE, 3};
  for (int i = 0; i < 3; i++) {
    LigStatus status;
    case_begin ();
    Quantizing q = quantizing (random_tensor (LIG_BF16, i == 2 ? 47 : 48, 32), params, 0, 0);
    q.operands[6].data = i == 0 ? q.operands[6].data : NULL;
    q.operands[7].data = i == 1 ? q.operands[7].data : NULL;
    LigLaunch launch = try_run ("quantize", q.operands, &params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    g_assert_nonnull (strstr (launch.where, "several matrices"));
    case_end ();
  }
}

/* --- Matmuls --------------------------------------------------------------------------------- */

/* The first rows of groups; those out of order are read as if each were at least the one before. */
static const int32_t splits[][GROUPS + 1] = {
  {0, 40, 80, 120, 160, 200},   {0, 200, 200, 200, 200, 200}, {0, 0, 64, 64, 129, 200},
  {0, 1, 16, 32, 49, 112},      {3, 66, 131, 131, 195, 198},  {0, 0, 0, 0, 0, 0},
  {0, 127, 127, 127, 127, 200}, {10, 50, 20, 300, -5, 100},   {0, 63, 128, 128, 143, 160},
};

enum { ROWS = 200 };

typedef struct {
  LigScales left, right;
  LigDtype format;
} Kind;

static const Kind tried[] = {
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E4M3},
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E5M2},
  {LIG_SCALES_BLOCK, LIG_SCALES_TILE, LIG_FP8_E4M3},
  {LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, LIG_FP8_E5M2},
};

/* Returns the group of each row, -1 for none. */
static int *
groups_of (const int32_t *offsets)
{
  int *groups = scratch (ROWS * sizeof *groups);
  int64_t end = 0;
  for (int i = 0; i < ROWS; i++)
    groups[i] = -1;
  for (int g = 0; g < GROUPS; g++) {
    int64_t first = MIN (MAX (offsets[g], end), ROWS);
    end = MIN (MAX (offsets[g + 1], first), ROWS);
    for (int64_t i = first; i < end; i++)
      groups[i] = g;
  }
  return groups;
}

typedef struct {
  Kind kind;
  LigOperand a, b, a_scale, b_scale, offsets, bias, scales, y;
  const int *groups;
  int64_t n, k;
} Problem;

static LigOperand
some_scales (int64_t count, int64_t columns)
{
  LigOperand scales = random_tensor (LIG_FP32, count / columns, columns);
  for (int64_t i = 0; i < count; i++)
    ((float *) scales.data)[i] = 0.01f + fabsf (((float *) scales.data)[i]);
  return scales;
}

static Problem
problem (Kind kind, const int32_t *offsets, LigDtype dtype, int64_t n, int64_t k)
{
  LigOperand left = scales_for (kind.left, ROWS, k), right = scales_for (kind.right, n, k);
  Problem p = {.kind = kind,
               .a = random_tensor (kind.format, ROWS, k),
               .b = random_tensor (LIG_FP8_E4M3, GROUPS * n, k),
               .a_scale = some_scales (left.size, left.columns),
               .b_scale = some_scales (GROUPS * right.size, right.columns),
               .offsets = blank (LIG_INT32, 1, GROUPS + 1),
               .bias = random_tensor (LIG_FP32, GROUPS, n),
               .scales = random_tensor (LIG_FP32, 1, ROWS),
               .y = blank (dtype, ROWS, n),
               .groups = groups_of (offsets),
               .n = n,
               .k = k};
  memcpy (p.offsets.data, offsets, (GROUPS + 1) * sizeof *offsets);
  return p;
}

/* Makes the rows in no group, and those and the matrix of one group, NaN. */
static void
poison (Problem *p, int group)
{
  for (int64_t i = 0; i < p->a.size; i++) {
    int of_row = p->groups[i / p->k];
    if (of_row < 0 || of_row == group)
      ((uint8_t *) p->a.data)[i] = 0x7f;
  }
  if (group >= 0)
    memset ((char *) p->b.data + group * p->n * p->k, 0x7f, (size_t) (p->n * p->k));
}

/* Returns the scale of an element of a matrix, given those of the matrix. */
static double
scale_of (const float *scales, LigScales kind, int64_t stride, int64_t row, int64_t column)
{
  switch (kind) {
  case LIG_SCALES_ROW:
    return (double) scales[row];
  case LIG_SCALES_BLOCK:
    return (double) scales[column / 128 * stride + row];
  case LIG_SCALES_TILE:
    return (double) scales[row / 128 * stride + column / 128];
  default:
    return (double) scales[0];
  }
}

/* Returns the results in double precision; 0 in the rows of the poisoned group. */
static double *
expected (const Problem *p, bool with_bias, bool with_scales, double factor, int poisoned)
{
  double *a = wide (p->a), *b = wide (p->b), *want = doubles (p->y.size);
  double *bias = wide (p->bias), *by = wide (p->scales);
  const float *left = p->a_scale.data, *right = p->b_scale.data;
  for (int64_t i = 0; i < p->y.size; i++) {
    int64_t row = i / p->n, column = i % p->n;
    int g = p->groups[row];
    if (g < 0 || g == poisoned)
      continue;
    for (int64_t l = 0; l < p->k; l++)
      want[i] += a[row * p->k + l] * scale_of (left, p->kind.left, ROWS, row, l) *
                 b[(g * p->n + column) * p->k + l] *
                 scale_of (right + g * p->b_scale.size / GROUPS, p->kind.right, p->b_scale.columns,
                           column, l);
    want[i] *= factor;
    want[i] += with_bias ? bias[g * p->n + column] * (with_scales ? by[row] : 1) : 0;
  }
  return want;
}

static void
check_problem (Kind kind,
               const int32_t *offsets,
               LigDtype dtype,
               const int64_t size[2],
               int number,
               int poisoned)
{
  bool with_bias = number % 3 > 0, with_scales = number % 3 == 2;
  const float factor = number % 4 ? 1 : -1.5f;
  const LigGroupedFp8Params params = {
    .fp8 = {factor, (int32_t) kind.left, (int32_t) kind.right, false}};
  LigOperand none = absent (LIG_FP32, 1, ROWS);
  Problem p = problem (kind, offsets, dtype, size[0], size[1]);
  poison (&p, poisoned);
  run ("grouped_fp8",
       (LigOperand[]){p.a, p.b, p.a_scale, p.b_scale, p.offsets, with_bias ? p.bias : none,
                      with_scales ? p.scales : none, p.y},
       &params, false);
  double *want = expected (&p, with_bias, with_scales, (double) factor, poisoned);
  double *got = wide (p.y);
  const float zero = 0;
  for (int64_t i = 0; i < p.y.size; i++) {
    int g = p.groups[i / p.n];
    if (g < 0)
      g_assert_true (got[i] == 0);
    if (g < 0 || g != poisoned)
      continue;
    g_assert_true (isnan (got[i]));
    lig_narrow (dtype, &zero, (char *) p.y.data + (size_t) i * lig_dtype_size (dtype), 1);
  }
  check (p.y, want, "grouped_fp8");
}

static void
test_grouped (void)
{
  static const int64_t sizes[][2] = {{16, 16}, {144, 272}, {272, 144}, {32, 400}};
  int n = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (splits); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (tried); k++, n++) {
        case_begin ();
        check_problem (tried[k], splits[i], floating[n % 3], sizes[j], n, n % 2 ? n % GROUPS : -2);
        case_end ();
      }
}

/* Scales that do not fit the sizes are rejected. */
static void
test_misfit (void)
{
  for (int i = 0; i < 4; i++) {
    LigStatus status;
    case_begin ();
    Kind kind = tried[i % 2 * 2];
    Problem p = problem (kind, splits[0], LIG_BF16, 144, 272);
    const LigGroupedFp8Params params = {.fp8 = {1, (int32_t) kind.left, (int32_t) kind.right, 0}};
    LigOperand none = absent (LIG_FP32, 1, ROWS), *wrong = i < 2 ? &p.a_scale : &p.b_scale;
    wrong->size -= wrong->columns > 1 && wrong->size > wrong->columns ? wrong->columns : 1;
    LigLaunch launch = try_run (
      "grouped_fp8", (LigOperand[]){p.a, p.b, p.a_scale, p.b_scale, p.offsets, none, none, p.y},
      &params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    g_assert_nonnull (launch.where);
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/grouped-fp8/matrices", test_matrices);
  g_test_add_func ("/grouped-fp8/rejected", test_rejected);
  g_test_add_func ("/grouped-fp8/grouped", test_grouped);
  g_test_add_func ("/grouped-fp8/misfit", test_misfit);
  return g_test_run ();
}
