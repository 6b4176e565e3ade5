/* SPDX-License-Identifier: MIT */
/* Sequences as expressions: the grammar, the message for each mistake, and reading and writing. */
#include <ligature/sequence.h>

#include <string.h>

static LigSequence *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  LigSequence *sequence = lig_sequence_from_expression (text, &error);
  g_assert_no_error (error);
  g_assert_nonnull (sequence);
  return sequence;
}

/* Parses `text` and checks that its shortest form is `wanted`, which parses to the same ops. */
static void
check (const char *text, const char *wanted)
{
  g_autoptr (LigSequence) first = parse (text);
  g_autofree char *expression = lig_sequence_to_expression (first);
  g_autofree char *json = lig_sequence_to_json (first);
  g_assert_cmpstr (expression, ==, wanted);
  g_autoptr (LigSequence) second = parse (expression);
  g_autofree char *again = lig_sequence_to_json (second);
  g_assert_cmpstr (again, ==, json);
}

static void
test_forms (void)
{
  check ("gelu", "gelu");
  check (" layer-norm!linear ( 28672 ,bias = false )! swiglu\n! linear(4096) ",
         "layer-norm ! linear(28672, bias=false) ! swiglu ! linear(4096)");
  check ("gelu()", "gelu");
  check ("linear(bias=false, 7)", "linear(7, bias=false)");
  check ("linear(out-features=7, bias=true)", "linear(7)");
  check ("make-extra-output(to=../r) ! gelu ! add-extra-input(../r)",
         "make-extra-output(../r) ! gelu ! add-extra-input(../r)");
  check ("make-extra-output(caller=true)", "make-extra-output(caller=true)");
  check ("make-extra-output(r, caller=true)", "make-extra-output(r, caller=true)");
}

static void
test_numbers (void)
{
  check ("linear(4096.0)", "linear(4096)");
  check ("linear(1e3)", "linear(1000)");
  check ("linear(1E+3, init-std=.5)", "linear(1000, init-std=0.5)");
  check ("layer-norm(eps=1e-5)", "layer-norm");
  check ("layer-norm(eps=1e-6)", "layer-norm(eps=1e-6)");
  check ("dropout(0.3)", "dropout(0.3)");
  check ("dropout(0.1)", "dropout");
  check ("dropout(5.e-1)", "dropout(0.5)");
  check ("constant-scale(-2.5)", "constant-scale(-2.5)");
  check ("constant-scale(- 3)", "constant-scale(-3)");
  check ("constant-scale(1e20)", "constant-scale(1e20)");
  check ("constant-scale(16777217)", "constant-scale(16777216)");
  check ("constant-scale(0.333333343)", "constant-scale(0.33333334)");
  check ("constant-scale(-0.0)", "constant-scale(-0.0)");
  /* A required parameter is written even if it equals its default. */
  check ("constant-scale(1)", "constant-scale(1)");
}

static void
test_strings (void)
{
  check ("make-extra-output('a b')", "make-extra-output(\"a b\")");
  check ("make-extra-output(\"r\")", "make-extra-output(r)");
  check ("make-extra-output('true')", "make-extra-output(\"true\")");
  check ("make-extra-output('7')", "make-extra-output(\"7\")");
  check ("make-extra-output('.5')", "make-extra-output(\".5\")");
  check ("make-extra-output('a\"\\\\\\'')", "make-extra-output(\"a\\\"\\\\'\")");
  check ("make-extra-output('straße')", "make-extra-output(\"straße\")");
}

static void
test_lists (void)
{
  check ("reshape([2,-1])", "reshape([2, -1])");
  check ("layer-norm([7, 2.0])", "layer-norm([7, 2])");
  check ("layer-norm(768)", "layer-norm([768])");
}

static void
test_blocks (void)
{
  check ("block(12){linear(4)!block(repeat=2){gelu}}!relu",
         "block(12) { linear(4) ! block(2) { gelu } } ! relu");
  check ("block(1) { gelu }", "block() { gelu }");
  g_autoptr (LigSequence) sequence = parse ("gelu ! block(3) { relu ! | ! silu }");
  LigOp *op = lig_sequence_find (sequence, "1.2.1", NULL);
  g_assert_cmpstr (lig_op_get_name (op), ==, "silu");
  g_assert_true (lig_op_get_fence (op));
}

