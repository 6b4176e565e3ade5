/* SPDX-License-Identifier: MIT */
/* When macros are expanded, the patterns of frozen parameters still match the same parameters.
 */
#include "tests/compile/apart-case.h"

#include <json-glib/json-glib.h>

static char *
read_freeze (LigSequence *sequence)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) train = json_from_string (lig_sequence_get_train (sequence), &error);
  g_assert_no_error (error);
  JsonObject *object = json_node_get_object (train);
  g_assert_cmpint (json_object_get_int_member (object, "steps"), ==, 7);
  return g_strdup (json_object_get_string_member (object, "freeze"));
}

/* Returns `10` for a frozen parameter before a trained one. */
static char *
list_frozen (LigSequence *sequence, const char *freeze)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  GString *text = g_string_new (NULL);
  options.freeze = freeze;
  g_autoptr (LigState) state = new_state (sequence, &options);
  for (const char *const *path = lig_state_get_paths (state); *path; path++)
    g_string_append_c (text, lig_state_is_trained (state, *path) ? '0' : '1');
  return g_string_free (text, FALSE);
}

/* Expands the op at `index` in the block at `block`, or, if that is -1, in the sequence. */
static void
check (const char *expression, int block, int index, const char *freeze, const char *expected)
{
  g_autofree char *train = g_strdup_printf ("{\"steps\": 7, \"freeze\": \"%s\"}", freeze);
  g_autoptr (LigSequence) whole = new_sequence (expression, "2x3x8");
  lig_sequence_set_train (whole, train);
  g_autoptr (LigSequence) apart = lig_sequence_copy (whole);
  LigSequence *list = block < 0 ? apart : lig_op_get_body (lig_sequence_get (apart, block, NULL));
  expand_macro (list, index, 8);
  g_autofree char *got = read_freeze (apart);
  g_assert_cmpstr (got, ==, expected);
  g_autofree char *before = list_frozen (whole, freeze), *after = list_frozen (apart, got);
  g_assert_cmpstr (after, ==, before);
  g_assert_nonnull (strchr (before, '1'));
}

#define MODEL "linear(8) ! layer-norm-mlp(16) ! linear(8) ! bias"
#define BLOCK \
  "linear(8) ! block(3) { transformer-layer(2) ! linear(8) } ! transformer-layer(2) ! linear(8)"

/* In MODEL, 1 becomes layer-norm, linear, gelu, linear. */
static void
test_list (void)
{
  check (MODEL, -1, 1, "0.*", "0.*");
  check (MODEL, -1, 1, "*.bias", "*.bias");
  check (MODEL, -1, 1, "1.*", "1.*,2.*,4.*");
  check (MODEL, -1, 1, "1.fc1.*", "2.*");
  check (MODEL, -1, 1, "1.fc1.weight", "2.weight");
  check (MODEL, -1, 1, "1.norm.bias, 2.weight", "1.bias,5.weight");
  check (MODEL, -1, 1, "2.*,3.bias", "5.*,6.*");
  check (MODEL, -1, 1, "*.fc?.weight", "2.weight,4.weight");
  check (MODEL, -1, 1, "*", "*");
}

/* One pattern names an op of all repetitions of a block. */
static void
test_block (void)
{
  check (BLOCK, 1, 0, "1.*", "1.*");
  check (BLOCK, 1, 0, "2.*", "2.*");
  check (BLOCK, 1, 0, "1.2.*", "1.2.*");
  check (BLOCK, 1, 0, "1.*.1.*", "1.*.12.*");
  check (BLOCK, 1, 0, "1.*.0.qkv.*", "1.*.2.*");
  check (BLOCK, 1, 0, "1.1.0.qkv.weight", "1.1.2.weight");
  check (BLOCK, 1, 0, "*.qkv.weight", "1.*.2.weight,2.qkv.weight");
  check (BLOCK, -1, 2, "3.*", "14.*");
  check (BLOCK, -1, 2, "*.fc2.*", "1.*.0.fc2.*,12.*");
}

/* Expanding a layer step by step, and one that becomes a separate block. */
static void
test_more (void)
{
  check ("layer-norm-mlp(16, recompute=all) ! linear(8)", -1, 0, "0.fc1.*,1.bias",
         "0.*.1.*,1.bias");
  check ("linear(8) ! gelu", -1, 0, "0.bias", "1.*");
  check ("multi-head-attention(2, qk-norm=rms) ! linear(8)", -1, 0, "0.qk-norm.*,1.*", "1.*,4.*");
}

/* Nothing changes without patterns, or without an object of the right form. */
static void
test_none (void)
{
  static const char *const trains[] = {"{\"steps\": 7}", "{\"freeze\": 3}", "[]"};
  for (guint i = 0; i < G_N_ELEMENTS (trains); i++) {
    g_autoptr (LigSequence) sequence = new_sequence (MODEL, "2x3x8");
    lig_sequence_set_train (sequence, trains[i]);
    expand_macro (sequence, 1, 8);
    g_assert_cmpstr (lig_sequence_get_train (sequence), ==, trains[i]);
  }
}

static void
check_suggestion (const char *freeze, const char *end)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (MODEL, "2x3x8");
  options.freeze = freeze;
  g_assert_null (lig_state_new (sequence, cpu_device (), &options, 7, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  if (!g_str_has_suffix (error->message, end))
    g_error ("'%s' does not end with '%s'", error->message, end);
}

static void
test_suggestion (void)
{
  check_suggestion ("0.weigt", "; did you mean '0.weight'?");
  check_suggestion ("1.fc3.weight", "; did you mean '1.fc1.weight'?");
  check_suggestion ("1.nrom.*", "; did you mean '1.norm.*'?");
  check_suggestion ("*.weiht", "; did you mean '*.weight'?");
  check_suggestion ("transformer.h.0", " 1.norm.weight …");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/expand-macro-frozen/list", test_list);
  g_test_add_func ("/expand-macro-frozen/block", test_block);
  g_test_add_func ("/expand-macro-frozen/more", test_more);
  g_test_add_func ("/expand-macro-frozen/none", test_none);
  g_test_add_func ("/expand-macro-frozen/suggestion", test_suggestion);
  return g_test_run ();
}
