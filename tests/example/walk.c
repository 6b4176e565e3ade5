/* SPDX-License-Identifier: MIT */
/* Prints the graph of a plan with only the installed library:
 *
 *   cc walk.c -o walk $(pkg-config --cflags --libs ligature) */
#include <ligature/compile.h>
#include <ligature/device.h>
#include <ligature/kernels.h>

#include <stdio.h>

static void
print_steps (const char *title, const int *steps, int count)
{
  printf ("%s%s", title, count == 0 ? " no step" : "");
  for (int i = 0; i < count; i++)
    printf (" %d", steps[i]);
}

static void
print_graph (LigPlan *plan)
{
  guint n_steps, n_values;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  const LigPlanValue *values = lig_plan_get_values (plan, &n_values);
  for (guint i = 0; i < n_steps; i++) {
    printf ("step %u: %s\n", i, steps[i].kernel ? steps[i].kernel->name : "opaque");
    for (int k = 0; k < steps[i].n_operands; k++) {
      const LigPlanOperand *operand = &steps[i].operands[k];
      if (operand->value < 0) /* optional, and unused here */
        continue;
      const LigPlanValue *value = &values[operand->value];
      printf ("  %s %s", k < steps[i].n_inputs ? "reads" : "writes", value->name);
      print_steps (", written by", value->writers, value->n_writers);
      print_steps (", read by", value->readers, value->n_readers);
      printf ("\n");
    }
  }
}

static gboolean
run (GError **error)
{
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", error);
  g_autoptr (LigSequence) sequence =
    device ? lig_sequence_from_expression ("linear(16) ! gelu ! linear(4)", error) : NULL;
  if (!sequence)
    return FALSE;
  LigShape input;
  lig_shape_init (&input, 2, (gint64) 4, (gint64) 8);
  lig_sequence_set_input (sequence, &input, LIG_FP32);
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, NULL, error);
  if (!plan)
    return FALSE;
  print_graph (plan);
  return TRUE;
}

int
main (void)
{
  g_autoptr (GError) error = NULL;
  if (run (&error))
    return 0;
  fprintf (stderr, "walk: %s\n", error->message);
  return 1;
}
