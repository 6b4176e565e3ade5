/* SPDX-License-Identifier: MIT */
/* The kernels of mixtures of experts on the CPU against references in double: interleaved and
 * scaled units, grouped matmuls, routers, permutations, exchanges between ranks. */
#include "tests/kernels/case.h"

#include "kernels/activations.h"
#include "kernels/numbers.h"
#include <ligature/params-experts.h>
#include <ligature/params-gated.h>

static LigOperand
integers (int64_t rows, int64_t columns, const int32_t *values)
{
  LigOperand operand = blank (LIG_INT32, rows, columns);
  if (values)
    memcpy (operand.data, values, (size_t) operand.size * sizeof *values);
  return operand;
}

static int32_t *
ints (LigOperand operand)
{
  return operand.data;
}

/* --- Units ---------------------------------------------------------------------------------- */

/* Returns x with the columns of its two halves in alternating blocks, or, with `back`, in halves
 * again. */
static LigOperand
interleave (LigOperand x, int64_t block, bool back)
{
  LigOperand moved = copy (x);
  size_t size = lig_dtype_size (x.dtype);
  int64_t half = x.columns / 2;
  for (int64_t i = 0; i < x.size; i++) {
    int64_t row = i / x.columns, column = i % x.columns, c = column % half;
    int64_t to = row * x.columns + c + c / block * block + (column < half ? 0 : block);
    memcpy ((char *) moved.data + (size_t) (back ? i : to) * size,
            (char *) x.data + (size_t) (back ? to : i) * size, size);
  }
  return moved;
}

typedef struct {
  const char *name, *backward, *bias, *bias_backward;
} Gated;

static const Gated gated[] = {
#define GATED(name, backward, bias, bias_backward, ...) {#name, #backward, #bias, #bias_backward},
  LIG_EACH_GATED (GATED) LIG_EACH_GATED_WITH_PARAMS (GATED)
#undef GATED
};

/* The same values in other columns give the same bits. */
static void
check_interleaved (const Gated *unit, LigDtype dtype, int64_t half, int64_t block)
{
  LigGatedParams params = {.limit = 1.5f, .alpha = 1.25f, .offset = 0.5f, .beta1 = 2, .beta2 = 3};
  LigOperand x = random_tensor (dtype, 3, 2 * half), dy = random_tensor (dtype, 3, half);
  LigOperand y = blank (dtype, 3, half), dx = blank (dtype, 3, 2 * half);
  LigOperand other = interleave (x, block, false), got = copy (y), gradient = copy (dx);
  run (unit->name, (LigOperand[]){x, y}, &params, false);
  run (unit->backward, (LigOperand[]){dy, x, dx}, &params, false);
  params.interleave = block;
  run (unit->name, (LigOperand[]){other, got}, &params, false);
  check_same_bits (got, y);
  run (unit->backward, (LigOperand[]){dy, other, gradient}, &params, false);
  check_same_bits (interleave (gradient, block, true), dx);
  run (unit->backward, (LigOperand[]){dy, other, other}, &params, false);
  check_same_bits (other, gradient);
}

static void
test_interleave (void)
{
  static const int64_t sizes[][2] = {{1, 1},   {4, 1},       {96, 32},     {64, 64},
                                     {88, 44}, {2112, 1056}, {2048, 1024}, {3000, 5}};
  for (size_t i = 0; i < G_N_ELEMENTS (gated); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
        case_begin ();
        check_interleaved (&gated[i], floating[k], sizes[j][0], sizes[j][1]);
        case_end ();
      }
}

