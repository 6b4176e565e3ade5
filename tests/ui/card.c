/* SPDX-License-Identifier: MIT */
/* The verdict card: both passes of a gap, one pass of a bracket, one entry per fusion, gains on
 * buttons, edits on a copy, and that a closed card keeps nothing alive. */
#include "tests/ui/score-case.h"
#include "ui/score/verdict-card-edit.h"
#include "ui/score/verdict-card-list.h"
#include "ui/score/verdict-card.h"

#include <math.h>

/* @device: null for a GPU whose kernels cost nothing beyond its peak rates, so that policy `all`
 * leaves a gain */
static void
set_up_priced (Fixture *f, gconstpointer device)
{
  g_autofree char *described =
    g_strconcat ("null:", g_getenv ("LIGATURE_SOURCE"), "/tests/ui/peak-rates.json", NULL);
  set_up_on (f, device ? device : described);
}

static const char mlp[] = "make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! "
                          "linear(768) ! add-extra-input(from=r)";

static void
show (Fixture *f, const char *expression)
{
  show_for (f, expression, "2048x768:bf16");
}

static GtkWidget *
open_gap (Fixture *f, guint gap)
{
  lig_score_sheet_explain_gap (f->sheet, gap);
  GtkWidget *card = find_type (GTK_WIDGET (f->sheet), LIG_TYPE_VERDICT_CARD);
  g_assert_nonnull (card);
  wait_for_frame (f->window);
  return card;
}

/* Returns the texts of all visible labels, one per line. */
static void
append_texts (GtkWidget *widget, GString *to)
{
  if (!gtk_widget_get_visible (widget))
    return;
  if (GTK_IS_LABEL (widget))
    g_string_append_printf (to, "%s\n", gtk_label_get_text (GTK_LABEL (widget)));
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    append_texts (child, to);
}

static char *
read_card (GtkWidget *card)
{
  GString *text = g_string_new (NULL);
  append_texts (card, text);
  return g_string_free (text, FALSE);
}

static guint
count_in (const char *text, const char *part)
{
  guint count = 0;
  for (; (text = strstr (text, part)); text += strlen (part))
    count++;
  return count;
}

static gboolean
begins_with (GtkWidget *widget, gconstpointer label)
{
  const char *text = GTK_IS_BUTTON (widget) ? gtk_button_get_label (GTK_BUTTON (widget)) : NULL;
  return text && g_str_has_prefix (text, label);
}

static GtkWidget *
find_edit (GtkWidget *card, const char *label)
{
  return find_widget (card, begins_with, label);
}

/* The ends of a gap between repetitions of a macro have the names of its parts. */
static void
test_repetitions (Fixture *f, gconstpointer data)
{
  show (f, "block(3) { transformer-layer(4) } ! gelu");
  lig_document_set_open (f->doc, lig_document_find_path (f->doc, "0")->op, TRUE);
  wait_for_plan (f->doc);
  g_autofree char *text = read_card (open_gap (f, 2));
  g_assert_true (g_str_has_prefix (text,
                                   "Add branch of Transformer layer at 0.0.0 and Make branch of "
                                   "Transformer layer at 0.0.0 are "));
}

/* Both passes have an answer, even if it is that nothing applies; near misses come first, and each
 * fusion has one entry. */
static void
test_passes (Fixture *f, gconstpointer data)
{
  show (f, mlp);
  GtkWidget *card = open_gap (f, 4);
  g_autofree char *text = read_card (card);
  g_assert_true (g_str_has_prefix (text, "GELU at 3 and Linear at 4 are not one kernel\n"));
  const char *forward = strstr (text, "\nForward\n"), *backward = strstr (text, "\nBackward\n");
  const char *none = strstr (text, "No fusion joins an activation with a matmul after it.");
  g_assert_true (forward && none && backward && forward < none && none < backward);
  g_assert_cmpuint (count_in (backward, "GELU's gradient + Linear's input gradient\n"), ==, 1);
  g_assert_nonnull (strstr (backward, "policy all takes the first match, not the fastest."));
  g_assert_nonnull (strstr (backward, "Predicted: "));
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (card), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "GELU at 3 and Linear at 4 are not one kernel");
  /* The number in the gap is the number of near misses of the card. */
  g_assert_cmpuint (lig_score_map_get_slot (lig_score_sheet_get_map (f->sheet), 4)->near_misses, ==,
                    2);
  GtkWidget *other = open_gap (f, 5);
  g_autofree char *last = read_card (other);
  g_assert_true (g_str_has_prefix (last, "Linear at 4 and Add branch at 5 are fused "
                                         "forward\n"));
  const char *near = strstr (last, "Linear + bias + residual\n");
  g_assert_true (near && near < strstr (last, "\nBackward\n"));
}

