/* SPDX-License-Identifier: MIT */
/* Rails as text: the order of the answer, folding of repetitions, sums of their figures, whether
 * the best fixes save as much as promised, and the columns that narrow rails keep. */
#include <ligature/columns.h>
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/plan-options.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <math.h>
#include <string.h>

#define RESIDUAL \
  "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! " \
  "add-extra-input(from=r)"

/* Its residual additions and norms are fused across the repetitions. */
#define CROSSING "make-extra-output(to=r) ! layer-norm ! gelu ! add-extra-input(from=r)"

static LigSequence *
new_sequence (const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  LigSequence *sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, G_GINT64_CONSTANT (2048), G_GINT64_CONSTANT (768));
  lig_sequence_set_input (sequence, &shape, LIG_BF16);
  return sequence;
}

static LigPlan *
compile (LigSequence *sequence, LigPolicy policy)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = lig_device_open ("null:h200", &error);
  g_assert_no_error (error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = policy;
  options.input_gradient = TRUE;
  LigPlan *plan = lig_plan_compile (sequence, device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the lines of the rails at that width. */
static GStrv
draw (LigPlan *plan, int width)
{
  LigRailsOptions options = LIG_RAILS_OPTIONS_INIT;
  options.width = width;
  g_autofree char *text = lig_plan_to_rails (plan, &options);
  return g_strsplit (text, "\n", -1);
}

/* Returns the only line that contains the part. */
static const char *
find_line (GStrv lines, const char *part)
{
  const char *found = NULL;
  for (guint i = 0; lines[i]; i++)
    if (strstr (lines[i], part)) {
      g_assert_null (found);
      found = lines[i];
    }
  if (!found)
    g_error ("no line contains '%s':\n%s", part, g_strjoinv ("\n", lines));
  return found;
}

static guint
count_lines (GStrv lines, const char *part)
{
  guint count = 0;
  for (guint i = 0; lines[i]; i++)
    count += strstr (lines[i], part) != NULL;
  return count;
}

/* Twelve equal blocks fold into one, with the sum of their figures. */
static void
test_equal (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(12){" RESIDUAL "}");
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  g_auto (GStrv) lines = draw (plan, 200);
  find_line (lines, "0 block × 12");
  g_assert_cmpuint (count_lines (lines, "layer-norm"), ==, 1);
  g_assert_cmpuint (count_lines (lines, "differ"), ==, 0);
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  double seconds = 0, bytes = 0;
  for (guint i = 0; i < count; i++)
    if (groups[i].fusion && g_str_equal (groups[i].fusion->name, "forward-linear-bias-add")) {
      seconds += groups[i].predicted;
      bytes += groups[i].bytes;
    }
  g_autofree char *time = lig_units_time (seconds), *size = lig_units_bytes (bytes);
  const char *line = find_line (lines, "0.0.4 bias");
  g_assert_nonnull (strstr (line, time));
  g_assert_nonnull (strstr (line, size));
  /* The heading has the figures of the passes. */
  LigFigures whole;
  lig_figures_of_pass (&(LigTimedPlan){.plan = plan}, NULL, LIG_PASS_BACKWARD, &whole);
  g_autofree char *all = lig_figures_time_text (&whole);
  g_assert_nonnull (strstr (find_line (lines, "0 block × 12"), all));
  g_assert_nonnull (strstr (find_line (lines, "whole pass"), all));
}

/* The first and the last repetition have different groups from those in between. */
static void
test_differing (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(12){" CROSSING "}");
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  g_auto (GStrv) lines = draw (plan, 80);
  find_line (lines, "0.0, 0.11 differ");
  find_line (lines, "0.1–0.10 × 10");
  g_assert_cmpuint (count_lines (lines, "layer-norm"), ==, 3);
  /* Unfused, all are equal again. */
  g_autoptr (LigPlan) alone = compile (sequence, LIG_POLICY_NONE);
  g_auto (GStrv) equal = draw (alone, 80);
  g_assert_cmpuint (count_lines (equal, "differ"), ==, 0);
  g_assert_cmpuint (count_lines (equal, "layer-norm"), ==, 1);
}

static double
sum_passes (LigPlan *plan)
{
  LigFigures figures;
  lig_figures_of_step (&(LigTimedPlan){.plan = plan}, NULL, &figures);
  return figures.seconds;
}

/* Returns the number after the word, 0 without it. */
static guint
read_number (const char *line, const char *word)
{
  const char *at = strstr (line, word);
  return at ? (guint) g_ascii_strtoull (at + strlen (word), NULL, 10) : 0;
}

/* Applies the fixes that are listed as compatible; they must save the promised sum, to three
 * digits. */
static void
check_promise (const char *expression, const char *const *forbidden)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = new_sequence (expression);
  lig_sequence_set_forbidden (sequence, forbidden);
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  g_auto (GStrv) lines = draw (plan, 200);
  const char *promise = find_line (lines, "would save ");
  guint made = 0;
  for (guint i = 0; lines[i] && *lines[i]; i++) {
    guint number = read_number (lines[i], "fix ");
    if (number == 0 || strstr (lines[i], " or "))
      continue;
    const LigFix *fix = lig_plan_find_fix (plan, number, &error);
    g_assert_no_error (error);
    g_assert_true (lig_fix_apply (fix, sequence, &error));
    made++;
  }
  g_assert_cmpuint (made, >, 0);
  g_autoptr (LigPlan) fixed = compile (sequence, LIG_POLICY_ALL);
  double saved = sum_passes (plan) - sum_passes (fixed);
  g_autofree char *amount = lig_units_time (saved);
  g_test_message ("%s; saved %s", promise, amount);
  double promised = g_ascii_strtod (strstr (promise, "≈ ") + strlen ("≈ "), NULL);
  double unit = strstr (promise, " µs") ? 1e-6 : strstr (promise, " ms") ? 1e-3 : 1e-9;
  g_assert_cmpfloat (fabs (promised * unit - saved), <=, 0.01 * saved + 1e-9);
}

static void
test_promise (void)
{
  check_promise (RESIDUAL, NULL);
  check_promise ("block(12){" RESIDUAL "}", NULL);
  check_promise ("block(4){" RESIDUAL "} ! linear(64) ! gelu ! linear(768)",
                 (const char *const[]){"forward-linear-bias-activation", NULL});
}

/* The answer is in the first lines; reasons appear only on demand. */
static void
test_answer (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(12){" RESIDUAL "}");
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  static const int widths[] = {60, 80, 200};
  for (guint w = 0; w < G_N_ELEMENTS (widths); w++) {
    g_auto (GStrv) lines = draw (plan, widths[w]);
    guint end = 0;
    while (*lines[end])
      end++;
    g_assert_cmpuint (end, <=, 10);
    g_assert_true (g_str_has_prefix (lines[1], "forward "));
    g_assert_true (strstr (lines[1], "saves ") != NULL);
    g_assert_cmpuint (count_lines (lines, "--apply-fix N -o FILE"), ==, 1);
    g_assert_cmpuint (count_lines (lines, " already"), ==, 0);
  }
}

/* Narrow rails omit savings first, then bytes; the time is always shown. */
static void
test_columns (void)
{
  g_autoptr (LigSequence) sequence = new_sequence (RESIDUAL);
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  gboolean before[3] = {FALSE, FALSE, FALSE};
  for (int width = LIG_RAILS_NARROWEST; width <= LIG_RAILS_WIDEST; width++) {
    g_auto (GStrv) lines = draw (plan, width);
    const char *heads = find_line (lines, "   time ");
    gboolean now[] = {strstr (heads, "bytes") != NULL, strstr (heads, "saves") != NULL,
                      strstr (heads, "saves bytes") != NULL};
    for (guint i = 0; i < G_N_ELEMENTS (now); i++) {
      g_assert_true (now[i] || !before[i]);
      g_assert_true (i == 0 || !now[i] || now[i - 1]);
      before[i] = now[i];
    }
    for (guint i = 0; lines[i]; i++)
      g_assert_cmpint (lig_columns_width (lines[i]), <=, width);
  }
  g_assert_true (before[2]);
}

/* Colours take no columns and change no characters. */
static void
test_colour (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(12){" CROSSING "}");
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  LigRailsOptions options = LIG_RAILS_OPTIONS_INIT;
  g_autofree char *plain = lig_plan_to_rails (plan, &options);
  options.colour = TRUE;
  g_autofree char *lit = lig_plan_to_rails (plan, &options);
  g_autoptr (GRegex) sequences = g_regex_new ("\033\\[[0-9]*m", 0, 0, NULL);
  g_autofree char *bare = g_regex_replace (sequences, lit, -1, 0, "", 0, NULL);
  g_assert_cmpstr (lit, !=, plain);
  g_assert_cmpstr (bare, ==, plain);
}

/* Values are named by paths, including those of a macro's parts. */
static void
test_names (void)
{
  g_autoptr (LigSequence) sequence = new_sequence ("block(2){" RESIDUAL "}");
  g_autoptr (LigPlan) plan = compile (sequence, LIG_POLICY_ALL);
  static const char *const names[][2] = {
    {"#0.y 1.weight -> #1.y", "0.0.0.y 1.weight -> 0.0.1.y"},
    {"d#2.y", "d0.0.2.basic-linear.y"},
    {"#3.y", "0.0.2.y"},
    {"d#8.extra>15", "d0.1.0.extra>0.1.5"},
    {"#99.y", "#99.y"},
    {"input", "input"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autofree char *name = lig_plan_name_values (plan, names[i][0]);
    g_assert_cmpstr (name, ==, names[i][1]);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rails-text/equal", test_equal);
  g_test_add_func ("/rails-text/differing", test_differing);
  g_test_add_func ("/rails-text/promise", test_promise);
  g_test_add_func ("/rails-text/answer", test_answer);
  g_test_add_func ("/rails-text/columns", test_columns);
  g_test_add_func ("/rails-text/colour", test_colour);
  g_test_add_func ("/rails-text/names", test_names);
  return g_test_run ();
}