/* Kernels with a bias do not support interleaved halves, and say so. */
static void
test_interleaved_bias (void)
{
  const LigGatedParams params = {
    .limit = 7, .alpha = 1.702f, .beta1 = 4, .beta2 = 25, .interleave = 2};
  for (size_t i = 0; i < G_N_ELEMENTS (gated); i++) {
    LigStatus status;
    case_begin ();
    LigOperand x = random_tensor (LIG_FP32, 3, 8), bias = random_tensor (LIG_FP32, 1, 8);
    LigOperand y = blank (LIG_FP32, 3, 4), sum = blank (LIG_FP32, 3, 8);
    LigLaunch launch =
      try_run (gated[i].bias, (LigOperand[]){x, bias, sum, y}, &params, NULL, false, &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    g_assert_nonnull (strstr (launch.where, "interleaved"));
    try_run (gated[i].bias_backward, (LigOperand[]){y, x, sum, bias}, &params, NULL, false,
             &status);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    case_end ();
  }
}

typedef struct {
  const char *name, *backward, *unit, *unit_backward;
  int64_t parts;
} Scaled;

static const Scaled scaled[] = {
#define SCALED(name, backward, unit, parts, ...) \
  {#name, #backward, #unit, #unit "_backward", parts},
  LIG_EACH_SCALED (SCALED)
#undef SCALED
};

/* A scaled unit is the unit in fp32, times the scale; its own tests compare the unit with
 * double. */
static void
check_scaled (const Scaled *unit, LigDtype dtype, int64_t columns, int64_t block)
{
  const LigGatedParams params = {.limit = 1.5f,
                                 .alpha = 1.25f,
                                 .offset = 0.5f,
                                 .beta1 = 2,
                                 .beta2 = 3,
                                 .interleave = unit->parts > 1 ? block : 0};
  const int64_t rows = 5, whole = unit->parts * columns;
  LigOperand x = random_tensor (dtype, rows, whole), scales = random_tensor (LIG_FP32, 1, rows);
  LigOperand dy = random_tensor (dtype, rows, columns), y = blank (dtype, rows, columns);
  LigOperand dx = blank (dtype, rows, whole), dscales = blank (LIG_FP32, 1, rows);
  LigOperand wide_x = random_tensor (LIG_FP32, rows, whole),
             plain = blank (LIG_FP32, rows, columns);
  LigOperand wide_dy = random_tensor (LIG_FP32, rows, columns);
  LigOperand plain_dx = blank (LIG_FP32, rows, whole), again = copy (dscales);
  lig_widen (dtype, x.data, wide_x.data, (size_t) x.size);
  lig_widen (dtype, dy.data, wide_dy.data, (size_t) dy.size);
  if (g_str_equal (unit->unit, "identity")) {
    memcpy (plain.data, wide_x.data, (size_t) x.size * sizeof (float));
    memcpy (plain_dx.data, wide_dy.data, (size_t) x.size * sizeof (float));
  } else {
    run (unit->unit, (LigOperand[]){wide_x, plain}, &params, false);
    run (unit->unit_backward, (LigOperand[]){wide_dy, wide_x, plain_dx}, &params, false);
  }
  run (unit->name, (LigOperand[]){x, scales, y}, &params, false);
  run (unit->backward, (LigOperand[]){dy, x, scales, dx, dscales}, &params, false);
  double *want = wide (plain), *slopes = wide (plain_dx), *by = wide (scales), *dys = wide (dy);
  double *sums = doubles (rows);
  for (int64_t i = 0; i < y.size; i++) {
    sums[i / columns] += want[i] * dys[i];
    want[i] *= by[i / columns];
  }
  for (int64_t i = 0; i < dx.size; i++)
    slopes[i] *= by[i / whole];
  check (y, want, unit->name);
  check (dx, slopes, unit->backward);
  check_within (dscales, sums, 1e-5 * norm_of (dys, dy.size) * 4, "dscales");
  run (unit->backward, (LigOperand[]){dy, x, scales, absent (dtype, rows, whole), again}, &params,
       false);
  check_same_bits (again, dscales);
  run (unit->backward, (LigOperand[]){dy, x, scales, x, absent (LIG_FP32, 1, rows)}, &params,
       false);
  check_same_bits (x, dx);
}

static void
test_scaled (void)
{
  static const int64_t sizes[][2] = {{1, 1}, {6, 2}, {96, 32}, {1500, 0}, {2112, 1056}};
  for (size_t i = 0; i < G_N_ELEMENTS (scaled); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
        case_begin ();
        check_scaled (&scaled[i], floating[k], sizes[j][0], sizes[j][1]);
        case_end ();
      }
}

/* --- Grouped matmuls ------------------------------------------------------------------------ */

enum { GROUPS = 5 };

/* The first rows of groups; those out of order are read as if each were at least the one before. */
static const int32_t splits[][GROUPS + 1] = {
  {0, 40, 80, 120, 160, 200},   {0, 200, 200, 200, 200, 200}, {0, 0, 64, 64, 129, 200},
  {0, 1, 16, 32, 49, 112},      {3, 66, 131, 131, 195, 198},  {0, 0, 0, 0, 0, 0},
  {0, 127, 127, 127, 127, 200}, {10, 50, 20, 300, -5, 100},   {-7, 60, 60, 61, 1000, 0},
};

/* Returns the group of each row, -1 for none. */
static int *
groups_of (const int32_t *offsets, int64_t rows)
{
  int *groups = scratch ((size_t) rows * sizeof *groups);
  int64_t end = 0;
  for (int64_t i = 0; i < rows; i++)
    groups[i] = -1;
  for (int g = 0; g < GROUPS; g++) {
    int64_t first = MIN (MAX (offsets[g], end), rows);
    end = MIN (MAX (offsets[g + 1], first), rows);
    for (int64_t i = first; i < end; i++)
      groups[i] = g;
  }
  return groups;
}

/* Makes rows outside of all groups, and those of one group, NaN and infinite. */
static void
poison (LigOperand x, const int *groups, int group)
{
  float values[] = {NAN, INFINITY, -INFINITY};
  for (int64_t i = 0; i < x.size; i++)
    if (groups[i / x.columns] == -1 || groups[i / x.columns] == group)
      lig_narrow (x.dtype, &values[i % 3], (char *) x.data + (size_t) i * lig_dtype_size (x.dtype),
                  1);
}

typedef struct {
  LigOperand x, weight, offsets, bias, scales, y, dy, dx, dweight, dbias, dscales;
  int *groups;
  int64_t rows, k, n;
} Problem;

static Problem
problem (const int32_t *offsets, LigDtype dtype, int64_t rows, int64_t k, int64_t n)
{
  return (Problem){.x = random_tensor (dtype, rows, k),
                   .weight = random_tensor (dtype, GROUPS * n, k),
                   .offsets = integers (1, GROUPS + 1, offsets),
                   .bias = random_tensor (LIG_FP32, GROUPS, n),
                   .scales = random_tensor (LIG_FP32, 1, rows),
                   .y = blank (dtype, rows, n),
                   .dy = random_tensor (dtype, rows, n),
                   .dx = blank (dtype, rows, k),
                   .dweight = blank (dtype, GROUPS * n, k),
                   .dbias = blank (LIG_FP32, GROUPS, n),
                   .dscales = blank (LIG_FP32, 1, rows),
                   .groups = groups_of (offsets, rows),
                   .rows = rows,
                   .k = k,
                   .n = n};
}

/* Sets the elements of a poisoned group to 0 in both, after checking that they are not finite. */
static void
leave_out (LigOperand got, double *want, const int *groups, int group)
{
  double *values = wide (got);
  float zero = 0;
  int64_t each = got.size / GROUPS; /* elements of a group's parameters */
  for (int64_t i = 0; i < got.size; i++) {
    if (groups ? groups[i / got.columns] != group : i / each != group)
      continue;
    g_assert_false (isfinite (values[i]));
    lig_narrow (got.dtype, &zero, (char *) got.data + (size_t) i * lig_dtype_size (got.dtype), 1);
    want[i] = 0;
  }
}

static bool
has_rows (const Problem *p, int group)
{
  for (int64_t i = 0; i < p->rows; i++)
    if (p->groups[i] == group)
      return true;
  return false;
}

static void
check_forward (Problem *p, bool with_scales, int poisoned)
{
  LigOperand none = absent (LIG_FP32, 1, p->rows);
  run ("grouped_linear",
       (LigOperand[]){p->x, p->weight, p->offsets, p->bias, with_scales ? p->scales : none, p->y},
       NULL, false);
  double *x = wide (p->x), *weight = wide (p->weight), *bias = wide (p->bias);
  double *by = wide (p->scales), *want = doubles (p->y.size);
  for (int64_t i = 0; i < p->y.size; i++) {
    int64_t row = i / p->n, column = i % p->n;
    int g = p->groups[row];
    if (g < 0 || g == poisoned)
      continue;
    want[i] = bias[g * p->n + column] * (with_scales ? by[row] : 1);
    for (int64_t l = 0; l < p->k; l++)
      want[i] += x[row * p->k + l] * weight[(g * p->n + column) * p->k + l];
  }
  leave_out (p->y, want, p->groups, poisoned);
  check (p->y, want, "grouped_linear");
}

static void
check_input (Problem *p, int poisoned)
{
  run ("grouped_backward_input", (LigOperand[]){p->dy, p->weight, p->offsets, p->dx}, NULL, false);
  double *dy = wide (p->dy), *weight = wide (p->weight), *want = doubles (p->dx.size);
  for (int64_t i = 0; i < p->dx.size; i++) {
    int64_t row = i / p->k;
    int g = p->groups[row];
    for (int64_t l = 0; g >= 0 && g != poisoned && l < p->n; l++)
      want[i] += dy[row * p->n + l] * weight[(g * p->n + l) * p->k + i % p->k];
  }
  leave_out (p->dx, want, p->groups, poisoned);
  check (p->dx, want, "grouped_backward_input");
}

static void
check_weight (Problem *p, bool with_scales, bool accumulate, int poisoned)
{
  LigOperand none = absent (LIG_FP32, 1, p->rows);
  if (accumulate) {
    p->dweight = random_tensor (LIG_FP32, GROUPS * p->n, p->k);
    p->dbias = random_tensor (LIG_FP32, GROUPS, p->n);
  }
  double *want = accumulate ? wide (p->dweight) : doubles (p->dweight.size);
  double *bias = accumulate ? wide (p->dbias) : doubles (p->dbias.size);
  double *dy = wide (p->dy), *x = wide (p->x), *by = wide (p->scales), *vector = wide (p->bias);
  double *scales = doubles (p->rows);
  LigOperand operands[] = {p->dy,
                           p->x,
                           p->offsets,
                           p->bias,
                           with_scales ? p->scales : none,
                           p->dweight,
                           p->dbias,
                           with_scales ? p->dscales : none};
  run ("grouped_backward_weight", operands, NULL, accumulate);
  for (int64_t row = 0; row < p->rows; row++) {
    int g = p->groups[row];
    for (int64_t j = 0; g >= 0 && g != poisoned && j < p->n; j++) {
      double slope = dy[row * p->n + j];
      bias[g * p->n + j] += slope * (with_scales ? by[row] : 1);
      scales[row] += slope * vector[g * p->n + j];
      for (int64_t l = 0; l < p->k; l++)
        want[(g * p->n + j) * p->k + l] += slope * x[row * p->k + l];
    }
  }
  if (has_rows (p, poisoned)) {
    leave_out (p->dweight, want, NULL, poisoned);
    leave_out (p->dbias, bias, NULL, poisoned);
  }
  check (p->dweight, want, "grouped_backward_weight");
  check (p->dbias, bias, "dbias");
  double *got = wide (p->dscales);
  for (int64_t i = 0; with_scales && i < p->rows; i++)
    if (p->groups[i] != poisoned)
      g_assert_cmpfloat_with_epsilon (got[i], scales[i], 1e-4);
}

static void
test_grouped (void)
{
  static const int64_t sizes[][2] = {{1, 1}, {15, 17}, {64, 129}, {257, 8}};
  int n = 0;
  for (size_t i = 0; i < G_N_ELEMENTS (splits); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (sizes); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++, n++) {
        int poisoned = n % 2 ? n % GROUPS : -2;
        case_begin ();
        Problem p = problem (splits[i], floating[k], 200, sizes[j][0], sizes[j][1]);
        poison (p.x, p.groups, poisoned);
        poison (p.dy, p.groups, poisoned);
        check_forward (&p, n % 3 == 0, poisoned);
        check_input (&p, poisoned);
        check_weight (&p, n % 3 == 0, n % 4 == 1, poisoned);
        case_end ();
      }
}

static void
test_offsets (void)
{
  static const int32_t sizes[] = {3, 0, -4, 16, 1, G_MAXINT32};
  static const int32_t want[][7] = {{0, 3, 3, 3, 19, 20, G_MAXINT32},
                                    {0, 8, 8, 8, 24, 32, G_MAXINT32}};
  for (int i = 0; i < 2; i++) {
    case_begin ();
    LigOperand y = integers (1, 7, NULL);
    run ("row_offsets", (LigOperand[]){integers (1, 6, sizes), y},
         &(LigRowOffsetsParams){i ? 8 : 1}, false);
    g_assert_cmpmem (y.data, sizeof want[i], want[i], sizeof want[i]);
    case_end ();
  }
}

/* --- Routers -------------------------------------------------------------------------------- */

typedef struct {
  LigRouterParams params;
  int64_t rows, experts;
  const int32_t *chosen;
  const double *dweights, *load;
  double loss;
  double *scores, *divided; /* over all experts; and divided by their sum */
} Routing;

static double
score_of (int kind, double x)
{
  return kind == LIG_SCORE_SIGMOID ? 1 / (1 + exp (-x)) : sqrt (log1p (exp (x)));
}

/* Computes the scores of all rows. */
static void
score (const Routing *r, const double *x, double *scores, double *divided)
{
  for (int64_t row = 0; row < r->rows; row++) {
    double sum = 0;
    for (int64_t e = 0; e < r->experts; e++) {
      int64_t i = row * r->experts + e;
      scores[i] =
        r->params.score == LIG_SCORE_SOFTMAX ? exp (x[i]) : score_of (r->params.score, x[i]);
      sum += scores[i];
    }
    for (int64_t e = 0; e < r->experts; e++) {
      int64_t i = row * r->experts + e;
      if (r->params.score == LIG_SCORE_SOFTMAX)
        scores[i] /= sum;
      divided[i] =
        r->params.score == LIG_SCORE_SOFTMAX || r->params.top_k == 1 ? scores[i] : scores[i] / sum;
    }
  }
}

/* Computes the weights of the chosen experts. */
static void
weigh (const Routing *r, const double *x, const double *scores, double *weights)
{
  int64_t k = r->params.top_k;
  bool local = r->params.score == LIG_SCORE_SOFTMAX && r->params.first == LIG_FIRST_SELECT;
  for (int64_t row = 0; row < r->rows; row++) {
    double sum = 0;
    for (int64_t j = 0; j < k; j++) {
      int64_t i = row * r->experts + r->chosen[row * k + j];
      weights[row * k + j] = local ? exp (x[i]) : scores[i];
      sum += weights[row * k + j];
    }
    for (int64_t j = 0; j < k; j++)
      weights[row * k + j] *=
        (double) r->params.scale / (local || (r->params.normalize && k > 1) ? sum : 1);
  }
}

static double
balance_of (const Routing *r, const double *divided)
{
  double sum = 0;
  for (int64_t i = 0; i < r->rows * r->experts; i++)
    sum += r->load[i % r->experts] * divided[i];
  return sum * (double) r->experts / (double) (r->rows * r->rows * r->params.top_k);
}

static double
z_of (const Routing *r, const double *x)
{
  double sum = 0;
  for (int64_t row = 0; row < r->rows; row++) {
    double exps = 0;
    for (int64_t e = 0; e < r->experts; e++)
      exps += exp (x[row * r->experts + e]);
    sum += log (exps) * log (exps);
  }
  return sum / (double) r->rows;
}

/* Returns the sum of all that the router's gradient is of. */
static double *
objective (const void *data, const double *x)
{
  const Routing *r = data;
  static double value;
  static double weights[4096];
  score (r, x, r->scores, r->divided);
  weigh (r, x, r->scores, weights);
  value = r->loss * ((double) r->params.aux * balance_of (r, r->divided) +
                     (double) r->params.z * z_of (r, x));
  for (int64_t i = 0; i < r->rows * r->params.top_k; i++)
    value += r->dweights[i] * weights[i];
  return &value;
}

/* Checks that each row's experts are the best ones, in order, of equals the first. */
static void
check_choice (const Routing *r, const double *by)
{
  int64_t k = r->params.top_k, each = r->experts / r->params.groups;
  for (int64_t row = 0; row < r->rows; row++) {
    const double *values = by + row * r->experts;
    bool in[1024] = {false}, taken[1024] = {false}, open[1024] = {false};
    for (int pick = 0; pick < r->params.group_top_k; pick++) {
      int64_t best = -1;
      double most = -INFINITY;
      for (int64_t g = 0; g < r->params.groups; g++) {
        double sum = 0, sorted[1024];
        memcpy (sorted, values + g * each, (size_t) each * sizeof *sorted);
        for (int64_t i = 0; i < k / r->params.group_top_k && i < each; i++) {
          int64_t top = i;
          for (int64_t l = i; l < each; l++)
            top = sorted[l] > sorted[top] ? l : top;
          double swap = sorted[i];
          sorted[i] = sorted[top];
          sorted[top] = swap;
          sum += sorted[i];
        }
        if (!in[g] && sum > most) {
          most = sum;
          best = g;
        }
      }
      in[best] = true;
    }
    for (int64_t e = 0; e < r->experts; e++)
      open[e] = in[e / each];
    for (int64_t j = 0; j < k; j++) {
      int64_t best = -1;
      for (int64_t e = 0; e < r->experts; e++)
        if (open[e] && !taken[e] && (best < 0 || values[e] > values[best]))
          best = e;
      g_assert_cmpint (r->chosen[row * k + j], ==, best);
      taken[best] = true;
    }
  }
}

static const LigRouterParams routers[] = {
  {.top_k = 2, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1},
  {.top_k = 1, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1, .aux = 0.3f},
  {.top_k = 3, .first = 1, .groups = 1, .group_top_k = 1, .scale = 2.5f, .aux = 0.3f, .z = 0.2f},
  {.top_k = 3, .first = 1, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1},
  {.top_k = 4, .score = 1, .groups = 4, .group_top_k = 2, .normalize = 1, .scale = 2, .aux = 1},
  {.top_k = 2, .score = 1, .groups = 1, .group_top_k = 1, .scale = 1, .z = 0.1f},
  {.top_k = 1, .score = 1, .groups = 2, .group_top_k = 1, .normalize = 1, .scale = 1, .aux = 1},
  {.top_k = 3, .score = 2, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1, .aux = 1},
  {.top_k = 8, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1, .aux = 0.5f, .z = 1},
};

/* Values with many equal ones. */
static void
tie (LigOperand x)
{
  float *values = x.data;
  for (int64_t i = 0; i < x.size; i++)
    values[i] = roundf (values[i] * 2) / 2;
}

static void
test_router (void)
{
  const int64_t rows = 37, experts = 8;
  for (size_t i = 0; i < 2 * G_N_ELEMENTS (routers); i++) {
    const LigRouterParams *params = &routers[i / 2];
    int64_t k = params->top_k;
    case_begin ();
    LigOperand x = random_tensor (LIG_FP32, rows, experts), dx = blank (LIG_FP32, rows, experts);
    LigOperand correction = random_tensor (LIG_FP32, 1, experts),
               weights = blank (LIG_FP32, rows, k);
    LigOperand chosen = integers (rows, k, NULL), load = blank (LIG_FP32, 1, experts);
    LigOperand losses = blank (LIG_FP32, 1, 2), dweights = random_tensor (LIG_FP32, rows, k);
    if (i % 2 || params->score == LIG_SCORE_SOFTMAX)
      correction.data = NULL;
    if (i % 2)
      tie (x);
    run ("router", (LigOperand[]){x, correction, weights, chosen, load, losses}, params, false);
    double *xs = wide (x), *want = doubles (rows * k), *by = doubles (x.size);
    Routing r = {*params,     rows, experts,          chosen.data,     wide (dweights),
                 wide (load), 0.75, doubles (x.size), doubles (x.size)};
    score (&r, xs, r.scores, r.divided);
    bool by_logits = params->score == LIG_SCORE_SOFTMAX && params->first == LIG_FIRST_SELECT;
    for (int64_t j = 0; j < x.size; j++)
      by[j] =
        by_logits ? xs[j] : r.scores[j] + (correction.data ? wide (correction)[j % experts] : 0);
    check_choice (&r, by);
    weigh (&r, xs, r.scores, want);
    check (weights, want, "weights");
    double counts[8] = {0};
    for (int64_t j = 0; j < rows * k; j++)
      counts[ints (chosen)[j]]++;
    check (load, counts, "load");
    check (losses, (double[]){balance_of (&r, r.divided), z_of (&r, xs)}, "losses");
    run ("router_backward", (LigOperand[]){dweights, number (0.75), x, chosen, load, dx}, params,
         false);
    check_differences (objective, &r, xs, x.size, (double[]){1}, 1, wide (dx), 2e-5);
    case_end ();
  }
}

/* Logits that are not numbers still give different experts. */
static void
test_router_nan (void)
{
  const LigRouterParams params = {
    .top_k = 3, .groups = 1, .group_top_k = 1, .normalize = 1, .scale = 1, .aux = 1};
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 4, 6), weights = blank (LIG_FP32, 4, 3);
  LigOperand chosen = integers (4, 3, NULL), none = absent (LIG_FP32, 1, 6);
  float *values = x.data;
  for (int i = 0; i < 12; i++)
    values[i] = NAN;
  values[14] = INFINITY;
  values[20] = -INFINITY;
  run ("router", (LigOperand[]){x, none, weights, chosen, none, none}, &params, false);
  for (int row = 0; row < 4; row++) {
    const int32_t *e = ints (chosen) + 3 * row;
    g_assert_true (e[0] != e[1] && e[1] != e[2] && e[0] != e[2]);
    g_assert_true (MIN (e[0], MIN (e[1], e[2])) >= 0 && MAX (e[0], MAX (e[1], e[2])) < 6);
  }
  g_assert_true (isnan (((float *) weights.data)[0]));
  case_end ();
}

/* Corrections move towards equal loads, unless the norm is not finite. */
static void
test_balance (void)
{
  const LigRouterBalanceParams params = {0.25f};
  const float norms[] = {2, NAN, INFINITY};
  for (size_t i = 0; i <= G_N_ELEMENTS (norms); i++)
    for (int64_t experts = 1; experts <= 1024; experts = experts * 3 + 1) {
      case_begin ();
      LigOperand load = blank (LIG_FP32, 1, experts), norm = absent (LIG_FP32, 1, 1);
      LigOperand correction = random_tensor (LIG_FP32, 1, experts);
      double *want = wide (correction), sum = 0;
      float *loads = load.data;
      for (int64_t e = 0; e < experts; e++)
        sum += loads[e] = (float) (e * 7 % 5 * 1000);
      if (i > 0)
        norm = number (norms[i - 1]);
      for (int64_t e = 0; e < experts && i < 2; e++) {
        double mean = sum / (double) experts, own = (double) loads[e];
        want[e] += own < mean ? 0.25 : own > mean ? -0.25 : 0;
      }
      run ("router_balance", (LigOperand[]){load, norm, correction}, &params, false);
      check (correction, want, "correction");
      case_end ();
    }
}

/* --- Permutations --------------------------------------------------------------------------- */

static const struct {
  int64_t tokens, top_k, experts, align, limit, columns;
} sorts[] = {{6, 2, 4, 1, 0, 8},    {33, 3, 5, 1, 0, 1},     {17, 1, 1, 1, 0, 9},
             {40, 2, 7, 16, 0, 33}, {64, 4, 16, 8, 5, 1030}, {300, 2, 3, 1, 60, 16},
             {20, 8, 1024, 1, 0, 4}};

typedef struct {
  LigPermuteParams params;
  LigOperand x, experts, weights, y, offsets, places, scales, dropped;
  int64_t rows, k;
} Sorting;

static Sorting
sorting (size_t i, LigDtype dtype)
{
  int64_t k = sorts[i].top_k, choices = sorts[i].tokens * k;
  Sorting s = {.params = {(int32_t) sorts[i].experts, (int32_t) sorts[i].align, sorts[i].limit},
               .x = random_tensor (dtype, sorts[i].tokens, sorts[i].columns),
               .experts = integers (sorts[i].tokens, k, NULL),
               .weights = random_tensor (LIG_FP32, sorts[i].tokens, k),
               .rows = choices + (sorts[i].align > 1 ? sorts[i].experts * sorts[i].align : 0),
               .k = k};
  for (int64_t j = 0; j < choices; j++)
    ints (s.experts)[j] = (int32_t) ((j * 7919 + j / 5) % sorts[i].experts);
  s.y = blank (dtype, s.rows, sorts[i].columns);
  s.offsets = integers (1, sorts[i].experts + 1, NULL);
  s.places = integers (sorts[i].tokens, k, NULL);
  s.scales = blank (LIG_FP32, 1, s.rows);
  s.dropped = number (-1);
  return s;
}

/* Computes the places one by one, and what follows from them. */
static void
check_sort (const Sorting *s)
{
  double *x = wide (s->x), *weights = wide (s->weights), *want = doubles (s->y.size);
  double *scales = doubles (s->rows);
  int64_t columns = s->x.columns, at = 0, without = 0;
  for (int e = 0; e < s->params.experts; e++) {
    int64_t count = 0;
    g_assert_cmpint (ints (s->offsets)[e], ==, at);
    for (int64_t j = 0; j < s->experts.size; j++) {
      if (ints (s->experts)[j] != e)
        continue;
      bool dropped = s->params.limit > 0 && count == s->params.limit;
      without += dropped;
      g_assert_cmpint (ints (s->places)[j], ==, dropped ? -1 : at + count);
      for (int64_t c = 0; c < columns && !dropped; c++)
        want[(at + count) * columns + c] = x[j / s->k * columns + c];
      if (!dropped)
        scales[at + count++] = weights[j];
    }
    at += (count + s->params.align - 1) / s->params.align * s->params.align;
  }
  g_assert_cmpint (ints (s->offsets)[s->params.experts], ==, at);
  check_within (s->y, want, 0, "permute");
  check_within (s->scales, scales, 0, "scales");
  g_assert_cmpfloat (*(float *) s->dropped.data, ==, (double) without);
  g_assert_cmpint (without > 0, ==, s->params.limit > 0);
}

static void
check_unsort (const Sorting *s, LigDtype dtype)
{
  int64_t columns = s->x.columns;
  LigOperand rows = random_tensor (dtype, s->rows, columns), sum = copy (s->x), dx = copy (s->y);
  LigOperand dy = random_tensor (dtype, s->x.size / columns, columns), dweights = copy (s->weights);
  run ("unpermute", (LigOperand[]){rows, s->places, s->weights, sum}, NULL, false);
  run ("unpermute_backward", (LigOperand[]){dy, rows, s->places, s->weights, dx, dweights}, NULL,
       false);
  double *x = wide (rows), *by = wide (s->weights), *dys = wide (dy), *want = doubles (sum.size);
  double *slopes = doubles (dx.size), *weights = doubles (dweights.size);
  for (int64_t j = 0; j < s->places.size; j++)
    for (int64_t c = 0; ints (s->places)[j] >= 0 && c < columns; c++) {
      int64_t from = ints (s->places)[j] * columns + c, to = j / s->k * columns + c;
      want[to] += by[j] * x[from];
      slopes[from] = by[j] * dys[to];
      weights[j] += dys[to] * x[from];
    }
  check (sum, want, "unpermute");
  check (dx, slopes, "unpermute_backward");
  check_within (dweights, weights, 1e-5 * norm_of (dys, dy.size), "dweights");
}

static void
check_sort_backward (const Sorting *s, LigDtype dtype)
{
  int64_t columns = s->x.columns;
  LigOperand dy = random_tensor (dtype, s->rows, columns), dx = copy (s->x);
  LigOperand dscales = random_tensor (LIG_FP32, 1, s->rows), dweights = copy (s->weights);
  run ("permute_backward", (LigOperand[]){dy, dscales, s->places, dx, dweights}, NULL, false);
  double *dys = wide (dy), *by = wide (dscales), *want = doubles (dx.size);
  double *weights = doubles (dweights.size);
  for (int64_t j = 0; j < s->places.size; j++) {
    int64_t at = ints (s->places)[j];
    if (at < 0)
      continue;
    weights[j] = by[at];
    for (int64_t c = 0; c < columns; c++)
      want[j / s->k * columns + c] += dys[at * columns + c];
  }
  check (dx, want, "permute_backward");
  check_within (dweights, weights, 0, "dweights");
}

static void
test_permute (void)
{
  for (size_t i = 0; i < G_N_ELEMENTS (sorts); i++)
    for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
      case_begin ();
      Sorting s = sorting (i, floating[k]);
      LigOperand operands[] = {s.x,       s.experts, s.weights, s.y,
                               s.offsets, s.places,  s.scales,  s.dropped};
      run ("permute", operands, &s.params, false);
      check_sort (&s);
      check_unsort (&s, floating[k]);
      check_sort_backward (&s, floating[k]);
      case_end ();
    }
}