static void
test_fences (void)
{
  check ("gelu ! | ! relu ! silu!|!glu", "gelu ! | ! relu ! silu ! | ! glu");
  g_autoptr (LigSequence) sequence = parse ("gelu ! | ! relu");
  g_assert_cmpuint (lig_sequence_get_length (sequence), ==, 2);
  g_assert_false (lig_op_get_fence (lig_sequence_get (sequence, 0, NULL)));
  g_assert_true (lig_op_get_fence (lig_sequence_get (sequence, 1, NULL)));
}

static const struct {
  const char *text, *message;
  int code;
} mistakes[] = {
  {"", "the expression is empty, expected an op", LIG_ERROR_FORMAT},
  {" \n\t", "the expression is empty, expected an op", LIG_ERROR_FORMAT},
  {"gelu !", "column 7: expected an op, got the end", LIG_ERROR_FORMAT},
  {"! gelu", "column 1: expected an op, got '!'", LIG_ERROR_FORMAT},
  {"gelu relu", "column 6: expected '!' or the end, got 'relu'", LIG_ERROR_FORMAT},
  {"gelu)", "column 5: expected '!' or the end, got ')'", LIG_ERROR_FORMAT},
  {"gelu(", "column 6: expected a value, got the end", LIG_ERROR_FORMAT},
  {"gelu ! \n  7", "line 2, column 3: expected an op, got '7'", LIG_ERROR_FORMAT},
  {"é", "column 1: expected an op, got 'é'", LIG_ERROR_FORMAT},
  {"'é' ! x", "column 1: expected an op, got ''é''", LIG_ERROR_FORMAT},
  {"geluu", "column 1: op 'geluu' is unknown; did you mean 'gelu'?", LIG_ERROR_OP},
  {"gelu ! linear", "column 8: linear needs out-features", LIG_ERROR_OP},
  {"linear(,)", "column 8: expected a value, got ','", LIG_ERROR_FORMAT},
  {"linear(4,)", "column 10: expected a value, got ')'", LIG_ERROR_FORMAT},
  {"linear(4", "column 9: expected ',' or ')', got the end", LIG_ERROR_FORMAT},
  {"linear(4 5)", "column 10: expected ',' or ')', got '5'", LIG_ERROR_FORMAT},
  {"linear(bias=)", "column 13: expected a value, got ')'", LIG_ERROR_FORMAT},
  {"linear(0x10)", "column 8: expected a decimal number, got '0x10'", LIG_ERROR_FORMAT},
  {"linear(010)", "column 8: expected a decimal number, got '010'", LIG_ERROR_FORMAT},
  {"linear(1e)", "column 8: expected a decimal number, got '1e'", LIG_ERROR_FORMAT},
  {"linear(5-3)", "column 8: expected a decimal number, got '5-3'", LIG_ERROR_FORMAT},
  {"linear($10)", "column 8: expected a value, got '$'", LIG_ERROR_FORMAT},
  {"linear(4 # four)", "column 10: expected ',' or ')', got '#'", LIG_ERROR_FORMAT},
  {"linear(-x)", "column 9: expected a number, got 'x'", LIG_ERROR_FORMAT},
  {"linear(3.5)", "column 8: out-features of linear: expected a whole number, got 3.5",
   LIG_ERROR_VALUE},
  {"linear(true)", "column 8: out-features of linear: expected a whole number, got true",
   LIG_ERROR_VALUE},
  {"linear(many)", "column 8: out-features of linear: expected a whole number, got \"many\"",
   LIG_ERROR_VALUE},
  {"linear([4])", "column 8: out-features of linear: expected a whole number, got [4]",
   LIG_ERROR_VALUE},
  {"linear(4, bias=1)", "column 16: bias of linear: expected true or false, got 1",
   LIG_ERROR_VALUE},
  {"dropout(p=x)", "column 11: p of dropout: expected a number, got \"x\"", LIG_ERROR_VALUE},
  {"make-extra-output(to=5)",
   "column 22: to of make-extra-output: expected a channel's name, got 5", LIG_ERROR_VALUE},
  {"make-extra-output(to='')",
   "column 22: to of make-extra-output: expected a channel's name, a non-empty string, got \"\"",
   LIG_ERROR_CHANNEL},
  {"make-extra-output(to=../)",
   "column 22: to of make-extra-output: expected a channel's name, a non-empty string, got "
   "\"../\"",
   LIG_ERROR_CHANNEL},
  {"make-extra-output('a)", "column 19: expected a closing ', got the end", LIG_ERROR_FORMAT},
  {"make-extra-output('a\\", "column 19: expected a closing ', got the end", LIG_ERROR_FORMAT},
  {"linear(99999999999999999999)", "column 8: '99999999999999999999' does not fit 64 bits",
   LIG_ERROR_VALUE},
  {"constant-scale(1e999)", "column 16: '1e999' does not fit 64 bits", LIG_ERROR_VALUE},
  {"linear(4, 5)",
   "column 11: only one value may have no name; linear has out-features, in-features, "
   "init-std, recipe, parallel, sections, tied, bias, sequence-parallel",
   LIG_ERROR_OP},
  {"gelu(4)", "column 6: each value needs a name here; gelu has no parameters", LIG_ERROR_OP},
  {"linear(4, size=5)",
   "column 11: parameter 'size' is unknown; linear has out-features, in-features, init-std, "
   "recipe, parallel, sections, tied, bias, sequence-parallel",
   LIG_ERROR_OP},
  {"linear(4, bias=true, bias=true)", "column 22: bias is given twice", LIG_ERROR_FORMAT},
  {"linear(4, out-features=5)", "column 11: out-features is given twice", LIG_ERROR_FORMAT},
  {"reshape([])", "column 10: expected a number, got ']'", LIG_ERROR_FORMAT},
  {"reshape([2, [3]])", "column 13: expected a number, got '['", LIG_ERROR_FORMAT},
  {"reshape([2, 3.5])", "column 13: expected a whole number, got 3.5", LIG_ERROR_VALUE},
  {"reshape([2 3])", "column 12: expected ',' or ']', got '3'", LIG_ERROR_FORMAT},
  {"reshape([1,1,1,1,1,1,1,1,1])",
   "column 26: a shape has at least 9 axes, at most 8 are "
   "allowed",
   LIG_ERROR_SHAPE},
  {"reshape([0])", "column 9: shape of reshape: axis 0 has length 0, expected 1 to 2147483647",
   LIG_ERROR_SHAPE},
  {"reshape([2147483647, 2147483647, 2147483647])",
   "column 9: shape of reshape: the first 2 axes have 4611686014132420609 elements, at most "
   "1099511627776 are possible",
   LIG_ERROR_SHAPE},
  {"| ! gelu", "column 1: a fence separates two ops, but none is before it", LIG_ERROR_FORMAT},
  {"gelu ! |", "column 8: a fence separates two ops, but none is after it", LIG_ERROR_FORMAT},
  {"gelu ! | ! | ! relu", "column 12: a second fence in one gap", LIG_ERROR_FORMAT},
  {"gelu | relu", "column 6: expected '!' or the end, got '|'", LIG_ERROR_FORMAT},
  {"block(2) { | ! gelu }", "column 12: a fence separates two ops, but none is before it",
   LIG_ERROR_FORMAT},
  {"block { gelu }", "column 7: expected '(' and how often the block repeats, got '{'",
   LIG_ERROR_FORMAT},
  {"block(2)", "column 9: expected '{' and the ops of the block, got the end", LIG_ERROR_FORMAT},
  {"block(2) { gelu", "column 16: expected '!' or '}', got the end", LIG_ERROR_FORMAT},
  {"block(2) { }", "column 12: expected an op, got '}'", LIG_ERROR_FORMAT},
  {"gelu { relu }", "column 6: expected '!' or the end, got '{'", LIG_ERROR_FORMAT},
  {"block(2, offload=true) { gelu }", "column 10: offload of block: reserved: not implemented yet",
   LIG_ERROR_OP},
  {"block(1000) { block(1001) { gelu } }",
   "column 1: with its blocks repeated the sequence has 1001000 ops up to here, at most "
   "1000000 are allowed",
   LIG_ERROR_VALUE},
  {"gelu ! block(1000000) { gelu }",
   "column 8: with its blocks repeated the sequence has 1000001 ops up to here, at most "
   "1000000 are allowed",
   LIG_ERROR_VALUE},
};

