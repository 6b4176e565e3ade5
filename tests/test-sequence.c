/* SPDX-License-Identifier: MIT */
/* Sequences as lists, with their signals; channels with every rule; blocks, fences and paths. */
#include "tests/plan-case.h"

static LigSequence *
parse (const char *expression)
{
  return new_sequence (expression, "4x4");
}

static void
check_ops (LigSequence *sequence, const char *expression)
{
  g_autofree char *text = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (text, ==, expression);
}

static LigOp *
new_op (const char *name)
{
  g_autoptr (GError) error = NULL;
  LigOp *op = lig_op_new (name, &error);
  g_assert_no_error (error);
  return op;
}

/* --- The list ------------------------------------------------------------------------------ */

static void
test_list (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu ! silu");
  g_autoptr (LigOp) glu = new_op ("glu");
  g_autoptr (LigOp) bias = new_op ("bias");
  g_autoptr (LigOp) identity = new_op ("identity");
  g_assert_cmpuint (lig_sequence_get_length (sequence), ==, 3);
  g_assert_true (lig_sequence_get (sequence, -1, NULL) == lig_sequence_get (sequence, 2, NULL));
  g_assert_true (lig_sequence_get (sequence, -3, NULL) == lig_sequence_get (sequence, 0, NULL));
  lig_sequence_append (sequence, glu);
  check_ops (sequence, "gelu ! relu ! silu ! glu");
  g_assert_true (lig_sequence_insert (sequence, 1, bias, NULL));
  check_ops (sequence, "gelu ! bias ! relu ! silu ! glu");
  g_assert_true (lig_sequence_insert (sequence, -1, identity, NULL));
  check_ops (sequence, "gelu ! bias ! relu ! silu ! identity ! glu");
  g_assert_true (lig_sequence_remove (sequence, 0, NULL));
  check_ops (sequence, "bias ! relu ! silu ! identity ! glu");
  g_autoptr (LigOp) popped = lig_sequence_pop (sequence, -1, NULL);
  g_assert_true (popped == glu);
  g_assert_true (lig_sequence_replace (sequence, 1, glu, NULL));
  check_ops (sequence, "bias ! glu ! silu ! identity");
  g_assert_true (lig_sequence_move (sequence, 0, -1, NULL));
  check_ops (sequence, "glu ! silu ! identity ! bias");
  g_assert_true (lig_sequence_move (sequence, 2, 0, NULL));
  check_ops (sequence, "identity ! glu ! silu ! bias");
  g_assert_true (lig_sequence_insert (sequence, 4, popped = new_op ("relu"), NULL));
  check_ops (sequence, "identity ! glu ! silu ! bias ! relu");
  g_object_unref (glu); /* what pop gave */
}

static void
test_extend (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu");
  g_autoptr (LigSequence) other = parse ("linear(4) ! block(2) { silu }");
  lig_sequence_extend (sequence, other);
  check_ops (sequence, "gelu ! relu ! linear(4) ! block(2) { silu }");
  /* They are copies. */
  g_object_set (lig_sequence_get (other, 0, NULL), "out-features", (gint64) 7, NULL);
  g_autoptr (LigOp) more = new_op ("relu");
  lig_sequence_append (lig_op_get_body (lig_sequence_get (other, 1, NULL)), more);
  check_ops (sequence, "gelu ! relu ! linear(4) ! block(2) { silu }");
  lig_sequence_extend (sequence, sequence);
  g_assert_cmpuint (lig_sequence_get_length (sequence), ==, 8);
}

static void
check_slice (LigSequence *sequence, int start, int end, const char *expression)
{
  g_autoptr (LigSequence) slice = lig_sequence_slice (sequence, start, end);
  if (!*expression)
    g_assert_cmpuint (lig_sequence_get_length (slice), ==, 0);
  else
    check_ops (slice, expression);
}

static void
test_slice (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu ! silu ! glu");
  check_slice (sequence, 1, 3, "relu ! silu");
  check_slice (sequence, 0, 4, "gelu ! relu ! silu ! glu");
  check_slice (sequence, -2, 100, "silu ! glu");
  check_slice (sequence, -100, -3, "gelu");
  check_slice (sequence, 3, 1, "");
  check_slice (sequence, 9, 12, "");
}

