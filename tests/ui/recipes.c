/* SPDX-License-Identifier: MIT */
/* The Profile page compares recipes: a row and two columns of the map for each, rejections in their
 * rows, progress and cancelling, and navigation from the map to the sequence. */
#include "tests/ui/profile-case.h"
#include "ui/document/edit.h"
#include "ui/profile/comparing.h"
#include "ui/profile/profiling.h"
#include "ui/widgets/picture-view.h"

#include <ligature/draw-recipes.h>
#include <ligature/recipe.h>

#include <math.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page;
  LigComparing *comparing;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->page = open_profile (f->doc, f->session, "layer-norm ! linear(64) ! gelu ! linear(32)",
                          "32x32", &f->window);
  f->comparing = lig_comparing_of (f->doc);
  GtkWidget *overlay = adw_toast_overlay_new ();
  adw_toast_overlay_set_child (ADW_TOAST_OVERLAY (overlay), f->page);
  show_in (f->window, overlay, 1200, 800);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static void
press (Fixture *f, const char *action)
{
  g_action_group_activate_action (G_ACTION_GROUP (f->window), action, NULL);
}

/* Waits for the end of the comparison, which must not fail. */
static void
wait (Fixture *f)
{
  WAIT_FOR (!lig_measurement_is_active (LIG_MEASUREMENT (f->comparing)));
  g_assert_cmpstr (lig_measurement_get_error (LIG_MEASUREMENT (f->comparing)), ==, NULL);
  wait_for_frame (f->window);
}

static void
compare (Fixture *f, const char *const *recipes)
{
  g_autoptr (GError) error = NULL;
  lig_comparing_start (f->comparing, recipes, 3, &error);
  g_assert_no_error (error);
  wait (f);
}

static gboolean
shows (Fixture *f, const char *text)
{
  return find_widget (f->page, shows_text, text) != NULL;
}

static gboolean
is_named (GtkWidget *widget, gconstpointer name)
{
  return LIG_IS_PICTURE_VIEW (widget) && gtk_widget_get_mapped (widget) &&
         gtk_test_accessible_has_property (GTK_ACCESSIBLE (widget),
                                           GTK_ACCESSIBLE_PROPERTY_LABEL) &&
         !gtk_test_accessible_check_property (GTK_ACCESSIBLE (widget),
                                              GTK_ACCESSIBLE_PROPERTY_LABEL, name);
}

static LigPictureView *
find_map (Fixture *f)
{
  GtkWidget *found = find_widget (f->page, is_named, "Errors of recipes, op by op");
  return found ? LIG_PICTURE_VIEW (found) : NULL;
}

static gboolean
is_sensitive (Fixture *f, const char *action)
{
  return g_action_group_get_action_enabled (G_ACTION_GROUP (f->window), action);
}

/* The action takes all recipes of the device, and every figure is shown. */
static void
test_all (Fixture *f, gconstpointer data)
{
  static const char *const names[] = {"none", "fp8-delayed", "fp8-current", "fp8-rows",
                                      "fp8-block"};
  g_assert_null (find_map (f));
  g_assert_false (shows (f, "Error of output"));
  press (f, "compare-recipes");
  g_assert_true (lig_measurement_is_active (LIG_MEASUREMENT (f->comparing)));
  g_assert_false (is_sensitive (f, "profile"));
  g_assert_false (is_sensitive (f, "compare-recipes"));
  wait (f);
  g_assert_true (is_sensitive (f, "profile"));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    const LigComparedRecipe *compared = lig_comparing_get (f->comparing, i);
    g_assert_cmpstr (compared->recipe, ==, names[i]);
    g_assert_true (shows (f, names[i]));
    g_assert_cmpfloat (compared->step.median, >, 0);
    g_assert_cmpuint (compared->step.count, ==, 15);
    g_assert_cmpint (compared->bytes, >, 0);
    g_autofree char *forward = lig_draw_time (compared->forward.median);
    g_autofree char *backward = lig_draw_time (compared->backward.median);
    g_assert_true (shows (f, forward));
    g_assert_true (shows (f, backward));
    if (i == 0)
      continue;
    g_autofree char *output = lig_draw_error (compared->errors->output);
    g_autofree char *gradient = lig_draw_error (compared->errors->gradient);
    g_assert_cmpfloat (compared->errors->output, >, 0.005);
    g_assert_true (shows (f, output));
    g_assert_true (shows (f, gradient));
  }
  g_assert_null (lig_comparing_get (f->comparing, G_N_ELEMENTS (names)));
  g_assert_true (shows (f, "Medians of 15 interleaved runs"));
}