static void
test_mistake (gconstpointer data)
{
  guint i = GPOINTER_TO_UINT (data);
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (mistakes[i].text, &error);
  g_assert_null (sequence);
  g_assert_nonnull (error);
  g_assert_cmpstr (error->message, ==, mistakes[i].message);
  g_assert_error (error, LIG_ERROR, mistakes[i].code);
}

static void
test_depth (void)
{
  g_autoptr (GString) text = g_string_new ("gelu");
  for (int i = 0; i < 16; i++) {
    g_string_prepend (text, "block(1) { ");
    g_string_append (text, " }");
  }
  g_autoptr (LigSequence) sequence = parse (text->str);
  g_assert_cmpuint (lig_sequence_get_length (sequence), ==, 1);
  for (int i = 0; i < 100000; i++)
    g_string_prepend (text, "block(1) { ");
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) rejected = lig_sequence_from_expression (text->str, &error);
  g_assert_null (rejected);
  g_assert_cmpstr (error->message, ==,
                   "column 186: blocks nest 17 deep, at most 16 levels are "
                   "allowed");
}

static void
test_long (void)
{
  g_autoptr (GString) text = g_string_new ("gelu");
  for (int i = 1; i < 20000; i++)
    g_string_append (text, " ! gelu");
  g_autoptr (LigSequence) sequence = parse (text->str);
  g_autofree char *again = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (again, ==, text->str);
}

