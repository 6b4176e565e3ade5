/* SPDX-License-Identifier: MIT */
/* Tests blocks that a program nests deeper than files may: a macro inside the limit with parts
 * beyond it is a problem, even if the sizes of its parts are inferred from it. */
#include "tests/plan/case.h"

#include <ligature/problem.h>

/* Returns a sequence of one op inside this many blocks. */
static LigSequence *
new_deep (const char *expression, int levels)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) inner = new_sequence (expression, "2x4x8");
  for (int i = 0; i < levels; i++) {
    g_autoptr (LigSequence) outer = lig_sequence_new ();
    g_autoptr (LigOp) block = lig_op_new ("block", &error);
    g_assert_no_error (error);
    g_object_set (block, "repeat", G_GINT64_CONSTANT (1), NULL);
    lig_sequence_extend (lig_op_get_body (block), inner);
    lig_sequence_append (outer, block, &error);
    g_assert_no_error (error);
    g_set_object (&inner, outer);
  }
  set_sequence_input (inner, "2x4x8");
  return g_steal_pointer (&inner);
}

static void
test_problems (void)
{
  static const char *const macros[] = {"transformer-layer(2)", "linear(8)", "layer-norm-mlp"};
  for (guint i = 0; i < G_N_ELEMENTS (macros); i++)
    for (int levels = 30; levels < 35; levels++) {
      g_autoptr (LigSequence) sequence = new_deep (macros[i], levels);
      g_autoptr (GPtrArray) problems = lig_plan_check (sequence, cpu_device (), NULL);
      g_test_message ("%s in %d blocks: %u problems", macros[i], levels, problems->len);
      g_assert_cmpint (problems->len > 0, ==, levels > 31);
      if (problems->len == 0)
        continue;
      const GError *error = ((LigPlanProblem *) problems->pdata[0])->error;
      g_assert_nonnull (strstr (error->message, "nest deeper than 32"));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile-deep/problems", test_problems);
  return g_test_run ();
}
