/* SPDX-License-Identifier: MIT */
/* The figures of score and inspector: measured only if everything was measured, predicted ones with
 * ≈, bars that match the shown time, and the signs and the list of forced and forbidden fusions.
 */
#include "tests/ui/score-case.h"
#include "ui/document/edit.h"
#include "ui/document/times.h"
#include "ui/score/group-private.h"
#include "ui/score/head.h"

#include <math.h>

static gboolean
has_times (Fixture *f)
{
  LigTimedPlan timed, unfused;
  lig_document_get_timed (f->doc, &timed, &unfused);
  return !lig_document_is_stale (f->doc) && timed.plan && unfused.plan;
}

static void
wait_for_times (Fixture *f)
{
  WAIT_FOR (has_times (f));
  wait_for_frame (f->window);
}

static void
show (Fixture *f, const char *expression)
{
  fill_with (f->doc, expression, "2048x768:bf16", NULL);
  wait_for_times (f);
}

/* Gives the document's plan, and the unfused plan if @alone is not 0, measured times as if each
 * step took that long. */
static void
measure_all (Fixture *f, double each, double alone)
{
  LigTimedPlan timed, unfused;
  guint count, others;
  lig_document_get_timed (f->doc, &timed, &unfused);
  lig_plan_get_steps (timed.plan, &count);
  lig_plan_get_steps (unfused.plan, &others);
  g_autofree double *steps = g_new (double, count + 1), *apart = g_new (double, others + 1);
  for (guint i = 0; i < count; i++)
    steps[i] = each * (i + 1);
  for (guint i = 0; i < others; i++)
    apart[i] = alone;
  const LigTimedPlan profiles[] = {{.plan = timed.plan, .steps = steps},
                                   {.plan = unfused.plan, .steps = apart}};
  lig_document_set_profiles (f->doc, profiles, alone > 0 ? 2 : 1);
  wait_for_frame (f->window);
}

static gboolean
says (GtkWidget *root, const char *text)
{
  return find_widget (root, shows_text, text) != NULL;
}

static GtkWidget *
get_head (Fixture *f)
{
  return find_type (f->score, LIG_TYPE_SCORE_HEAD);
}

static const LigScoreBracket *
get_bracket (Fixture *f, LigPass pass, guint n)
{
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  return &g_array_index (map->brackets[pass], LigScoreBracket, n);
}

static LigScoreGroup *
get_group (Fixture *f, LigPass pass, guint n)
{
  return LIG_SCORE_GROUP (lig_score_sheet_get_group (f->sheet, pass, n));
}

/* --- Heads --------------------------------------------------------------------------------- */

/* A folded block has no group bracket, and must not be headed as measured without a measurement. */
static void
test_folded (Fixture *f, gconstpointer data)
{
  show (f, "block(12) { layer-norm ! linear(3072) ! gelu ! linear(768) }");
  lig_document_set_open (f->doc, op_at (f->doc, "0"), FALSE);
  wait_for_times (f);
  const LigScoreBracket *sum = get_bracket (f, LIG_PASS_FORWARD, 0);
  g_assert_null (sum->group);
  g_assert_false (sum->measured);
  g_assert_true (says (get_head (f), "≈ "));
  g_assert_true (says (get_head (f), "predicted for NVIDIA H200"));
  g_assert_false (says (get_head (f), "measured"));
  g_assert_false (says (get_head (f), "roofline"));
  measure_all (f, 1e-5, 2e-5);
  sum = get_bracket (f, LIG_PASS_FORWARD, 0);
  g_assert_true (sum->measured);
  g_assert_cmpfloat (sum->seconds, >, 1e-4);
  g_assert_false (says (get_head (f), "≈"));
  g_assert_true (says (get_head (f), "measured on another NVIDIA H200"));
  g_assert_true (says (get_head (f), " % of roofline"));
}

