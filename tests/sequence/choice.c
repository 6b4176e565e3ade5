/* SPDX-License-Identifier: MIT */
/* Enumeration parameters: in structs, properties, files, expressions and tables, and the errors for
 * unknown names and faulty tables. */
#include "tests/sequence/register-case.h"
#include <ligature/register.h>

typedef struct {
  gint64 before;
  gint32 mask, form;
} ChoiceParams;

static const LigParam choices[] = {
  LIG_CHOICE (
    ChoiceParams, mask, "mask", "Mask", "The visible keys", "causal|none|bottom-right", 0),
  LIG_CHOICE (ChoiceParams, form, "form", "Form", "The form", "tanh|erf", 1),
  {.name = NULL},
};

static void
register_choice (void)
{
  g_autoptr (GError) error = NULL;
  LigOpInfo info = whole ("choice-op");
  if (lig_op_info_find ("choice-op"))
    return;
  info.params = choices;
  info.params_size = sizeof (ChoiceParams);
  lig_register_op (&info, &error);
  g_assert_no_error (error);
}

static void
check_text (const char *expression, int mask, int form, const char *again)
{
  g_autoptr (GError) error = NULL;
  register_choice ();
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  LigOp *op = lig_sequence_get (sequence, 0, NULL);
  const ChoiceParams *values = lig_op_get_params (op);
  g_assert_cmpint (values->mask, ==, mask);
  g_assert_cmpint (values->form, ==, form);
  g_assert_cmpint (values->before, ==, 0);
  g_autofree char *written = lig_sequence_to_expression (sequence);
  g_assert_cmpstr (written, ==, again);
  g_autofree char *json = lig_sequence_to_json (sequence);
  g_autoptr (LigSequence) read = lig_sequence_from_json (json, -1, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (lig_op_get_params (lig_sequence_get (read, 0, NULL)), sizeof (ChoiceParams),
                   values, sizeof (ChoiceParams));
  g_autoptr (LigOp) copy = lig_op_copy (op);
  g_assert_cmpmem (lig_op_get_params (copy), sizeof (ChoiceParams), values, sizeof (ChoiceParams));
}

static void
test_texts (void)
{
  check_text ("choice-op", 0, 1, "choice-op");
  check_text ("choice-op(mask=causal, form=erf)", 0, 1, "choice-op");
  check_text ("choice-op(mask=none)", 1, 1, "choice-op(mask=none)");
  check_text ("choice-op(mask=\"bottom-right\", form=tanh)", 2, 0,
              "choice-op(mask=bottom-right, form=tanh)");
}

static void
test_properties (void)
{
  g_autofree char *mask = NULL, *form = NULL, *kept = NULL, *reset = NULL;
  g_auto (GValue) value = G_VALUE_INIT;
  register_choice ();
  g_autoptr (LigOp) op = lig_op_new ("choice-op", NULL);
  const LigParam *param = &lig_op_get_info (op)->params[0];
  g_object_get (op, "mask", &mask, "form", &form, NULL);
  g_assert_cmpstr (mask, ==, "causal");
  g_assert_cmpstr (form, ==, "erf");
  g_object_set (op, "mask", "none", NULL);
  g_assert_true (lig_op_get_value (op, param, &value));
  g_assert_cmpstr (g_value_get_string (&value), ==, "none");
  /* A name that is not a choice changes nothing. */
  g_object_set (op, "mask", "casual", NULL);
  g_object_get (op, "mask", &kept, NULL);
  g_assert_cmpstr (kept, ==, "none");
  g_object_set (op, "mask", NULL, NULL);
  g_object_get (op, "mask", &reset, NULL);
  g_assert_cmpstr (reset, ==, "causal");
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (op), "form");
  g_assert_cmpstr (g_value_get_string (g_param_spec_get_default_value (spec)), ==, "erf");
  g_assert_cmpstr (lig_param_get_choice (param, 2), ==, "bottom-right");
  g_assert_null (lig_param_get_choice (param, 3));
  g_assert_null (lig_param_get_choice (param, -1));
  g_assert_cmpint (lig_param_find_choice (param, "bottom-right"), ==, 2);
  g_assert_cmpint (lig_param_find_choice (param, "bottom"), ==, -1);
  g_assert_cmpint (lig_param_find_choice (param, "causal|none"), ==, -1);
}

