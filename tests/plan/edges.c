/* SPDX-License-Identifier: MIT */
/* The edges of plans: the numbered lists agree with the names in the text, and each edge is listed
 * at both ends. */
#include "tests/plan/case.h"
#include <ligature/optimizer.h>

static const struct {
  const char *expression, *input;
} cases[] = {
  {"linear(12) ! gelu ! linear(6) ! mean-squared-error", "4x8"},
  {"make-extra-output(to=a) ! linear(8) ! add-extra-input(from=a) ! layer-norm ! make-extra-output "
   "! "
   "linear(8) ! add-extra-input",
   "4x8"},
  {"embedding(8, vocabulary=16) ! linear(8) ! gelu ! linear(16, tied=0, bias=false) ! "
   "cross-entropy",
   "2x4:int32"},
  {"embedding(8, vocabulary=16) ! transformer-layer(2, mask=none) ! make-extra-output(to=memory) ! "
   "transformer-layer(2, layer-type=decoder, memory=memory) ! linear(16) ! cross-entropy",
   "2x4:int32"},
  {"block(2, recompute=all){ layer-norm ! linear(16) ! gelu ! linear(8) } ! mean-squared-error",
   "4x8"},
};

static gboolean
contains (const int *list, int count, int number)
{
  for (int i = 0; i < count; i++)
    if (list[i] == number)
      return TRUE;
  return FALSE;
}

/* Checks that the step's operands have the names of the text, where `->` separates inputs from
 * outputs. */
static void
check_text (LigPlan *plan, const LigPlanStep *step)
{
  guint count;
  const LigPlanValue *values = lig_plan_get_values (plan, &count);
  g_autofree char *text = lig_plan_name_operands (plan, step);
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  int at = 0;
  for (char **word = words; *word; word++) {
    if (g_str_equal (*word, "->")) {
      g_assert_cmpint (at, ==, step->n_inputs);
      continue;
    }
    int value = step->operands[at++].value;
    g_assert_cmpstr (*word, ==, value < 0 ? "-" : values[value].name);
  }
  g_assert_cmpint (at, ==, step->n_operands);
}

static void
check_steps (LigPlan *plan)
{
  guint count, n_values;
  gsize edges = 0, listed = 0;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  for (int i = 0; i < (int) count; i++) {
    check_text (plan, &steps[i]);
    for (int k = 0; k < steps[i].n_operands; k++) {
      const LigPlanOperand *operand = &steps[i].operands[k];
      if (operand->value < 0)
        continue;
      const LigPlanValue *value = &values[operand->value];
      g_assert_true (k < steps[i].n_inputs ? contains (value->readers, value->n_readers, i)
                                           : contains (value->writers, value->n_writers, i));
      edges++;
    }
  }
  for (guint v = 0; v < n_values; v++) {
    listed += (gsize) (values[v].n_readers + values[v].n_writers);
    for (int i = 1; i < values[v].n_readers; i++)
      g_assert_cmpint (values[v].readers[i], >=, values[v].readers[i - 1]);
    /* Every value is written before it is read. */
    if (values[v].n_readers > 0 && values[v].place == LIG_PLACE_ARENA && values[v].first >= 0)
      g_assert_cmpint (values[v].n_writers, >, 0);
  }
  g_assert_cmpuint (edges, ==, listed);
}

/* Checks that each input of an op has the value of the output that feeds it. */
static void
check_ports (LigPlan *plan)
{
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  for (int i = 0; i < (int) count; i++)
    for (int k = 0; k < ops[i].n_ports; k++) {
      const LigPlanPort *port = &ops[i].ports[k];
      if (port->kind != LIG_PORT_X && port->kind != LIG_PORT_EXTRA_INPUT)
        g_assert_cmpint (port->from, ==, -1);
      if (port->from < 0)
        continue;
      g_assert_cmpint (port->from, <, i);
      const LigPlanPort *output = lig_plan_op_get_port (
        &ops[port->from], port->slot < 0 ? LIG_PORT_Y : LIG_PORT_EXTRA_OUTPUT, MAX (port->slot, 0));
      g_assert_nonnull (output);
      g_assert_cmpint (output->value, ==, port->value);
    }
  g_assert_null (lig_plan_op_get_port (&ops[0], LIG_PORT_Y, 1));
  g_assert_null (lig_plan_op_get_port (&ops[0], LIG_PORT_Y, -1));
}

static void
test_edges (void)
{
  LigOptimizer adamw = LIG_OPTIMIZER_INIT;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (LigPolicy policy = LIG_POLICY_NONE; policy <= LIG_POLICY_ALL; policy++) {
      g_autoptr (GError) error = NULL;
      LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
      options.optimizer = &adamw;
      options.policy = policy;
      g_autoptr (LigSequence) sequence = new_sequence (cases[i].expression, cases[i].input);
      g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
      g_assert_no_error (error);
      check_steps (plan);
      check_ports (plan);
    }
}

/* A step of a group records the element and port that each operand is bound to. */
static void
test_bound (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(12) ! gelu ! linear(6)", "4x8");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  guint count;
  const LigPlanStep *step = lig_plan_get_steps (plan, &count);
  g_assert_cmpstr (step->kernel->name, ==, "linear_bias_gelu");
  g_assert_cmpstr (step->operands[1].name, ==, "weight");
  g_assert_cmpstr (step->operands[1].port, ==, "0.weight");
  g_assert_cmpstr (step->operands[2].port, ==, "1.bias");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/edges/both-ends", test_edges);
  g_test_add_func ("/edges/bound", test_bound);
  return g_test_run ();
}
