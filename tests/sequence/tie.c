/* SPDX-License-Identifier: MIT */
/* Tests that the path in a tied op follows its target through edits. */
#include <ligature/sequence.h>

#include <string.h>

static LigSequence *
parse (const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  return sequence;
}

static void
expect (LigSequence *sequence, const char *expression)
{
  g_autofree char *text = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (text, ==, expression);
}

static LigSequence *
body_of (LigSequence *sequence, const char *path)
{
  return lig_op_get_body (lig_sequence_find (sequence, path, NULL));
}

static void
insert (LigSequence *sequence, int index, const char *expression)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) one = parse (expression);
  g_autoptr (LigOp) op = lig_sequence_pop (one, 0, &error);
  g_assert_true (lig_sequence_insert (sequence, index, op, &error));
  g_assert_no_error (error);
}

/* Moves an op like the window: removes it and inserts it elsewhere. */
static void
carry (LigSequence *from, int index, LigSequence *to, int target)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigOp) op = lig_sequence_pop (from, index, &error);
  g_assert_true (lig_sequence_insert (to, target, op, &error));
  g_assert_no_error (error);
}

static void
test_spelling (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence =
    parse ("linear(7) ! linear(7, tied=0) ! linear(7, tied=\"0\") ! linear(7, tied=3.qkv) ! "
           "block(2) { linear(7, tied=../../0) }");
  expect (sequence, "linear(7) ! linear(7, tied=\"0\") ! linear(7, tied=\"0\") ! "
                    "linear(7, tied=\"3.qkv\") ! block(2) { linear(7, tied=../../0) }");
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_autoptr (LigSequence) again = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_autofree char *text = lig_sequence_to_json (again);
  g_assert_cmpstr (text, ==, json);
  g_autoptr (LigSequence) number = lig_sequence_from_json (
    "{\"ligature\":1,\"ops\":[{\"op\":\"linear\",\"out-features\":2,\"tied\":0}]}", -1, NULL,
    &error);
  expect (number, "linear(2, tied=\"0\")");
  static const char *const wrong[] = {"x", "-1", "1..2", "0.", "", "../", "a.0", "true"};
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_autofree char *expression = g_strdup_printf ("linear(2, tied=\"%s\")", wrong[i]);
    g_assert_null (lig_sequence_from_expression (expression, &error));
    g_assert_nonnull (strstr (error->message, "expected the path of an op like 0"));
    g_clear_error (&error);
  }
}

static void
test_list (void)
{
  g_autoptr (LigSequence) sequence = parse ("linear(7) ! gelu ! linear(7, tied=0)");
  insert (sequence, 0, "relu");
  expect (sequence, "relu ! linear(7) ! gelu ! linear(7, tied=\"1\")");
  insert (sequence, 4, "relu");
  g_assert_true (lig_sequence_remove (sequence, 0, NULL));
  expect (sequence, "linear(7) ! gelu ! linear(7, tied=\"0\") ! relu");
  g_assert_true (lig_sequence_move (sequence, 0, 3, NULL));
  expect (sequence, "gelu ! linear(7, tied=\"3\") ! relu ! linear(7)");
  carry (sequence, 3, sequence, 0);
  expect (sequence, "linear(7) ! gelu ! linear(7, tied=\"0\") ! relu");
  carry (sequence, 2, sequence, 0);
  expect (sequence, "linear(7, tied=\"1\") ! linear(7) ! gelu ! relu");
  insert (sequence, 0, "linear(7, tied=1)");
  expect (sequence, "linear(7, tied=\"2\") ! linear(7, tied=\"2\") ! linear(7) ! gelu ! relu");
}

/* Both ops are removed from the sequence, in either order, and reinserted. */
static void
test_both (void)
{
  for (int order = 0; order < 4; order++) {
    g_autoptr (LigSequence) sequence = parse ("relu ! linear(7) ! gelu ! linear(7, tied=1)");
    g_autoptr (LigOp) first = lig_sequence_pop (sequence, order & 1 ? 3 : 1, NULL);
    g_autoptr (LigOp) second = lig_sequence_pop (sequence, order & 1 ? 1 : 2, NULL);
    LigOp *target = order & 1 ? second : first, *tied = order & 1 ? first : second;
    g_assert_true (lig_sequence_append (sequence, order & 2 ? tied : target, NULL));
    g_assert_true (lig_sequence_append (sequence, order & 2 ? target : tied, NULL));
    expect (sequence, order & 2 ? "relu ! gelu ! linear(7, tied=\"3\") ! linear(7)"
                                : "relu ! gelu ! linear(7) ! linear(7, tied=\"2\")");
  }
}

static void
test_removed (void)
{
  g_autoptr (LigSequence) sequence = parse ("linear(7) ! relu ! linear(7, tied=0)");
  g_assert_true (lig_sequence_remove (sequence, 0, NULL));
  expect (sequence, "relu ! linear(7, tied=\"removed:0\")");
  insert (sequence, 0, "linear(7)");
  expect (sequence, "linear(7) ! relu ! linear(7, tied=\"removed:0\")");
  g_object_set (lig_sequence_get (sequence, 2, NULL), "tied", NULL, NULL);
  expect (sequence, "linear(7) ! relu ! linear(7)");
}

