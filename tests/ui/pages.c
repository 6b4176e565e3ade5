/* SPDX-License-Identifier: MIT */
/* The pages Plan, Profile and Devices, and the pictures as widgets. */
#include "tests/ui/case.h"
#include "ui/devices/device-card.h"
#include "ui/document/edit.h"
#include "ui/page.h"
#include "ui/plan/table.h"
#include "ui/profile/profiling.h"
#include "ui/widgets/picture-view.h"
#include <ligature/store-tuning.h>

#include <glib/gstdio.h>
#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window;
  AdwViewStack *stack;
} Fixture;

static void
go_to_page (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  Fixture *f = data;
  adw_view_stack_set_visible_child_name (f->stack, g_variant_get_string (parameter, NULL));
}

static void
set_up (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"plan", "profile", "devices", NULL};
  const GActionEntry actions[] = {{.name = "page", .activate = go_to_page, .parameter_type = "s"}};
  const LigPageInfo *info;
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->window = g_object_new (GTK_TYPE_APPLICATION_WINDOW, NULL);
  f->stack = ADW_VIEW_STACK (adw_view_stack_new ());
  g_action_map_add_action_entries (G_ACTION_MAP (f->window), actions, 1, f);
  GtkWidget *overlay = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (overlay), GTK_WIDGET (f->stack));
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    if (!g_strv_contains (names, info->name))
      continue;
    GtkWidget *page =
      g_object_new (info->get_type (), "document", f->doc, "session", f->session, NULL);
    adw_view_stack_add_named (f->stack, page, info->name);
    lig_page_add_actions (LIG_PAGE (page), G_ACTION_MAP (f->window));
  }
  show_in (f->window, overlay, 1200, 800);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static gboolean
is_idle (Fixture *f)
{
  return !lig_measurement_is_active (LIG_MEASUREMENT (lig_profiling_of (f->doc)));
}

static void
plan (Fixture *f, const char *expression, const char *input)
{
  fill_with (f->doc, expression, input, NULL);
  wait_for_plan (f->doc);
}

static GtkWidget *
go_to (Fixture *f, const char *page)
{
  adw_view_stack_set_visible_child_name (f->stack, page);
  gtk_test_widget_wait_for_draw (f->window);
  return adw_view_stack_get_visible_child (f->stack);
}

/* Collects the widgets of a type below a widget, in order. */
static void
collect (GtkWidget *widget, GType type, GPtrArray *found)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    g_ptr_array_add (found, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    collect (child, type, found);
}

static GPtrArray *
find_all (GtkWidget *widget, GType type)
{
  GPtrArray *found = g_ptr_array_new ();
  collect (widget, type, found);
  return found;
}

static const char *
visible_name (GtkWidget *page)
{
  return gtk_stack_get_visible_child_name (GTK_STACK (adw_bin_get_child (ADW_BIN (page))));
}

static void
check_pictures (GtkWidget *page, guint min)
{
  g_autoptr (GPtrArray) views = find_all (page, LIG_TYPE_PICTURE_VIEW);
  g_assert_cmpuint (views->len, >=, min);
  for (guint i = 0; i < views->len; i++) {
    guint count;
    const LigMark *marks = lig_picture_view_get_marks (views->pdata[i], &count);
    g_assert_cmpuint (count, >, 0);
    for (guint j = 0; j < count; j++)
      g_assert_true (marks[j].text && *marks[j].text);
    gtk_test_accessible_assert_role (GTK_ACCESSIBLE (views->pdata[i]), GTK_ACCESSIBLE_ROLE_IMG);
  }
}

/* Shows the map of the page; a hidden map is not filled. */
static void
show_map (GtkWidget *page)
{
  g_autoptr (GPtrArray) stacks = find_all (page, GTK_TYPE_STACK);
  g_assert_cmpuint (stacks->len, >=, 2);
  gtk_stack_set_visible_child_name (stacks->pdata[1], "map");
}

/* --- Tests ---------------------------------------------------------------------------------- */

