/* SPDX-License-Identifier: MIT */
/* Macros in the score: folded with a sum, unfolded with a sub-row for each part, expanded; the line
 * that a load-branch interrupts; and the inspector's mask, choices and switch that freezes
 * parameters. */
#include "tests/ui/score-case.h"
#include "ui/document/edit.h"
#include "ui/inspector/mask.h"
#include "ui/inspector/param-row.h"
#include "ui/inspector/trained.h"

#include <math.h>

/* Returns the total seconds of all brackets of a pass on a row, and their number. */
static double
sum_row (Fixture *f, LigPass pass, guint row, guint *count)
{
  double sum = 0;
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  *count = 0;
  for (guint i = 0; i < map->brackets[pass]->len; i++) {
    const LigScoreBracket *bracket = &g_array_index (map->brackets[pass], LigScoreBracket, i);
    if (bracket->from != row)
      continue;
    ++*count;
    sum += bracket->figures.kernels > 0 ? bracket->seconds : 0;
  }
  return sum;
}

/* --- Folding ------------------------------------------------------------------------------- */

static void
test_folding (Fixture *f, gconstpointer data)
{
  guint count;
  show_for (f, "linear(64) ! layer-norm-mlp ! layer-norm", "64x64:bf16");
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_assert_cmpuint (map->slots->len, ==, 3);
  g_assert_cmpint (slot_at (f, 0)->shown, ==, 2);
  g_assert_false (slot_at (f, 0)->folds);
  g_assert_cmpint (slot_at (f, 1)->shown, ==, 0);
  g_assert_true (lig_score_slot_is_folded (slot_at (f, 1)));
  int folded = slot_at (f, 1)->height;
  double sums[2], whole[2] = {map->seconds[0], map->seconds[1]};
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    sums[pass] = sum_row (f, pass, 1, &count);
    g_assert_cmpuint (count, ==, 1);
    g_assert_cmpfloat (sums[pass], >, 0);
  }
  do_action (f, 1, "op.fold");
  g_assert_cmpint (slot_at (f, 1)->shown, ==, 6);
  g_assert_cmpint (slot_at (f, 1)->height, >, folded);
  map = lig_score_sheet_get_map (f->sheet);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    double parts = sum_row (f, pass, 1, &count);
    g_assert_cmpuint (count, >, 1);
    g_assert_cmpfloat_with_epsilon (parts, sums[pass], 1e-9);
    g_assert_cmpfloat (map->seconds[pass], ==, whole[pass]);
  }
  do_action (f, 1, "op.fold");
  g_assert_cmpint (slot_at (f, 1)->height, ==, folded);
}

/* A group that extends beyond a folded macro has its own bracket, and is not in the macro's sum. */
static void
test_crossing (Fixture *f, gconstpointer data)
{
  guint count;
  show_for (f, "make-extra-output(r) ! layer-norm-mlp ! add-extra-input(r)", "64x64:bf16");
  double sum = sum_row (f, LIG_PASS_FORWARD, 1, &count);
  double residual = sum_row (f, LIG_PASS_FORWARD, 2, &count);
  g_assert_cmpuint (count, ==, 1);
  g_assert_cmpfloat (residual, >, 0);
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_assert_cmpfloat_with_epsilon (sum + residual, map->seconds[LIG_PASS_FORWARD], 1e-9);
}

static void
test_expand_macro (Fixture *f, gconstpointer data)
{
  show_for (f, "gelu ! layer-norm-mlp", "64x64:bf16");
  double whole = lig_score_sheet_get_map (f->sheet)->seconds[LIG_PASS_FORWARD];
  do_action (f, 1, "op.ungroup");
  assert_text (f->doc, "gelu ! layer-norm ! linear(256, parallel=column) ! gelu ! "
                       "linear(64, parallel=row)");
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_assert_cmpfloat_with_epsilon (map->seconds[LIG_PASS_FORWARD], whole, 1e-9);
  lig_document_undo (f->doc);
  assert_text (f->doc, "gelu ! layer-norm-mlp");
}

/* --- A model ------------------------------------------------------------------------------- */

