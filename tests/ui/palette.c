/* SPDX-License-Identifier: MIT */
/* The palette, the line of text, the list of problems and the templates. */
#include "ui/sequence/palette.h"
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/sequence/op-completion.h"
#include "ui/sequence/palette-item.h"
#include "ui/sequence/problems.h"
#include "ui/sequence/quick-entry.h"
#include "ui/sequence/template-card.h"
#include "ui/sequence/templates.h"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  f->window = gtk_window_new ();
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static void
show (Fixture *f, GtkWidget *widget)
{
  show_in (f->window, widget, 400, 700);
}

/* --- Palette ------------------------------------------------------------------------------- */

static LigPaletteItem *
item_at (GtkWidget *palette, int index)
{
  return LIG_PALETTE_ITEM (
    gtk_list_box_get_row_at_index (find_type (palette, GTK_TYPE_LIST_BOX), index));
}

/* Returns the number of rows that match the search. */
static guint
count_found (GtkWidget *palette)
{
  guint count = 0;
  GtkListBoxRow *row;
  GtkListBox *list = find_type (palette, GTK_TYPE_LIST_BOX);
  for (int i = 0; (row = gtk_list_box_get_row_at_index (list, i)); i++)
    count += gtk_widget_get_child_visible (GTK_WIDGET (row));
  return count;
}

static guint
count_ops (void)
{
  guint count = 0;
  while (lig_op_info_nth (count))
    count++;
  return count;
}

static void
test_groups (Fixture *f, gconstpointer data)
{
  GtkWidget *palette = lig_palette_new (f->doc);
  g_autoptr (GHashTable) begun = g_hash_table_new (g_str_hash, g_str_equal);
  const char *last = "";
  show (f, palette);
  g_assert_cmpuint (count_found (palette), ==, count_ops ());
  for (guint i = 0; i < count_ops (); i++) {
    LigPaletteItem *item = item_at (palette, (int) i);
    const LigOpInfo *info = lig_palette_item_get_info (item);
    GtkWidget *header = gtk_list_box_row_get_header (GTK_LIST_BOX_ROW (item));
    gboolean begins = !g_str_equal (info->category, last);
    last = info->category;
    g_assert_cmpint (header != NULL, ==, begins);
    if (begins) {
      g_assert_cmpstr (gtk_label_get_text (GTK_LABEL (header)), ==, info->category);
      g_assert_true (g_hash_table_add (begun, (gpointer) info->category));
    }
    gtk_test_accessible_assert_role (item, GTK_ACCESSIBLE_ROLE_LIST_ITEM);
    gtk_test_accessible_assert_property (item, GTK_ACCESSIBLE_PROPERTY_LABEL, info->title);
    gtk_test_accessible_assert_property (item, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, info->summary);
  }
  g_assert_cmpuint (g_hash_table_size (begun), >, 4);
}

static void
test_search (Fixture *f, gconstpointer data)
{
  static const struct {
    const char *typed, *first;
  } cases[] = {
    {"linear", "linear"},        {"GELU", "gelu"},      {"norm l", "layer-norm"},
    {"layernorm", "layer-norm"}, {"swish", "silu"},     {"gpt-oss", "clamped-swiglu"},
    {"gated re", "reglu"},       {"  drop", "dropout"}, {"gpt clamp", "clamped-swiglu"},
  };
  GtkWidget *palette = lig_palette_new (f->doc);
  show (f, palette);
  GtkEditable *search = find_type (palette, GTK_TYPE_SEARCH_ENTRY);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gtk_editable_set_text (search, cases[i].typed);
    g_assert_cmpstr (lig_palette_item_get_info (item_at (palette, 0))->name, ==, cases[i].first);
    g_assert_cmpuint (count_found (palette), <, count_ops ());
    g_assert_null (gtk_list_box_row_get_header (GTK_LIST_BOX_ROW (item_at (palette, 0))));
  }
  gtk_editable_set_text (search, "no such thing");
  g_assert_cmpuint (count_found (palette), ==, 0);
  g_signal_emit_by_name (search, "activate");
  assert_text (f->doc, "");
  g_signal_emit_by_name (search, "stop-search");
  g_assert_cmpstr (gtk_editable_get_text (search), ==, "");
  g_assert_cmpuint (count_found (palette), ==, count_ops ());
}