static void
test_examples (Fixture *f, gconstpointer data)
{
  g_autofree char *folder = g_build_filename (g_getenv ("LIGATURE_DATA"), "examples", NULL);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  guint n = 0;
  g_assert_nonnull (dir);
  g_assert_cmpstr (visible_name (go_to (f, "plan")), ==, "empty");
  g_assert_cmpstr (visible_name (go_to (f, "profile")), ==, "empty");
  while ((name = g_dir_read_name (dir))) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = g_build_filename (folder, name, NULL);
    if (!g_str_has_suffix (name, ".lig"))
      continue;
    g_assert_true (lig_document_load (f->doc, path, NULL, &error));
    wait_for_plan (f->doc);
    g_assert_cmpstr (visible_name (go_to (f, "profile")), ==, "content");
    check_pictures (go_to (f, "profile"), 4);
    g_assert_cmpstr (visible_name (go_to (f, "plan")), ==, "content");
    show_map (go_to (f, "plan"));
    check_pictures (go_to (f, "plan"), 1);
    n++;
  }
  g_assert_cmpuint (n, >=, 5);
}

static void
test_keys (Fixture *f, gconstpointer data)
{
  guint count;
  plan (f, "layer-norm ! linear(64) ! gelu ! linear(32)", "32x32");
  g_autoptr (GPtrArray) views = find_all (go_to (f, "profile"), LIG_TYPE_PICTURE_VIEW);
  LigPictureView *view = views->pdata[0];
  const LigMark *marks = lig_picture_view_get_marks (view, &count);
  g_autofree char *third = g_strdup (marks[2].text);
  g_assert_true (gtk_widget_get_focusable (GTK_WIDGET (view)));
  g_assert_true (gtk_widget_grab_focus (GTK_WIDGET (view)));
  g_assert_cmpint (lig_picture_view_get_mark (view), ==, -1);
  lig_picture_view_set_mark (view, 2);
  g_autofree char *text = NULL;
  g_object_get (view, "mark-text", &text, NULL);
  g_assert_cmpstr (text, ==, third);
  g_autofree char *whole = g_strdup_printf ("3 of %u: %s", count, third);
  gtk_test_accessible_assert_property (view, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, whole);
  lig_picture_view_set_mark (view, 100000);
  g_assert_cmpint (lig_picture_view_get_mark (view), ==, (int) count - 1);
  gtk_test_widget_wait_for_draw (f->window);
}

static void
test_export (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"a.png", "a.svg", "a.pdf"};
  plan (f, "layer-norm ! linear(64)", "32x32");
  g_autoptr (GPtrArray) views = find_all (go_to (f, "profile"), LIG_TYPE_PICTURE_VIEW);
  for (guint i = 0; i < views->len; i++)
    for (guint j = 0; j < G_N_ELEMENTS (names); j++) {
      g_autofree char *path = g_build_filename (f->folder, names[j], NULL);
      GStatBuf status;
      gtk_widget_activate_action (views->pdata[i], "picture.export-to", "s", path);
      g_assert_cmpint (g_stat (path, &status), ==, 0);
      g_assert_cmpint (status.st_size, >, 200);
      g_unlink (path);
    }
  gtk_widget_activate_action (views->pdata[0], "picture.copy", NULL);
  GdkContentFormats *formats =
    gdk_clipboard_get_formats (gtk_widget_get_clipboard (views->pdata[0]));
  g_assert_true (gdk_content_formats_contain_mime_type (formats, "image/svg+xml"));
}