/* A bracket's card is about its own pass, and starts with its kernel, bytes and saving. */
static void
test_bracket (Fixture *f, gconstpointer data)
{
  show (f, mlp);
  lig_score_sheet_explain_group (f->sheet, LIG_PASS_FORWARD, 2);
  GtkWidget *card = find_type (GTK_WIDGET (f->sheet), LIG_TYPE_VERDICT_CARD);
  g_autofree char *text = read_card (card);
  g_assert_null (strstr (text, "Backward"));
  g_assert_null (strstr (text, "gradient"));
  const char *own = strstr (text, "Linear + bias + GELU\n"),
             *kernel = strstr (text, "linear_bias_");
  const char *other = strstr (text, "Bias + GELU\n");
  g_assert_true (own && kernel && other && own < kernel && kernel < other);
  g_assert_nonnull (strstr (own, " moved\n"));
  g_assert_nonnull (strstr (own, "fused, ≈ "));
  g_assert_true (find_edit (card, "Forbid") && find_edit (card, "Force"));
  lig_score_sheet_explain_group (f->sheet, LIG_PASS_BACKWARD, 0);
  g_autofree char *back = read_card (find_type (GTK_WIDGET (f->sheet), LIG_TYPE_VERDICT_CARD));
  g_assert_nonnull (strstr (back, "Branch gradient + Layer norm's gradient\n"));
  g_assert_null (strstr (back, "Forward"));
  /* An op without a fusion has its kernel, and the reason. */
  lig_score_sheet_explain_group (f->sheet, LIG_PASS_FORWARD, 1);
  g_autofree char *alone = read_card (find_type (GTK_WIDGET (f->sheet), LIG_TYPE_VERDICT_CARD));
  g_assert_true (g_str_has_prefix (alone, "Layer norm at 1 is unfused\nForward\nlayer_norm · "));
}

/* The gain is on the button; only a button that saves time is blue. A slower fusion can still be
 * forced. */
static void
test_gains (Fixture *f, gconstpointer data)
{
  show (f, mlp);
  GtkWidget *gain = find_edit (open_gap (f, 4), "Force this instead · ≈ ");
  g_assert_nonnull (gain);
  g_assert_true (g_str_has_suffix (gtk_button_get_label (GTK_BUTTON (gain)), " less"));
  g_assert_true (gtk_widget_has_css_class (gain, "suggested-action"));
  GtkWidget *loss = find_edit (open_gap (f, 3), "Force anyway · ≈ ");
  g_assert_nonnull (loss);
  g_assert_true (g_str_has_suffix (gtk_button_get_label (GTK_BUTTON (loss)), " more"));
  g_assert_false (gtk_widget_has_css_class (loss, "suggested-action"));
  /* A pattern that does not match cannot be forced. */
  show (f, "linear(64) ! dropout");
  g_assert_null (find_edit (open_gap (f, 1), "Force"));
  g_autofree char *both = lig_card_gain (18.5, 3e6, TRUE);
  g_autofree char *mixed = lig_card_gain (-4.8, 3e6, FALSE);
  g_autofree char *bytes = lig_card_gain (NAN, -3e6, FALSE);
  g_assert_cmpstr (both, ==, "18.5 µs, 3.00 MB less");
  g_assert_cmpstr (mixed, ==, "≈ 4.80 µs more, 3.00 MB less");
  g_assert_cmpstr (bytes, ==, "3.00 MB more");
  g_assert_null (lig_card_gain (NAN, NAN, FALSE));
}

