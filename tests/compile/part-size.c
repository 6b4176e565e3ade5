/* SPDX-License-Identifier: MIT */
/* Parts of macros with sizes that follow from the macro's input, and macros that reject their
 * parameters. */
#include "tests/plan/case.h"

#include <ligature/compile.h>
#include <ligature/lowering.h>
#include <ligature/problem.h>
#include <ligature/register.h>

static gint64 multiple = 4, divisor = 1;
static const char *rejection;

static LigOp *
matmul (gint64 features)
{
  LigOp *op = lig_op_new ("basic-linear", NULL);
  if (features > 0)
    g_object_set (op, "out-features", features, NULL);
  return op;
}

/* 8 features -> 8 multiple / divisor -> 24 -> 8, the macro's input size. */
static void
expand (LigOp *self, LigParts *parts)
{
  if (rejection)
    lig_parts_reject (parts, "%s", rejection);
  lig_parts_add_scaled (parts, "fc1", matmul (0), "out-features", multiple, divisor);
  lig_parts_add (parts, NULL, lig_op_new ("gelu", NULL));
  lig_parts_add (parts, "fc2", matmul (24));
  lig_parts_add_scaled (parts, "fc3", matmul (0), "out-features", 1, 1);
}

static void
expand_nested (LigOp *self, LigParts *parts)
{
  lig_parts_add (parts, "wide", matmul (10));
  lig_parts_add (parts, "inner", lig_op_new ("macro-scaled", NULL));
  lig_parts_add_scaled (parts, "back", matmul (0), "out-features", 1, 1);
}

static void
expand_wrong (LigOp *self, LigParts *parts)
{
  lig_parts_add_scaled (parts, "norm", lig_op_new ("layer-norm", NULL), "eps", 1, 1);
}

static gboolean
register_macro (const char *name, void (*function) (LigOp *, LigParts *), GError **error)
{
  LigOpInfo info = {LIG_OP_INFO_SIZES,
                    .name = name,
                    .title = "Macro",
                    .category = "Other",
                    .summary = "Stands for several",
                    .expand = function};
  g_autofree char *example = g_strdup_printf ("%s @ 4x8", name);
  info.example = g_intern_string (example);
  return lig_register_op (&info, error);
}

static void
check_shape (LigState *state, const char *path, const char *wanted)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigTensor) tensor = lig_state_get (state, LIG_STATE_PARAMETERS, path, &error);
  g_assert_no_error (error);
  g_autofree char *shape = lig_shape_to_string (&tensor->shape);
  g_assert_cmpstr (shape, ==, wanted);
}

static void
test_lengths (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    new_sequence ("layer-norm ! macro-scaled ! macro-outside", "4x8");
  multiple = 3;
  divisor = 2;
  g_autoptr (LigState) state = new_state (sequence, &options);
  check_shape (state, "1.fc1.weight", "12x8");
  check_shape (state, "1.fc2.weight", "24x12");
  check_shape (state, "1.fc3.weight", "8x24");
  check_shape (state, "2.wide.weight", "10x8");
  check_shape (state, "2.inner.fc1.weight", "15x10");
  check_shape (state, "2.inner.fc3.weight", "10x24");
  check_shape (state, "2.back.weight", "8x10");
  /* A different input gives different sizes. */
  set_sequence_input (sequence, "4x6");
  g_autoptr (LigState) other = new_state (sequence, &options);
  check_shape (other, "1.fc1.weight", "9x6");
  multiple = 4;
  divisor = 1;
}

/* Checks the error of compiling, and that it is the only listed problem. */
static void
check_rejection (LigSequence *sequence, int code, const char *message)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_null (plan);
  g_assert_error (error, LIG_ERROR, code);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_cmpstr (lig_error_get_path (error), ==, "1");
  g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), &options);
  g_assert_cmpuint (problems->len, ==, 1);
  g_assert_cmpstr (((LigPlanProblem *) problems->pdata[0])->error->message, ==, message);
}

static void
test_rejected (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("gelu ! macro-scaled ! gelu ! linear(3)", "4x8");
  divisor = 3;
  check_rejection (sequence, LIG_ERROR_SHAPE,
                   "macro-scaled at 1: input has 8 features, expected a multiple of 3");
  multiple = 6; /* 8 6 / 3 is whole, but 3 heads cannot share 8 features. */
  check_rejection (sequence, LIG_ERROR_SHAPE,
                   "macro-scaled at 1: input has 8 features, expected a multiple of 3");
  divisor = 1;
  multiple = G_MAXINT64 / 2;
  check_rejection (sequence, LIG_ERROR_SHAPE,
                   "macro-scaled at 1: input has 8 features, of which out-features takes "
                   "4611686018427387903/1, expected at most 1000000000");
  multiple = 4;
  rejection = "heads is 12, expected a multiple of kv-heads, 5";
  check_rejection (sequence, LIG_ERROR_VALUE,
                   "macro-scaled at 1: heads is 12, expected a multiple of kv-heads, 5");
  rejection = NULL;
}

/* Only an integer parameter can get an inferred size. */
static void
test_wrong (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (register_macro ("macro-wrong", expand_wrong, &error));
  g_assert_cmpstr (error->message, ==,
                   "op macro-wrong: its example 'macro-wrong @ 4x8': macro-wrong at 0: a part "
                   "called norm could not be created");
}

int
main (int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_test_init (&argc, &argv, NULL);
  register_macro ("macro-scaled", expand, &error);
  g_assert_no_error (error);
  register_macro ("macro-outside", expand_nested, &error);
  g_assert_no_error (error);
  g_test_add_func ("/part-size/lengths", test_lengths);
  g_test_add_func ("/part-size/rejected", test_rejected);
  g_test_add_func ("/part-size/wrong", test_wrong);
  return g_test_run ();
}