/* The list is one Tab stop, no matter how many ops there are, and arrow keys move through it. */
static void
test_tab (Fixture *f, gconstpointer data)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *palette = lig_palette_new (f->doc), *after = gtk_button_new_with_label ("After");
  GtkRoot *root = GTK_ROOT (f->window);
  gtk_box_append (GTK_BOX (box), palette);
  gtk_box_append (GTK_BOX (box), after);
  show (f, box);
  GtkWidget *first = GTK_WIDGET (item_at (palette, 0)), *second = GTK_WIDGET (item_at (palette, 1));
  lig_palette_focus_search (LIG_PALETTE (palette));
  g_assert_true (gtk_widget_child_focus (f->window, GTK_DIR_TAB_FORWARD));
  g_assert_true (gtk_root_get_focus (root) == first);
  g_signal_emit_by_name (find_type (palette, GTK_TYPE_LIST_BOX), "move-cursor",
                         GTK_MOVEMENT_DISPLAY_LINES, 1, FALSE, FALSE);
  g_assert_true (gtk_root_get_focus (root) == second);
  g_assert_true (gtk_widget_child_focus (f->window, GTK_DIR_TAB_FORWARD));
  g_assert_true (gtk_root_get_focus (root) == after);
  g_assert_true (gtk_widget_child_focus (f->window, GTK_DIR_TAB_BACKWARD));
  g_assert_true (gtk_widget_is_ancestor (gtk_root_get_focus (root), palette));
  gtk_widget_grab_focus (second);
  g_assert_true (gtk_widget_child_focus (f->window, GTK_DIR_TAB_BACKWARD));
  g_assert_true (
    gtk_widget_is_ancestor (gtk_root_get_focus (root), find_type (palette, GTK_TYPE_SEARCH_ENTRY)));
}

static void
test_add (Fixture *f, gconstpointer data)
{
  GtkWidget *palette = lig_palette_new (f->doc);
  show (f, palette);
  GtkEditable *search = find_type (palette, GTK_TYPE_SEARCH_ENTRY);
  lig_palette_focus_search (LIG_PALETTE (palette));
  gtk_editable_set_text (search, "lay");
  g_signal_emit_by_name (search, "activate");
  gtk_editable_set_text (search, "relu");
  g_signal_emit_by_name (search, "activate");
  assert_text (f->doc, "layer-norm ! relu");
  lig_document_select (f->doc, lig_document_find_path (f->doc, "0")->op, LIG_SELECT_ONLY);
  gtk_editable_set_text (search, "");
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (item_at (palette, 0)), "item.add", NULL));
  assert_text (f->doc, "layer-norm ! linear(768) ! relu");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Add Linear");
  g_signal_emit_by_name (search, "activate");
  assert_text (f->doc, "layer-norm ! linear(768) ! relu");
}

static void
test_drag (Fixture *f, gconstpointer data)
{
  GtkWidget *palette = lig_palette_new (f->doc);
  show (f, palette);
  LigPaletteItem *item = item_at (palette, 3);
  g_autoptr (GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (item));
  guint sources = 0;
  for (guint i = 0; i < g_list_model_get_n_items (controllers); i++) {
    g_autoptr (GtkEventController) controller = g_list_model_get_item (controllers, i);
    if (!GTK_IS_DRAG_SOURCE (controller))
      continue;
    g_autoptr (GdkContentProvider) content = NULL;
    g_auto (GValue) value = G_VALUE_INIT;
    g_signal_emit_by_name (controller, "prepare", 0.0, 0.0, &content);
    g_value_init (&value, G_TYPE_STRING);
    g_assert_true (gdk_content_provider_get_value (content, &value, NULL));
    g_assert_cmpstr (g_value_get_string (&value), ==, lig_palette_item_get_info (item)->name);
    g_assert_cmpint (gtk_drag_source_get_actions (GTK_DRAG_SOURCE (controller)), ==,
                     GDK_ACTION_COPY);
    sources++;
  }
  g_assert_cmpuint (sources, ==, 1);
}

/* --- The line of text ---------------------------------------------------------------------- */