/* Numbers outside the experts, and places outside the rows, are ignored. */
static void
test_strangers (void)
{
  static const int32_t chosen[] = {0, 9, -1, 1, G_MAXINT32, 0};
  static const int32_t places[] = {0, -1, -1, 2, -1, 1}, strange[] = {0, 3, -9, G_MAXINT32, 1, 2};
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 3, 4), experts = integers (3, 2, chosen);
  LigOperand y = blank (LIG_FP32, 6, 4), offsets = integers (1, 3, NULL),
             got = integers (3, 2, NULL);
  LigOperand none = absent (LIG_FP32, 3, 2), sum = blank (LIG_FP32, 3, 4);
  LigOperand dropped = number (-1), operands[] = {x, experts, none, y, offsets, got, none, dropped};
  run ("permute", operands, &(LigPermuteParams){2, 1, 0}, false);
  g_assert_cmpfloat (*(float *) dropped.data, ==, 0);
  g_assert_cmpmem (got.data, sizeof places, places, sizeof places);
  LigOperand rows = random_tensor (LIG_FP32, 3, 4), odd = integers (3, 2, strange);
  run ("unpermute", (LigOperand[]){rows, odd, none, sum}, NULL, false);
  double *from = wide (rows), *to = wide (sum);
  for (int c = 0; c < 4; c++) {
    g_assert_cmpfloat (to[c], ==, from[c]);
    g_assert_cmpfloat (to[4 + c], ==, 0);
    g_assert_cmpfloat_with_epsilon (to[8 + c], from[4 + c] + from[8 + c], 1e-6);
  }
  case_end ();
}