/* Forcing a fusion that makes the step faster must not reduce its saving. */
static void
test_forced_saving (Fixture *f, gconstpointer data)
{
  const LigScoreMap *map;
  lig_document_set_policy (f->doc, LIG_POLICY_NONE);
  show (f, "linear(3072) ! gelu ! linear(768)");
  g_assert_cmpfloat (lig_score_sheet_get_map (f->sheet)->figures[0].saved_bytes, ==, 0);
  lig_edit_force (f->doc, op_at (f->doc, "0"), "forward-linear-bias-activation", TRUE);
  wait_for_times (f);
  map = lig_score_sheet_get_map (f->sheet);
  double forced = map->figures[0].saved_bytes;
  g_autofree char *text = lig_figures_saving_text (&map->figures[0]);
  g_assert_cmpfloat (forced, >, 1e7);
  g_assert_true (says (get_head (f), text));
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  wait_for_times (f);
  g_assert_cmpfloat (lig_score_sheet_get_map (f->sheet)->figures[0].saved_bytes, >=, forced);
}

/* --- Brackets ------------------------------------------------------------------------------ */

static void
test_bars (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  const LigScoreGroup *group = get_group (f, LIG_PASS_FORWARD, 0);
  double predicted = group->share;
  g_assert_cmpfloat (predicted, >, 0);
  g_assert_false (group->measured);
  g_assert_true (g_str_has_prefix (group->texts[LIG_BRACKET_TIME].text, "≈ "));
  measure_all (f, 1e-5, 0);
  group = get_group (f, LIG_PASS_FORWARD, 0);
  g_assert_true (group->measured);
  g_assert_cmpstr (group->texts[LIG_BRACKET_TIME].text, ==, "10.0 µs");
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_assert_cmpfloat_with_epsilon (group->share, 1e-5 / map->figures[0].seconds, 1e-9);
  g_assert_cmpfloat (fabs (group->share - predicted), >, 0.01);
}

static void
test_texts (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  const LigScoreGroup *group = get_group (f, LIG_PASS_FORWARD, 1);
  g_assert_cmpstr (group->texts[LIG_BRACKET_NAME].text, ==, "Linear + bias + GELU");
  g_assert_cmpstr (group->texts[LIG_BRACKET_RATE].text, ==, "compute");
  g_assert_true (g_str_has_prefix (group->texts[LIG_BRACKET_SAVING].text, "≈ "));
  measure_all (f, 1e-5, 2e-5);
  group = get_group (f, LIG_PASS_FORWARD, 1);
  g_assert_true (g_str_has_suffix (group->texts[LIG_BRACKET_RATE].text, " TFLOP/s · compute"));
  g_assert_true (g_str_has_suffix (group->texts[LIG_BRACKET_RATE_SHORT].text, " TFLOP/s"));
  g_assert_cmpstr (group->texts[LIG_BRACKET_SAVING].text, ==, "40.0 µs, 37.7 MB less");
  g_assert_cmpstr (group->texts[LIG_BRACKET_SAVING_SHORT].text, ==, "40.0 µs less");
  g_assert_false (group->loses);
  /* A fusion that measures slower counts as slower, whatever was predicted. */
  measure_all (f, 1e-4, 2e-5);
  group = get_group (f, LIG_PASS_FORWARD, 1);
  g_assert_true (group->loses);
  g_assert_nonnull (strstr (group->texts[LIG_BRACKET_SAVING].text, "more"));
}

/* --- Signs --------------------------------------------------------------------------------- */

static void
assert_label_has (GtkWidget *widget, const char *text)
{
  g_autofree char *found = gtk_test_accessible_check_property (
    GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, "no such label");
  g_assert_nonnull (found);
  if (!strstr (found, text))
    g_error ("'%s' has no '%s'", found, text);
}

static void
test_signs (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  g_assert_cmpint (get_group (f, LIG_PASS_FORWARD, 1)->marks, ==, 0);
  lig_edit_force (f->doc, op_at (f->doc, "1"), "forward-linear-bias-activation", TRUE);
  lig_edit_forbid (f->doc, op_at (f->doc, "1"), "backward-activation-bias", TRUE);
  wait_for_times (f);
  g_assert_cmpint (get_group (f, LIG_PASS_FORWARD, 1)->marks, ==, LIG_SCORE_FORCED);
  g_assert_cmpint (get_group (f, LIG_PASS_BACKWARD, 1)->marks, ==, LIG_SCORE_FORBIDDEN);
  g_assert_nonnull (strstr (get_group (f, LIG_PASS_FORWARD, 1)->description, "fusion forced"));
  assert_label_has (lig_score_sheet_get_row (f->sheet, 1), "one fusion forced, another forbidden");
}

