/* SPDX-License-Identifier: MIT */
/* The Plan page: a selected step marks the steps and values connected with it, and its values lead
 * to the steps that write and read them. */
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/page.h"
#include "ui/plan/operands.h"
#include "ui/plan/table.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page, *operands;
  LigPlanTable *steps, *values;
} Fixture;

static void
collect (GtkWidget *widget, WidgetTest test, gconstpointer data, GPtrArray *found)
{
  if (test (widget, data))
    g_ptr_array_add (found, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    collect (child, test, data, found);
}

static GPtrArray *
find_all (GtkWidget *widget, WidgetTest test, gconstpointer data)
{
  GPtrArray *found = g_ptr_array_new ();
  collect (widget, test, data, found);
  return found;
}

static gboolean
has_class (GtkWidget *widget, gconstpointer class)
{
  return gtk_widget_has_css_class (widget, class);
}

/* Returns whether all rows are shown, which takes several frames. */
static gboolean
is_filled (LigPlanTable *table)
{
  GtkSelectionModel *shown = gtk_column_view_get_model (lig_plan_table_get_view (table));
  guint count = g_list_model_get_n_items (lig_plan_table_get_rows (table));
  return count > 0 && g_list_model_get_n_items (G_LIST_MODEL (shown)) == count;
}

static void
set_up (Fixture *f, gconstpointer data)
{
  const LigPageInfo *info;
  GType table = LIG_TYPE_PLAN_TABLE;
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  for (guint i = 0; (info = lig_page_info_nth (i)); i++)
    if (g_str_equal (info->name, "plan"))
      f->page = g_object_new (info->get_type (), "document", f->doc, "session", f->session, NULL);
  show_in (f->window, f->page, 1200, 800);
  fill_with (f->doc,
             "make-extra-output(to=r) ! layer-norm ! linear(64) ! gelu ! linear(32) ! "
             "add-extra-input(from=r) ! mean-squared-error",
             "32x32", NULL);
  wait_for_plan (f->doc);
  g_autoptr (GPtrArray) tables = find_all (f->page, has_type, &table);
  f->operands = find_type (f->page, LIG_TYPE_PLAN_OPERANDS);
  f->steps = tables->pdata[0];
  f->values = tables->pdata[tables->len - 1];
  WAIT_FOR (is_filled (f->steps));
  wait_for_frame (f->window);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static const LigPlanStep *
get_step (Fixture *f, int number)
{
  guint count;
  return &lig_plan_get_steps (lig_document_get_plan (f->doc), &count)[number];
}

static const LigPlanValue *
get_values (Fixture *f, guint *count)
{
  return lig_plan_get_values (lig_document_get_plan (f->doc), count);
}

static guint
count_steps (Fixture *f)
{
  guint count;
  lig_plan_get_steps (lig_document_get_plan (f->doc), &count);
  return count;
}

/* Returns the step of the kernel; fails if there is none. */
static int
find_kernel (Fixture *f, const char *kernel)
{
  for (int i = 0; i < (int) count_steps (f); i++)
    if (strstr (lig_plan_step_name_kernel (get_step (f, i)), kernel))
      return i;
  g_error ("no step runs %s", kernel);
}

/* Selects a step like a click. */
static void
choose (Fixture *f, int step)
{
  g_assert_true (lig_plan_table_select (f->steps, (guint) step));
  wait_for_frame (f->window);
}

static int
root_of (const LigPlanValue *values, int value)
{
  while (values[value].alias >= 0)
    value = values[value].alias;
  return value;
}

/* Returns whether the second step reads memory that the first one writes; no other step of this
 * plan writes there in between. */
static gboolean
leads (Fixture *f, int writer, int reader)
{
  guint count;
  const LigPlanValue *values = get_values (f, &count);
  const LigPlanStep *from = get_step (f, writer), *to = get_step (f, reader);
  for (int i = from->n_inputs; i < from->n_operands; i++)
    for (int j = 0; writer < reader && j < to->n_inputs; j++)
      if (from->operands[i].value >= 0 && to->operands[j].value >= 0 &&
          root_of (values, from->operands[i].value) == root_of (values, to->operands[j].value))
        return TRUE;
  return FALSE;
}

/* --- Marks ---------------------------------------------------------------------------------- */

/* Compares the marks of all rows with the tables of the plan; returns how many are marked. */
static int
check_marks (Fixture *f, int selected)
{
  g_autoptr (GPtrArray) cells = find_all (GTK_WIDGET (f->steps), has_class, "plan-mark");
  int marked = 0, shown = 0;
  for (guint i = 0; i < cells->len; i++) {
    GtkWidget *cell = cells->pdata[i], *image = gtk_widget_get_first_child (cell);
    const char *text =
      gtk_inscription_get_text (GTK_INSCRIPTION (gtk_widget_get_last_child (cell)));
    const char *icon = gtk_image_get_icon_name (GTK_IMAGE (image));
    if (!text || !gtk_widget_get_mapped (cell))
      continue;
    int step = atoi (text);
    gboolean before = selected >= 0 && leads (f, step, selected);
    gboolean after = selected >= 0 && leads (f, selected, step);
    g_assert_cmpint (gtk_widget_has_css_class (cell, "before"), ==, before);
    g_assert_cmpint (gtk_widget_has_css_class (cell, "after"), ==, after);
    g_assert_cmpstr (icon, ==, before ? "go-down-symbolic" : after ? "go-up-symbolic" : NULL);
    const char *tooltip = gtk_widget_get_tooltip_text (cell);
    g_assert_cmpint (tooltip != NULL, ==, before || after);
    if (before || after)
      g_assert_true (strstr (tooltip, before ? "Writes " : "Reads "));
    gtk_test_accessible_assert_property (GTK_ACCESSIBLE (image), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                         tooltip ? tooltip : "");
    marked += before || after;
    shown++;
  }
  g_assert_cmpint (shown, ==, (int) count_steps (f));
  return marked;
}

static void
test_marks (Fixture *f, gconstpointer data)
{
  g_assert_cmpint (check_marks (f, -1), ==, 0);
  g_assert_false (gtk_widget_get_visible (f->operands));
  for (int step = 0; step < (int) count_steps (f); step++) {
    choose (f, step);
    g_assert_cmpint (check_marks (f, step), >, 0);
    g_assert_true (gtk_widget_get_visible (f->operands));
  }
  gtk_single_selection_set_selected (
    GTK_SINGLE_SELECTION (gtk_column_view_get_model (lig_plan_table_get_view (f->steps))),
    GTK_INVALID_LIST_POSITION);
  wait_for_frame (f->window);
  g_assert_cmpint (check_marks (f, -1), ==, 0);
  g_assert_false (gtk_widget_get_visible (f->operands));
}

/* Operands that connect a row with the selected step are bold. */
static void
test_bold (Fixture *f, gconstpointer data)
{
  GType inscription = GTK_TYPE_INSCRIPTION;
  int norm = find_kernel (f, "layer_norm"), bold = 0;
  choose (f, norm);
  g_autoptr (GPtrArray) cells = find_all (GTK_WIDGET (f->steps), has_type, &inscription);
  for (guint i = 0; i < cells->len; i++) {
    PangoAttrList *attributes = gtk_inscription_get_attributes (cells->pdata[i]);
    const char *text = gtk_inscription_get_text (cells->pdata[i]);
    if (!attributes || !text)
      continue;
    GSList *list = pango_attr_list_get_attributes (attributes);
    for (GSList *at = list; at; at = at->next) {
      const PangoAttribute *weight = at->data;
      g_autofree char *name =
        g_strndup (text + weight->start_index, weight->end_index - weight->start_index);
      g_assert_null (strchr (name, ' '));
      g_assert_true (g_str_has_prefix (name, "#1."));
      bold++;
    }
    g_slist_free_full (list, (GDestroyNotify) pango_attribute_destroy);
  }
  /* Its output, its mean and its rstd: the matmul, and both gradients. */
  g_assert_cmpint (bold, ==, 4);
}

/* --- Values --------------------------------------------------------------------------------- */

/* Returns the button of the value at the selected step. */
static GtkWidget *
find_button (Fixture *f, const char *value)
{
  GType type = GTK_TYPE_BUTTON;
  g_autoptr (GPtrArray) buttons = find_all (f->operands, has_type, &type);
  for (guint i = 0; i < buttons->len; i++) {
    GtkWidget *box = gtk_button_get_child (buttons->pdata[i]);
    if (g_str_equal (gtk_label_get_label (GTK_LABEL (gtk_widget_get_first_child (box))), value))
      return buttons->pdata[i];
  }
  g_error ("%s has no button", value);
}

static int
follow (Fixture *f, const char *value)
{
  GtkWidget *button = find_button (f, value);
  int before = lig_plan_table_get_selected (f->steps);
  g_assert_true (gtk_widget_get_sensitive (button));
  g_assert_true (gtk_widget_grab_focus (button));
  g_assert_true (gtk_widget_activate (button));
  /* A button that is activated by a key emits its signal with a delay. */
  WAIT_FOR (lig_plan_table_get_selected (f->steps) != before);
  wait_for_frame (f->window);
  return lig_plan_table_get_selected (f->steps);
}

/* The value leads from the writer to its readers, one after another, and back in between. */
static void
test_follow (Fixture *f, gconstpointer data)
{
  guint count;
  const LigPlanValue *values = get_values (f, &count), *value = NULL;
  int norm = find_kernel (f, "layer_norm");
  for (guint i = 0; i < count; i++)
    if (g_str_equal (values[i].name, "#1.y"))
      value = &values[i];
  g_assert_nonnull (value);
  g_assert_cmpint (value->writers[0], ==, norm);
  g_assert_cmpint (value->n_readers, ==, 2);
  choose (f, norm);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < value->n_readers; i++) {
      g_assert_cmpint (follow (f, "#1.y"), ==, value->readers[i]);
      g_assert_true (gtk_root_get_focus (GTK_ROOT (f->window)) == find_button (f, "#1.y"));
      g_assert_cmpint (follow (f, "#1.y"), ==, norm);
    }
}

/* A parameter leads from one reader to the next; a value without other users leads nowhere. */
static void
test_parameter (Fixture *f, gconstpointer data)
{
  int matmul = find_kernel (f, "linear_bias_gelu"), gradient;
  choose (f, matmul);
  gradient = follow (f, "2.weight");
  g_assert_cmpstr (lig_plan_step_name_kernel (get_step (f, gradient)), ==, "linear_backward_input");
  g_assert_cmpint (follow (f, "2.weight"), ==, matmul);
  GtkWidget *bias = find_button (f, "2.bias");
  g_assert_false (gtk_widget_get_sensitive (bias));
  const char *tooltip = gtk_widget_get_tooltip_text (bias);
  g_autofree char *expected = g_strdup_printf ("2.bias: in the state, read by step %d", matmul);
  g_assert_cmpstr (tooltip, ==, expected);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (bias), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                       expected);
}

