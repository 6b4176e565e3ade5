/* SPDX-License-Identifier: MIT */
/* The layout of a line of progress in every width, and the rate of lines in a log file. */
#include "app/cli/progress.c"

static GArray *
make_line (void)
{
  GArray *line = lig_cli_line_new ();
  lig_cli_line_add (line, 0, g_strdup ("step 120/1000"), g_strdup ("120/1000"));
  lig_cli_line_add (line, 1, g_strdup ("loss 0.4312"), g_strdup ("0.4312"));
  lig_cli_line_add (line, 6, g_strdup ("validation loss 0.4400"), NULL);
  lig_cli_line_add (line, 2, g_strdup ("1320 samples/s"), g_strdup ("1320/s"));
  lig_cli_line_add (line, 7, g_strdup ("24.2 ms a step"), NULL);
  lig_cli_line_add (line, 3, g_strdup ("42 s left"), g_strdup ("42 s"));
  return line;
}

static void
assert_line (GArray *line, int columns, const char *expected)
{
  g_autofree char *text = lig_cli_line_lay_out (line, columns);
  g_assert_cmpstr (text, ==, expected);
}

/* Parts are omitted in the order of their importance; the essential ones are abbreviated first. */
static void
test_widths (void)
{
  g_autoptr (GArray) line = make_line ();
  assert_line (
    line, 0,
    "step 120/1000 · loss 0.4312 · validation loss 0.4400 · 1320 samples/s · 24.2 ms a step · "
    "42 s left");
  assert_line (line, 98,
               "step 120/1000 · loss 0.4312 · validation loss 0.4400 · 1320 samples/s · 24.2 ms "
               "a step · 42 s left");
  assert_line (line, 84,
               "step 120/1000 · loss 0.4312 · validation loss 0.4400 · 1320 samples/s · 42 s left");
  assert_line (line, 59, "step 120/1000 · loss 0.4312 · 1320 samples/s · 42 s left");
  assert_line (line, 50, "step 120/1000 · loss 0.4312 · 1320/s · 42 s left");
  assert_line (line, 33, "120/1000 · 0.4312 · 1320/s · 42 s");
  assert_line (line, 32, "step 120/1000 · 0.4312 · 1320/s");
  assert_line (line, 19, "120/1000 · 0.4312");
  assert_line (line, 16, "step 120/1000");
  assert_line (line, 8, "120/1000");
  assert_line (line, 5, "12…00");
  for (int columns = 1; columns < 120; columns++) {
    g_autofree char *text = lig_cli_line_lay_out (line, columns);
    g_assert_cmpint (lig_columns_width (text), <=, columns);
  }
}

/* A wide character takes two columns, a combining mark none. */
static void
test_wide (void)
{
  g_autoptr (GArray) line = lig_cli_line_new ();
  lig_cli_line_add (line, 0, g_strdup ("日本語のモデル"), NULL);
  lig_cli_line_add (line, 1, g_strdup ("cafe\u0301"), NULL);
  assert_line (line, 21, "日本語のモデル · cafe\u0301");
  assert_line (line, 20, "日本語のモデル");
  for (int columns = 1; columns < 30; columns++) {
    g_autofree char *text = lig_cli_line_lay_out (line, columns);
    g_assert_true (g_utf8_validate (text, -1, NULL));
    g_assert_cmpint (lig_columns_width (text), <=, columns);
  }
}

/* The first line comes immediately, every further one after ten seconds and a tenth of the work. */
static void
test_cadence (void)
{
  const gint64 second = G_USEC_PER_SEC;
  LigCliCadence slow = {FALSE, 0, 0}, fast = {FALSE, 0, 0};
  g_assert_true (lig_cli_cadence_due (&slow, 0.001, 5 * second));
  g_assert_false (lig_cli_cadence_due (&slow, 0.05, 100 * second));
  g_assert_true (lig_cli_cadence_due (&slow, 0.102, 200 * second));
  g_assert_false (lig_cli_cadence_due (&slow, 0.15, 300 * second));
  g_assert_true (lig_cli_cadence_due (&fast, 0.1, second));
  g_assert_false (lig_cli_cadence_due (&fast, 0.9, 10 * second));
  g_assert_true (lig_cli_cadence_due (&fast, 0.95, 11 * second));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/line/widths", test_widths);
  g_test_add_func ("/cli/line/wide", test_wide);
  g_test_add_func ("/cli/line/cadence", test_cadence);
  return g_test_run ();
}