static void
test_profile (Fixture *f, gconstpointer data)
{
  LigTimedPlan timed;
  guint n_steps;
  g_autoptr (GError) error = NULL;
  LigProfiling *profiling = lig_profiling_of (f->doc);
  lig_document_set_device (f->doc, "cpu");
  plan (f, "layer-norm ! linear(64) ! gelu ! linear(32)", "32x32");
  go_to (f, "plan");
  g_assert_false (lig_profiling_get_timed (profiling, &timed));
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "profile", NULL);
  g_assert_cmpstr (adw_view_stack_get_visible_child_name (f->stack), ==, "profile");
  WAIT_FOR (is_idle (f));
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (profiling)));
  g_assert_true (lig_profiling_get_timed (profiling, &timed));
  const LigProfiled *profiled = lig_profiling_get_shown (profiling);
  lig_plan_get_steps (timed.plan, &n_steps);
  for (guint i = 0; i < n_steps; i++)
    g_assert_cmpfloat (timed.steps[i], >, 0);
  g_assert_cmpfloat (profiled->step, >=, profiled->forward);
  g_autoptr (LigRunRow) row =
    lig_store_find_run (lig_session_get_store (f->session), profiled->run, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (row->kind, ==, "profile");
  g_assert_cmpstr (row->status, ==, "done");
  /* An edit makes the profile stale, undoing the edit makes it valid again. */
  g_assert_true (lig_edit_add (f->doc, "relu", &error));
  g_assert_true (lig_measurement_is_stale (LIG_MEASUREMENT (profiling)));
  g_assert_false (lig_profiling_get_timed (profiling, &timed));
  lig_document_undo (f->doc);
  g_assert_true (lig_profiling_get_timed (profiling, &timed));
  wait_for_plan (f->doc);
  gtk_test_widget_wait_for_draw (f->window);
}

static void
test_compare (Fixture *f, gconstpointer data)
{
  static const LigPolicy policies[] = {LIG_POLICY_NONE, LIG_POLICY_ALL, LIG_POLICY_MEASURED};
  LigProfiling *profiling = lig_profiling_of (f->doc);
  LigTimedPlan timed;
  lig_document_set_device (f->doc, "cpu");
  plan (f, "layer-norm ! linear(64) ! gelu ! linear(32)", "32x32");
  go_to (f, "profile");
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "compare-policies", NULL);
  WAIT_FOR (is_idle (f));
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (profiling)));
  for (guint i = 0; i < 3; i++) {
    const LigProfiled *profiled = lig_profiling_get (profiling, i);
    g_assert_nonnull (profiled);
    g_assert_cmpint (lig_plan_get_policy (profiled->plan), ==, policies[i]);
    g_assert_cmpfloat (profiled->step, >, 0);
  }
  g_assert_null (lig_profiling_get (profiling, 3));
  g_autoptr (GPtrArray) buttons = find_all (go_to (f, "profile"), GTK_TYPE_CHECK_BUTTON);
  g_assert_cmpuint (buttons->len, ==, 3);
  gtk_check_button_set_active (buttons->pdata[1], TRUE);
  g_assert_true (lig_profiling_get_timed (profiling, &timed));
  g_assert_true (timed.plan == lig_profiling_get (profiling, 1)->plan);
  gtk_test_widget_wait_for_draw (f->window);
}

static void
test_rejections (Fixture *f, gconstpointer data)
{
  static const LigPolicy policy = LIG_POLICY_ALL;
  LigProfiling *profiling = lig_profiling_of (f->doc);
  g_autoptr (GError) error = NULL;
  g_assert_false (lig_profiling_start (profiling, &policy, 1, 3, &error));
  g_clear_error (&error);
  lig_document_set_device (f->doc, "null:h200");
  /* The plan is large enough to be cancelled before it finishes. */
  plan (f, "layer-norm ! linear(1024)", "2048x1024");
  g_assert_false (lig_profiling_start (profiling, &policy, 1, 3, &error));
  g_assert_nonnull (strstr (error->message, "plan-only"));
  GtkWidget *page = go_to (f, "profile");
  gtk_widget_activate_action (page, "profile.on-cpu", NULL);
  g_assert_cmpstr (lig_document_get_device (f->doc), ==, "cpu");
  g_assert_true (lig_measurement_is_active (LIG_MEASUREMENT (profiling)));
  gtk_widget_activate_action (page, "profile.cancel", NULL);
  WAIT_FOR (is_idle (f));
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (profiling)));
  g_assert_null (lig_profiling_get (profiling, 0));
  wait_for_plan (f->doc);
}

