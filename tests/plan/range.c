/* SPDX-License-Identifier: MIT */
/* Integers from the caller: values that an op does not accept are rejected when they are set, on
 * every device, with the value, its position and the expected range. */
#include "tests/plan/case.h"

#include <ligature/check.h>
#include <ligature/compile.h>

static LigProgram *
new_case (const char *expression, const char *input)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence (expression, input);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), &options, 1, &error);
  g_assert_no_error (error);
  LigProgram *program = lig_program_new (plan, state, &error);
  g_assert_no_error (error);
  return program;
}

/* Sets integers, all `fill` except one; `n` is the number of the extra input, -1 for the input. */
static gboolean
set (LigProgram *program, int n, gint32 fill, gint64 at, gint32 number, GError **error)
{
  LigShape shape;
  LigDtype dtype;
  LigPlan *plan = lig_program_get_plan (program);
  if (n < 0)
    lig_plan_get_input (plan, &shape, &dtype);
  else
    lig_plan_get_extra_input (plan, (guint) n, &shape, &dtype);
  g_assert_cmpint (dtype, ==, LIG_INT32);
  g_autoptr (LigTensor) tensor = lig_tensor_new (LIG_INT32, &shape, NULL);
  for (gint64 i = 0; i < tensor->size; i++)
    ((gint32 *) tensor->data)[i] = fill;
  ((gint32 *) tensor->data)[at] = number;
  return n < 0 ? lig_program_set_input (program, tensor, error)
               : lig_program_set_extra_input (program, (guint) n, tensor, error);
}

/* The repetitions of a block share the lengths and documents of one batch; separate ops, and the
 * two attentions of a decoder, have their own. */
static void
test_shared (void)
{
  static const struct {
    const char *expression;
    guint count;
  } cases[] = {
    {"block(3) { transformer-layer(2, documents=caller) }", 1},
    {"block(3) { transformer-layer(2, documents=caller, lengths=caller) }", 2},
    {"block(2) { block(2) { multi-head-attention(2, lengths=caller) } }", 1},
    {"block(2) { multi-head-attention(2, lengths=caller) ! multi-head-attention(2, lengths=caller) "
     "}",
     2},
    {"multi-head-attention(2, lengths=caller) ! multi-head-attention(2, lengths=caller)", 2},
    {"make-extra-output(m) ! block(3) { transformer-layer(2, layer-type=decoder, memory=../m, "
     "lengths=caller, memory-lengths=caller) }",
     2},
    /* Differentiable tensors may have any values. */
    {"block(3) { add-extra-input(caller) }", 3},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (LigProgram) program = new_case (cases[i].expression, "3x5x8");
    LigPlan *plan = lig_program_get_plan (program);
    g_test_message ("%s", cases[i].expression);
    g_assert_cmpuint (lig_plan_get_n_extra_inputs (plan), ==, cases[i].count);
    for (guint n = 0; n < cases[i].count && i != G_N_ELEMENTS (cases) - 1; n++) {
      gint32 min, max;
      lig_plan_get_range (plan, (int) n, &min, &max);
      g_assert_cmpint (min, <=, max);
    }
  }
}

static void
check_accepted (LigProgram *program, int n, gint32 fill, gint64 at, gint32 number)
{
  g_autoptr (GError) error = NULL;
  set (program, n, fill, at, number, &error);
  g_assert_no_error (error);
}

static void
check_outside (LigProgram *program, int n, gint64 at, gint32 number, const char *message)
{
  g_autoptr (GError) error = NULL;
  g_assert_false (set (program, n, 1, at, number, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_assert_cmpstr (error->message, ==, message);
  g_assert_nonnull (lig_error_get_path (error));
}

static void
test_lengths (void)
{
  g_autoptr (LigProgram) program =
    new_case ("linear(24) ! attention(2, lengths=caller, documents=caller)", "3x5x8");
  check_accepted (program, 0, 5, 1, 0);
  check_outside (program, 0, 2, 6,
                 "attention at 1: lengths[2] is 6, expected 0 to 5; correct the data");
  check_outside (program, 0, 0, -1,
                 "attention at 1: lengths[0] is -1, expected 0 to 5; correct the data");
  /* Any numbers are valid document ids. */
  check_accepted (program, 1, -7, 3, G_MAXINT32);
}

/* The lengths of a memory count its keys, also through a macro and a channel with the caller's
 * integers. */
static void
test_memory (void)
{
  g_autoptr (LigProgram) program =
    new_case ("linear(8) ! make-extra-output(m) ! load-branch(shape=[3], dtype=int32) ! "
              "make-extra-output(l) ! "
              "load-branch(shape=[3, 9, 8]) ! transformer-layer(2, layer-type=decoder, memory=m, "
              "memory-lengths=l)",
              "3x5x8");
  check_accepted (program, 0, 1, 1, 5);
  check_outside (program, 0, 1, 7,
                 "transformer-layer at 5: lengths[1] is 7, expected 0 to 5; correct the data");
}

static void
test_tokens (void)
{
  gint32 min, max;
  g_autoptr (LigProgram) program = new_case (
    "make-extra-output(t) ! embedding(6, vocabulary=9) ! linear(4) ! cross-entropy "
    "! make-extra-output(loss) ! load-branch(t) ! embedding(2, vocabulary=7) ! linear(1) ! "
    "make-extra-output(caller=true) ! load-branch(loss)",
    "2x3:int32");
  check_accepted (program, -1, 0, 4, 6);
  check_outside (program, -1, 4, 9,
                 "embedding at 1: input[1, 1] is 9, expected 0 to 8; correct the data");
  check_outside (program, -1, 4, 7,
                 "embedding at 6: input[1, 1] is 7, expected 0 to 6; correct the data");
  check_accepted (program, 0, 3, 2, -100);
  check_outside (
    program, 0, 5, 4,
    "cross-entropy at 3: targets[1, 2] is 4, expected 0 to 3, or -100; correct the data");
  check_outside (
    program, 0, 0, -1,
    "cross-entropy at 3: targets[0, 0] is -1, expected 0 to 3, or -100; correct the data");
  lig_plan_get_range (lig_program_get_plan (program), -1, &min, &max);
  g_assert_cmpint (min, ==, 0);
  g_assert_cmpint (max, ==, 6);
  lig_plan_get_range (lig_program_get_plan (program), 0, &min, &max);
  g_assert_cmpint (max, ==, 3);
}

/* A rejected tensor does not count as set. */
static void
test_missing (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigProgram) program = new_case ("embedding(6, vocabulary=9)", "2x3:int32");
  g_assert_false (set (program, -1, 0, 0, 9, NULL));
  g_assert_false (lig_program_run (program, LIG_RUN_FORWARD, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_ORDER);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/range/lengths", test_lengths);
  g_test_add_func ("/range/memory", test_memory);
  g_test_add_func ("/range/tokens", test_tokens);
  g_test_add_func ("/range/missing", test_missing);
  g_test_add_func ("/range/shared", test_shared);
  return g_test_run ();
}
