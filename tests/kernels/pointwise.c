/* SPDX-License-Identifier: MIT */
/* Element-wise kernels, biases, activations and gated units on the CPU: forward against a reference
 * in double precision, backward against its central differences, fused against unfused bit for
 * bit. */
#include "tests/kernels/case.h"
#include "tests/kernels/formula-text.h"

#include "kernels/activations.h"
#include <ligature/params-gated.h>
#include <ligature/params-matmul.h>

static const int64_t row_counts[] = {1, 2, 17, 40};
static const int64_t column_counts[] = {1, 3, 7, 31, 33, 1000, 1030};

static double
sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

/* Low limits, so that many values exceed them. */
static const LigGatedParams low = {
  .limit = 1.5f, .alpha = 1.25f, .offset = 0.5f, .beta1 = 2, .beta2 = 3};

/* The two factors of the gated units with params. */
static double
clamped_swiglu_gate (double a)
{
  double gate = fmin (a, (double) low.limit);
  return gate * sigmoid ((double) low.alpha * gate);
}

static double
clamped_swiglu_other (double b)
{
  double limit = (double) low.limit;
  return fmax (-limit, fmin (b, limit)) + (double) low.offset;
}

static double
situ_glu_gate (double a)
{
  return (double) low.beta1 * tanh (a / (double) low.beta1) * sigmoid (a);
}

static double
situ_glu_other (double b)
{
  return (double) low.beta2 * tanh (b / (double) low.beta2);
}

typedef struct {
  const char *name;
  int64_t halves;
  bool reads_output;
  double (*gate) (double a), (*other) (double b); /* of a unit with params */
} Unit;

