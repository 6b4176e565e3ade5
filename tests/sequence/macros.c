/* SPDX-License-Identifier: MIT */
/* Macros of an embedding program: paths of their parts' parameters, macros and blocks as parts,
 * private channels, and parts that would share a parameter. */
#include "tests/plan/case.h"
#include <ligature/macro.h>
#include <ligature/register.h>

/* Adds parts, each written as an op and, after a colon, its name. */
static void
add_parts (LigParts *parts, const char *const *words)
{
  for (; *words; words++) {
    g_auto (GStrv) halves = g_strsplit (*words, ":", 2);
    LigOp *op = lig_op_new (halves[0], NULL);
    if (op && strstr (halves[0], "linear"))
      g_object_set (op, "out-features", (gint64) 8, NULL);
    lig_parts_add (parts, halves[1], op);
  }
}

#define MACRO(symbol, ...) \
  static void symbol##_expand (LigOp *self, LigParts *parts) \
  { \
    static const char *const words[] = {__VA_ARGS__, NULL}; \
    add_parts (parts, words); \
  }

MACRO (named, "basic-linear:fc1", "gelu", "linear:fc2", "dropout:drop1", "dropout:drop2")
MACRO (outer, "macro-named:mlp", "layer-norm:norm", "macro-named:mlp_2")
MACRO (twin, "basic-linear", "gelu", "basic-linear")
MACRO (mixed, "basic-linear:fc1", "linear:fc1")
MACRO (dice, "dropout", "dropout")
MACRO (endless, "macro-endless")
MACRO (numbered, "basic-linear:0.1")
MACRO (broken, "no-such-op:fc1")

/* A block in a macro: the paths of its ops' parameters begin with the part's name. */
static void
repeat_expand (LigOp *self, LigParts *parts)
{
  LigOp *block = lig_op_new ("block", NULL);
  g_autoptr (LigOp) bias = lig_op_new ("bias", NULL);
  g_object_set (block, "repeat", (gint64) 2, NULL);
  g_assert_true (lig_sequence_append (lig_op_get_body (block), bias, NULL));
  lig_parts_add (parts, "body", block);
}

/* The channel is private to the macro, so a sequence may contain the macro twice. */
static void
residual_expand (LigOp *self, LigParts *parts)
{
  LigOp *branch = lig_op_new ("make-extra-output", NULL),
        *join = lig_op_new ("add-extra-input", NULL);
  LigOp *outside = lig_op_new ("add-extra-input", NULL);
  g_assert_true (lig_op_set_extra_output_channel (branch, 0, "r", FALSE, NULL));
  g_assert_true (lig_op_set_extra_input_channel (join, 0, "r", NULL));
  g_assert_true (lig_op_set_extra_input_channel (outside, 0, "../r", NULL));
  lig_parts_add (parts, NULL, branch);
  lig_parts_add (parts, NULL, lig_op_new ("gelu", NULL));
  lig_parts_add (parts, NULL, join);
  lig_parts_add (parts, NULL, outside);
}

/* The macro's example is just the macro, unless another is given. */
static void
register_macro (const char *macro,
                void (*expand) (LigOp *, LigParts *),
                const char *example,
                GError **error)
{
  LigOpInfo info = {LIG_OP_INFO_SIZES,
                    .name = macro,
                    .title = "Macro",
                    .category = "Other",
                    .summary = "Stands for several",
                    .expand = expand};
  g_autofree char *alone = g_strdup_printf ("%s @ 4x8", macro);
  info.example = g_intern_string (example ? example : alone);
  lig_register_op (&info, error);
}

static LigSequence *
sequence_of (const char *macro,
             void (*expand) (LigOp *, LigParts *),
             const char *example,
             const char *expression)
{
  g_autoptr (GError) error = NULL;
  if (!lig_op_info_find (macro))
    register_macro (macro, expand, example, &error);
  g_assert_no_error (error);
  return new_sequence (expression, "4x8");
}

static void
check_paths (LigSequence *sequence, const char *const *paths)
{
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigState) state = new_state (sequence, &options);
  g_autofree char *got = g_strjoinv (" ", (GStrv) lig_state_get_paths (state));
  g_autofree char *wanted = g_strjoinv (" ", (GStrv) paths);
  g_assert_cmpstr (got, ==, wanted);
}

static void
test_names (void)
{
  static const char *const paths[] = {"1.fc1.weight", "1.fc2.weight", "1.fc2.bias", NULL};
  g_autoptr (LigSequence) sequence =
    sequence_of ("macro-named", named_expand, NULL, "gelu ! macro-named");
  check_paths (sequence, paths);
  /* Groups, messages and constraints on fusions use the path of the op as written. */
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (plan, &count);
  g_assert_cmpuint (count, ==, 7);
  for (guint i = 1; i < count; i++)
    g_assert_cmpstr (ops[i].path, ==, "1");
  g_assert_cmpstr (ops[0].prefix, ==, "0");
  g_assert_cmpstr (ops[1].prefix, ==, "1.fc1");
  g_assert_cmpstr (ops[4].prefix, ==, "1.fc2");
}

