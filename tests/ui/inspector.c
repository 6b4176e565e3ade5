/* SPDX-License-Identifier: MIT */
/* The inspector: every parameter of every op, rejections, several ops, the whole sequence. */
#include "ui/inspector/inspector.h"
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/inspector/param-row.h"
#include "ui/inspector/param-text.h"
#include "ui/inspector/parts.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/type-list.h"

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
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static void
add_all (GtkWidget *root, GType type, GPtrArray *found)
{
  if (!gtk_widget_get_visible (root))
    return;
  if (G_TYPE_CHECK_INSTANCE_TYPE (root, type))
    g_ptr_array_add (found, root);
  for (GtkWidget *child = gtk_widget_get_first_child (root); child;
       child = gtk_widget_get_next_sibling (child))
    add_all (child, type, found);
}

/* Returns the widgets of a type on the visible face. */
static GPtrArray *
find_all (Fixture *f, GType type)
{
  GPtrArray *found = g_ptr_array_new ();
  g_autoptr (GPtrArray) stacks = g_ptr_array_new ();
  add_all (f->inspector, GTK_TYPE_STACK, stacks);
  g_assert_cmpuint (stacks->len, >, 0);
  add_all (gtk_stack_get_visible_child (stacks->pdata[0]), type, found);
  return found;
}

static LigParamRow *
find_row (Fixture *f, const char *param)
{
  g_autoptr (GPtrArray) rows = find_all (f, LIG_TYPE_PARAM_ROW);
  for (guint i = 0; i < rows->len; i++)
    if (g_str_equal (lig_param_row_get_param (rows->pdata[i])->name, param))
      return rows->pdata[i];
  return NULL;
}

/* Returns whether a label of the visible face has this text. */
static gboolean
says (Fixture *f, const char *text)
{
  g_autoptr (GPtrArray) labels = find_all (f, GTK_TYPE_LABEL);
  for (guint i = 0; i < labels->len; i++)
    if (g_str_equal (gtk_label_get_text (labels->pdata[i]), text))
      return TRUE;
  return FALSE;
}

static void
type (LigParamRow *row, const char *text)
{
  gtk_editable_set_text (GTK_EDITABLE (lig_param_row_get_editor (row)), text);
}

static const char *
shown (LigParamRow *row)
{
  return gtk_editable_get_text (GTK_EDITABLE (lig_param_row_get_editor (row)));
}

/* --- Every parameter ----------------------------------------------------------------------- */

static void
change (LigParamRow *row)
{
  const LigParam *param = lig_param_row_get_param (row);
  GtkWidget *editor = lig_param_row_get_editor (row);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  double half = param->initial != 0 ? param->initial / 2 : MIN (param->maximum, 0.5);
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    type (row,
          g_ascii_dtostr (number, sizeof number, CLAMP (half, param->minimum, param->maximum)));
    break;
  case LIG_PARAM_INT:
    type (row, "3");
    break;
  case LIG_PARAM_SHAPE:
    type (row, param->minimum < 0 ? "512 × -1 x 6" : "768");
    break;
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
    type (row, "some-channel");
    break;
  case LIG_PARAM_PATH:
    type (row, "2");
    break;
  case LIG_PARAM_CHOICE:
    gtk_drop_down_set_selected (GTK_DROP_DOWN (editor), param->initial == 0 ? 1 : 0);
    break;
  default:
    gtk_switch_set_active (GTK_SWITCH (editor), !gtk_switch_get_active (GTK_SWITCH (editor)));
  }
}

static void
check_value (LigOp *op, const LigParam *param, const GValue *expected, gboolean equal)
{
  g_auto (GValue) value = G_VALUE_INIT;
  lig_op_get_value (op, param, &value);
  g_assert_cmpint (lig_param_value_equal (&value, expected), ==, equal);
}

static GtkWidget *
find_reset (LigParamRow *row)
{
  g_autoptr (GPtrArray) buttons = g_ptr_array_new ();
  add_all (GTK_WIDGET (row), GTK_TYPE_BUTTON, buttons);
  for (guint i = 0; i < buttons->len; i++)
    if (g_strcmp0 (gtk_actionable_get_action_name (buttons->pdata[i]), "param.reset") == 0)
      return buttons->pdata[i];
  return NULL;
}