/* Fusions whose pattern does not match share one line, which unfolds. */
static void
test_rest (Fixture *f, gconstpointer data)
{
  show (f, "linear(64) ! dropout");
  GtkWidget *card = open_gap (f, 1);
  g_autofree char *folded = read_card (card);
  g_assert_nonnull (strstr (folded, ": show\n"));
  g_assert_null (strstr (folded, "Dropout at 1 follows"));
  const char more[] = "verdict-more";
  GtkWidget *button = NULL;
  for (GtkWidget *at = card; at && !button;) {
    if (gtk_widget_has_css_class (at, more))
      button = at;
    GtkWidget *next = gtk_widget_get_first_child (at);
    while (at && !next) {
      next = at == card ? NULL : gtk_widget_get_next_sibling (at);
      at = at == card ? NULL : next ? at : gtk_widget_get_parent (at);
    }
    at = next;
  }
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  g_autofree char *open = read_card (card);
  g_assert_nonnull (strstr (open, ": hide\n"));
  g_assert_nonnull (strstr (open, "Dropout at 1 follows."));
  g_assert_cmpuint (strlen (open), >, strlen (folded));
}

/* An edit is made on a copy without affecting the document. */
static void
test_copy (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  show (f, "layer-norm ! bias ! | ! gelu ! linear(64)");
  GtkWidget *button = find_edit (open_gap (f, 2), "Remove the fence · ");
  g_assert_nonnull (button);
  const LigCardEdit *edit = lig_card_button_get_edit (button);
  LigSequence *sequence = lig_document_get_sequence (f->doc);
  g_autofree char *before = lig_sequence_to_json (sequence);
  g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
  LigPolicy policy;
  g_assert_false (lig_card_edit_get_policy (edit, &policy));
  g_assert_true (lig_card_edit_apply (edit, copy, &error));
  g_assert_false (lig_op_get_fence (lig_sequence_get (copy, 2, NULL)));
  g_autofree char *after = lig_sequence_to_json (sequence);
  g_assert_cmpstr (before, ==, after);
  GtkWidget *fence = find_edit (open_gap (f, 1), "Fence");
  g_autoptr (LigSequence) other = lig_sequence_copy (sequence);
  g_assert_true (lig_card_edit_apply (lig_card_button_get_edit (fence), other, &error));
  g_assert_true (lig_op_get_fence (lig_sequence_get (other, 1, NULL)));
}

/* A button removes a forced fusion that blocks one that the policy would take. */
static void
test_unforce (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"forward-bias-activation", NULL};
  show (f, "linear(3072) ! gelu ! relu");
  lig_op_set_forced (lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL), names);
  lig_document_commit (f->doc, "Force", NULL);
  wait_for_score (f);
  GtkWidget *card = open_gap (f, 1);
  g_autofree char *text = read_card (card);
  g_assert_nonnull (strstr (text, "Bias of Linear at 0 is in “Bias + GELU” at 0 to 1, which is "
                                  "forced."));
  GtkWidget *button = find_edit (card, "Remove the override · ≈ ");
  g_assert_nonnull (button);
  g_assert_true (gtk_widget_has_css_class (button, "suggested-action"));
  g_signal_emit_by_name (button, "clicked");
  wait_for_score (f);
  g_assert_null (
    lig_op_get_forced (lig_sequence_get (lig_document_get_sequence (f->doc), 0, NULL))[0]);
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Remove the override");
}