static void
check_index (LigSequence *sequence, int index, guint entries, GError **error)
{
  g_autofree char *wanted =
    g_strdup_printf ("attempted to access index %d, but there are %u entries", index, entries);
  g_assert_error (*error, LIG_ERROR, LIG_ERROR_INDEX);
  g_assert_cmpstr ((*error)->message, ==, wanted);
  g_clear_error (error);
}

static void
test_index_errors (void)
{
  static const int outside[] = {3, 7, -4, G_MAXINT, G_MININT};
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu ! silu");
  g_autoptr (LigOp) op = new_op ("glu");
  guint64 version = lig_sequence_get_version (sequence);
  g_autoptr (GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_assert_null (lig_sequence_get (sequence, outside[i], &error));
    check_index (sequence, outside[i], 3, &error);
    g_assert_false (lig_sequence_remove (sequence, outside[i], &error));
    check_index (sequence, outside[i], 3, &error);
    g_assert_false (lig_sequence_replace (sequence, outside[i], op, &error));
    check_index (sequence, outside[i], 3, &error);
    g_assert_false (lig_sequence_move (sequence, outside[i], 0, &error));
    check_index (sequence, outside[i], 3, &error);
    g_assert_false (lig_sequence_move (sequence, 0, outside[i], &error));
    check_index (sequence, outside[i], 3, &error);
    if (outside[i] == 3)
      continue;
    g_assert_false (lig_sequence_insert (sequence, outside[i], op, &error));
    check_index (sequence, outside[i], 3, &error);
  }
  g_assert_cmpuint (lig_sequence_get_version (sequence), ==, version);
  check_ops (sequence, "gelu ! relu ! silu");
}

/* --- Signals and versions ------------------------------------------------------------------ */

static void
note_items (GListModel *model, guint position, guint removed, guint added, gpointer data)
{
  g_string_append_printf (data, "%u-%u+%u ", position, removed, added);
}

static void
count_notifies (GObject *object, GParamSpec *spec, gpointer data)
{
  ++*(guint *) data;
}

static void
test_signals (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu ! silu ! dropout");
  g_autoptr (GString) log = g_string_new (NULL);
  g_autoptr (LigOp) op = new_op ("bias");
  guint notified = 0;
  g_signal_connect (sequence, "items-changed", G_CALLBACK (note_items), log);
  g_signal_connect (sequence, "notify::version", G_CALLBACK (count_notifies), &notified);
  guint64 version = lig_sequence_get_version (sequence);
  g_assert_true (lig_sequence_insert (sequence, 1, op, NULL));
  g_assert_true (lig_sequence_move (sequence, 3, 1, NULL));
  g_assert_true (lig_sequence_replace (sequence, 0, op = new_op ("glu"), NULL));
  g_assert_true (lig_sequence_remove (sequence, -1, NULL));
  lig_sequence_extend (sequence, sequence);
  g_assert_cmpstr (log->str, ==, "1-0+1 1-3+3 0-1+1 4-1+0 4-0+4 ");
  g_assert_cmpuint (lig_sequence_get_version (sequence), ==, version + 5);
  g_assert_cmpuint (notified, ==, 5);
  GListModel *model = G_LIST_MODEL (sequence);
  g_assert_cmpuint (g_list_model_get_n_items (model), ==, 8);
  g_assert_true (g_list_model_get_item_type (model) == LIG_TYPE_OP);
  g_autoptr (LigOp) item = g_list_model_get_item (model, 0);
  g_assert_true (item == op);
  g_assert_null (g_list_model_get_item (model, 8));
}

