/* SPDX-License-Identifier: MIT */
/* The texts of lig fuse, check, plan and ops at the widths 60, 80 and 200: each NAME.args in
 * tests/cli/golden has the arguments of one command, and NAME.60, NAME.80 and NAME.200 have its
 * output. No line may be wider. LIGATURE_REGENERATE=1 rewrites the outputs. */
#include "tests/cli/case.h"

#include <ligature/columns.h>

/* The lines within which the times and the best fixes must be. */
enum { ANSWER = 10 };

static const char *const widths[] = {"60", "80", "200"};

static void
assert_fits (const char *place, const char *text, int width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_assert_true (g_utf8_validate (text, -1, NULL));
  for (guint i = 0; lines[i]; i++) {
    if (lig_columns_width (lines[i]) > width)
      g_error ("%s: line %u has %d columns: %s", place, i + 1, lig_columns_width (lines[i]),
               lines[i]);
    if (g_str_has_suffix (lines[i], " "))
      g_error ("%s: line %u ends with a space", place, i + 1);
  }
}

/* The rails begin with an empty line after the answer. */
static void
assert_answered (const char *place, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; i < ANSWER && lines[i]; i++)
    if (!*lines[i])
      return;
  g_error ("%s: the answer is longer than %d lines", place, ANSWER);
}

static void
check (const char *arguments, const char *stem, const char *width)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *golden = g_strconcat (stem, ".", width, NULL);
  g_autofree char *line = g_strdup_printf ("COLUMNS=%s \"$LIG\" %s", width, arguments);
  g_autofree char *wanted = NULL;
  g_test_message ("%s", golden);
  g_auto (Outcome) outcome = shell (line);
  /* A plan that does not fit is printed, and only the exit code is that of a failure. */
  if (outcome.code != 0 && !strstr (outcome.out, "does not fit"))
    g_error ("%s: %s", golden, outcome.err);
  if (g_getenv ("LIGATURE_REGENERATE"))
    g_file_set_contents (golden, outcome.out, -1, &error);
  else
    g_file_get_contents (golden, &wanted, NULL, &error);
  g_assert_no_error (error);
  assert_fits (golden, outcome.out, (int) g_ascii_strtoll (width, NULL, 10));
  if (g_str_has_prefix (arguments, "fuse "))
    assert_answered (golden, outcome.out);
  if (wanted && strcmp (wanted, outcome.out) != 0)
    g_error ("%s: expected\n%s\nfound\n%s", golden, wanted, outcome.out);
}

static void
test_golden (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *source =
    g_build_filename (g_getenv ("LIGATURE_SOURCE"), "tests/cli/golden", NULL);
  g_autoptr (GDir) directory = g_dir_open (source, 0, &error);
  guint count = 0;
  const char *file;
  g_assert_no_error (error);
  while ((file = g_dir_read_name (directory))) {
    if (!g_str_has_suffix (file, ".args"))
      continue;
    g_autofree char *path = g_build_filename (source, file, NULL);
    g_autofree char *stem = g_strndup (path, strlen (path) - strlen (".args"));
    g_autofree char *arguments = NULL;
    g_file_get_contents (path, &arguments, NULL, &error);
    g_assert_no_error (error);
    g_strchomp (arguments);
    for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
      check (arguments, stem, widths[i]);
    count++;
  }
  g_assert_cmpuint (count, >=, 6);
}

/* Widths between those of the files, and beyond both ends. */
static void
test_every_width (void)
{
  static const char *const commands[] = {
    "fuse 'block(3){make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(16) ! "
    "add-extra-input(from=r)}' --input 32x16 --device null:h200 --all",
    "check 'block(3){layer-norm ! linear(64)}' --input 32x16",
    "plan 'block(3){layer-norm ! linear(64)}' --input 32x16 --device null:h200",
  };
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    for (int width = 40; width <= 230; width += 7) {
      g_autofree char *line = g_strdup_printf ("COLUMNS=%d \"$LIG\" %s", width, commands[i]);
      g_auto (Outcome) outcome = shell (line);
      g_assert_cmpint (outcome.code, ==, 0);
      assert_fits (line, outcome.out, CLAMP (width, 60, 200));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/golden/files", test_golden);
  g_test_add_func ("/golden/every-width", test_every_width);
  return run_cli_tests ();
}