static void
test_nested (void)
{
  static const char *const paths[] = {
    "0.mlp.fc1.weight",   "0.mlp.fc2.weight", "0.mlp.fc2.bias",
    "0.norm.weight",      "0.norm.bias",      "0.mlp_2.fc1.weight",
    "0.mlp_2.fc2.weight", "0.mlp_2.fc2.bias", NULL};
  static const char *const repeated[] = {"1.body.0.0.bias", "1.body.1.0.bias", NULL};
  g_autoptr (LigSequence) inner = sequence_of ("macro-named", named_expand, NULL, "macro-named");
  g_autoptr (LigSequence) sequence = sequence_of ("macro-outer", outer_expand, NULL, "macro-outer");
  check_paths (sequence, paths);
  g_autoptr (LigSequence) block =
    sequence_of ("macro-repeat", repeat_expand, NULL, "gelu ! macro-repeat");
  check_paths (block, repeated);
}

/* Two dropouts of one macro have different masks. */
static void
test_draws (void)
{
  g_autoptr (LigSequence) sequence = sequence_of ("macro-named", named_expand, NULL, "macro-named");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) twice = new_sequence ("dropout(0.5) ! macro-named", "64x8");
  g_autoptr (Results) results = compute (twice, &options);
  const LigTensor *y = results_find (results, "output");
  int zeros = 0;
  for (gint64 i = 0; i < y->size; i++)
    zeros += lig_tensor_get (y, i) == 0;
  /* 0.1 of each of two masks drops 19 %; the same mask twice would drop 10 %. */
  g_assert_cmpfloat (zeros / (double) y->size, >, 0.14);
}

static void
test_channels (void)
{
  g_autoptr (LigSequence) sequence =
    sequence_of ("macro-residual", residual_expand, "make-extra-output(r) ! macro-residual @ 4x8",
                 "make-extra-output(r) ! macro-residual ! linear(8) ! macro-residual");
  g_autoptr (LigSequence) plain = new_sequence (
    "make-extra-output(r) ! make-extra-output(a) ! gelu ! add-extra-input(a) ! add-extra-input(r)"
    " ! linear(8) ! make-extra-output(b) ! gelu ! add-extra-input(b) ! add-extra-input(r)",
    "4x8");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.input_gradient = TRUE;
  options.policy = LIG_POLICY_NONE;
  g_autoptr (Results) got = compute (sequence, &options);
  g_autoptr (Results) want = compute (plain, &options);
  const char *const names[] = {"output", "grad.input"};
  for (int i = 0; i < 2; i++)
    g_assert_cmpint (results_find (got, names[i])->size, ==, 32);
  /* Initial weights depend on their paths, so values differ; shapes and wiring do not. */
  g_assert_cmpuint (got->names->len, ==, want->names->len);
}

static const struct {
  const char *macro;
  void (*expand) (LigOp *, LigParts *);
  int code;
  const char *message;
} rejected[] = {
  {"macro-twin", twin_expand, LIG_ERROR_OP,
   "macro-twin at 1: its parts basic-linear and basic-linear both have a parameter 1.weight; "
   "give the parts different names"},
  {"macro-mixed", mixed_expand, LIG_ERROR_OP,
   "macro-mixed at 1: its parts basic-linear and basic-linear both have a parameter "
   "1.fc1.weight; give the parts different names"},
  {"macro-dice", dice_expand, LIG_ERROR_OP,
   "macro-dice at 1: its parts dropout and dropout both have the path 1; give the parts "
   "different names"},
  {"macro-endless", endless_expand, LIG_ERROR_SHAPE,
   "macro-endless at 1: blocks and macros nest deeper than 32"},
  {"macro-numbered", numbered_expand, LIG_ERROR_OP,
   "macro-numbered at 1: a part is called '0.1', expected at most 31 lower-case letters, "
   "digits, - or _ after a letter"},
  {"macro-broken", broken_expand, LIG_ERROR_OP,
   "macro-broken at 1: a part called fc1 could not be created"},
};

/* The macro's example reveals the mistake when the macro is registered, before it is compiled. */
static void
test_rejected (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (rejected); i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *example = g_strdup_printf ("gelu ! %s @ 4x8", rejected[i].macro);
    g_autofree char *message = g_strdup_printf ("op %s: its example '%s': %s", rejected[i].macro,
                                                example, rejected[i].message);
    register_macro (rejected[i].macro, rejected[i].expand, example, &error);
    g_assert_error (error, LIG_ERROR, rejected[i].code);
    g_assert_cmpstr (error->message, ==, message);
    g_assert_null (lig_op_info_find (rejected[i].macro));
    g_clear_error (&error);
    g_assert_null (lig_op_new (rejected[i].macro, &error));
  }
}

/* A macro with a mistake that appears only with other parameters is rejected at compile time, and
 * by lig_state_new(). */
static bool twice;

static void
moody_expand (LigOp *self, LigParts *parts)
{
  static const char *const words[] = {"basic-linear", "basic-linear", NULL};
  add_parts (parts, twice ? words : words + 1);
}

static void
test_rejected_later (void)
{
  static const char *const message =
    "macro-moody at 1: its parts basic-linear and basic-linear both have a parameter 1.weight; "
    "give the parts different names";
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence =
    sequence_of ("macro-moody", moody_expand, NULL, "gelu ! macro-moody");
  g_autoptr (GError) error = NULL;
  twice = true;
  check_rejected (sequence, &options, LIG_ERROR_OP, message);
  g_assert_null (lig_state_new (sequence, cpu_device (), &options, 1, &error));
  g_assert_cmpstr (error->message, ==, message);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/macros/names", test_names);
  g_test_add_func ("/macros/nested", test_nested);
  g_test_add_func ("/macros/draws", test_draws);
  g_test_add_func ("/macros/channels", test_channels);
  g_test_add_func ("/macros/rejected", test_rejected);
  g_test_add_func ("/macros/rejected-later", test_rejected_later);
  return g_test_run ();
}
