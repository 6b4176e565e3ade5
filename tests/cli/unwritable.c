/* SPDX-License-Identifier: MIT */
/* Tests that a file that cannot be saved is rejected before anything is computed. The other input
 * of each command is missing or slow, so that its error or its message would come first. */
#include "tests/cli/case.h"

static void
test_rejected (void)
{
  static const char *const commands[][10] = {
    {"apply", "gelu", "--device", "cpu", "--input", "missing.st"},
    {"devices", "cpu", "--measure"},
    {"report", "gelu", "--input", "4x8", "--device", "null:missing"},
    {"fuse", "gelu", "--input", "4x8", "--device", "null", "--apply-fix", "99"},
    {"export-weights", "missing.safetensors"},
  };
  static const char *const files[][2] = {
    {"no/folder/x.json", "lig: no/folder/x.json: cannot be saved: No such file or directory\n"},
    {"is-a-folder", "lig: is-a-folder: cannot be saved: Is a directory\n"},
  };
  g_autofree char *path = g_build_filename (folder, "is-a-folder", NULL);
  g_assert_cmpint (g_mkdir (path, 0700), ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    for (guint k = 0; k < G_N_ELEMENTS (files); k++) {
      g_autoptr (GPtrArray) argv = g_ptr_array_new ();
      g_ptr_array_add (argv, (gpointer) g_getenv ("LIG"));
      for (const char *const *word = commands[i]; *word; word++)
        g_ptr_array_add (argv, (gpointer) *word);
      if (strcmp (commands[i][0], "report") == 0) {
        g_ptr_array_add (argv, (gpointer) "--format");
        g_ptr_array_add (argv, (gpointer) "json");
      }
      g_ptr_array_add (argv, (gpointer) "-o");
      g_ptr_array_add (argv, (gpointer) files[k][0]);
      g_ptr_array_add (argv, NULL);
      g_auto (Outcome) found = run_argv ((char **) argv->pdata);
      /* A folder may be meant for another program. */
      if (strcmp (commands[i][0], "export-weights") == 0 &&
          strcmp (files[k][0], "is-a-folder") == 0) {
        assert_contains (found.err, "lig: -o is-a-folder is a folder, which needs --names, ");
        g_assert_cmpint (found.code, ==, 2);
        continue;
      }
      g_assert_cmpstr (found.err, ==, files[k][1]);
      g_assert_cmpint (found.code, ==, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/unwritable/rejected", test_rejected);
  return run_cli_tests ();
}