/* --- Loads ---------------------------------------------------------------------------------- */

/* Returns whether the experts of each row are different; counts the rows of each. */
static bool
count_choices (const int32_t *chosen, int64_t rows, int64_t k, int64_t experts, int64_t *counts)
{
  bool different = true;
  memset (counts, 0, (size_t) experts * sizeof *counts);
  for (int64_t i = 0; i < rows * k; i++) {
    for (int64_t j = i / k * k; j < i; j++)
      different = different && chosen[i] != chosen[j];
    counts[chosen[i]]++;
  }
  return different;
}

/* Experts are spread as their shares say, each at most once a row. */
static void
test_loads (void)
{
  static const struct {
    double exponent;
    int64_t experts, rows, k, first, last;
  } cases[] = {
    {1, 4, 60, 2, 58, 14},      {2, 4, 60, 2, 60, 8},     {10, 8, 100, 4, 100, 0},
    {1, 4, 7919, 1, 3802, 950}, {0.5, 1024, 33, 8, 5, 0}, {3, 3, 5, 3, 5, 5},
    {1, 1, 9, 1, 9, 9},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    int64_t experts = cases[i].experts, rows = cases[i].rows, k = cases[i].k, sum = 0;
    double shares[1024];
    int64_t counts[1024], found[1024];
    g_autofree int32_t *chosen = g_new (int32_t, rows * k);
    lig_zipf_shares (cases[i].exponent, experts, shares);
    lig_share_rows (shares, experts, rows * k, rows, counts);
    lig_spread_experts (shares, experts, rows, k, chosen);
    g_assert_true (count_choices (chosen, rows, k, experts, found));
    for (int64_t e = 0; e < experts; e++) {
      g_assert_cmpint (found[e], ==, counts[e]);
      sum += counts[e];
    }
    g_assert_cmpint (sum, ==, rows * k);
    g_assert_cmpint (counts[0], ==, cases[i].first);
    g_assert_cmpint (counts[experts - 1], ==, cases[i].last);
    lig_spread_experts (NULL, experts, rows, k, chosen);
    g_assert_true (count_choices (chosen, rows, k, experts, found));
    for (int64_t e = 0; e < experts; e++)
      g_assert_cmpfloat (fabs ((double) (found[e] - rows * k / experts)), <=, (double) k);
  }
}

