/* SPDX-License-Identifier: MIT */
/* Lists of ports: parsed according to their texts, once, and never while a plan is compiled. */
#include "engine/sequence/ports.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>

static void
check_parsed (const char *text)
{
  const LigPorts *ports = lig_ports_parse (text);
  int inputs = 0, count = text ? lig_signature_count (text, &inputs) : 0;
  g_test_message ("%s", text ? text : "none");
  g_assert_cmpint (ports->count, ==, count);
  g_assert_cmpint (ports->n_inputs, ==, inputs);
  for (int i = 0; i < count; i++) {
    char name[32];
    gboolean optional = lig_signature_name (text, i, name);
    g_assert_cmpstr (ports->ports[i].name, ==, name);
    g_assert_cmpint (ports->ports[i].optional, ==, optional);
    g_assert_cmpuint (ports->ports[i].places, ==, lig_signature_places (text, i));
    g_assert_cmpint (lig_ports_find (ports, name), ==, i);
  }
  g_assert_cmpint (lig_ports_find (ports, "no-such-port"), ==, -1);
  g_assert_true (lig_ports_parse (text) == ports);
}

static void
test_parsed (void)
{
  const LigKernel *kernel;
  for (int i = 0; (kernel = lig_kernel_nth (i)); i++)
    check_parsed (kernel->signature);
  const LigPorts *ports = lig_ports_parse ("  x weight  bias? ->  sum=x|bias y ");
  static const char *const names[] = {"x", "weight", "bias", "sum", "y"};
  static const gboolean optional[] = {FALSE, FALSE, TRUE, TRUE, TRUE};
  static const unsigned places[] = {0, 0, 0, 1 | 4, 0};
  g_assert_cmpint (ports->count, ==, 5);
  g_assert_cmpint (ports->n_inputs, ==, 3);
  for (int i = 0; i < ports->count; i++) {
    g_assert_cmpstr (ports->ports[i].name, ==, names[i]);
    g_assert_cmpint (ports->ports[i].optional, ==, optional[i]);
    g_assert_cmpuint (ports->ports[i].places, ==, places[i]);
  }
  check_parsed (NULL);
  check_parsed ("");
}

/* Equal texts at different addresses give the same list, even if the program frees one of them. */
static void
test_once (void)
{
  g_autofree char *text = g_strdup ("first second -> third=first");
  guint before = lig_ports_parsed ();
  const LigPorts *ports = lig_ports_parse (text);
  g_assert_cmpuint (lig_ports_parsed (), ==, before + 1);
  memset (text, '?', strlen (text));
  g_assert_true (lig_ports_parse ("first second -> third=first") == ports);
  g_assert_cmpstr (ports->ports[1].name, ==, "second");
  g_assert_cmpuint (lig_ports_parsed (), ==, before + 1);
}

static void
test_ops (void)
{
  const LigOpInfo *info;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    const LigOpPorts *ports = lig_op_info_ports (info);
    g_assert_true (ports->extra_inputs == lig_ports_parse (info->extra_inputs));
    g_assert_true (ports->extra_outputs == lig_ports_parse (info->extra_outputs));
    g_assert_true (ports->computes == lig_ports_parse (info->computes));
    g_assert_true (ports->saves == lig_ports_parse (info->saves));
    g_autofree char *forward = g_strjoinv (" ", ports->forward);
    g_autofree char *backward = g_strjoinv (" ", ports->backward);
    g_assert_cmpstr (forward, ==, info->forward ? info->forward : "");
    g_assert_cmpstr (backward, ==, info->backward ? info->backward : "");
  }
}

/* Registration parses all lists that compiling reads. */
static void
test_compile (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  lig_fusion_nth (0);
  lig_op_info_nth (0);
  guint before = lig_ports_parsed ();
  g_assert_cmpuint (before, >, 50);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(r) ! layer-norm ! linear(16) ! gelu ! linear(8) ! add-extra-input(r) ! "
    "cross-entropy",
    "5x8");
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, cpu_device (), &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (lig_ports_parsed (), ==, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ports/compile", test_compile);
  g_test_add_func ("/ports/parsed", test_parsed);
  g_test_add_func ("/ports/once", test_once);
  g_test_add_func ("/ports/ops", test_ops);
  return g_test_run ();
}