static void
test_replaced (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = parse ("relu ! linear(7) ! linear(7, tied=1)");
  g_autoptr (LigOp) op = lig_op_new ("basic-linear", NULL);
  g_assert_true (lig_sequence_replace (sequence, 1, op, &error));
  insert (sequence, 0, "relu");
  g_autofree char *text = lig_sequence_to_expression (sequence);
  g_assert_true (g_str_has_suffix (text, "linear(7, tied=\"2\")"));
}

/* Ops that are put into a block together stay tied in each repetition. */
static void
test_blocks (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = parse ("relu ! linear(7) ! gelu ! linear(7, tied=1)");
  g_autoptr (LigSequence) block = parse ("block(3) { relu }");
  g_autoptr (LigOp) op = lig_sequence_pop (block, 0, NULL);
  LigSequence *body = lig_op_get_body (op);
  for (int i = 0; i < 3; i++) {
    g_autoptr (LigOp) moved = lig_sequence_pop (sequence, 1, NULL);
    g_assert_true (lig_sequence_append (body, moved, NULL));
  }
  g_assert_true (lig_sequence_insert (sequence, 1, op, &error));
  expect (sequence, "relu ! block(3) { relu ! linear(7) ! gelu ! linear(7, tied=../1) }");
  insert (body, 0, "silu");
  insert (sequence, 0, "silu");
  expect (sequence, "silu ! relu ! block(3) { silu ! relu ! linear(7) ! gelu ! "
                    "linear(7, tied=../2) }");
  /* Moved out of the block, then the block is removed. */
  carry (body, 4, sequence, 3);
  expect (sequence, "silu ! relu ! block(3) { silu ! relu ! linear(7) ! gelu } ! "
                    "linear(7, tied=\"2.0.2\")");
  carry (body, 2, sequence, 0);
  expect (sequence, "linear(7) ! silu ! relu ! block(3) { silu ! relu ! gelu } ! "
                    "linear(7, tied=\"0\")");
}

/* An absolute path keeps its repetition. */
static void
test_repetition (void)
{
  g_autoptr (LigSequence) sequence =
    parse ("relu ! block(3) { linear(7) ! gelu } ! linear(7, tied=1.2.0) ! "
           "block(2) { linear(7, tied=1.1.0) ! linear(7, tied=../0) }");
  insert (sequence, 0, "relu");
  insert (body_of (sequence, "2"), 0, "relu");
  expect (sequence, "relu ! relu ! block(3) { relu ! linear(7) ! gelu } ! "
                    "linear(7, tied=\"2.2.1\") ! "
                    "block(2) { linear(7, tied=\"2.1.1\") ! linear(7, tied=../0) }");
}

/* Blocks are read from the inside out: an absolute path is not mistaken for one relative to the
 * block. */
static void
test_reading (void)
{
  static const char expression[] =
    "linear(7) ! relu ! block(2) { gelu ! linear(7, tied=\"0\") ! linear(7, tied=\"2.0.1\") ! "
    "block(2) { linear(7, tied=../../1) ! linear(7, tied=../../../0) } } ! linear(7, tied=\"0\")";
  g_autoptr (LigSequence) sequence = parse (expression);
  expect (sequence, expression);
  insert (sequence, 0, "relu");
  expect (sequence, "relu ! linear(7) ! relu ! block(2) { gelu ! linear(7, tied=\"1\") ! "
                    "linear(7, tied=\"3.0.1\") ! block(2) { linear(7, tied=../../1) ! "
                    "linear(7, tied=\"1\") } } ! linear(7, tied=\"1\")");
}

static void
test_parts (void)
{
  g_autoptr (LigSequence) sequence =
    parse ("relu ! linear(7) ! linear(7, tied=1) ! linear(7, tied=1.part) ! linear(7, tied=0)");
  g_autoptr (LigSequence) slice = lig_sequence_slice (sequence, 1, 5);
  expect (slice, "linear(7) ! linear(7, tied=\"0\") ! linear(7, tied=\"0.part\") ! "
                 "linear(7, tied=\"removed:0\")");
  g_autoptr (LigSequence) twice = lig_sequence_copy (sequence);
  lig_sequence_extend (twice, slice);
  g_autofree char *text = lig_sequence_to_expression (twice);
  g_assert_true (g_str_has_suffix (text, "linear(7) ! linear(7, tied=\"5\") ! "
                                         "linear(7, tied=\"5.part\") ! "
                                         "linear(7, tied=\"removed:0\")"));
  insert (sequence, 0, "relu");
  expect (sequence, "relu ! relu ! linear(7) ! linear(7, tied=\"2\") ! "
                    "linear(7, tied=\"2.part\") ! linear(7, tied=\"1\")");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tie/spelling", test_spelling);
  g_test_add_func ("/tie/list", test_list);
  g_test_add_func ("/tie/both", test_both);
  g_test_add_func ("/tie/removed", test_removed);
  g_test_add_func ("/tie/replaced", test_replaced);
  g_test_add_func ("/tie/blocks", test_blocks);
  g_test_add_func ("/tie/repetition", test_repetition);
  g_test_add_func ("/tie/reading", test_reading);
  g_test_add_func ("/tie/parts", test_parts);
  return g_test_run ();
}