/* A gain that policy all missed is offered as a change of policy on a device that measures. */
static void
test_policy (Fixture *f, gconstpointer data)
{
  LigPolicy policy;
  fill_with (f->doc, "linear(16) ! gelu ! linear(8)", "8x8:fp32", NULL);
  wait_for_score (f);
  GtkWidget *button = find_edit (open_gap (f, 2), "Choose Measured");
  g_assert_nonnull (button);
  g_assert_true (lig_card_edit_get_policy (lig_card_button_get_edit (button), &policy));
  g_assert_cmpint (policy, ==, LIG_POLICY_MEASURED);
  g_signal_emit_by_name (button, "clicked");
  g_assert_cmpint (lig_document_get_policy (f->doc), ==, LIG_POLICY_MEASURED);
  wait_for_score (f);
}

/* GTK may keep the button that had the focus alive, but not its plan or edit. */
static void
test_closed (Fixture *f, gconstpointer data)
{
  show (f, mlp);
  guint references = G_OBJECT (f->doc)->ref_count;
  GtkWidget *card = open_gap (f, 4);
  g_assert_cmpuint (G_OBJECT (f->doc)->ref_count, >, references);
  g_autoptr (GtkWidget) button = g_object_ref (find_edit (card, "Force this instead"));
  g_assert_nonnull (lig_card_button_get_edit (button));
  gtk_widget_grab_focus (button);
  gtk_popover_popdown (GTK_POPOVER (gtk_widget_get_ancestor (card, GTK_TYPE_POPOVER)));
  WAIT_FOR (!find_type (GTK_WIDGET (f->sheet), LIG_TYPE_VERDICT_CARD));
  g_assert_null (lig_card_button_get_edit (button));
  g_assert_cmpuint (G_OBJECT (f->doc)->ref_count, ==, references);
}

/* All texts of all cards name rows, never expanded indexes or later repetitions. */
static void
test_rows (Fixture *f, gconstpointer data)
{
  g_autoptr (GRegex) expanded =
    g_regex_new ("#[0-9]|\\[[0-9]|[^.0-9]0\\.[1-9]\\.[0-9]", 0, 0, NULL);
  show (f, "block(4) { make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! "
           "add-extra-input(from=r) } ! layer-norm");
  guint count, read = 0;
  const LigRow *rows = lig_document_get_rows (f->doc, &count);
  lig_document_set_open (f->doc, rows[0].op, TRUE);
  wait_for_score (f);
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  for (guint gap = 1; gap < map->slots->len; gap++) {
    int before, after;
    if (!lig_score_map_get_gap_ops (map, gap, &before, &after))
      continue;
    g_autofree char *text = read_card (open_gap (f, gap));
    if (g_regex_match (expanded, text, 0, NULL))
      g_error ("expanded: %s", text);
    read++;
  }
  g_assert_cmpuint (read, >, 5);
}

static guint
count_edits (GtkWidget *widget, LigFixKind kind)
{
  const LigCardEdit *edit = GTK_IS_BUTTON (widget) ? lig_card_button_get_edit (widget) : NULL;
  guint count = edit && edit->kind == LIG_CARD_FIX && edit->fix.kind == kind;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    count += count_edits (child, kind);
  return count;
}

/* One button removes the fence of a gap, no matter how many fusions the fence blocks. */
static void
test_fence (Fixture *f, gconstpointer data)
{
  show (f, "layer-norm ! linear(3072) ! | ! gelu ! linear(64)");
  GtkWidget *card = open_gap (f, 2);
  g_autofree char *text = read_card (card);
  const char *first = strstr (text, "There is a fence before GELU at 2.");
  g_assert_nonnull (first);
  g_assert_nonnull (strstr (first + 1, "There is a fence before GELU at 2."));
  g_assert_cmpuint (count_edits (card, LIG_FIX_REMOVE_FENCE), ==, 1);
}

static void
add_tests (void)
{
#define ADD(name, device) \
  g_test_add ("/card/" #name, Fixture, device, set_up_priced, test_##name, tear_down)
  ADD (passes, NULL);
  ADD (repetitions, NULL);
  ADD (bracket, NULL);
  ADD (gains, NULL);
  ADD (rest, NULL);
  ADD (copy, NULL);
  ADD (fence, NULL);
  ADD (unforce, NULL);
  ADD (policy, "cpu");
  ADD (closed, NULL);
  ADD (rows, NULL);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