static void
check_param (Fixture *f, const LigParam *param)
{
  g_auto (GValue) before = G_VALUE_INIT, after = G_VALUE_INIT;
  LigParamRow *row = find_row (f, param->name);
  g_assert_nonnull (row);
  gtk_test_accessible_assert_property (lig_param_row_get_editor (row),
                                       GTK_ACCESSIBLE_PROPERTY_LABEL, param->label);
  g_assert_cmpstr (gtk_widget_get_tooltip_text (GTK_WIDGET (row)), ==, param->help);
  lig_op_get_value (op_at (f->doc, "0"), param, &before);
  change (row);
  g_assert_null (lig_param_row_get_error (row));
  check_value (op_at (f->doc, "0"), param, &before, FALSE);
  lig_op_get_value (op_at (f->doc, "0"), param, &after);
  lig_document_undo (f->doc);
  check_value (op_at (f->doc, "0"), param, &before, TRUE);
  g_assert_true (find_row (f, param->name) == row);
  lig_document_redo (f->doc);
  check_value (op_at (f->doc, "0"), param, &after, TRUE);
  GtkWidget *button = find_reset (row);
  g_assert_cmpint (button != NULL, ==, !(param->flags & LIG_PARAM_REQUIRED));
  if (param->flags & LIG_PARAM_REQUIRED)
    return;
  g_auto (GValue) reset = G_VALUE_INIT;
  g_signal_emit_by_name (button, "clicked");
  g_assert_false (lig_op_get_value (op_at (f->doc, "0"), param, &reset));
  g_assert_null (find_reset (row));
}

static void
test_every_op (Fixture *f, gconstpointer data)
{
  const LigOpInfo *info;
  guint params = 0;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++) {
    g_autoptr (LigSequence) empty = lig_sequence_new ();
    guint own = 0;
    lig_document_replace (f->doc, empty, "Test");
    g_assert_true (lig_edit_add (f->doc, info->name, NULL));
    lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
    g_assert_true (says (f, info->title));
    g_assert_true (says (f, info->summary));
    g_assert_true (says (f, info->formula));
    for (; info->params && info->params[own].name; own++)
      check_param (f, &info->params[own]);
    g_autoptr (GPtrArray) rows = find_all (f, LIG_TYPE_PARAM_ROW);
    g_assert_cmpuint (rows->len, ==, own);
    params += own;
  }
  g_assert_cmpuint (params, >, 20);
}

/* --- Typing -------------------------------------------------------------------------------- */

/* Another row is shown from its beginning; an edit of the same row keeps the place. */
static void
test_scrolled (Fixture *f, gconstpointer data)
{
  fill_with (f->doc, "transformer-layer(4) ! transformer-layer(8)", "2x16x64:bf16", NULL);
  wait_for_plan (f->doc);
  gtk_window_set_default_size (GTK_WINDOW (f->window), 320, 200);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  wait_for_frame (f->window);
  GtkWidget *scrolled = find_type (f->inspector, GTK_TYPE_SCROLLED_WINDOW);
  GtkAdjustment *place = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scrolled));
  WAIT_FOR (gtk_adjustment_get_upper (place) > gtk_adjustment_get_page_size (place) + 60);
  gtk_adjustment_set_value (place, 60);
  lig_edit_set_trained (f->doc, op_at (f->doc, "0"), FALSE);
  wait_for_plan (f->doc);
  g_assert_cmpfloat (gtk_adjustment_get_value (place), ==, 60);
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  g_assert_cmpfloat (gtk_adjustment_get_value (place), ==, 0);
}