/* The map has the errors of all ops for each recipe, visually, by keyboard and for screen
 * readers. */
static void
test_map (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", "fp8-rows", NULL};
  guint count;
  compare (f, recipes);
  LigPictureView *map = find_map (f);
  g_assert_nonnull (map);
  gtk_test_accessible_assert_role (GTK_ACCESSIBLE (map), GTK_ACCESSIBLE_ROLE_IMG);
  const LigMark *marks = lig_picture_view_get_marks (map, &count);
  GPtrArray *errors = lig_comparing_get_errors (f->comparing);
  const LigRecipeErrors *first = errors->pdata[0];
  g_assert_cmpuint (errors->len, ==, 2);
  /* Layer norm, two matmuls with biases, and gelu, which has no parameters. */
  g_assert_cmpuint (first->n_ops, ==, 6);
  g_assert_cmpuint (count, ==, 6 * 2 * 3 - 2);
  g_autofree char *number = lig_draw_error (first->ops[1].output);
  g_autofree char *text = g_strdup_printf ("Basic linear 1, fp8-current: output %s", number);
  g_assert_cmpstr (marks[6].text, ==, text);
  lig_picture_view_set_mark (map, 6);
  wait_for_frame (f->window);
  g_assert_true (shows (f, text));
  g_autofree char *description = g_strdup_printf ("7 of %u: %s", count, text);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (map), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                       description);
}

/* Return on a cell of the map selects its op in the sequence. */
static void
test_activate (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", NULL};
  compare (f, recipes);
  LigPictureView *map = find_map (f);
  guint count;
  lig_picture_view_get_marks (map, &count);
  g_signal_emit_by_name (map, "activated", (int) count - 1);
  LigOp *op = lig_document_find_path (f->doc, "3")->op;
  g_assert_true (lig_document_get_cursor (f->doc) == op);
  g_assert_true (lig_document_is_selected (f->doc, op));
}

/* A recipe that the device does not support has a message in its row; the others continue. */
static void
test_rejected (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"mxfp8", "fp8-rows", NULL};
  compare (f, recipes);
  const LigComparedRecipe *rejected = lig_comparing_get (f->comparing, 1);
  g_assert_nonnull (strstr (rejected->rejection, "10.0"));
  g_assert_null (rejected->errors);
  g_assert_true (
    shows (f, "Recipe mxfp8 can only be planned, for GPUs of compute capability 10.0"));
  g_assert_nonnull (lig_comparing_get (f->comparing, 2)->errors);
  g_assert_cmpuint (lig_comparing_get_errors (f->comparing)->len, ==, 1);
  g_assert_nonnull (find_map (f));
}

/* If nothing is quantized, the row has the reason, and there is no map. */
static void
test_nothing (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", NULL};
  fill_with (f->doc, "layer-norm ! gelu", "32x32", NULL);
  wait_for_plan (f->doc);
  compare (f, recipes);
  g_assert_true (shows (f, "No op of this sequence has a matmul"));
  g_assert_null (find_map (f));
  fill_with (f->doc, "linear(24)", "32x32", NULL);
  wait_for_plan (f->doc);
  compare (f, recipes);
  g_assert_true (shows (f, "No matmul is quantized: "));
  g_assert_true (shows (f, "needs a multiple of 16"));
  g_assert_null (find_map (f));
}

/* An edit makes the results outdated, undo makes them valid again; they can be discarded. */
static void
test_stale (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", NULL};
  g_autoptr (GError) error = NULL;
  compare (f, recipes);
  g_assert_false (lig_measurement_is_stale (LIG_MEASUREMENT (f->comparing)));
  g_assert_true (lig_edit_add (f->doc, "relu", &error));
  g_assert_true (lig_measurement_is_stale (LIG_MEASUREMENT (f->comparing)));
  g_assert_true (shows (f, "changed after these recipes were compared"));
  lig_document_undo (f->doc);
  g_assert_false (lig_measurement_is_stale (LIG_MEASUREMENT (f->comparing)));
  g_assert_false (shows (f, "changed after these recipes were compared"));
  wait_for_plan (f->doc);
  g_autofree char *command = lig_page_to_command (LIG_PAGE (f->page));
  g_assert_true (g_str_has_suffix (command, " --compare-recipes none,fp8-current"));
  lig_measurement_clear (LIG_MEASUREMENT (f->comparing));
  wait_for_frame (f->window);
  g_assert_null (find_map (f));
  g_assert_false (shows (f, "Error of output"));
}