/* Every edit of an op is one of its sequence, and of every block around it. */
static void
test_versions (void)
{
  g_autoptr (LigSequence) sequence = parse ("dropout ! block(2) { block(2) { linear(4) } }");
  g_autoptr (GError) error = NULL;
  const char *const fusions[] = {"forward-add-norm", NULL};
  LigOp *dropout = lig_sequence_get (sequence, 0, NULL);
  LigOp *inner = lig_sequence_find (sequence, "1.1.0.0.0", &error);
  g_assert_no_error (error);
  guint64 version = lig_sequence_get_version (sequence);
#define BUMPS(edit) \
  do { \
    edit; \
    g_assert_cmpuint (lig_sequence_get_version (sequence), >, version); \
    version = lig_sequence_get_version (sequence); \
  } while (0)
  BUMPS (g_object_set (dropout, "p", 0.5, NULL));
  BUMPS (lig_op_set_fence (dropout, TRUE));
  BUMPS (lig_op_set_forbidden (dropout, fusions));
  BUMPS (lig_op_set_forced (dropout, fusions));
  BUMPS (g_object_set (inner, "out-features", (gint64) 5, NULL));
  BUMPS (lig_sequence_set_forbidden (sequence, fusions));
  BUMPS (lig_sequence_set_types (sequence, LIG_BF16, LIG_FP32));
  BUMPS (lig_sequence_set_name (sequence, "x"));
  BUMPS (g_object_set (lig_sequence_get (sequence, 1, NULL), "repeat", (gint64) 3, NULL));
#undef BUMPS
  g_autoptr (LigOp) gone = lig_sequence_pop (sequence, 0, NULL);
  version = lig_sequence_get_version (sequence);
  g_object_set (gone, "p", 0.25, NULL);
  g_assert_cmpuint (lig_sequence_get_version (sequence), ==, version);
}

/* --- Paths, blocks, fences ----------------------------------------------------------------- */

static void
check_found (LigSequence *sequence, const char *path, const char *name)
{
  g_autoptr (GError) error = NULL;
  LigOp *op = lig_sequence_find (sequence, path, &error);
  if (name) {
    g_assert_no_error (error);
    g_assert_cmpstr (lig_op_get_name (op), ==, name);
    return;
  }
  g_autofree char *wanted = g_strdup_printf ("no op has the path '%s'", path);
  g_assert_null (op);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_assert_cmpstr (error->message, ==, wanted);
}

static void
test_find (void)
{
  static const char *const nowhere[] = {
    "",    "3",     "-1",      "x",       "0.0",     "2.2.0",     "2.0",   "2.0.9",
    "2.",  "2.0.",  "2.0.1.0", "2.0.1.9", "2.0.1.0.5", " 0",     "0 ",    "+0",
    "2.-1.0", "2..0", "99999999999999999999", "2.99999999999999999999.0", "0x0",
  };
  g_autoptr (LigSequence) sequence =
    parse ("gelu ! relu ! block(2) { silu ! block(3) { glu } }");
  check_found (sequence, "0", "gelu");
  check_found (sequence, "2", "block");
  check_found (sequence, "2.0.0", "silu");
  check_found (sequence, "2.1.1", "block");
  check_found (sequence, "2.1.1.2.0", "glu");
  g_assert_true (lig_sequence_find (sequence, "2.0.0", NULL) ==
                 lig_sequence_find (sequence, "2.1.0", NULL));
  for (guint i = 0; i < G_N_ELEMENTS (nowhere); i++)
    check_found (sequence, nowhere[i], NULL);
}

static void
test_paths (void)
{
  static const char *const paths[] = {"0",     "1.0.0", "1.0.0", "1.0.1.0.0", "1.0.1.1.0",
                                      "1.1.0", "1.1.0", "1.1.1.0.0", "1.1.1.1.0", "2"};
  static const char *const parameters[] = {"1.0.0.weight", "1.0.0.bias", "1.1.0.weight",
                                           "1.1.0.bias", NULL};
  g_autoptr (LigSequence) sequence =
    parse ("gelu ! block(2) { linear(4) ! block(2) { relu } } ! silu");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_assert_cmpuint (count, ==, G_N_ELEMENTS (paths));
  for (guint i = 0; i < count; i++) {
    g_assert_cmpint (ops[i].index, ==, (int) i);
    g_assert_cmpstr (ops[i].path, ==, paths[i]);
  }
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_assert_true (g_strv_equal (lig_state_get_paths (state), parameters));
}

static void
test_fences (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! | ! relu ! silu");
  g_assert_true (lig_sequence_move (sequence, 1, 2, NULL));
  check_ops (sequence, "gelu ! silu ! | ! relu");
  g_autoptr (LigOp) op = new_op ("bias");
  g_assert_true (lig_sequence_insert (sequence, 0, op, NULL));
  check_ops (sequence, "bias ! gelu ! silu ! | ! relu");
  g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
  check_ops (copy, "bias ! gelu ! silu ! | ! relu");
  g_assert_true (lig_sequence_remove (sequence, 3, NULL));
  check_ops (sequence, "bias ! gelu ! silu");
}