static void
test_rejections (Fixture *f, gconstpointer data)
{
  fill (f->doc, "linear(16) ! layer-norm");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  LigParamRow *row = find_row (f, "out-features");
  type (row, "0");
  g_assert_cmpstr (lig_param_row_get_error (row), ==,
                   "Linear: out-features is 0, expected 1 to 1000000000");
  gtk_test_accessible_assert_state (lig_param_row_get_editor (row), GTK_ACCESSIBLE_STATE_INVALID,
                                    GTK_ACCESSIBLE_INVALID_TRUE);
  /* A plan that arrives does not discard typed text. */
  wait_for_plan (f->doc);
  g_assert_cmpstr (shown (row), ==, "0");
  type (row, "many");
  g_assert_cmpstr (lig_param_row_get_error (row), ==, "Linear: out-features is a whole number");
  type (row, "2.5");
  g_assert_nonnull (lig_param_row_get_error (row));
  type (row, "");
  g_assert_nonnull (lig_param_row_get_error (row));
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (text, ==, "linear(16) ! layer-norm");
  type (row, "1e3");
  g_assert_null (lig_param_row_get_error (row));
  /* Another op of the same kind starts with its own values. */
  type (row, "nonsense");
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  row = find_row (f, "out-features");
  g_assert_cmpstr (shown (row), ==, "1000");
  g_assert_null (lig_param_row_get_error (row));
}

static void
test_typing (Fixture *f, gconstpointer data)
{
  fill (f->doc, "linear(16) ! layer-norm");
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  LigParamRow *row = find_row (f, "eps");
  g_assert_cmpstr (shown (row), ==, "1e-5");
  const char *const steps[] = {"2", "2e", "2e-", "2e-3"};
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    type (row, steps[i]);
  g_assert_cmpstr (shown (row), ==, "2e-3");
  wait_for_plan (f->doc);
  g_assert_cmpstr (shown (row), ==, "2e-3");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Change Epsilon");
  lig_document_undo (f->doc);
  g_assert_cmpstr (shown (row), ==, "1e-5");
  g_assert_cmpstr (lig_document_get_undo_label (f->doc), ==, "Test");
  g_assert_true (find_row (f, "eps") == row);
}

static void
test_inferred (Fixture *f, gconstpointer data)
{
  fill (f->doc, "linear(16) ! layer-norm");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  wait_for_plan (f->doc);
  LigParamRow *row = find_row (f, "in-features");
  g_assert_cmpstr (shown (row), ==, "");
  g_assert_cmpstr (gtk_entry_get_placeholder_text (GTK_ENTRY (lig_param_row_get_editor (row))), ==,
                   "768");
  type (row, "768");
  type (row, "");
  g_assert_null (lig_param_row_get_error (row));
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (text, ==, "linear(16) ! layer-norm");
}

static void
test_text (void)
{
  static const LigParam shape = {.kind = LIG_PARAM_SHAPE, .minimum = -1};
  static const LigParam number = {.kind = LIG_PARAM_FLOAT, .minimum = 0, .maximum = 1};
  static const LigParam whole = {.kind = LIG_PARAM_INT, .minimum = 1, .maximum = 1e9};
  static const LigParam share = {
    .kind = LIG_PARAM_FLOAT, .minimum = 0, .maximum = 1, .initial = 0.1};
  static const char *const shapes[] = {"2x-1x3", "2 × -1 × 3", "2, -1, 3", "[2, -1, 3]", "2 −1 3"};
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    lig_param_from_text (&shape, shapes[i], &value);
    g_autofree char *text = lig_param_to_text (&shape, &value);
    g_assert_cmpstr (text, ==, "2 × -1 × 3");
  }
  static const char *const floats[] = {"1e-5", "0.023", "0.1", "0.33333334", "1e-8"};
  for (guint i = 0; i < G_N_ELEMENTS (floats); i++) {
    g_auto (GValue) value = G_VALUE_INIT;
    lig_param_from_text (&number, floats[i], &value);
    g_autofree char *text = lig_param_to_text (&number, &value);
    g_assert_cmpstr (text, ==, floats[i]);
  }
  g_assert_cmpfloat (lig_param_step (&whole, 3072, 1), ==, 3328);
  g_assert_cmpfloat (lig_param_step (&whole, 3328, -1), ==, 3072);
  g_assert_cmpfloat (lig_param_step (&whole, 1, -1), ==, 1);
  g_assert_cmpfloat_with_epsilon (lig_param_step (&share, 0.1, 1), 0.15, 1e-9);
  g_assert_cmpfloat_with_epsilon (lig_param_step (&number, 0.5, 1), 0.55, 1e-9);
  static const LigParam eps = {
    .kind = LIG_PARAM_FLOAT, .minimum = 0, .maximum = 1, .initial = 1e-5};
  g_assert_cmpfloat_with_epsilon (lig_param_step (&eps, 1e-5, 1), 2e-5, 1e-12);
  g_assert_cmpfloat_with_epsilon (lig_param_step (&eps, 1e-5, -1), 5e-6, 1e-12);
}

