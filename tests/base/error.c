/* SPDX-License-Identifier: MIT */
/* Errors keep the path of their op or the place in their file as data through prefixes, copies and
 * propagation. */
#include <ligature/compile.h>
#include <ligature/error.h>
#include <ligature/plan.h>

static void
test_path (void)
{
  GError *error = NULL;
  g_autoptr (GError) outer = NULL;
  g_set_error (&error, LIG_ERROR, LIG_ERROR_SHAPE, "12 features, expected 9");
  g_assert_null (lig_error_get_path (error));
  g_assert_false (lig_error_set_path (&error, "3"));
  g_assert_cmpstr (lig_error_get_path (error), ==, "3");
  /* A new path replaces the old one, and may be the old one itself. */
  lig_error_set_path (&error, lig_error_get_path (error));
  lig_error_set_path (&error, "3.0.2");
  g_prefix_error (&error, "file at 7: ");
  g_autoptr (GError) copy = g_error_copy (error);
  g_propagate_error (&outer, error);
  g_assert_cmpstr (lig_error_get_path (outer), ==, "3.0.2");
  g_assert_cmpstr (outer->message, ==, "file at 7: 12 features, expected 9");
  lig_error_set_path (&outer, "4");
  g_assert_cmpstr (lig_error_get_path (copy), ==, "3.0.2");
}

static void
test_elsewhere (void)
{
  g_autoptr (GError) error = NULL;
  g_assert_null (lig_error_get_path (NULL));
  lig_error_set_path (NULL, "3");
  lig_error_set_path (&error, "3");
  g_assert_no_error (error);
  g_set_error (&error, G_FILE_ERROR, G_FILE_ERROR_NOENT, "gelu at 3: no file");
  lig_error_set_path (&error, "3");
  g_assert_null (lig_error_get_path (error));
}

/* The engine attaches the path of the op that it names in the message; other numbers in a message
 * are not taken for a path. */
static void
test_compiling (void)
{
  static const struct {
    const char *expression, *path;
  } cases[] = {
    {"gelu ! linear(4, in-features=9)", "1"},
    {"gelu ! block(2){gelu ! linear(4, in-features=9)}", "1.0.1"},
    {"make-extra-output(to=r) ! make-extra-output(to=r)", "0"},
    {"gelu ! add-extra-input(from=r)", "1"},
    {"gelu ! reshape([3, 5])", "1"},
  };
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigShape shape;
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_from_expression (cases[i].expression, &error);
    g_assert_no_error (error);
    lig_shape_init (&shape, 2, G_GINT64_CONSTANT (16), G_GINT64_CONSTANT (8));
    lig_sequence_set_input (sequence, &shape, LIG_FP32);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, NULL, &error);
    g_assert_null (plan);
    g_assert_cmpstr (lig_error_get_path (error), ==, cases[i].path);
  }
}

static void
test_files (void)
{
  static const struct {
    const char *text, *path;
  } cases[] = {
    {"{\"ligature\":1,\"ops\":[{\"op\":\"gelu\"},{\"op\":\"gleu\"}]}", "$.ops[1].op"},
    {"{\"ligature\":1,\"ops\":[{\"op\":\"gelu\"},{\"op\":1e999}]}", "$.ops[1].op"},
    {"{\"ligature\":2}", "$.ligature"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigSequence) sequence = lig_sequence_from_json (cases[i].text, -1, NULL, &error);
    g_assert_null (sequence);
    g_assert_cmpstr (lig_error_get_path (error), ==, cases[i].path);
  }
}

/* An error names the setting that removes it, and so do its copies. */
static void
test_setting (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("cpu", NULL);
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression ("gelu", NULL);
  g_assert_null (lig_plan_compile (sequence, device, NULL, &error));
  g_autoptr (GError) copy = g_error_copy (error);
  g_assert_cmpstr (lig_error_get_setting (copy), ==, "input");
  lig_error_set_setting (&error, "batch");
  g_assert_cmpstr (lig_error_get_setting (error), ==, "batch");
  g_assert_cmpstr (lig_error_get_setting (copy), ==, "input");
  g_assert_null (lig_error_get_path (error));
  g_assert_null (lig_error_get_setting (NULL));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/error/path", test_path);
  g_test_add_func ("/error/elsewhere", test_elsewhere);
  g_test_add_func ("/error/compiling", test_compiling);
  g_test_add_func ("/error/files", test_files);
  g_test_add_func ("/error/setting", test_setting);
  return g_test_run ();
}
