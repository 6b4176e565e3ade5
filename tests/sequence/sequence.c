/* SPDX-License-Identifier: MIT */
/* Sequences as lists, with their signals; blocks, fences and paths. */
#include "tests/plan/case.h"

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
  g_assert_true (lig_sequence_append (sequence, glu, NULL));
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
  g_autoptr (LigOp) relu = new_op ("relu");
  g_assert_true (lig_sequence_insert (sequence, 4, relu, NULL));
  check_ops (sequence, "identity ! glu ! silu ! bias ! relu");
}

static void
test_extend (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu");
  g_autoptr (LigSequence) other = parse ("linear(4) ! block(2) { silu }");
  lig_sequence_extend (sequence, other);
  check_ops (sequence, "gelu ! relu ! linear(4) ! block(2) { silu }");
  /* The ops were copied. */
  g_object_set (lig_sequence_get (other, 0, NULL), "out-features", (gint64) 7, NULL);
  g_autoptr (LigOp) more = new_op ("relu");
  lig_sequence_append (lig_op_get_body (lig_sequence_get (other, 1, NULL)), more, NULL);
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
  g_autoptr (LigOp) bias = new_op ("bias");
  g_autoptr (LigOp) op = new_op ("glu");
  guint notified = 0;
  g_signal_connect (sequence, "items-changed", G_CALLBACK (note_items), log);
  g_signal_connect (sequence, "notify::version", G_CALLBACK (count_notifies), &notified);
  guint64 version = lig_sequence_get_version (sequence);
  g_assert_true (lig_sequence_insert (sequence, 1, bias, NULL));
  g_assert_true (lig_sequence_move (sequence, 3, 1, NULL));
  g_assert_true (lig_sequence_replace (sequence, 0, op, NULL));
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

/* Every edit of an op increments the version of its sequence and of all enclosing sequences. */
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

/* --- Owners -------------------------------------------------------------------------------- */

/* Checks that append, insert and replace all reject the op and that nothing changes. */
static void
check_rejected_everywhere (LigSequence *sequence, LigOp *op, const char *message)
{
  g_autofree char *before = lig_sequence_to_expression (sequence);
  guint64 version = lig_sequence_get_version (sequence);
  for (int way = 0; way < 3; way++) {
    g_autoptr (GError) error = NULL;
    gboolean taken = way == 0   ? lig_sequence_append (sequence, op, &error)
                     : way == 1 ? lig_sequence_insert (sequence, 0, op, &error)
                                : lig_sequence_replace (sequence, 0, op, &error);
    g_assert_false (taken);
    g_assert_error (error, LIG_ERROR, LIG_ERROR_OP);
    g_assert_cmpstr (error->message, ==, message);
  }
  check_ops (sequence, before);
  g_assert_cmpuint (lig_sequence_get_version (sequence), ==, version);
}

static void
test_one_owner (void)
{
  g_autoptr (LigSequence) sequence = parse ("relu ! dropout(0.5)");
  g_autoptr (LigSequence) other = parse ("gelu");
  g_autoptr (LigSequence) nested = parse ("block(2) { silu }");
  LigSequence *body = lig_op_get_body (lig_sequence_get (nested, 0, NULL));
  g_autoptr (LigOp) dropout = g_list_model_get_item (G_LIST_MODEL (sequence), 1);
  check_rejected_everywhere (
    sequence, dropout,
    "dropout: it is already op 1 of this sequence; remove it there, or add a copy of it");
  check_rejected_everywhere (
    other, dropout,
    "dropout: it is already op 1 of another sequence; remove it there, or add a copy of it");
  check_rejected_everywhere (
    body, dropout,
    "dropout: it is already op 1 of another sequence; remove it there, or add a copy of it");
  /* Edits of the op still count, and once removed it may be added elsewhere. */
  guint64 version = lig_sequence_get_version (sequence);
  g_object_set (dropout, "p", 0.25, NULL);
  g_assert_cmpuint (lig_sequence_get_version (sequence), ==, version + 1);
  g_assert_true (lig_sequence_remove (sequence, 1, NULL));
  g_assert_true (lig_sequence_append (body, dropout, NULL));
  version = lig_sequence_get_version (nested);
  g_object_set (dropout, "p", 0.75, NULL);
  g_assert_cmpuint (lig_sequence_get_version (nested), ==, version + 1);
  check_ops (nested, "block(2) { silu ! dropout(0.75) }");
}

/* An op that outlives its sequence, replaced or not, has no owner. */
static void
test_owner_gone (void)
{
  g_autoptr (LigSequence) other = lig_sequence_new ();
  g_autoptr (LigOp) kept = NULL;
  {
    g_autoptr (LigSequence) sequence = parse ("relu ! gelu");
    g_autoptr (LigOp) silu = new_op ("silu");
    kept = g_object_ref (lig_sequence_get (sequence, 0, NULL));
    g_autoptr (LigOp) gelu = g_object_ref (lig_sequence_get (sequence, 1, NULL));
    g_assert_true (lig_sequence_replace (sequence, 1, silu, NULL));
    g_assert_true (lig_sequence_append (other, gelu, NULL));
  }
  g_assert_true (lig_sequence_append (other, kept, NULL));
  check_ops (other, "gelu ! relu");
  /* The body of a block may also outlive the block. */
  g_autoptr (LigSequence) body = NULL;
  {
    g_autoptr (LigSequence) sequence = parse ("block(2) { silu }");
    body = g_object_ref (lig_op_get_body (lig_sequence_get (sequence, 0, NULL)));
  }
  g_autoptr (LigOp) more = new_op ("glu");
  g_assert_true (lig_sequence_append (body, more, NULL));
  check_ops (body, "silu ! glu");
}

static void
test_block_in_itself (void)
{
  static const char *const message =
    "block: it cannot be among the ops that it repeats; add a copy of it";
  g_autoptr (LigSequence) sequence = parse ("block(2) { gelu ! block(3) { silu } }");
  g_autoptr (LigOp) block = lig_sequence_pop (sequence, 0, NULL);
  LigSequence *body = lig_op_get_body (block);
  check_rejected_everywhere (body, block, message);
  check_rejected_everywhere (lig_op_get_body (lig_sequence_get (body, 1, NULL)), block, message);
  /* A copy of a sequence in one of its own blocks has the content from before the call. */
  g_assert_true (lig_sequence_append (sequence, block, NULL));
  lig_sequence_extend (body, sequence);
  check_ops (sequence,
             "block(2) { gelu ! block(3) { silu } ! block(2) { gelu ! block(3) { silu } } }");
}

/* --- Long sequences ------------------------------------------------------------------------ */

static double
seconds_for (guint count)
{
  g_autoptr (GString) text = g_string_new ("identity");
  g_autoptr (GError) error = NULL;
  for (guint i = 1; i < count; i++)
    g_string_append (text, i % 2 ? " ! bias" : " ! identity");
  gint64 start = g_get_monotonic_time ();
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (text->str, &error);
  g_assert_no_error (error);
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_autoptr (LigSequence) read = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_autoptr (LigSequence) copy = lig_sequence_copy (read);
  g_autofree char *again = lig_sequence_to_expression (copy);
  g_assert_cmpstr (again, ==, text->str);
  g_autofree char *last = g_strdup_printf ("%u", count - 1);
  LigOp *op = lig_sequence_find (copy, last, &error);
  g_assert_no_error (error);
  guint64 version = lig_sequence_get_version (copy);
  lig_op_set_fence (op, TRUE);
  g_assert_cmpuint (lig_sequence_get_version (copy), ==, version + 1);
  while (lig_sequence_get_length (copy) > 0)
    g_assert_true (lig_sequence_remove (copy, -1, NULL));
  return (double) (g_get_monotonic_time () - start) / 1e6;
}

/* Eight times as many ops take about eight times as long, not sixty-four times. */
static void
test_long (void)
{
  double few = seconds_for (12500), many = seconds_for (100000);
  g_test_message ("12,500 ops: %.3f s; 100,000 ops: %.3f s", few, many);
  g_assert_cmpfloat (many, <, 32 * few);
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
    "",
    "3",
    "-1",
    "x",
    "0.0",
    "2.2.0",
    "2.0",
    "2.0.9",
    "2.",
    "2.0.",
    "2.0.1.0",
    "2.0.1.9",
    "2.0.1.0.5",
    " 0",
    "0 ",
    "+0",
    "2.-1.0",
    "2..0",
    "99999999999999999999",
    "2.99999999999999999999.0",
    "0x0",
  };
  g_autoptr (LigSequence) sequence = parse ("gelu ! relu ! block(2) { silu ! block(3) { glu } }");
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
  static const char *const paths[] = {"0",     "1.0.0", "1.0.0",     "1.0.1.0.0", "1.0.1.1.0",
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

/* A fence before a block, before a macro, or inside a block applies to every repetition. */
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

/* No shape: the sequence no longer has an input. */
static void
test_unset_input (void)
{
  g_autoptr (LigSequence) sequence = parse ("gelu");
  LigShape shape = {.n_axes = 2, .axes = {4, 8}};
  lig_sequence_set_input (sequence, &shape, LIG_FP32);
  g_assert_true (lig_sequence_has_input (sequence));
  lig_sequence_set_input (sequence, NULL, LIG_FP32);
  g_assert_false (lig_sequence_has_input (sequence));
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
  g_test_add_func ("/sequence/one-owner", test_one_owner);
  g_test_add_func ("/sequence/owner-gone", test_owner_gone);
  g_test_add_func ("/sequence/block-in-itself", test_block_in_itself);
  g_test_add_func ("/sequence/long", test_long);
  g_test_add_func ("/sequence/find", test_find);
  g_test_add_func ("/sequence/paths", test_paths);
  g_test_add_func ("/sequence/fences", test_fences);
  g_test_add_func ("/sequence/fence-places", test_fence_places);
  g_test_add_func ("/sequence/unset-input", test_unset_input);
  return g_test_run ();
}