static void
test_not_text (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("gelu\xff", &error);
  g_assert_null (sequence);
  g_assert_cmpstr (error->message, ==, "it is not UTF-8 text: byte 0xff at offset 4");
}

/* The example of an op gives that op, and so do its texts as expression and as file. */
static void
test_example (gconstpointer data)
{
  const LigOpInfo *info = data;
  g_assert_nonnull (info->example);
  g_auto (GStrv) parts = g_strsplit (info->example, " @ ", 2);
  g_assert_cmpuint (g_strv_length (parts), ==, 2);
  g_autoptr (LigSequence) first = parse (parts[0]);
  LigShape shape;
  LigDtype dtype = LIG_FP32;
  g_assert_true (lig_shape_parse (parts[1], &shape, &dtype, NULL));
  lig_sequence_set_input (first, &shape, dtype);
  g_assert_nonnull (strstr (parts[0], info->name));
  g_autofree char *json = lig_sequence_to_json (first);
  g_autofree char *expression = lig_sequence_to_expression (first);
  g_autoptr (LigSequence) second = lig_sequence_from_json (json, -1, NULL, NULL);
  g_assert_nonnull (second);
  g_autofree char *again = lig_sequence_to_json (second);
  g_assert_cmpstr (again, ==, json);
  g_autofree char *expression_again = lig_sequence_to_expression (second);
  g_assert_cmpstr (expression_again, ==, expression);
  check (expression, expression);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expression/forms", test_forms);
  g_test_add_func ("/expression/numbers", test_numbers);
  g_test_add_func ("/expression/strings", test_strings);
  g_test_add_func ("/expression/lists", test_lists);
  g_test_add_func ("/expression/blocks", test_blocks);
  g_test_add_func ("/expression/fences", test_fences);
  g_test_add_func ("/expression/depth", test_depth);
  g_test_add_func ("/expression/long", test_long);
  g_test_add_func ("/expression/not-text", test_not_text);
  for (guint i = 0; i < G_N_ELEMENTS (mistakes); i++) {
    g_autofree char *path = g_strdup_printf ("/expression/mistake/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_mistake);
  }
  for (guint i = 0; lig_op_info_nth (i); i++) {
    g_autofree char *path = g_strconcat ("/op/", lig_op_info_nth (i)->name, "/example", NULL);
    g_test_add_data_func (path, lig_op_info_nth (i), test_example);
  }
  return g_test_run ();
}
