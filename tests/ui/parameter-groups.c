/* SPDX-License-Identifier: MIT */
/* Groups of the inspector's parameters: their order, folding, the summary of a folded group, the
 * picture of the mask, and the focus that unfolds. */
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/inspector/inspector.h"
#include "ui/inspector/mask.h"
#include "ui/inspector/param-row.h"
#include "ui/widgets/fold.h"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *inspector;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  f->window = gtk_window_new ();
  f->inspector = lig_inspector_new (f->doc);
  show_in (f->window, f->inspector, 320, 800);
  fill (f->doc, "linear(64) ! transformer-layer(heads=4)");
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static gboolean
has_param (GtkWidget *widget, gconstpointer name)
{
  return LIG_IS_PARAM_ROW (widget) &&
         g_str_equal (lig_param_row_get_param (LIG_PARAM_ROW (widget))->name, name);
}

static LigParamRow *
find_row (Fixture *f, const char *param)
{
  GtkWidget *row = find_widget (f->inspector, has_param, param);
  g_assert_nonnull (row);
  return LIG_PARAM_ROW (row);
}

/* Returns the group of a parameter, or null. */
static LigFold *
find_group (Fixture *f, const char *param)
{
  return (LigFold *) gtk_widget_get_ancestor (GTK_WIDGET (find_row (f, param)), LIG_TYPE_FOLD);
}

static GtkWidget *
find_button (LigFold *group)
{
  return find_type (GTK_WIDGET (group), GTK_TYPE_BUTTON);
}

static void
count_groups (GtkWidget *root, guint *all, guint *open)
{
  if (LIG_IS_FOLD (root)) {
    *all += 1;
    *open += lig_fold_get_open (LIG_FOLD (root));
  }
  for (GtkWidget *child = gtk_widget_get_first_child (root); child;
       child = gtk_widget_get_next_sibling (child))
    count_groups (child, all, open);
}

static void
test_folding (Fixture *f, gconstpointer data)
{
  guint all = 0, open = 0;
  count_groups (f->inspector, &all, &open);
  g_assert_cmpuint (all, >, 4);
  g_assert_cmpuint (open, ==, 2);
  g_assert_true (lig_fold_get_open (find_group (f, "heads")));
  LigFold *group = find_group (f, "rotary-base");
  g_assert_true (group == find_group (f, "rotary"));
  g_assert_true (group != find_group (f, "heads"));
  g_assert_false (lig_fold_get_open (group));
  gtk_test_accessible_assert_state (find_button (group), GTK_ACCESSIBLE_STATE_EXPANDED, FALSE);
  g_signal_emit_by_name (find_button (group), "clicked");
  g_assert_true (lig_fold_get_open (group));
  gtk_test_accessible_assert_state (find_button (group), GTK_ACCESSIBLE_STATE_EXPANDED, TRUE);
  /* An edit keeps the groups, so that an open one stays open. */
  lig_edit_set_fence (f->doc, op_at (f->doc, "1"), TRUE);
  g_assert_true (group == find_group (f, "rotary"));
  g_assert_true (lig_fold_get_open (group));
}

static void
test_summary (Fixture *f, gconstpointer data)
{
  LigFold *group = find_group (f, "rotary-base");
  LigParamRow *row = find_row (f, "rotary-base");
  g_assert_null (gtk_widget_get_tooltip_text (find_button (group)));
  gtk_editable_set_text (GTK_EDITABLE (lig_param_row_get_editor (row)), "500000");
  g_assert_cmpstr (gtk_widget_get_tooltip_text (find_button (group)), ==,
                   lig_param_row_get_param (row)->label);
  lig_document_undo (f->doc);
  g_assert_null (gtk_widget_get_tooltip_text (find_button (group)));
}

static void
test_picture (Fixture *f, gconstpointer data)
{
  LigFold *group = find_group (f, "mask");
  g_assert_true (lig_fold_get_open (group));
  GtkWidget *view = find_type (GTK_WIDGET (group), LIG_TYPE_MASK_VIEW);
  g_assert_nonnull (view);
  g_assert_true (gtk_widget_get_prev_sibling (view) == GTK_WIDGET (find_row (f, "mask")));
  /* The same picture moves to the rows of another op kind and back. */
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  g_assert_null (find_type (f->inspector, LIG_TYPE_MASK_VIEW));
  g_assert_null (find_group (f, "out-features"));
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  g_assert_true (find_type (f->inspector, LIG_TYPE_MASK_VIEW) == view);
}

static void
test_focus (Fixture *f, gconstpointer data)
{
  LigFold *group = find_group (f, "eps");
  g_assert_false (lig_fold_get_open (group));
  lig_document_want_parameter (f->doc, "eps");
  while (!lig_fold_get_open (group))
    g_main_context_iteration (NULL, TRUE);
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (f->window));
  g_assert_nonnull (focus);
  g_assert_true (gtk_widget_is_ancestor (focus, GTK_WIDGET (find_row (f, "eps"))));
}

#define ADD(name, func) \
  g_test_add ("/parameter-groups/" name, Fixture, NULL, set_up, func, tear_down)

static void
add_tests (void)
{
  ADD ("folding", test_folding);
  ADD ("summary", test_summary);
  ADD ("picture", test_picture);
  ADD ("focus", test_focus);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
