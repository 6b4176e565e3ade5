/* SPDX-License-Identifier: MIT */
/* Shared code of the kernel tests: random tensors of any type, launches, and the comparison with a
 * reference that is computed in double precision from the rounded values. */
#pragma once

#include <ligature/dtype.h>
#include <ligature/kernels.h>
#include <ligature/launch.h>

#include <glib.h>
#include <math.h>
#include <omp.h>
#include <string.h>

/* A function that computes reference values, without any code under test. Checking its accesses
 * with sanitizers would dominate the time of a test. */
#define LIG_REFERENCE static __attribute__ ((no_sanitize ("address", "undefined"), unused))

static const LigDtype floating[] = {LIG_FP32, LIG_FP16, LIG_BF16};

/* The memory allocated in a test case, which is freed at its end. */
static GPtrArray *pool;

static inline void *
scratch (size_t bytes)
{
  void *memory = g_malloc0 (bytes + 1);
  g_ptr_array_add (pool, memory);
  return memory;
}

static inline void
case_begin (void)
{
  pool = g_ptr_array_new_with_free_func (g_free);
}

static inline void
case_end (void)
{
  g_ptr_array_unref (pool);
}

/* Returns a tensor of NaN (of -1 for integers), so that elements which a kernel does not write
 * are noticed. */
static inline LigOperand
blank (LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand operand = {NULL, rows * columns, columns, dtype};
  size_t bytes = (size_t) operand.size * lig_dtype_size (dtype);
  operand.data = memset (scratch (bytes), 0xff, bytes);
  return operand;
}

static inline LigOperand
absent (LigDtype dtype, int64_t rows, int64_t columns)
{
  return (LigOperand){NULL, rows * columns, columns, dtype};
}

/* Returns a tensor of random values between -2 and 2, most of them around 0; the same in each
 * run of the program. */
static inline double
random_value (void)
{
  static GRand *generator;
  if (!generator)
    generator = g_rand_new_with_seed (1440);
  return g_rand_double_range (generator, -1, 1) + g_rand_double_range (generator, -1, 1);
}

static inline LigOperand
random_tensor (LigDtype dtype, int64_t rows, int64_t columns)
{
  LigOperand operand = blank (dtype, rows, columns);
  float *values = scratch ((size_t) operand.size * sizeof *values);
  for (int64_t i = 0; i < operand.size; i++)
    values[i] = (float) random_value ();
  lig_narrow (dtype, values, operand.data, (size_t) operand.size);
  return operand;
}

static inline LigOperand
number (double value)
{
  LigOperand operand = blank (LIG_FP32, 1, 1);
  *(float *) operand.data = (float) value;
  return operand;
}

static inline LigOperand
copy (LigOperand operand)
{
  size_t bytes = (size_t) operand.size * lig_dtype_size (operand.dtype);
  operand.data = memcpy (scratch (bytes), operand.data, bytes);
  return operand;
}

static inline double *
doubles (int64_t count)
{
  return scratch ((size_t) count * sizeof (double));
}

static inline double *
doubles_copy (const double *values, int64_t count)
{
  return memcpy (doubles (count), values, (size_t) count * sizeof *values);
}

/* Returns the values of a tensor. */
static inline double *
wide (LigOperand operand)
{
  double *values = doubles (operand.size);
  float *floats = scratch ((size_t) operand.size * sizeof *floats);
  lig_widen (operand.dtype, operand.data, floats, (size_t) operand.size);
  for (int64_t i = 0; i < operand.size; i++)
    values[i] = (double) floats[i];
  return values;
}

static inline LigLaunch
try_run (const char *name,
         const LigOperand *operands,
         const void *params,
         const LigTick *tick,
         bool accumulate,
         LigStatus *status)
{
  static void *workspace;
  const LigKernel *kernel = lig_kernel_find (name);
  g_assert_nonnull (kernel);
  if (!workspace)
    workspace = g_aligned_alloc0 (LIG_WORKSPACE_SIZE, 1, 256);
  memset (workspace, 0xff, LIG_WORKSPACE_SIZE / 256);
  LigLaunch launch = {.operands = operands,
                      .params = params,
                      .tick = tick,
                      .workspace = workspace,
                      .accumulate = accumulate};
  int64_t needed = lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU);
  if (needed > 0)
    launch.scratch = memset (scratch ((size_t) needed), 0xff, (size_t) needed);
  *status = kernel->functions[LIG_BACKEND_CPU](&launch);
  return launch;
}

static inline void
run (const char *name, const LigOperand *operands, const void *params, bool accumulate)
{
  LigStatus status;
  LigLaunch launch = try_run (name, operands, params, NULL, accumulate, &status);
  if (status != LIG_OK)
    g_error ("%s: %s", name, launch.where);
}

/* Checks a kernel up to rounding: twice the unit roundoff of its type, with a margin for fp32
 * sums. */
static inline double
tolerance (LigDtype dtype)
{
  return dtype == LIG_FP32 ? 1e-5 : dtype == LIG_FP16 ? 6e-4 : 5e-3;
}

static inline double
norm_of (const double *values, int64_t count)
{
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += values[i] * values[i];
  return sqrt (sum);
}

/* Checks a reference's gradient `dx` of the sum of dy y by central differences, where y (data, x)
 * returns the `size` values of y. */
static inline void
check_differences (double *(*y) (const void *data, const double *x),
                   const void *data,
                   double *x,
                   int64_t count,
                   const double *dy,
                   int64_t size,
                   const double *dx,
                   double epsilon)
{
  for (int64_t k = 0; k < count; k++) {
    double slope = 0, value = x[k];
    for (int side = -1; side <= 1; side += 2) {
      x[k] = value + side * 1e-5;
      const double *moved = y (data, x);
      for (int64_t i = 0; i < size; i++)
        slope += side * moved[i] * dy[i] / 2e-5;
    }
    x[k] = value;
    g_assert_cmpfloat_with_epsilon (slope, dx[k], epsilon);
  }
}

/* Checks that the relative distance in the 2-norm is at most `limit`; NaN exceeds any limit. */
static inline void
check_within (LigOperand got, const double *want, double limit, const char *what)
{
  double *values = wide (got);
  for (int64_t i = 0; i < got.size; i++)
    values[i] -= want[i];
  double error = norm_of (values, got.size);
  if (!(error <= limit + 1e-30))
    g_error ("%s (%s, %ld x %ld): off by %g, allowed %g", what, lig_dtype_name (got.dtype),
             (long) (got.size / got.columns), (long) got.columns, error, limit);
}

/* Small values of fp16 are subnormal, with an error of half a step each. */
static inline double
allowed (LigOperand got, const double *want)
{
  double underflow = got.dtype == LIG_FP16 ? 0x1p-25 * sqrt ((double) got.size) : 0;
  return tolerance (got.dtype) * norm_of (want, got.size) + underflow;
}

static inline void
check (LigOperand got, const double *want, const char *what)
{
  check_within (got, want, allowed (got, want), what);
}

static inline void
check_same_bits (LigOperand a, LigOperand b)
{
  size_t bytes = (size_t) a.size * lig_dtype_size (a.dtype);
  g_assert_cmpmem (a.data, bytes, b.data, bytes);
}