/* --- The exchange between ranks -------------------------------------------------------------- */

/* Ranks that share experts, the rows of each rank for each expert, and the room of a piece. */
typedef struct {
  int ranks, experts, limit;
  const int32_t *rows; /* [ranks, experts] */
} Exchange;

/* Rows outside the experts, before the first and after the last one. */
enum { BEFORE = 2, AFTER = 3 };

/* Returns how many rows a rank sends of an expert: at most the rest of the room for its rank. */
LIG_REFERENCE int
count_sent (const Exchange *e, int from, int expert)
{
  int own = e->experts / e->ranks, room = e->limit;
  for (int i = expert / own * own; i < expert; i++)
    room -= MIN (e->rows[from * e->experts + i], room);
  return MIN (e->rows[from * e->experts + expert], room);
}

/* Checks the places, sizes and losses of a rank, and returns its sizes. */
static LigOperand
check_sent (const Exchange *e, int from)
{
  const LigExchangeParams params = {.ranks = e->ranks, .limit = e->limit};
  LigOperand offsets = integers (1, e->experts + 1, NULL), sizes = integers (1, e->experts, NULL);
  LigOperand overflow = blank (LIG_FP32, 1, e->ranks);
  int all = BEFORE, own = e->experts / e->ranks;
  for (int i = 0; i <= e->experts; i++) {
    ints (offsets)[i] = all;
    all += i < e->experts ? e->rows[from * e->experts + i] : AFTER;
  }
  LigOperand places = integers (1, all, NULL);
  run ("exchange_sent", (LigOperand[]){offsets, places, sizes, overflow}, &params, false);
  double *lost = wide (overflow), *wanted = doubles (e->ranks);
  int *used = scratch ((size_t) e->ranks * sizeof *used), row = BEFORE;
  for (int i = 0; i < BEFORE + AFTER; i++)
    g_assert_cmpint (ints (places)[i < BEFORE ? i : all - 1 - (i - BEFORE)], ==, -1);
  for (int i = 0; i < e->experts; i++) {
    int count = count_sent (e, from, i), rows = e->rows[from * e->experts + i], to = i / own;
    g_assert_cmpint (ints (sizes)[i], ==, count);
    for (int j = 0; j < rows; j++, row++)
      g_assert_cmpint (ints (places)[row], ==, j < count ? to * e->limit + used[to] + j : -1);
    used[to] += count;
    wanted[to] += rows - count;
  }
  for (int i = 0; i < e->ranks; i++)
    g_assert_cmpfloat (lost[i], ==, wanted[i]);
  return sizes;
}

