/* SPDX-License-Identifier: MIT */
/* Grouped matmuls with a gated unit on the CPU: the bits of the two kernels that they replace, and
 * the values of a reference in double; rows in no group are 0, and a group has no effect on
 * others. */
#include "tests/kernels/case.h"

#include "kernels/functions.h"
#include <ligature/params-grouped.h>

enum { GROUPS = 5, ROWS = 200, BLOCK = 32 };

static const int32_t splits[][GROUPS + 1] = {
  {0, 40, 80, 120, 160, 200},   {0, 200, 200, 200, 200, 200}, {0, 0, 64, 64, 129, 200},
  {0, 1, 16, 32, 49, 112},      {3, 66, 131, 131, 195, 198},  {0, 0, 0, 0, 0, 0},
  {0, 127, 127, 127, 127, 200}, {10, 50, 20, 300, -5, 100},   {-7, 60, 60, 61, 1000, 0},
};

/* The depth of the first matmul, and the columns of a half. */
static const int64_t sizes[][2] = {{1, 32}, {17, 64}, {65, 32}, {129, 96}};

static const char *const units[] = LIG_GATED_NAMES;

/* The scaled unit and its gradient; null if a unit has none. */
static const char *
scaled_name (int unit, gboolean backward)
{
#define NAME(name, backward_name, of, ...) \
  if (g_str_equal (units[unit], #of)) \
    return backward ? #backward_name : #name;
  LIG_EACH_SCALED (NAME)
#undef NAME
  return NULL;
}

typedef struct {
  LigOperand x, weight, offsets, bias, scales, factors, sum, y; /* of the forward pass */
  LigOperand dy, last, dx, dfactors; /* the gradient of the second matmul's output; its weight */
  const int32_t *borders;
  int64_t depth, half;
  LigGroupedGatedParams params;
} Problem;

static Problem
problem (const int32_t *borders, LigDtype dtype, int64_t depth, int64_t half, int unit)
{
  Problem p = {.x = random_tensor (dtype, ROWS, depth),
               .weight = random_tensor (dtype, GROUPS * 2 * half, depth),
               .offsets = blank (LIG_INT32, 1, GROUPS + 1),
               .bias = random_tensor (LIG_FP32, GROUPS, 2 * half),
               .scales = random_tensor (LIG_FP32, 1, ROWS),
               .factors = random_tensor (LIG_FP32, 1, ROWS),
               .sum = blank (dtype, ROWS, 2 * half),
               .y = blank (dtype, ROWS, half),
               .dy = random_tensor (dtype, ROWS, depth),
               .last = random_tensor (dtype, GROUPS * depth, half),
               .dx = blank (dtype, ROWS, 2 * half),
               .dfactors = blank (LIG_FP32, 1, ROWS),
               .borders = borders,
               .depth = depth,
               .half = half,
               .params = {.gated = {1.5f, 1.25f, 0.5f, 2, 3, BLOCK}, .unit = unit}};
  memcpy (p.offsets.data, borders, (GROUPS + 1) * sizeof *borders);
  return p;
}

/* Returns the group of a row, -1 for none. */
static int
group_of (const Problem *p, int64_t row)
{
  int64_t end = 0, first;
  for (int g = 0; g < GROUPS; g++) {
    first = MIN (MAX (p->borders[g], end), ROWS);
    end = MIN (MAX (p->borders[g + 1], first), ROWS);
    if (row >= first && row < end)
      return g;
  }
  return -1;
}

/* Makes the rows of a group NaN. */
static void
poison (const Problem *p, LigOperand x, int group)
{
  size_t row = (size_t) (x.size / ROWS) * lig_dtype_size (x.dtype);
  for (int64_t i = 0; i < ROWS; i++)
    if (group_of (p, i) == group)
      memset ((char *) x.data + (size_t) i * row, 0xff, row);
}

static void
forward (const Problem *p, gboolean scaled, LigOperand x, LigOperand sum, LigOperand y)
{
  LigOperand factors = scaled ? p->factors : absent (LIG_FP32, 1, ROWS);
  run ("grouped_linear_gated",
       (LigOperand[]){x, p->weight, p->offsets, p->bias, p->scales, factors, sum, y}, &p->params,
       false);
}

static void
backward (const Problem *p, gboolean scaled, LigOperand x, LigOperand dx, LigOperand dfactors)
{
  LigOperand factors = scaled ? p->factors : absent (LIG_FP32, 1, ROWS);
  run ("grouped_gated_backward_input",
       (LigOperand[]){p->dy, p->last, p->offsets, x, factors, dx, dfactors}, &p->params, false);
}

/* Checks that rows of a result are those of another; those in no group are 0. */
static void
check_rows (const Problem *p, LigOperand got, LigOperand want, int except)
{
  size_t row = (size_t) (got.size / ROWS) * lig_dtype_size (got.dtype);
  g_autofree char *zeros = g_malloc0 (row);
  for (int64_t i = 0; i < ROWS; i++) {
    int group = group_of (p, i);
    const char *a = (char *) got.data + (size_t) i * row;
    if (group < 0)
      g_assert_cmpmem (a, row, zeros, row);
    else if (group != except)
      g_assert_cmpmem (a, row, (char *) want.data + (size_t) i * row, row);
  }
}

/* Checks that the bits are those of the matmul and the unit. */
static void
check_bits (Problem *p, gboolean scaled)
{
  int unit = p->params.unit;
  LigOperand sum = copy (p->sum), y = copy (p->y), dx = copy (p->dx), slopes = copy (p->y);
  LigOperand dfactors = copy (p->dfactors), none = absent (LIG_FP32, 1, ROWS);
  LigOperand unkept = copy (p->y), alone = absent (p->sum.dtype, 0, p->sum.columns);
  run ("grouped_linear", (LigOperand[]){p->x, p->weight, p->offsets, p->bias, p->scales, sum}, NULL,
       false);
  run ("grouped_backward_input", (LigOperand[]){p->dy, p->last, p->offsets, slopes}, NULL, false);
  poison (p, p->factors, -1);
  forward (p, scaled, p->x, p->sum, p->y);
  forward (p, scaled, p->x, alone, unkept);
  check_same_bits (unkept, p->y);
  check_same_bits (sum, p->sum);
  LigOperand in = copy (sum);
  poison (p, in, -1);
  backward (p, scaled, in, p->dx, scaled ? p->dfactors : none);
  if (scaled) {
    run (scaled_name (unit, FALSE), (LigOperand[]){sum, p->factors, y}, &p->params.gated, false);
    run (scaled_name (unit, TRUE), (LigOperand[]){slopes, sum, p->factors, dx, dfactors},
         &p->params.gated, false);
    check_rows (p, p->dfactors, dfactors, -1);
  } else {
    g_autofree char *name = g_strconcat (units[unit], "_backward", NULL);
    run (units[unit], (LigOperand[]){sum, y}, &p->params.gated, false);
    run (name, (LigOperand[]){slopes, sum, dx}, &p->params.gated, false);
  }
  check_rows (p, p->y, y, -1);
  check_rows (p, p->dx, dx, -1);
  backward (p, scaled, in, in, none);
  check_same_bits (in, p->dx);
}

/* Checks that rows of a group have no effect on those of others. */
static void
check_neighbours (Problem *p, gboolean scaled, int group)
{
  LigOperand sum = copy (p->sum), y = copy (p->y), dx = copy (p->dx), x = copy (p->x);
  LigOperand in = copy (p->sum), dfactors = copy (p->dfactors);
  poison (p, x, group);
  poison (p, in, group);
  forward (p, scaled, x, sum, y);
  backward (p, scaled, in, dx, scaled ? dfactors : absent (LIG_FP32, 1, ROWS));
  check_rows (p, sum, p->sum, group);
  check_rows (p, y, p->y, group);
  check_rows (p, dx, p->dx, group);
}

static void
test_bits (void)
{
  int n = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (splits); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++)
        for (int unit = 0; unit < LIG_N_GATED; unit++, n++) {
          case_begin ();
          gboolean scaled = scaled_name (unit, FALSE) != NULL && n % 3 > 0;
          Problem p = problem (splits[i], floating[k], sizes[j][0], sizes[j][1], unit);
          check_bits (&p, scaled);
          check_neighbours (&p, scaled, n % GROUPS);
          case_end ();
        }
}

/* Computes the forward pass of SwiGLU in double. */
static void
refer (const Problem *p, double *sum, double *y)
{
  double *x = wide (p->x), *weight = wide (p->weight), *bias = wide (p->bias);
  double *scales = wide (p->scales), *factors = wide (p->factors);
  int64_t n = 2 * p->half;
  for (int64_t row = 0; row < ROWS; row++) {
    int g = group_of (p, row);
    double *at = sum + row * n;
    for (int64_t i = 0; g >= 0 && i < n; i++) {
      at[i] = bias[g * n + i] * scales[row];
      for (int64_t l = 0; l < p->depth; l++)
        at[i] += x[row * p->depth + l] * weight[(g * n + i) * p->depth + l];
    }
    for (int64_t i = 0; g >= 0 && i < p->half; i++) {
      const double *a = at + i + i / BLOCK * BLOCK;
      y[row * p->half + i] = factors[row] * a[0] / (1 + exp (-a[0])) * a[BLOCK];
    }
  }
}

/* Computes the gradients in double, given the unit's input. */
static void
refer_backward (const Problem *p, LigOperand in, double *dx, double *dfactors)
{
  double *x = wide (in), *dy = wide (p->dy), *last = wide (p->last), *factors = wide (p->factors);
  for (int64_t row = 0; row < ROWS; row++)
    for (int64_t i = 0; i < p->half && group_of (p, row) >= 0; i++) {
      int64_t at = row * 2 * p->half + i + i / BLOCK * BLOCK;
      double slope = 0, a = x[at], b = x[at + BLOCK], s = 1 / (1 + exp (-a));
      for (int64_t l = 0; l < p->depth; l++)
        slope += dy[row * p->depth + l] * last[(group_of (p, row) * p->depth + l) * p->half + i];
      dfactors[row] += slope * a * s * b;
      dx[at] = slope * factors[row] * b * s * (1 + a * (1 - s));
      dx[at + BLOCK] = slope * factors[row] * a * s;
    }
}

static void
test_values (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (splits); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
        case_begin ();
        Problem p = problem (splits[i], floating[k], sizes[j][0], sizes[j][1], LIG_FUNCTION_swiglu);
        double *sum = doubles (p.sum.size), *y = doubles (p.y.size), *dx = doubles (p.dx.size);
        double *dfactors = doubles (ROWS);
        forward (&p, TRUE, p.x, p.sum, p.y);
        backward (&p, TRUE, p.sum, p.dx, p.dfactors);
        refer (&p, sum, y);
        refer_backward (&p, p.sum, dx, dfactors);
        check (p.sum, sum, "sum");
        check (p.y, y, "y");
        check (p.dx, dx, "dx");
        check_within (p.dfactors, dfactors, tolerance (floating[k]) * norm_of (dfactors, ROWS),
                      "dfactors");
        case_end ();
      }
}

/* Units that do not exist, and factors for a unit that has no scaled form, are rejected. */
static void
test_rejected (void)
{
  for (int n = 0; n < 3; n++) {
    LigStatus status;
    case_begin ();
    Problem p = problem (splits[0], LIG_FP32, 8, 32, n < 2 ? n * LIG_N_GATED - !n : 0);
    LigOperand factors = n < 2 ? absent (LIG_FP32, 1, ROWS) : p.factors;
    LigLaunch launch =
      try_run ("grouped_linear_gated",
               (LigOperand[]){p.x, p.weight, p.offsets, p.bias, p.scales, factors, p.sum, p.y},
               &p.params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    g_assert_nonnull (strstr (launch.where, "no such unit"));
    try_run ("grouped_gated_backward_input",
             (LigOperand[]){p.dy, p.last, p.offsets, p.sum, factors, p.dx, absent (LIG_FP32, 0, 1)},
             &p.params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/grouped-gated/bits", test_bits);
  g_test_add_func ("/grouped-gated/values", test_values);
  g_test_add_func ("/grouped-gated/rejected", test_rejected);
  return g_test_run ();
}