static const Unit units[] = {
#define ALONE(name, backward, biased, biased_backward, work, back, read) \
  {#name, 1, #read[0] == 'y', NULL, NULL},
#define GATED(name, ...) {#name, 2, false, NULL, NULL},
#define WITH_PARAMS(name, ...) {#name, 2, false, name##_gate, name##_other},
  LIG_EACH_ACTIVATION (ALONE) LIG_EACH_GATED (GATED) LIG_EACH_GATED_WITH_PARAMS (WITH_PARAMS)};

/* The formula of the unit under test, parsed when its test begins. */
static Formula formula;

static double
activate (const Unit *unit, double a)
{
  return unit->gate ? unit->gate (a) : formula_value (&formula, a, 1);
}

static double
second_factor (const Unit *unit, double b)
{
  return unit->other ? unit->other (b) : unit->halves == 2 ? b : 1;
}

/* The derivatives are defined piecewise; the boundaries have a separate test. */
static bool
near_a_kink (const Unit *unit, double a, double b)
{
  double limit = (double) low.limit;
  if (unit->gate)
    return fabs (a - limit) < 1e-4 || fabs (fabs (b) - limit) < 1e-4;
  return fabs (a) < 1e-4;
}

static double
slope (const Unit *unit, double x)
{
  return (activate (unit, x + 1e-5) - activate (unit, x - 1e-5)) / 2e-5;
}

/* Returns values between -8 and 8. */
static LigOperand
spread (LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand x = random_tensor (dtype, rows, columns), y = blank (dtype, rows, columns);
  run ("scale", (LigOperand[]){x, y}, &(LigScaleParams){4}, false);
  return y;
}

/* The derivatives cross 0 between terms of order 1, hence the absolute tolerance. */
static void
check_each (LigOperand got, const double *want, const char *what)
{
  double *values = wide (got);
  for (int64_t i = 0; i < got.size; i++)
    if (!(fabs (values[i] - want[i]) <= tolerance (got.dtype) * (fabs (want[i]) + 0.05)))
      g_error ("%s (%s, %ld columns) at %ld: %g, expected %g", what, lig_dtype_name (got.dtype),
               (long) got.columns, (long) i, values[i], want[i]);
}

static void
launch (const char *format, const Unit *unit, LigOperand *operands, bool accumulate)
{
  char name[64];
  g_snprintf (name, sizeof name, format, unit->name);
  run (name, operands, unit->gate ? &low : NULL, accumulate);
}

static void
unit_alone (int64_t rows, int64_t columns, LigDtype dtype, const Unit *unit)
{
  int64_t whole = unit->halves * columns;
  LigOperand x = spread (dtype, rows, whole), y = blank (dtype, rows, columns);
  LigOperand dy = random_tensor (dtype, rows, columns), dx = blank (dtype, rows, whole);
  launch ("%s", unit, (LigOperand[]){x, y}, false);
  launch ("%s_backward", unit, (LigOperand[]){dy, unit->reads_output ? y : x, dx}, false);

  double *xs = wide (x), *dys = wide (dy), *dxs = wide (dx);
  double *ys = doubles (y.size), *slopes = doubles (x.size);
  for (int64_t i = 0; i < y.size; i++) {
    int64_t first = i / columns * whole + i % columns, second = first + columns;
    double a = xs[first], b = unit->halves == 2 ? xs[second] : 1;
    double factor = second_factor (unit, b);
    ys[i] = activate (unit, a) * factor;
    slopes[first] = slope (unit, a) * factor * dys[i];
    if (near_a_kink (unit, a, b))
      slopes[first] = dxs[first];
    if (unit->halves == 1)
      continue;
    double rise = (second_factor (unit, b + 1e-5) - second_factor (unit, b - 1e-5)) / 2e-5;
    slopes[second] = near_a_kink (unit, a, b) ? dxs[second] : activate (unit, a) * rise * dys[i];
  }
  check_each (y, ys, unit->name);
  check_each (dx, slopes, unit->name);

  if (unit->halves == 1) {
    LigOperand place = copy (x), gradient = copy (dy);
    launch ("%s", unit, (LigOperand[]){place, place}, false);
    check_same_bits (place, y);
    launch ("%s_backward", unit, (LigOperand[]){gradient, unit->reads_output ? y : x, gradient},
            false);
    check_same_bits (gradient, dx);
  }
}

static void
unit_behind_bias (int64_t rows, int64_t columns, LigDtype dtype, const Unit *unit)
{
  int64_t whole = unit->halves * columns;
  LigOperand x = spread (dtype, rows, whole), bias = random_tensor (dtype, 1, whole);
  LigOperand want_sum = blank (dtype, rows, whole), want = blank (dtype, rows, columns);
  LigOperand no_sum = absent (dtype, rows, whole), no_y = absent (dtype, rows, columns);
  run ("bias", (LigOperand[]){x, bias, want_sum}, NULL, false);
  launch ("%s", unit, (LigOperand[]){want_sum, want}, false);

  LigOperand sum = blank (dtype, rows, whole), y = blank (dtype, rows, columns);
  launch ("bias_%s", unit, (LigOperand[]){x, bias, sum, y}, false);
  check_same_bits (sum, want_sum);
  check_same_bits (y, want);
  y = blank (dtype, rows, columns);
  launch ("bias_%s", unit, (LigOperand[]){x, bias, no_sum, y}, false);
  check_same_bits (y, want);
  LigOperand place = copy (x);
  launch ("bias_%s", unit, (LigOperand[]){place, bias, place, no_y}, false);
  check_same_bits (place, want_sum);
  if (unit->halves == 1) {
    place = copy (x);
    launch ("bias_%s", unit, (LigOperand[]){place, bias, no_sum, place}, false);
    check_same_bits (place, want);
  }
}

/* Compares bias_X_backward with X_backward and bias_backward. */
static void
unit_behind_bias_backward (int64_t rows, int64_t columns, LigDtype dtype, const Unit *unit)
{
  int64_t whole = unit->halves * columns;
  LigOperand x = spread (dtype, rows, whole), dy = random_tensor (dtype, rows, columns);
  LigOperand want = blank (dtype, rows, whole), no_dx = absent (LIG_FP32, rows, whole);
  launch ("%s_backward", unit, (LigOperand[]){dy, x, want}, false);
  for (int i = 0; i < 4; i++) {
    LigDtype parameters = i & 1 ? LIG_FP32 : dtype;
    bool accumulate = i & 2;
    LigOperand want_dbias = random_tensor (parameters, 1, whole);
    LigOperand dbias = copy (want_dbias), again = copy (want_dbias);
    LigOperand dx = blank (dtype, rows, whole), place = copy (x);
    run ("bias_backward", (LigOperand[]){want, want_dbias}, NULL, accumulate);
    launch ("bias_%s_backward", unit, (LigOperand[]){dy, x, dx, dbias}, accumulate);
    check_same_bits (dx, want);
    check_same_bits (dbias, want_dbias);
    omp_set_num_threads (1 + i % 2);
    launch ("bias_%s_backward", unit, (LigOperand[]){dy, x, no_dx, again}, accumulate);
    omp_set_num_threads (omp_get_num_procs ());
    check_same_bits (again, want_dbias);
    LigOperand no_dbias = absent (parameters, 1, whole);
    launch ("bias_%s_backward", unit, (LigOperand[]){dy, place, place, no_dbias}, accumulate);
    check_same_bits (place, want);
  }
}

static void
test_unit (gconstpointer data)
{
  const Unit *unit = data;
  g_autofree char *op = g_strdelimit (g_strdup (unit->name), "_", '-');
  if (!unit->gate)
    formula_read (&formula, op);
  for (size_t i = 0; i < G_N_ELEMENTS (row_counts); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (column_counts); j++)
      for (size_t k = 0; k < G_N_ELEMENTS (floating); k++) {
        int64_t rows = row_counts[i], columns = column_counts[j];
        case_begin ();
        unit_alone (rows, columns, floating[k], data);
        unit_behind_bias (rows, columns, floating[k], data);
        unit_behind_bias_backward (rows, columns, floating[k], data);
        case_end ();
      }
}

/* The gradient is not zero at the limits themselves; just beyond them it is. */
static void
test_clamped_limits (void)
{
  const float rows[][2] = {{7, 7}, {7.001f, -7.001f}, {-100, -7}};
  for (size_t i = 0; i < G_N_ELEMENTS (rows); i++) {
    case_begin ();
    LigOperand x = blank (LIG_FP32, 1, 2), dx = blank (LIG_FP32, 1, 2), dy = number (1);
    memcpy (x.data, rows[i], sizeof rows[i]);
    run ("clamped_swiglu_backward", (LigOperand[]){dy, x, dx}, NULL, false);
    double *slopes = wide (dx), s = sigmoid (1.702 * 7);
    double da = (s + 1.702 * 7 * s * (1 - s)) * 8, db = 7 * s;
    const double want[][2] = {{da, db}, {0, 0}, {0, 0}};
    g_assert_cmpfloat_with_epsilon (slopes[0], want[i][0], 1e-5);
    g_assert_cmpfloat_with_epsilon (slopes[1], want[i][1], 1e-5);
    case_end ();
  }
}

/* Tests bias, bias_backward, add and scale. */
static void
test_sums (void)
{
  for (size_t i = 0; i < 84; i++) {
    int64_t rows = row_counts[i % 4], columns = column_counts[i / 4 % 7];
    LigDtype dtype = floating[i / 28];
    case_begin ();
    LigOperand x = random_tensor (dtype, rows, columns), bias = random_tensor (dtype, 1, columns);
    LigOperand other = random_tensor (floating[i % 3], rows, columns), dbias = copy (bias);
    LigOperand y = blank (dtype, rows, columns), sum = copy (y), twice = copy (y), in = copy (x);
    double *xs = wide (x), *vector = wide (bias), *others = wide (other), *sums = wide (bias);
    double *want = doubles (x.size), *more = doubles (x.size), *scaled = doubles (x.size);
    for (int64_t j = 0; j < x.size; j++) {
      want[j] = xs[j] + vector[j % columns];
      more[j] = xs[j] + others[j];
      scaled[j] = -2.5 * xs[j];
      sums[j % columns] += xs[j];
    }
    run ("bias", (LigOperand[]){x, bias, y}, NULL, false);
    check_each (y, want, "bias");
    run ("bias_backward", (LigOperand[]){x, dbias}, NULL, true);
    check_within (dbias, sums, tolerance (dtype) * 4 * norm_of (sums, columns), "bias_backward");
    run ("add", (LigOperand[]){in, other, in}, NULL, false);
    check_each (in, more, "add");
    run ("scale", (LigOperand[]){x, twice}, &(LigScaleParams){-2.5f}, false);
    check_each (twice, scaled, "scale");
    run ("scale", (LigOperand[]){x, sum}, NULL, false);
    check_same_bits (sum, x);
    case_end ();
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS (units); i++) {
    g_autofree char *path = g_strdup_printf ("/pointwise/%s", units[i].name);
    g_test_add_data_func (path, &units[i], test_unit);
  }
  g_test_add_func ("/pointwise/clamped-limits", test_clamped_limits);
  g_test_add_func ("/pointwise/sums", test_sums);
  return g_test_run ();
}