static void
test_figures (void)
{
  static const struct {
    double value;
    const char *bytes, *time;
  } cases[] = {
    {0, "0 B", "0"},          {939.4e6, "939 MB", NULL},   {6.29e6, "6.29 MB", NULL},
    {142e-6, NULL, "142 µs"}, {5.367e-3, NULL, "5.37 ms"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree char *bytes = lig_figure_bytes (cases[i].value);
    g_autofree char *time = lig_figure_time (cases[i].value);
    if (cases[i].bytes)
      g_assert_cmpstr (bytes, ==, cases[i].bytes);
    if (cases[i].time)
      g_assert_cmpstr (time, ==, cases[i].time);
  }
  g_autofree char *count = lig_figure_count (12594176);
  g_assert_cmpstr (count, ==, "12,594,176");
}

/* --- Facts and overrides ----------------------------------------------------------------- */

static void
test_facts (Fixture *f, gconstpointer data)
{
  fill (f->doc, "layer-norm ! linear(3072) ! gelu ! linear(768)");
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_ONLY);
  wait_for_plan (f->doc);
  g_assert_true (says (f, "2048 × 768 fp32"));
  g_assert_true (says (f, "2048 × 3072 fp32"));
  g_autofree char *parameters = lig_figure_count (768 * 3072 + 3072);
  g_assert_true (says (f, parameters));
  g_assert_true (says (f, "Kernels"));
  lig_edit_forbid (f->doc, op_at (f->doc, "1"), "forward-linear-bias-activation", TRUE);
  g_assert_true (says (f, "forward-linear-bias-activation"));
  lig_edit_force (f->doc, op_at (f->doc, "1"), "backward-activation-bias", TRUE);
  g_autoptr (GPtrArray) faces = find_all (f, LIG_TYPE_INSPECTOR_OP);
  g_assert_true (gtk_widget_activate_action (faces->pdata[0], "override.allow", "s",
                                             "forward-linear-bias-activation"));
  g_assert_cmpstr (lig_op_get_forbidden (op_at (f->doc, "1"))[0], ==, NULL);
  g_assert_true (gtk_widget_activate_action (faces->pdata[0], "override.release", "s",
                                             "backward-activation-bias"));
  g_assert_cmpstr (lig_op_get_forced (op_at (f->doc, "1"))[0], ==, NULL);
  fill (f->doc, "linear(8, in-features=5)");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  wait_for_plan (f->doc);
  g_assert_true (says (f, "Linear at 0: input has 768 features, expected 5"));
}