/* A step that the search hides is shown again. */
static void
test_hidden (Fixture *f, gconstpointer data)
{
  GtkWidget *entry = find_type (f->page, GTK_TYPE_SEARCH_ENTRY);
  int norm = find_kernel (f, "layer_norm");
  gtk_editable_set_text (GTK_EDITABLE (entry), "layer_norm");
  lig_plan_table_search (f->steps, "layer_norm");
  choose (f, norm);
  g_assert_cmpuint (g_list_model_get_n_items (lig_plan_table_get_rows (f->steps)), ==, 2);
  int matmul = follow (f, "#1.y");
  g_assert_cmpstr (lig_plan_step_name_kernel (get_step (f, matmul)), ==, "linear_bias_gelu");
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, "");
  g_assert_cmpuint (g_list_model_get_n_items (lig_plan_table_get_rows (f->steps)), ==,
                    count_steps (f));
}

/* In the list of values, those of the selected step are marked, and a row leads to the steps. */
static void
test_values (Fixture *f, gconstpointer data)
{
  GtkWidget *views = gtk_widget_get_ancestor (GTK_WIDGET (f->values), GTK_TYPE_STACK);
  int norm = find_kernel (f, "layer_norm"), before = 0, after = 0;
  choose (f, norm);
  gtk_stack_set_visible_child_name (GTK_STACK (views), "values");
  wait_for_frame (f->window);
  GListModel *rows = lig_plan_table_get_rows (f->values);
  guint count = g_list_model_get_n_items (rows), position = 0;
  WAIT_FOR (is_filled (f->values));
  wait_for_frame (f->window);
  g_autoptr (GPtrArray) cells = find_all (GTK_WIDGET (f->values), has_class, "plan-mark");
  for (guint i = 0; i < cells->len; i++) {
    before += gtk_widget_has_css_class (cells->pdata[i], "before");
    after += gtk_widget_has_css_class (cells->pdata[i], "after");
  }
  g_assert_cmpint (before, ==, get_step (f, norm)->n_inputs);
  g_assert_cmpint (after, ==, get_step (f, norm)->n_operands - get_step (f, norm)->n_inputs);
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigPlanItem) item = g_list_model_get_item (rows, i);
    if (g_str_equal (lig_plan_item_get_value (item)->name, "#1.mean"))
      position = i;
  }
  g_signal_emit_by_name (lig_plan_table_get_view (f->values), "activate", position);
  g_assert_cmpstr (gtk_stack_get_visible_child_name (GTK_STACK (views)), ==, "steps");
  int reader = lig_plan_table_get_selected (f->steps);
  g_assert_true (strstr (lig_plan_step_name_kernel (get_step (f, reader)), "layer_norm_backward"));
}

/* A new plan has different steps, so nothing stays selected. */
static void
test_replaced (Fixture *f, gconstpointer data)
{
  choose (f, find_kernel (f, "layer_norm"));
  fill_with (f->doc, "linear(8)", "4x4", NULL);
  wait_for_plan (f->doc);
  wait_for_frame (f->window);
  g_assert_cmpint (lig_plan_table_get_selected (f->steps), ==, -1);
  g_assert_false (gtk_widget_get_visible (f->operands));
  choose (f, 0);
  g_assert_true (gtk_widget_get_visible (f->operands));
}

static void
add_tests (void)
{
  /* Acquires the context like a running main loop; otherwise, threads would run their callbacks
   * themselves. */
  g_assert_true (g_main_context_acquire (NULL));
#define ADD(name) \
  g_test_add ("/ui/plan-steps/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (marks);
  ADD (bold);
  ADD (follow);
  ADD (parameter);
  ADD (hidden);
  ADD (values);
  ADD (replaced);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
