/* SPDX-License-Identifier: MIT */
/* Command lines as users and scripts write them: empty values, bytes that are not text, very long
 * words, misspelt options of every command. */
#include "tests/cli/case.h"

/* Checks that the line is rejected as wrong usage with a message that contains the part. */
static void
assert_rejected (const char *line, const char *part)
{
  g_test_message ("%s", line);
  g_auto (Outcome) outcome = shell (line);
  g_assert_true (g_utf8_validate (outcome.out, -1, NULL));
  assert_failed (&outcome, 2, "usage", part);
}

/* Returns the fields of the lines that `lig --generate options` prints: command, option, letter,
 * whether it takes a value, form. */
static GPtrArray *
list_options (void)
{
  static const char *const general[] = {"json", "color", "no-pager", "help", NULL};
  GPtrArray *rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_auto (Outcome) outcome = shell ("lig --generate options");
  g_auto (GStrv) lines = g_strsplit (g_strchomp (outcome.out), "\n", -1);
  for (char **line = lines; *line; line++) {
    g_auto (GStrv) row = g_strsplit (*line, "\t", -1);
    /* Options that every command has are only tried with one. */
    gboolean common = g_strv_contains (general, row[1]);
    if (!common || strcmp (row[0], "runs") == 0)
      g_ptr_array_add (rows, g_steal_pointer (&row));
  }
  g_assert_cmpuint (rows->len, >, 100);
  return rows;
}

/* An empty value is usually an unset variable; the default would then be a different store from the
 * intended one. */
static void
test_empty (void)
{
  g_autoptr (GPtrArray) rows = list_options ();
  for (guint i = 0; i < rows->len; i++) {
    char **row = rows->pdata[i];
    if (strcmp (row[3], "0") == 0)
      continue;
    g_autofree char *part = g_strdup_printf ("--%s is empty, expected %s", row[1], row[4]);
    g_autofree char *apart = g_strdup_printf ("lig %s x --json --%s ''", row[0], row[1]);
    g_autofree char *joined = g_strdup_printf ("lig --json --%s= %s x", row[1], row[0]);
    assert_rejected (i % 2 ? apart : joined, part);
  }
  assert_rejected ("lig fuse gelu --json --input 2x2 --forbid @0", "fusion '' is unknown");
}

/* Returns whether another option of the command has this name. */
static gboolean
has_option (GPtrArray *rows, const char *command, const char *name)
{
  for (guint i = 0; i < rows->len; i++) {
    char **row = rows->pdata[i];
    if (strcmp (row[0], command) == 0 && strcmp (row[1], name) == 0)
      return TRUE;
  }
  return FALSE;
}

/* A typo in any option is answered with the intended option. */
static void
test_misspelt (void)
{
  g_autoptr (GPtrArray) rows = list_options ();
  for (guint i = 0; i < rows->len; i++) {
    char **row = rows->pdata[i], *name = row[1];
    gsize length = strlen (name);
    g_autofree char *hyphen = g_strdup_printf ("lig %s x --json -%s=1", row[0], name);
    g_autofree char *first = g_strdup_printf ("lig --json -%s", name);
    g_autofree char *meant =
      g_strdup_printf ("option -%s is unknown; did you mean --%s?", name, name);
    assert_rejected (i % 2 ? hyphen : first, meant);
    if (length < 4)
      continue;
    g_autofree char *upper = g_ascii_strup (name, -1);
    g_autofree char *swapped = g_strdup_printf ("%c%c%c%s", name[0], name[2], name[1], name + 3);
    g_autofree char *dropped = g_strdup_printf ("%.*s%c", (int) length - 2, name, name[length - 1]);
    char *slips[] = {upper, swapped, dropped};
    g_autofree char *part = g_strdup_printf ("did you mean --%s?", name);
    for (guint j = 0; j < G_N_ELEMENTS (slips); j++) {
      g_autofree char *line = g_strdup_printf ("lig %s x --json --%s", row[0], slips[j]);
      if (!has_option (rows, row[0], slips[j]))
        assert_rejected (line, part);
    }
  }
}

/* JSON is UTF-8, even if the words of the command line are not. */
static void
test_bytes (void)
{
  assert_rejected ("lig check gelu --json -$(printf '\\377')", "option -\\xff is unknown");
  assert_rejected ("lig check gelu --json --$(printf '\\377')", "option --\\xff is unknown");
  assert_rejected ("lig --json $(printf '\\377')", "command '\\xff' is unknown");
  assert_rejected ("lig check gelu --json --color $(printf '\\377')",
                   "--color is '\\xff', expected");
  assert_rejected ("lig check gelu --json --device $(printf '\\377')",
                   "--device is '\\xff', expected UTF-8 text");
  g_auto (Outcome) outcome = shell ("lig --json check $(printf 'missing\\377.lig')");
  g_assert_true (g_utf8_validate (outcome.out, -1, NULL));
  g_assert_cmpint (outcome.code, ==, 1);
  g_assert_nonnull (outcome.json);
}

static void
test_long (void)
{
  g_auto (Outcome) outcome = shell ("lig --json fuse gelu --device $(printf %0100000d 0)");
  assert_failed (&outcome, 2, "usage", "device '000");
  g_assert_cmpuint (strlen (outcome.err), <, 1100);
  g_assert_true (g_str_has_suffix (g_strchomp (outcome.err), "null[:DESCRIPTION]"));
}

/* The value of a switch is not a command. */
static void
test_switch (void)
{
  g_auto (Outcome) before = shell ("lig --tf32 1 --device null --json fuse gelu --input 2x2");
  g_auto (Outcome) after = shell ("lig fuse gelu --input 2x2 --device null --json --tf32 1");
  g_assert_cmpint (before.code, ==, 0);
  g_assert_cmpstr (before.out, ==, after.out);
}

/* A reader that stops reading is not a failure, as for every program in a pipe. */
static void
test_pipe (void)
{
  static const char *const lines[] = {
    "ops",
    "--json ops",
    "--generate bash",
    "train 'linear(2) ! mean-squared-error' --input 2x2 --data synthetic --steps 2 --device cpu -q",
  };
  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    /* The reader has ended before the program begins. */
    g_autofree char *script = g_strdup_printf (
      "{ sleep 0.2; lig %s; echo $? > code; } | true; sleep 0.2; while [ ! -s code ]; do sleep "
      "0.1; done; cat code; rm code",
      lines[i]);
    g_test_message ("%s", script);
    g_auto (Outcome) outcome = shell (script);
    g_assert_cmpstr (outcome.out, ==, "141\n");
    g_assert_cmpstr (outcome.err, ==, "");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  /* The program need not re-execute itself for it. */
  g_setenv ("GOMP_SPINCOUNT", "10000", FALSE);
  g_test_add_func ("/habits/empty", test_empty);
  g_test_add_func ("/habits/misspelt", test_misspelt);
  g_test_add_func ("/habits/bytes", test_bytes);
  g_test_add_func ("/habits/long", test_long);
  g_test_add_func ("/habits/switch", test_switch);
  g_test_add_func ("/habits/pipe", test_pipe);
  return run_cli_tests ();
}