static void
test_several (Fixture *f, gconstpointer data)
{
  fill (f->doc, "linear(16) ! linear(32) ! gelu");
  lig_document_select (f->doc, op_at (f->doc, "0"), LIG_SELECT_ONLY);
  lig_document_select (f->doc, op_at (f->doc, "1"), LIG_SELECT_TOGGLE);
  wait_for_plan (f->doc);
  g_assert_true (says (f, "2 operations selected"));
  LigParamRow *row = find_row (f, "out-features");
  g_assert_nonnull (row);
  g_assert_cmpstr (shown (row), ==, "");
  type (row, "64");
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (text, ==, "linear(64) ! linear(64) ! gelu");
  lig_document_undo (f->doc);
  g_autofree char *undone = lig_sequence_to_expression (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (undone, ==, "linear(16) ! linear(32) ! gelu");
  lig_document_select (f->doc, op_at (f->doc, "2"), LIG_SELECT_TOGGLE);
  g_assert_true (says (f, "3 operations selected"));
  g_assert_null (find_row (f, "out-features"));
  g_autoptr (GPtrArray) buttons = find_all (f, GTK_TYPE_BUTTON);
  g_assert_cmpuint (buttons->len, ==, 3);
  g_signal_emit_by_name (buttons->pdata[2], "clicked");
  g_assert_cmpuint (lig_sequence_get_length (lig_document_get_sequence (f->doc)), ==, 0);
}

static void
test_sequence (Fixture *f, gconstpointer data)
{
  LigShape shape;
  LigDtype dtype;
  fill (f->doc, "linear(16)");
  lig_edit_forbid (f->doc, NULL, "forward-add-norm", TRUE);
  g_autoptr (GPtrArray) entries = find_all (f, GTK_TYPE_ENTRY);
  g_autoptr (GPtrArray) downs = find_all (f, GTK_TYPE_DROP_DOWN);
  g_assert_cmpuint (entries->len, ==, 2);
  g_assert_cmpuint (downs->len, ==, 3);
  gtk_editable_set_text (entries->pdata[0], "mine");
  g_assert_cmpstr (lig_sequence_get_name (lig_document_get_sequence (f->doc)), ==, "mine");
  gtk_editable_set_text (entries->pdata[1], "32 x 64");
  lig_type_list_select (downs->pdata[0], LIG_BF16);
  lig_type_list_select (downs->pdata[1], LIG_FP16);
  lig_type_list_select (downs->pdata[2], LIG_FP32);
  LigSequence *sequence = lig_document_get_sequence (f->doc);
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_assert_cmpint (shape.n_axes, ==, 2);
  g_assert_cmpint ((int) shape.axes[1], ==, 64);
  g_assert_cmpint (dtype, ==, LIG_BF16);
  g_assert_cmpint (lig_sequence_get_compute (sequence), ==, LIG_FP16);
  g_assert_cmpint (lig_sequence_get_parameters (sequence), ==, LIG_FP32);
  lig_type_list_select (downs->pdata[2], LIG_FP8_E4M3);
  g_assert_cmpint (lig_sequence_get_parameters (sequence), ==, LIG_FP8_E4M3);
  lig_type_list_select (downs->pdata[2], LIG_FP32);
  gtk_editable_set_text (entries->pdata[1], "32 x nothing");
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_assert_cmpint ((int) shape.axes[1], ==, 64);
  g_assert_true (says (f, "Not an input shape; use up to eight lengths like 2048 × 768"));
  gtk_editable_set_text (entries->pdata[1], "32 x 0");
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_assert_cmpint ((int) shape.axes[1], ==, 64);
  /* A file could not hold this one. */
  gtk_editable_set_text (entries->pdata[1], "9999999999 x 4");
  lig_sequence_get_input (sequence, &shape, &dtype);
  g_assert_cmpint ((int) shape.axes[1], ==, 64);
  g_assert_true (says (f, "Axis 0 has length 9999999999, expected 0 to 2147483647"));
  g_autoptr (GPtrArray) faces = find_all (f, LIG_TYPE_INSPECTOR_SEQUENCE);
  g_assert_true (says (f, "forbidden: forward-add-norm"));
  g_assert_true (
    gtk_widget_activate_action (faces->pdata[0], "override.allow", "s", "forward-add-norm"));
  const char *const *forbidden = lig_sequence_get_forbidden (sequence);
  g_assert_true (!forbidden || !forbidden[0]);
}

static void
add_tests (void)
{
#define ADD(name) g_test_add ("/inspector/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (every_op);
  ADD (scrolled);
  ADD (rejections);
  ADD (typing);
  ADD (inferred);
  ADD (facts);
  ADD (several);
  ADD (sequence);
  g_test_add_func ("/inspector/text", test_text);
  g_test_add_func ("/inspector/figures", test_figures);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
