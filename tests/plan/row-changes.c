/* SPDX-License-Identifier: MIT */
/* Tests the rows in which two sequences differ. */
#include <ligature/compile.h>
#include <ligature/row-changes.h>

#include <string.h>

typedef struct {
  const char *title, *before, *after;
  const char *rows; /* one line a row: sign, paths, op, text */
  const char *inputs;
} Case;

static LigPlan *
compile (const char *text)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigDtype dtype = LIG_BF16;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_auto (GStrv) words = g_strsplit (text, " @ ", 2);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (words[0], &error);
  g_assert_no_error (error);
  g_assert_true (lig_shape_parse (words[1] ? words[1] : "64x32:bf16", &shape, &dtype, &error));
  lig_sequence_set_input (sequence, &shape, dtype);
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

static const Case cases[] = {
  {"equal", "linear(8) ! gelu", "linear(8) ! gelu", "", NULL},
  {"parameter", "linear(8) ! gelu", "linear(16) ! gelu",
   "changed 0 0 linear: out-features 8 → 16, output 64x8 → 64x16\n"
   "changed 1 1 gelu: output 64x8 → 64x16\n",
   NULL},
  {"added", "linear(8) ! linear(4)", "linear(8) ! relu ! linear(4)", "added - 1 relu: \n", NULL},
  {"removed", "linear(8) ! relu ! linear(4)", "linear(8) ! linear(4)", "removed 1 - relu: \n",
   NULL},
  {"replaced", "linear(8) ! gelu ! linear(4)", "linear(8) ! dropout(0.25) ! linear(4)",
   "removed 1 - gelu: \nadded - 1 dropout: p 0.25\n", NULL},
  {"end", "linear(8)", "linear(8) ! gelu", "added - 1 gelu: \n", NULL},
  {"beginning", "gelu ! linear(8)", "linear(8)", "removed 0 - gelu: \n", NULL},
  {"nothing-in-common", "gelu", "relu", "removed 0 - gelu: \nadded - 0 relu: \n", NULL},
  {"fence", "linear(8) ! gelu", "linear(8) ! | ! gelu",
   "changed 1 1 gelu: fence before it no → yes\n", NULL},
  {"repetitions", "block(3) { linear(32) ! gelu }", "block(5) { linear(32) ! gelu }",
   "changed 0.0.0 0.0.0 linear: times 3 → 5\nchanged 0.0.1 0.0.1 gelu: times 3 → 5\n", NULL},
  {"in-block", "block(3) { linear(32) ! gelu }", "block(3) { linear(32) ! relu }",
   "removed 0.0.1 - gelu: \nadded - 0.0.1 relu: \n", NULL},
  {"macro", "transformer-layer(4) @ 2x16x32:bf16", "transformer-layer(8) @ 2x16x32:bf16",
   "changed 0 0 transformer-layer: heads 4 → 8\n", NULL},
  {"norm", "layer-norm ! linear(8)", "rms-norm ! linear(8)",
   "removed 0 - layer-norm: \nadded - 0 rms-norm: \n", NULL},
  {"batch", "linear(8) ! gelu", "linear(8) ! gelu @ 128x32:bf16", "",
   "input 64x32:bf16 → 128x32:bf16"},
  {"type", "linear(8)", "linear(8) @ 64x32:fp32", "",
   "input 64x32:bf16 → 64x32:fp32, types bf16:bf16 → fp32:fp32"},
};

static void
test_rows (gconstpointer data)
{
  const Case *given = data;
  g_autoptr (LigPlan) before = compile (given->before), after = compile (given->after);
  g_autoptr (LigPlanComparison) comparison = lig_plan_compare (before, after);
  g_autoptr (GPtrArray) changes = lig_row_change_list (comparison);
  g_autofree char *inputs = lig_row_change_inputs (comparison);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < changes->len; i++) {
    const LigRowChange *change = changes->pdata[i];
    g_assert_true ((change->before != NULL) == (change->kind != LIG_ROW_ADDED));
    g_assert_true ((change->after != NULL) == (change->kind != LIG_ROW_REMOVED));
    g_string_append_printf (text, "%s %s %s %s: %s\n", lig_row_change_kind_name (change->kind),
                            change->before ? change->before : "-",
                            change->after ? change->after : "-", change->op, change->text);
  }
  g_assert_cmpstr (text->str, ==, given->rows);
  g_assert_cmpstr (inputs, ==, given->inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *path = g_strconcat ("/plan/row-changes/", cases[i].title, NULL);
    g_test_add_data_func (path, &cases[i], test_rows);
  }
  return g_test_run ();
}