/* The main loop keeps running while values are compared, and cancelling discards everything. */
static void
test_cancel (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", NULL};
  g_autoptr (GError) error = NULL;
  fill_with (f->doc, "layer-norm ! linear(1024)", "2048x1024", NULL);
  wait_for_plan (f->doc);
  g_assert_true (lig_comparing_start (f->comparing, recipes, 3, &error));
  g_assert_false (lig_comparing_start (f->comparing, recipes, 3, &error));
  g_assert_nonnull (strstr (error->message, "already"));
  g_clear_error (&error);
  WAIT_FOR (shows (f, "Preparing a plan") || shows (f, "Measuring times"));
  GtkWidget *button = find_widget (f->page, has_action, "recipes.cancel");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  g_assert_true (lig_measurement_is_cancelled (LIG_MEASUREMENT (f->comparing)));
  g_assert_true (shows (f, "Stopping the comparison"));
  wait (f);
  g_assert_null (lig_comparing_get (f->comparing, 0));
  g_assert_null (find_widget (f->page, has_action, "recipes.cancel"));
}

/* Plan-only devices cannot compare, nor can an empty sequence. */
static void
test_rejections (Fixture *f, gconstpointer data)
{
  static const char *const recipes[] = {"fp8-current", NULL};
  g_autoptr (GError) error = NULL;
  lig_document_set_device (f->doc, "null:h200");
  wait_for_plan (f->doc);
  g_assert_false (lig_comparing_start (f->comparing, recipes, 3, &error));
  g_assert_nonnull (strstr (error->message, "plan-only"));
  g_clear_error (&error);
  lig_document_set_device (f->doc, "cpu");
  lig_document_select_all (f->doc);
  g_assert_cmpuint (lig_edit_delete (f->doc), ==, 4);
  g_assert_false (lig_comparing_start (f->comparing, recipes, 3, &error));
  g_assert_nonnull (strstr (error->message, "no operations"));
}

static void
collect_checks (GtkWidget *widget, GPtrArray *found)
{
  if (GTK_IS_CHECK_BUTTON (widget))
    g_ptr_array_add (found, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    collect_checks (child, found);
}

/* The menu offers every recipe; those that the device does not support are not selected. */
static void
test_menu (Fixture *f, gconstpointer data)
{
  const LigRecipeInfo *info;
  GtkMenuButton *button = find_type (f->page, GTK_TYPE_MENU_BUTTON);
  g_autoptr (GPtrArray) checks = g_ptr_array_new ();
  gtk_menu_button_popup (button);
  collect_checks (GTK_WIDGET (button), checks);
  for (guint i = 0; (info = lig_recipe_info_nth (i)); i++) {
    g_assert_cmpuint (checks->len, >, i);
    gtk_test_accessible_assert_property (GTK_ACCESSIBLE (checks->pdata[i]),
                                         GTK_ACCESSIBLE_PROPERTY_LABEL, info->name);
    g_assert_cmpint (gtk_check_button_get_active (checks->pdata[i]), ==, !info->described);
    gtk_check_button_set_active (checks->pdata[i], g_str_equal (info->name, "fp8-rows"));
  }
  gtk_menu_button_popdown (button);
  press (f, "compare-recipes");
  wait (f);
  g_assert_cmpstr (lig_comparing_get (f->comparing, 1)->recipe, ==, "fp8-rows");
  g_assert_null (lig_comparing_get (f->comparing, 2));
}

static void
add_tests (void)
{
  g_assert_true (g_main_context_acquire (NULL));
#define ADD(name) g_test_add ("/ui/recipes/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (all);
  ADD (map);
  ADD (activate);
  ADD (rejected);
  ADD (nothing);
  ADD (stale);
  ADD (cancel);
  ADD (rejections);
  ADD (menu);
#undef ADD
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