/* A fence before a block, a macro, and inside a block counts for every repetition. */
static void
test_fence_places (void)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = FALSE;
  g_autoptr (LigSequence) sequence =
    parse ("bias ! | ! block(2) { gelu ! bias ! | ! relu ! bias }");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  check_groups (plan, "[0] [1] [2] [3] [4 5 forward-bias-activation] [6] [7] [8]", "");
}

/* --- Channels ------------------------------------------------------------------------------ */

static void
check_channel_error (const char *expression, const char *message)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = parse (expression);
  check_refused (sequence, &options, LIG_ERROR_CHANNEL, message);
}

static void
test_channel_errors (void)
{
  check_channel_error ("gelu ! add-extra-input(c)",
                       "extra tensor channel 'c' consumed by add-extra-input at 1 has no producer");
  check_channel_error (
    "add-extra-input(c) ! make-extra-output(c)",
    "extra tensor channel 'c' consumed by add-extra-input at 0 has no earlier producer");
  check_channel_error ("make-extra-output(c) ! make-extra-output(c) ! add-extra-input(c)",
                       "extra tensor channel 'c' has multiple producers (make-extra-output at 0 "
                       "and make-extra-output at 1)");
  check_channel_error (
    "make-extra-output(c) ! block(2) { add-extra-input(c) }",
    "extra tensor channel 'c' consumed by add-extra-input at 1.0.0 has no producer");
  check_channel_error (
    "block(2) { make-extra-output(c) } ! add-extra-input(c)",
    "extra tensor channel 'c' consumed by add-extra-input at 1 has no producer");
  check_channel_error ("block(2) { make-extra-output(../c) }",
                       "extra tensor channel '../c' has multiple producers (make-extra-output at "
                       "0.0.0 and make-extra-output at 0.1.0)");
}

