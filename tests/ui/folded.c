/* SPDX-License-Identifier: MIT */
/* Folded rows of the score: their sums equal those of their rows, channels lead into them, and
 * their names are not truncated. */
#include "tests/ui/score-case.h"
#include "ui/document/times.h"
#include "ui/score/row-private.h"

#include <math.h>

static const char model[] = "embedding(768, vocabulary=50257) ! position-embedding(1024) ! "
                            "block(12) { transformer-layer(heads=12) } ! layer-norm ! "
                            "linear(50257, bias=false, tied=0) ! cross-entropy";

/* --- Sums ---------------------------------------------------------------------------------- */

/* Sums the brackets of rows in a pass. */
static LigFigures
sum_rows (Fixture *f, LigPass pass, guint first, guint count)
{
  LigFigures sum;
  lig_figures_init (&sum);
  for (guint i = 0; i < map_of (f)->brackets[pass]->len; i++) {
    const LigScoreBracket *bracket =
      &g_array_index (map_of (f)->brackets[pass], LigScoreBracket, i);
    if (bracket->from >= first && bracket->from < first + count)
      lig_figures_add (&sum, &bracket->figures);
  }
  return sum;
}

static void
assert_same (const LigFigures *a, const LigFigures *b, double times)
{
  g_assert_cmpuint (a->kernels, ==, b->kernels * (guint) times);
  g_assert_cmpuint (a->groups, ==, b->groups * (guint) times);
  g_assert_cmpuint (a->fused, ==, b->fused * (guint) times);
  g_assert_cmpfloat (a->bytes, >, 0);
  g_assert_cmpfloat_with_epsilon (a->bytes, b->bytes * times, 1e-6 * a->bytes);
  g_assert_cmpfloat_with_epsilon (a->flops, b->flops * times, 1e-6 * a->flops);
  g_assert_cmpfloat_with_epsilon (a->seconds, b->seconds * times, 1e-6 * a->seconds);
}

static LigScoreSum
sum_ops (Fixture *f, guint row)
{
  guint count;
  LigScoreSum sum;
  const LigScoreSlot *slot = slot_at (f, row);
  lig_score_sum_ops (lig_plan_get_ops (map_of (f)->plan, &count) + slot->first, slot->count, &sum);
  return sum;
}

static const char *
text_of (Fixture *f, guint row, int which)
{
  return LIG_OP_ROW (row_at (f, row))->texts[which].text;
}

/* A macro's sum equals that of its sub-rows. */
static void
test_macro (Fixture *f, gconstpointer data)
{
  LigFigures folded[2];
  show_for (f, "linear(64) ! transformer-layer(heads=4) ! gelu", "2x16x64:bf16");
  g_assert_true (lig_score_slot_is_folded (slot_at (f, 1)));
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    folded[pass] = sum_rows (f, pass, 1, 1);
  /* Four matmuls with biases and two norms. */
  const gint64 parameters = 12 * 64 * 64 + (3 + 1 + 4 + 1) * 64 + 4 * 64;
  g_assert_cmpint (sum_ops (f, 1).parameters, ==, parameters);
  g_assert_cmpint (sum_ops (f, 1).saved_bytes, >, 0);
  g_assert_cmpstr (text_of (f, 1, SUM_SHORT), ==, "50.0 k");
  g_assert_nonnull (strstr (text_of (f, 1, SUM), "984 parameters, "));
  g_assert_null (text_of (f, 0, SUM));
  do_action (f, 1, "op.fold");
  g_assert_null (text_of (f, 1, SUM));
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    LigFigures parts = sum_rows (f, pass, 1, 1);
    assert_same (&folded[pass], &parts, 1);
  }
  gint64 sum = 0;
  guint count;
  const LigPlanOp *ops = lig_plan_get_ops (map_of (f)->plan, &count);
  for (int i = 0; i < slot_at (f, 1)->count; i++)
    sum += ops[slot_at (f, 1)->first + i].parameters;
  g_assert_cmpint (sum, ==, parameters);
}