/* Twelve layers fit in a window; the heads have the time of all repetitions. */
static void
test_gpt2 (Fixture *f, gconstpointer data)
{
  guint count;
  show_for (f,
            "embedding(768, vocabulary=50257) ! position-embedding(1024) ! "
            "block(12) { transformer-layer(heads=12) } ! layer-norm ! "
            "linear(50257, bias=false, tied=0) ! cross-entropy",
            "4x1024:int32");
  lig_document_open_blocks (f->doc);
  wait_for_score (f);
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_assert_cmpuint (map->slots->len, ==, 7);
  g_assert_cmpint (map->height - map->metrics.end, <, 800);
  g_assert_true (lig_score_slot_is_folded (slot_at (f, 3)));
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    double block = sum_row (f, pass, 2, &count);
    double layer = sum_row (f, pass, 3, &count);
    g_assert_cmpfloat (block, >, 11 * layer);
    g_assert_cmpfloat (map->seconds[pass], >=, block);
  }
}

/* --- The inspector ------------------------------------------------------------------------- */

static gboolean
is_row_of (GtkWidget *widget, gconstpointer name)
{
  return LIG_IS_PARAM_ROW (widget) &&
         g_str_equal (lig_param_row_get_param (LIG_PARAM_ROW (widget))->name, name);
}

static GtkWidget *
find_editor (Fixture *f, const char *param)
{
  GtkWidget *row = find_widget (f->inspector, is_row_of, param);
  g_assert_nonnull (row);
  return lig_param_row_get_editor (LIG_PARAM_ROW (row));
}

static void
check_mask (Fixture *f, const char *description)
{
  GtkWidget *view = find_type (f->inspector, LIG_TYPE_MASK_VIEW);
  g_assert_cmpint (view && gtk_widget_get_visible (view), ==, description != NULL);
  if (!description)
    return;
  GtkWidget *area = find_type (view, GTK_TYPE_DRAWING_AREA);
  gtk_test_accessible_assert_property (area, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, description);
}

static void
test_mask (Fixture *f, gconstpointer data)
{
  show_for (f, "linear(64) ! transformer-layer(heads=4)", "2x64x64:bf16");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  check_mask (f, NULL);
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  check_mask (f, "A query attends to the keys up to its own position");
  GtkDropDown *choice = GTK_DROP_DOWN (find_editor (f, "mask"));
  gtk_drop_down_set_selected (choice, 1);
  check_mask (f, "A query attends to all keys");
  gtk_editable_set_text (GTK_EDITABLE (find_editor (f, "window")), "16");
  check_mask (f, "A query attends to all keys; only those less than 16 positions away");
  assert_text (f->doc, "linear(64) ! transformer-layer(4, mask=none, window=16)");
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  check_mask (f, "A query attends to the keys up to its own position");
  g_assert_cmpuint (gtk_drop_down_get_selected (GTK_DROP_DOWN (find_editor (f, "mask"))), ==, 0);
}

static void
test_trained (Fixture *f, gconstpointer data)
{
  show_for (f, "gelu ! layer-norm-mlp", "64x64:bf16");
  LigTrainedSwitch *row = find_type (f->inspector, LIG_TYPE_TRAINED_SWITCH);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (row)));
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (row)));
  g_assert_true (gtk_switch_get_active (lig_trained_switch_get_switch (row)));
  gtk_switch_set_active (lig_trained_switch_get_switch (row), FALSE);
  assert_text (f->doc, "gelu ! layer-norm-mlp(trained=false)");
  lig_document_undo (f->doc);
  assert_text (f->doc, "gelu ! layer-norm-mlp");
  g_assert_true (gtk_switch_get_active (lig_trained_switch_get_switch (row)));
}

#define ADD(name, func) \
  g_test_add ("/macro/" name, Fixture, NULL, set_up_with_inspector, func, tear_down)

static void
add_tests (void)
{
  ADD ("folding", test_folding);
  ADD ("crossing", test_crossing);
  ADD ("expand-macro", test_expand_macro);
  ADD ("gpt2", test_gpt2);
  ADD ("mask", test_mask);
  ADD ("trained", test_trained);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