/* Overrides inside a folded block are marked on its row and its brackets. */
static void
test_signs_of_blocks (Fixture *f, gconstpointer data)
{
  show (f, "block(3) { linear(3072) ! gelu ! linear(768) }");
  LigSequence *body = lig_op_get_body (op_at (f->doc, "0"));
  lig_edit_force (f->doc, lig_sequence_get (body, 0, NULL), "forward-linear-bias-activation", TRUE);
  lig_document_set_open (f->doc, op_at (f->doc, "0"), FALSE);
  wait_for_times (f);
  g_assert_null (get_bracket (f, LIG_PASS_FORWARD, 0)->group);
  g_assert_cmpint (get_bracket (f, LIG_PASS_FORWARD, 0)->marks, ==, LIG_SCORE_FORCED);
  assert_label_has (lig_score_sheet_get_row (f->sheet, 0), "fusion forced");
  g_assert_true (says (f->inspector, "Linear + bias + GELU at 0.0.0"));
}

/* --- Inspector ----------------------------------------------------------------------------- */

static void
test_inspector (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  g_assert_true (says (f->inspector, "Vs. unfused"));
  g_assert_true (says (f->inspector, " % less"));
  g_assert_true (says (f->inspector, "predicted for NVIDIA H200"));
  g_assert_true (says (f->inspector, "Linear + bias + GELU at 1"));
  g_assert_true (says (f->inspector, "≈"));
  measure_all (f, 1e-5, 2e-4);
  g_assert_false (says (f->inspector, "≈"));
  g_assert_true (says (f->inspector, "measured on another NVIDIA H200"));
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  wait_for_frame (f->window);
  g_assert_true (says (f->inspector, "10.0 µs"));
  g_assert_true (says (f->inspector, "is the lower bound by the device’s peak rates"));
  g_assert_true (says (f->inspector, " % of copy · launch"));
}

static gboolean
leads (GtkWidget *widget, gconstpointer path)
{
  return g_strcmp0 (g_object_get_data (G_OBJECT (widget), "path"), path) == 0;
}

/* A line of the hotspots leads to its row. */
static void
test_hotspots (Fixture *f, gconstpointer data)
{
  show (f, "gelu ! block(3) { linear(3072) ! gelu ! linear(768) }");
  GtkWidget *line = find_widget (f->inspector, leads, "1.0.0");
  g_assert_nonnull (line);
  g_assert_true (gtk_widget_get_focusable (line));
  g_assert_true (gtk_widget_activate_action (line, "place.select", "s", "1.0.0"));
  g_assert_nonnull (lig_document_get_cursor (f->doc));
  const LigRow *row = lig_document_find_path (f->doc, "1.0.0");
  g_assert_true (lig_document_get_cursor (f->doc) == row->op);
}

static void
test_list (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  g_assert_false (says (f->inspector, "Forced and forbidden"));
  lig_edit_force (f->doc, op_at (f->doc, "1"), "forward-linear-bias-activation", TRUE);
  wait_for_times (f);
  g_assert_true (says (f->inspector, "Forced and forbidden"));
  g_assert_true (says (f->inspector, "Linear + bias + GELU at 1"));
  GtkWidget *button = find_widget (f->inspector, has_action, "overrides.drop");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpstr (lig_op_get_forced (op_at (f->doc, "1"))[0], ==, NULL);
  wait_for_times (f);
  g_assert_false (says (f->inspector, "Forced and forbidden"));
  lig_document_undo (f->doc);
  wait_for_times (f);
  g_assert_true (says (f->inspector, "Linear + bias + GELU at 1"));
}

static void
add_tests (void)
{
#define ADD(name) \
  g_test_add ("/figures/" #name, Fixture, NULL, set_up_with_inspector, test_##name, tear_down)
  ADD (folded);
  ADD (forced_saving);
  ADD (bars);
  ADD (texts);
  ADD (signs);
  ADD (signs_of_blocks);
  ADD (inspector);
  ADD (hotspots);
  ADD (list);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