static void
test_channel_setters (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigOp) add = new_op ("add-extra-input");
  g_autoptr (LigOp) make = new_op ("make-extra-output");
  static const int outside[] = {-1, 1, 4};
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_assert_false (lig_op_set_extra_input_channel (add, outside[i], "c", &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
    g_clear_error (&error);
    g_assert_false (lig_op_set_extra_output_channel (make, outside[i], "c", FALSE, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
    g_autofree char *wanted = g_strdup_printf (
      "extra output index %d is out of range for make-extra-output with 1 extra outputs",
      outside[i]);
    g_assert_cmpstr (error->message, ==, wanted);
    g_clear_error (&error);
  }
  g_assert_false (lig_op_set_extra_input_channel (make, 0, "c", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_INDEX);
  g_clear_error (&error);
  g_assert_false (lig_op_set_extra_input_channel (add, 0, "", &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_CHANNEL);
  g_assert_cmpstr (error->message, ==,
                   "extra input channel of add-extra-input must be a non-empty string or none");
  g_assert_true (lig_op_set_extra_input_channel (add, 0, "c", NULL));
  g_assert_cmpstr (lig_op_get_extra_input_channel (add, 0), ==, "c");
  /* Once more with what is there already. */
  g_assert_true (lig_op_set_extra_input_channel (add, 0, lig_op_get_extra_input_channel (add, 0),
                                                 NULL));
  g_assert_cmpstr (lig_op_get_extra_input_channel (add, 0), ==, "c");
  g_assert_true (lig_op_set_extra_input_channel (add, 0, NULL, NULL));
  g_assert_null (lig_op_get_extra_input_channel (add, 0));
}

/* Sum over terms of (factor, name of a tensor made by named_tensor). */
static void
check_sum (const Results *results, const char *name, double a, const char *first, double b,
           const char *second)
{
  const LigTensor *got = results_find (results, name);
  g_assert_nonnull (got);
  g_autoptr (LigTensor) x = named_tensor (first, LIG_FP32, &got->shape,
                                          g_str_has_prefix (first, "gradient") ? 1 : 2);
  g_autoptr (LigTensor) z = named_tensor (second, LIG_FP32, &got->shape,
                                          g_str_has_prefix (second, "gradient") ? 1 : 2);
  for (gint64 i = 0; i < got->size; i++)
    g_assert_cmpfloat_with_epsilon (
      (double) lig_tensor_get (got, i),
      a * (double) lig_tensor_get (x, i) + b * (double) lig_tensor_get (z, i), 1e-5);
}

static Results *
run_case (const char *expression)
{
  g_autoptr (LigSequence) sequence = new_sequence (expression, "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  options.policy = LIG_POLICY_NONE;
  Results *none = compute (sequence, &options);
  options.policy = LIG_POLICY_ALL;
  g_autoptr (Results) all = compute (sequence, &options);
  compare_results (all, none, 1e-6, expression);
  return none;
}

#define G1 "gradient"
#define E0 "gradient of extra 0"

static void
test_residual (void)
{
  /* y = 2x + b, dx = 2dy */
  g_autoptr (Results) inner = run_case ("make-extra-output(r) ! identity ! add-extra-input(r)");
  check_sum (inner, "output", 2, "input", 0, "input");
  check_sum (inner, "grad.input", 2, G1, 0, G1);
  g_assert_cmpuint (inner->names->len, ==, 2);
  /* The caller gets the branch too: dx = 2dy + dextra */
  g_autoptr (Results) both =
    run_case ("make-extra-output(r, caller=true) ! identity ! add-extra-input(r)");
  check_sum (both, "extra.0", 1, "input", 0, "input");
  check_sum (both, "grad.input", 2, G1, 1, E0);
}

static void
test_fan_out (void)
{
  /* y = 3x, dx = 3dy + droute */
  g_autoptr (Results) hidden =
    run_case ("make-extra-output(r) ! add-extra-input(r) ! add-extra-input(r)");
  check_sum (hidden, "output", 3, "input", 0, "input");
  check_sum (hidden, "grad.input", 3, G1, 0, G1);
  g_autoptr (Results) shown =
    run_case ("make-extra-output(r, caller=true) ! add-extra-input(r) ! add-extra-input(r)");
  check_sum (shown, "output", 3, "input", 0, "input");
  check_sum (shown, "grad.input", 3, G1, 1, E0);
  g_autoptr (Results) many =
    run_case ("make-extra-output(r) ! constant-scale(2) ! add-extra-input(r) ! add-extra-input(r) "
              "! add-extra-input(r) ! add-extra-input(r)");
  check_sum (many, "output", 6, "input", 0, "input");
  check_sum (many, "grad.input", 6, G1, 0, G1);
}

static void
test_unconsumed (void)
{
  g_autoptr (Results) public = run_case ("make-extra-output ! constant-scale(2)");
  check_sum (public, "extra.0", 1, "input", 0, "input");
  check_sum (public, "grad.input", 2, G1, 1, E0);
  g_autoptr (Results) hidden = run_case ("make-extra-output(nobody) ! constant-scale(2)");
  g_assert_null (results_find (hidden, "extra.0"));
  check_sum (hidden, "grad.input", 2, G1, 0, G1);
}

/* A gradient that the caller does not give is zero. */
static void
test_missing_gradient (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("make-extra-output ! constant-scale(2)", "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  options.input_gradient = TRUE;
  g_autoptr (LigState) state = new_state (sequence, &options);
  LigPlan *plan = new_plan (state, sequence, &options);
  LigShape shape;
  lig_shape_init (&shape, 1, (gint64) 16);
  g_autoptr (LigTensor) gradient = named_tensor ("gradient", LIG_FP32, &shape, 1);
  feed_inputs (plan);
  g_assert_true (lig_plan_set_gradient (plan, gradient, &error));
  run_plan (plan, LIG_RUN_FORWARD | LIG_RUN_BACKWARD);
  g_autoptr (Results) results = read_results (plan, state, TRUE);
  check_sum (results, "grad.input", 2, G1, 0, G1);
}

static void
test_mixed (void)
{
  /* y = 2x + extra, the caller's inputs counted in op order */
  g_autoptr (Results) mixed =
    run_case ("make-extra-output(r) ! add-extra-input ! add-extra-input(r)");
  check_sum (mixed, "output", 2, "input", 1, "extra input 0");
  check_sum (mixed, "grad.input", 2, G1, 0, G1);
  check_sum (mixed, "grad.extra.0", 1, G1, 0, G1);
  g_autoptr (Results) two =
    run_case ("constant-scale(0) ! add-extra-input ! constant-scale(2) ! add-extra-input");
  check_sum (two, "output", 2, "extra input 0", 1, "extra input 1");
  check_sum (two, "grad.extra.0", 2, G1, 0, G1);
  check_sum (two, "grad.extra.1", 1, G1, 0, G1);
  /* Two outputs, one hidden, one public. */
  g_autoptr (Results) outputs = run_case ("make-extra-output(a) ! constant-scale(2) ! "
                                          "make-extra-output ! add-extra-input(a)");
  check_sum (outputs, "output", 3, "input", 0, "input");
  check_sum (outputs, "extra.0", 2, "input", 0, "input");
  check_sum (outputs, "grad.input", 3, G1, 2, E0);
}

/* Taking up another channel is another sequence. */
static void
test_rebinding (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (
    "make-extra-output(a) ! constant-scale(3) ! make-extra-output(b) ! constant-scale(0) ! "
    "add-extra-input(a)",
    "16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  g_autoptr (Results) first = compute (sequence, &options);
  check_sum (first, "output", 1, "input", 0, "input");
  check_sum (first, "grad.input", 1, G1, 0, G1);
  g_assert_true (
    lig_op_set_extra_input_channel (lig_sequence_get (sequence, -1, NULL), 0, "b", NULL));
  g_autoptr (Results) second = compute (sequence, &options);
  check_sum (second, "output", 3, "input", 0, "input");
  check_sum (second, "grad.input", 3, G1, 0, G1);
  g_assert_true (
    lig_op_set_extra_input_channel (lig_sequence_get (sequence, -1, NULL), 0, NULL, NULL));
  g_autoptr (Results) third = compute (sequence, &options);
  check_sum (third, "output", 1, "extra input 0", 0, "input");
}

/* A block's channels are its repetition's own unless written ../ */
static void
test_scopes (void)
{
  g_autoptr (Results) own =
    run_case ("block(3) { make-extra-output(r) ! identity ! add-extra-input(r) }");
  check_sum (own, "output", 8, "input", 0, "input");
  check_sum (own, "grad.input", 8, G1, 0, G1);
  g_autoptr (Results) outer = run_case ("make-extra-output(r) ! block(3) { add-extra-input(../r) }");
  check_sum (outer, "output", 4, "input", 0, "input");
  check_sum (outer, "grad.input", 4, G1, 0, G1);
  g_autoptr (Results) deep = run_case (
    "make-extra-output(r) ! block(2) { make-extra-output(r) ! block(2) { add-extra-input(../r) ! "
    "add-extra-input(../../r) } }");
  /* x -> 2(x + x + x0)... : x1 = 3x0 + 2x0 = 5, x2 = 3 * 5 + 2 = 17 */
  check_sum (deep, "output", 17, "input", 0, "input");
  check_sum (deep, "grad.input", 17, G1, 0, G1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sequence/list", test_list);
  g_test_add_func ("/sequence/extend", test_extend);
  g_test_add_func ("/sequence/slice", test_slice);
  g_test_add_func ("/sequence/index-errors", test_index_errors);
  g_test_add_func ("/sequence/signals", test_signals);
  g_test_add_func ("/sequence/versions", test_versions);
  g_test_add_func ("/sequence/find", test_find);
  g_test_add_func ("/sequence/paths", test_paths);
  g_test_add_func ("/sequence/fences", test_fences);
  g_test_add_func ("/sequence/fence-places", test_fence_places);
  g_test_add_func ("/sequence/channel-errors", test_channel_errors);
  g_test_add_func ("/sequence/channel-setters", test_channel_setters);
  g_test_add_func ("/sequence/residual", test_residual);
  g_test_add_func ("/sequence/fan-out", test_fan_out);
  g_test_add_func ("/sequence/unconsumed", test_unconsumed);
  g_test_add_func ("/sequence/missing-gradient", test_missing_gradient);
  g_test_add_func ("/sequence/mixed", test_mixed);
  g_test_add_func ("/sequence/rebinding", test_rebinding);
  g_test_add_func ("/sequence/scopes", test_scopes);
  return g_test_run ();
}