/* Checks the order of the rows that a rank gets from all. */
static void
check_received (const Exchange *e, int rank, const LigOperand *sizes)
{
  const LigExchangeParams params = {.ranks = e->ranks, .limit = e->limit};
  int own = e->experts / e->ranks, row = 0;
  LigOperand arrived = integers (e->ranks, own, NULL), offsets = integers (1, own + 1, NULL);
  LigOperand places = integers (1, e->ranks * e->limit, NULL);
  for (int from = 0; from < e->ranks; from++)
    memcpy (ints (arrived) + from * own, ints (sizes[from]) + rank * own,
            (size_t) own * sizeof (int32_t));
  run ("exchange_received", (LigOperand[]){arrived, places, offsets}, &params, false);
  for (int i = 0; i < own; i++) {
    g_assert_cmpint (ints (offsets)[i], ==, row);
    for (int from = 0; from < e->ranks; from++) {
      int before = 0;
      for (int other = 0; other < i; other++)
        before += count_sent (e, from, rank * own + other);
      for (int j = 0; j < count_sent (e, from, rank * own + i); j++)
        g_assert_cmpint (ints (places)[row++], ==, from * e->limit + before + j);
    }
  }
  g_assert_cmpint (ints (offsets)[own], ==, row);
  for (; row < places.size; row++)
    g_assert_cmpint (ints (places)[row], ==, -1);
}