/* The head of a block, folded or not, has the sum of its rows over all repetitions. */
static void
test_block (Fixture *f, gconstpointer data)
{
  LigFigures folded[2];
  show_for (f, "gelu ! block(5) { layer-norm ! linear(64) ! gelu }", "64x64:bf16");
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    folded[pass] = sum_rows (f, pass, 1, 1);
  const LigScoreSum whole = sum_ops (f, 1);
  g_assert_cmpint (whole.parameters, ==, 5 * (64 * 64 + 64 + 2 * 64));
  g_assert_cmpstr (text_of (f, 1, SUM_SHORT), ==, "21.4 k");
  do_action (f, 1, "op.fold");
  g_assert_cmpuint (map_of (f)->slots->len, ==, 5);
  LigScoreSum rows = {0};
  for (guint i = 2; i < 5; i++) {
    rows.parameters += sum_ops (f, i).parameters;
    rows.saved_bytes += sum_ops (f, i).saved_bytes;
  }
  g_assert_cmpint (sum_ops (f, 1).parameters, ==, whole.parameters);
  g_assert_cmpint (whole.parameters, ==, 5 * rows.parameters);
  g_assert_cmpint (whole.saved_bytes, ==, 5 * rows.saved_bytes);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    LigFigures head = sum_rows (f, pass, 1, 1), parts = sum_rows (f, pass, 2, 3);
    assert_same (&head, &folded[pass], 1);
    assert_same (&head, &parts, 5);
  }
}

/* --- Channels ------------------------------------------------------------------------------ */

/* The channel into a folded block leads to the block, and names the op that reads it. */
static void
test_channel (Fixture *f, gconstpointer data)
{
  show_for (f, "make-extra-output(r) ! block(3) { gelu ! linear(64) ! add-extra-input(../r) }",
            "64x64:bf16");
  const char *label = "Branch r from Make branch at 0 to Add branch at 1.0.2";
  for (guint i = 0; i < 2; i++) {
    g_assert_cmpuint (map_of (f)->arcs->len, ==, 1);
    const LigScoreArc *arc = &g_array_index (map_of (f)->arcs, LigScoreArc, 0);
    g_assert_cmpuint (arc->from, ==, 0);
    g_assert_cmpuint (arc->to, ==, i == 0 ? 1 : 4);
    g_assert_cmpstr (arc->sink_path, ==, "1.0.2");
    GtkWidget *channel = lig_score_sheet_get_channel (f->sheet, 0);
    gtk_test_accessible_assert_property (GTK_ACCESSIBLE (channel), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                         label);
    g_assert_true (gtk_widget_activate_action (channel, "channel.end", NULL));
    g_assert_true (lig_document_get_cursor (f->doc) == slot_at (f, arc->to)->op);
    if (i == 0)
      do_action (f, 1, "op.fold");
  }
  do_action (f, 1, "op.fold");
  GtkWidget *channel = lig_score_sheet_get_channel (f->sheet, 0);
  g_assert_true (gtk_widget_activate_action (channel, "channel.disconnect", NULL));
  wait_for_score (f);
  g_assert_cmpuint (map_of (f)->arcs->len, ==, 0);
}

/* Channels inside a folded block are not drawn, and a channel with several readers in it is drawn
 * once. */
static void
test_inner (Fixture *f, gconstpointer data)
{
  show_for (f,
            "make-extra-output(r) ! block(3) { make-extra-output(s) ! linear(64) ! "
            "add-extra-input(s) ! add-extra-input(../r) ! gelu ! add-extra-input(../r) }",
            "64x64:bf16");
  g_assert_cmpuint (map_of (f)->arcs->len, ==, 1);
  do_action (f, 1, "op.fold");
  g_assert_cmpuint (map_of (f)->arcs->len, ==, 3);
}

/* --- Names --------------------------------------------------------------------------------- */

/* Titles are complete at every width: they have priority over shapes, parameters and badges. */
static void
test_names (Fixture *f, gconstpointer data)
{
  show_for (f, model, "4x1024:int32");
  lig_document_open_blocks (f->doc);
  const int widths[] = {1000, 720, 640, 480};
  GtkWidget *place = gtk_widget_get_parent (f->score);
  g_assert_true (GTK_IS_WINDOW (place));
  for (guint i = 0; i < G_N_ELEMENTS (widths); i++) {
    gtk_window_set_default_size (GTK_WINDOW (f->window), widths[i], 800);
    WAIT_FOR (gtk_widget_get_width (f->score) <= widths[i]);
    wait_for_score (f);
    wait_for_frame (f->window);
    for (guint k = 0; k < map_of (f)->slots->len; k++) {
      LigOpRow *row = LIG_OP_ROW (row_at (f, k));
      g_assert_nonnull (row->texts[row->title].layout);
      if (lig_score_text_is_cut (&row->texts[row->title]))
        g_error ("%s is cut at %d pixels", row->texts[TITLE].text, widths[i]);
    }
  }
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/folded/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (macro);
  ADD (block);
  ADD (channel);
  ADD (inner);
  ADD (names);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