static void
check_error (const char *expression, const char *message)
{
  g_autoptr (GError) error = NULL;
  register_choice ();
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_null (sequence);
  g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, message));
}

static void
test_errors (void)
{
  g_autoptr (GError) error = NULL;
  check_error ("choice-op(mask=casual)",
               "choice-op: mask is 'casual', expected causal, none or bottom-right; did you mean "
               "'causal'?");
  check_error ("choice-op(form=sigmoid)", "choice-op: form is 'sigmoid', expected tanh or erf");
  check_error ("choice-op(mask=1)", "choice-op: mask is 1, expected causal, none or bottom-right");
  check_error ("choice-op(mask=true)", "choice-op: mask is true, expected causal, none");
  check_error ("choice-op(mask=[1, 2])", "choice-op: mask is [1, 2], expected causal, none");
  check_error ("choice-op(mask=\"causal|none\")", "choice-op: mask is 'causal|none', expected");
  const char *json = "{\"ligature\":1,\"ops\":[{\"op\":\"choice-op\",\"mask\":\"Causal\"}]}";
  g_assert_null (lig_sequence_from_json (json, -1, NULL, &error));
  g_assert_cmpstr (error->message, ==,
                   "$.ops[0].mask: choice-op: mask is 'Causal', expected causal, none or "
                   "bottom-right; did you mean 'causal'?");
}

static void
check_faulty (const char *names, double initial, const char *message)
{
  const LigParam table[] = {
    {LIG_PARAM_CHOICE, "mask", "Mask", "The visible keys", 0, 0, initial, 0, 8, names},
    {.name = NULL}};
  LigOpInfo info = whole ("choice-faulty");
  info.params = table;
  check_rejection (&info, message);
}

static void
test_tables (void)
{
  static const char *const wrong = "op choice-faulty: parameter mask has the choices '%s', "
                                   "expected at least 2 different names in kebab-case, separated "
                                   "by |, not true or false";
  static const char *const lists[] = {"", "one", "one|", "one|one", "one|Two", "one|true"};
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++) {
    g_autoptr (GString) message = g_string_new (wrong);
    g_string_replace (message, "%s", lists[i], 1);
    check_faulty (lists[i], 0, message->str);
  }
  check_faulty ("one|two", 2,
                "op choice-faulty: parameter mask has the initial choice 2, expected an index from "
                "0 to 1");
  check_faulty ("one|two", 0.5,
                "op choice-faulty: parameter mask has the initial choice 0.5, expected an index "
                "from 0 to 1");
  const LigParam table[] = {{LIG_PARAM_CHOICE, "mask", "Mask", "The visible keys", 0, 0, 0, 0,
                             sizeof (Params) - 2, "one|two"},
                            {.name = NULL}};
  LigOpInfo info = whole ("choice-faulty");
  info.params = table;
  g_autofree char *beyond = g_strdup_printf (
    "op choice-faulty: parameter mask has its end at byte %zu, that of the params struct is at %zu",
    sizeof (Params) + 2, sizeof (Params));
  check_rejection (&info, beyond);
  /* A program that was compiled before choices existed has no names. */
  LigParam older[2] = {{LIG_PARAM_CHOICE, "mask", "Mask", "Help", 0, 0, 0, 0, 8, "one|two"}};
  info.params = older;
  info.param_size = sizeof (LigParam);
  older[0].choices = NULL;
  g_autoptr (GString) message = g_string_new (wrong);
  g_string_replace (message, "%s", "", 1);
  check_rejection (&info, message->str);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/choice/texts", test_texts);
  g_test_add_func ("/choice/properties", test_properties);
  g_test_add_func ("/choice/errors", test_errors);
  g_test_add_func ("/choice/tables", test_tables);
  return g_test_run ();
}