static void
check_numbers (void)
{
  static const int32_t at[] = {3, -1, 0, 9, 1};
  LigExchangeParams params = {.absent = 7};
  LigOperand places = integers (1, 5, at), x = random_tensor (LIG_FP32, 1, 4);
  LigOperand gathered = blank (LIG_FP32, 1, 5), scattered = blank (LIG_FP32, 1, 4);
  LigOperand of_places = random_tensor (LIG_FP32, 1, 5), none = absent (LIG_FP32, 1, 4);
  run ("exchange_numbers", (LigOperand[]){x, places, gathered}, &params, false);
  double *from = wide (x), *got = wide (gathered);
  for (int i = 0; i < 5; i++)
    g_assert_cmpfloat (got[i], ==, at[i] >= 0 && at[i] < 4 ? from[at[i]] : 0);
  run ("exchange_numbers", (LigOperand[]){none, places, gathered}, &params, false);
  got = wide (gathered);
  for (int i = 0; i < 5; i++)
    g_assert_cmpfloat (got[i], ==, at[i] >= 0 ? 7 : 0);
  params.scatter = true;
  run ("exchange_numbers", (LigOperand[]){of_places, places, scattered}, &params, false);
  from = wide (of_places);
  got = wide (scattered);
  const double wanted[] = {from[2], from[4], 0, from[0]};
  for (int i = 0; i < 4; i++)
    g_assert_cmpfloat (got[i], ==, wanted[i]);
}