static void
test_steps (Fixture *f, gconstpointer data)
{
  plan (f, "block(repeat=550) { layer-norm ! linear(16) ! gelu ! linear(16) }", "8x16");
  gint64 before = g_get_monotonic_time ();
  GtkWidget *page = go_to (f, "plan");
  double seconds = (double) (g_get_monotonic_time () - before) * 1e-6;
  g_autoptr (GPtrArray) tables = find_all (page, LIG_TYPE_PLAN_TABLE);
  guint count;
  lig_plan_get_steps (lig_document_get_plan (f->doc), &count);
  GListModel *rows = lig_plan_table_get_rows (tables->pdata[0]);
  g_test_message ("%u steps shown in %.0f ms", count, seconds * 1e3);
  g_assert_cmpuint (count, >, 4500);
  g_assert_cmpuint (g_list_model_get_n_items (rows), ==, count);
  g_assert_cmpfloat (seconds, <, 2);
  lig_plan_table_search (tables->pdata[0], "layer_norm_backward");
  g_assert_cmpuint (g_list_model_get_n_items (rows), ==, 550);
  lig_plan_table_search (tables->pdata[0], "no such thing");
  g_assert_cmpuint (g_list_model_get_n_items (rows), ==, 0);
  lig_plan_table_search (tables->pdata[0], "");
  GtkColumnView *view = lig_plan_table_get_view (tables->pdata[0]);
  g_autoptr (GtkColumnViewColumn) predicted =
    g_list_model_get_item (gtk_column_view_get_columns (view), 8);
  gtk_column_view_sort_by_column (view, predicted, GTK_SORT_DESCENDING);
  double last = INFINITY;
  for (guint i = 0; i < count; i++) {
    g_autoptr (LigPlanItem) item = g_list_model_get_item (rows, i);
    double now = lig_plan_item_get_step (item)->predicted;
    g_assert_cmpfloat (now, <=, last);
    last = now;
  }
  g_assert_cmpfloat (last, <, INFINITY);
}

static gboolean
cards_are_ready (Fixture *f)
{
  g_autoptr (GPtrArray) cards =
    find_all (adw_view_stack_get_visible_child (f->stack), LIG_TYPE_DEVICE_CARD);
  for (guint i = 0; i < cards->len; i++)
    if (!lig_device_card_is_ready (cards->pdata[i]))
      return FALSE;
  /* The CPU and the shipped profiles. */
  return cards->len >= 4;
}

static gboolean
is_measured (Fixture *f)
{
  g_autoptr (GPtrArray) cards =
    find_all (adw_view_stack_get_visible_child (f->stack), LIG_TYPE_DEVICE_CARD);
  return cards->len > 0 && !lig_device_card_is_measuring (cards->pdata[0]);
}

static void
test_devices (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  GtkWidget *page = go_to (f, "devices");
  WAIT_FOR (cards_are_ready (f));
  g_autoptr (GPtrArray) cards = find_all (page, LIG_TYPE_DEVICE_CARD);
  gtk_widget_activate_action (cards->pdata[cards->len - 1], "device.use", NULL);
  g_assert_true (g_str_has_prefix (lig_document_get_device (f->doc), "null:"));
  gtk_widget_activate_action (cards->pdata[0], "device.use", NULL);
  g_assert_cmpstr (lig_document_get_device (f->doc), ==, "cpu");
  if (!g_test_slow ())
    return;
  gtk_widget_activate_action (cards->pdata[0], "device.measure", NULL);
  g_assert_true (lig_device_card_is_measuring (cards->pdata[0]));
  WAIT_FOR (is_measured (f));
  g_autofree char *json = lig_store_get_device (lig_session_get_store (f->session), "cpu", &error);
  g_assert_no_error (error);
  g_assert_nonnull (json);
}

static void
add_tests (void)
{
  /* Acquires the context like a running main loop; otherwise, threads would run their callbacks
   * themselves. */
  g_assert_true (g_main_context_acquire (NULL));
#define ADD(name) g_test_add ("/ui/pages/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (examples);
  ADD (keys);
  ADD (export);
  ADD (profile);
  ADD (compare);
  ADD (rejections);
  ADD (steps);
  ADD (devices);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
