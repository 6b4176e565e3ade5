/* SPDX-License-Identifier: MIT */
/* The shape and type of `load-branch` with a channel: they agree with the channel's value, or both
 * are named. */
#include "tests/plan/case.h"
#include <ligature/compile.h>

static LigPlan *
compile_line (const char *expression, int dtype, GError **error)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = dtype;
  g_autoptr (LigSequence) sequence = new_sequence (expression, "4x8");
  return lig_plan_compile (sequence, cpu_device (), &options, error);
}

static void
check_accepted (const char *expression, int dtype, const char *output)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype found;
  g_autoptr (LigPlan) plan = compile_line (expression, dtype, &error);
  g_assert_no_error (error);
  lig_plan_get_output (plan, &shape, &found);
  g_autofree char *text = lig_shape_to_string (&shape);
  g_autofree char *whole = g_strdup_printf ("%s:%s", text, lig_dtype_name (found));
  g_assert_cmpstr (whole, ==, output);
}

static void
check_line (const char *expression, int dtype, int code, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (compile_line (expression, dtype, &error));
  g_assert_error (error, LIG_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_cmpstr (lig_error_get_path (error), ==, "2");
}

#define LINE "linear(6) ! make-extra-output(a) ! "

static void
test_accepted (void)
{
  check_accepted (LINE "load-branch(a)", -1, "4x6:fp32");
  check_accepted (LINE "load-branch(a, shape=[4, 6])", -1, "4x6:fp32");
  check_accepted (LINE "load-branch(a, shape=[-1, 6], dtype=fp32)", -1, "4x6:fp32");
  check_accepted (LINE "load-branch(a, dtype=bf16)", LIG_BF16, "4x6:bf16");
  /* From the caller, the shape is the caller's. */
  check_accepted ("make-extra-output(caller=true) ! load-branch(shape=[3, 5])", -1, "3x5:fp32");
}

static void
test_rejected (void)
{
  check_line (LINE "load-branch(a, shape=[4, 8])", -1, LIG_ERROR_SHAPE,
              "load-branch at 2: shape is 4x8, the channel's value is 4x6; omit shape, or "
              "reshape the value");
  check_line (LINE "load-branch(a, shape=[24])", -1, LIG_ERROR_SHAPE,
              "load-branch at 2: shape is 24, the channel's value is 4x6; omit shape, or "
              "reshape the value");
  check_line (LINE "load-branch(a, shape=[4, -1])", -1, LIG_ERROR_SHAPE,
              "load-branch at 2: shape is 4x8, the channel's value is 4x6; omit shape, or "
              "reshape the value");
  check_line (LINE "load-branch(a, dtype=bf16)", -1, LIG_ERROR_DTYPE,
              "load-branch at 2: dtype is bf16, the channel's value is fp32; omit dtype");
  check_line (LINE "load-branch(a, dtype=int32)", LIG_FP16, LIG_ERROR_DTYPE,
              "load-branch at 2: dtype is int32, the channel's value is fp16; omit dtype");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/load-branch/accepted", test_accepted);
  g_test_add_func ("/load-branch/rejected", test_rejected);
  return g_test_run ();
}