static void
test_exchange (void)
{
  static const int32_t even[] = {4, 4, 4, 4, 4, 4, 4, 4};
  static const int32_t uneven[] = {0, 9, 0, 1, 3, 0, 0, 0, 7, 7, 0, 0, 0, 0, 0, 11};
  static const int32_t one[] = {5, 0, 2};
  static const int32_t none[] = {0, 0, 0, 0};
  static const Exchange cases[] = {{2, 4, 8, even},   {2, 4, 7, even},   {4, 4, 1, uneven},
                                   {2, 8, 6, uneven}, {1, 3, 7, one},    {1, 3, 6, one},
                                   {2, 2, 1, none},   {4, 4, 16, uneven}};
  for (size_t i = 0; i < G_N_ELEMENTS (cases); i++) {
    const Exchange *e = &cases[i];
    LigOperand sizes[4];
    case_begin ();
    for (int from = 0; from < e->ranks; from++)
      sizes[from] = check_sent (e, from);
    for (int rank = 0; rank < e->ranks; rank++)
      check_received (e, rank, sizes);
    case_end ();
  }
  case_begin ();
  check_numbers ();
  case_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/experts/exchange", test_exchange);
  g_test_add_func ("/experts/interleave", test_interleave);
  g_test_add_func ("/experts/interleaved-bias", test_interleaved_bias);
  g_test_add_func ("/experts/scaled", test_scaled);
  g_test_add_func ("/experts/loads", test_loads);
  g_test_add_func ("/experts/grouped", test_grouped);
  g_test_add_func ("/experts/offsets", test_offsets);
  g_test_add_func ("/experts/router", test_router);
  g_test_add_func ("/experts/router-nan", test_router_nan);
  g_test_add_func ("/experts/balance", test_balance);
  g_test_add_func ("/experts/permute", test_permute);
  g_test_add_func ("/experts/strangers", test_strangers);
  return g_test_run ();
}