static void
test_quick_entry (Fixture *f, gconstpointer data)
{
  static const char *const texts[] = {
    "layer-norm ! linear(3072) ! gelu ! linear(768)",
    "make-extra-output(r) ! linear(768) ! | ! add-extra-input(r)",
    "block(3) { layer-norm ! linear(768, bias=false) }",
  };
  fill (f->doc, "gelu");
  lig_edit_set_name (f->doc, "named");
  lig_edit_set_types (f->doc, LIG_BF16, LIG_FP32);
  lig_edit_set_train (f->doc, "{\"steps\": 7}");
  GtkWidget *quick = lig_quick_entry_new (f->doc);
  show (f, quick);
  GtkEditable *entry = find_type (quick, GTK_TYPE_ENTRY);
  g_assert_cmpstr (gtk_editable_get_text (entry), ==, "gelu");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    gtk_editable_set_text (entry, texts[i]);
    g_assert_null (lig_quick_entry_get_error (LIG_QUICK_ENTRY (quick)));
    g_signal_emit_by_name (entry, "activate");
    assert_text (f->doc, texts[i]);
    g_assert_cmpstr (gtk_editable_get_text (entry), ==, texts[i]);
    g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Edit as text");
  }
  LigSequence *sequence = lig_document_get_sequence (f->doc);
  g_assert_cmpstr (lig_sequence_get_name (sequence), ==, "named");
  g_assert_cmpint (lig_sequence_get_compute (sequence), ==, LIG_BF16);
  g_assert_nonnull (strstr (lig_sequence_get_train (sequence), "7"));
  lig_document_undo (f->doc);
  assert_text (f->doc, texts[1]);
  g_assert_cmpstr (gtk_editable_get_text (entry), ==, texts[1]);
}

static void
test_quick_errors (Fixture *f, gconstpointer data)
{
  fill (f->doc, "gelu ! linear(4)");
  lig_edit_forbid (f->doc, lig_document_find_path (f->doc, "1")->op, "forward-bias-activation",
                   TRUE);
  GtkWidget *quick = lig_quick_entry_new (f->doc);
  LigQuickEntry *self = LIG_QUICK_ENTRY (quick);
  show (f, quick);
  GtkEditable *entry = find_type (quick, GTK_TYPE_ENTRY);
  gtk_editable_set_text (entry, "layer-norm ! linaer(4)");
  g_assert_cmpstr (lig_quick_entry_get_error (self), ==,
                   "Column 14: op 'linaer' is unknown; did you mean 'linear'?");
  gtk_test_accessible_assert_state (entry, GTK_ACCESSIBLE_STATE_INVALID,
                                    GTK_ACCESSIBLE_INVALID_TRUE);
  g_signal_emit_by_name (entry, "activate");
  assert_text (f->doc, "gelu ! linear(4)");
  /* An external edit does not discard typed text. */
  lig_edit_set_name (f->doc, "other");
  g_assert_true (lig_edit_add (f->doc, "relu", NULL));
  g_assert_cmpstr (gtk_editable_get_text (entry), ==, "layer-norm ! linaer(4)");
  gtk_editable_set_text (entry, "");
  g_assert_nonnull (lig_quick_entry_get_error (self));
  gtk_editable_set_text (entry, "relu ! gelu ! linear(4)");
  g_assert_null (lig_quick_entry_get_error (self));
  g_signal_emit_by_name (entry, "activate");
  /* Overrides that an expression cannot contain stay at their op. */
  const char *const *forbidden = lig_op_get_forbidden (lig_document_find_path (f->doc, "2")->op);
  g_assert_cmpstr (forbidden[0], ==, NULL);
  lig_document_undo (f->doc);
  lig_document_undo (f->doc);
  gtk_editable_set_text (entry, "relu ! gelu ! linear(4)");
  g_signal_emit_by_name (entry, "activate");
  forbidden = lig_op_get_forbidden (lig_document_find_path (f->doc, "2")->op);
  g_assert_cmpstr (forbidden[0], ==, "forward-bias-activation");
}

static void
test_completion (Fixture *f, gconstpointer data)
{
  GtkWidget *entry = gtk_entry_new ();
  LigOpCompletion *completion = lig_op_completion_new (GTK_ENTRY (entry));
  show (f, entry);
  gtk_editable_set_text (GTK_EDITABLE (entry), "gelu ! lay");
  gtk_editable_set_position (GTK_EDITABLE (entry), -1);
  lig_op_completion_update (completion, 0);
  g_assert_true (lig_op_completion_press_key (completion, GDK_KEY_Down));
  g_assert_true (lig_op_completion_press_key (completion, GDK_KEY_Return));
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "gelu ! layer-norm");
  g_assert_false (lig_op_completion_press_key (completion, GDK_KEY_Return));
  gtk_editable_set_text (GTK_EDITABLE (entry), "linear(bia");
  gtk_editable_set_position (GTK_EDITABLE (entry), -1);
  lig_op_completion_update (completion, 0);
  g_assert_false (lig_op_completion_press_key (completion, GDK_KEY_Tab));
  lig_op_completion_free (completion);
}

/* --- Problems ------------------------------------------------------------------------------ */

static void
test_problems (Fixture *f, gconstpointer data)
{
  GtkWidget *problems = lig_problems_new (f->doc);
  show (f, problems);
  GtkRevealer *revealer = find_type (problems, GTK_TYPE_REVEALER);
  wait_for_plan (f->doc);
  g_assert_false (gtk_revealer_get_reveal_child (revealer));
  fill (f->doc, "gelu ! block(2) { relu ! linear(8, in-features=5) }");
  wait_for_plan (f->doc);
  g_assert_true (gtk_revealer_get_reveal_child (revealer));
  GtkListBox *list = find_type (problems, GTK_TYPE_LIST_BOX);
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (list, 0);
  g_assert_nonnull (row);
  g_assert_null (gtk_list_box_get_row_at_index (list, 1));
  gtk_test_accessible_assert_property (row, GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       "Linear at 1.0.1: input has 768 features, expected 5");
  lig_problems_next (LIG_PROBLEMS (problems));
  LigOp *cursor = lig_document_get_cursor (f->doc);
  g_assert_nonnull (cursor);
  g_assert_cmpstr (lig_document_find_row (f->doc, cursor)->path, ==, "1.0.1");
  lig_document_select (f->doc, NULL, LIG_SELECT_ONLY);
  g_signal_emit_by_name (list, "row-activated", row);
  g_assert_true (lig_document_get_cursor (f->doc) == cursor);
  lig_document_undo (f->doc);
  wait_for_plan (f->doc);
  g_assert_false (gtk_revealer_get_reveal_child (revealer));
}

/* Each incomplete op is listed, and `next` starts again after the last. */
static void
test_problems_round (Fixture *f, gconstpointer data)
{
  g_autoptr (LigSequence) sequence = lig_sequence_new ();
  static const char *const names[] = {"linear", "gelu", "reshape"};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    g_autoptr (LigOp) op = lig_op_new (names[i], NULL);
    lig_sequence_append (sequence, op, NULL);
  }
  lig_document_replace (f->doc, sequence, "Test");
  wait_for_plan (f->doc);
  GtkWidget *problems = lig_problems_new (f->doc);
  static const char *const expected[] = {"0", "2", "0"};
  show (f, problems);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    g_assert_true (gtk_widget_activate_action (problems, "problems.next", NULL));
    LigOp *cursor = lig_document_get_cursor (f->doc);
    g_assert_cmpstr (lig_document_find_row (f->doc, cursor)->path, ==, expected[i]);
  }
}

/* --- Templates ----------------------------------------------------------------------------- */

static void
test_templates (Fixture *f, gconstpointer data)
{
  GtkFlowBoxChild *child;
  guint count = 0;
  GtkWidget *window = lig_templates_new (f->doc);
  gtk_window_present (GTK_WINDOW (window));
  gtk_test_widget_wait_for_draw (window);
  GtkFlowBox *cards = find_type (window, GTK_TYPE_FLOW_BOX);
  for (; (child = gtk_flow_box_get_child_at_index (cards, (int) count)); count++) {
    gint64 until = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;
    LigTemplateCard *card = LIG_TEMPLATE_CARD (child);
    while (!lig_template_card_get_plan (card) && g_get_monotonic_time () < until)
      g_main_context_iteration (NULL, TRUE);
    g_assert_nonnull (lig_template_card_get_plan (card));
    g_assert_cmpstr (lig_template_card_get_title (card), !=, "");
  }
  g_assert_cmpuint (count, ==, 10);
  gtk_test_widget_wait_for_draw (window);
  child = gtk_flow_box_get_child_at_index (cards, 2);
  g_object_add_weak_pointer (G_OBJECT (window), (gpointer *) &window);
  g_assert_true (gtk_widget_activate_action (GTK_WIDGET (child), "template.choose", NULL));
  assert_text (f->doc, "make-extra-output(residual) ! layer-norm ! linear(3072) ! gelu ! "
                       "linear(768) ! add-extra-input(residual)");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Begin with Residual MLP");
  while (g_main_context_iteration (NULL, FALSE))
    continue;
  g_assert_null (window);
  lig_document_undo (f->doc);
  assert_text (f->doc, "");
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/palette/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (groups);
  ADD (search);
  ADD (tab);
  ADD (add);
  ADD (drag);
  ADD (quick_entry);
  ADD (quick_errors);
  ADD (completion);
  ADD (problems);
  ADD (problems_round);
  ADD (templates);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
