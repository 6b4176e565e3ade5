/* SPDX-License-Identifier: MIT */
/* The load of experts with which the Profile page measures: chosen in a popover, shown with the
 * times, and part of the command line. */
#include "tests/ui/profile-case.h"
#include "ui/profile/profiling.h"

#include <ligature/profile.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *page;
  LigProfiling *profiling;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "cpu");
  f->page = open_profile (f->doc, f->session, "mixture-of-experts(4, expert-features=16)", "32x8",
                          &f->window);
  f->profiling = lig_profiling_of (f->doc);
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

static gboolean
is_button (GtkWidget *widget, gconstpointer label)
{
  const char *text =
    GTK_IS_MENU_BUTTON (widget) ? gtk_menu_button_get_label (GTK_MENU_BUTTON (widget)) : NULL;
  return text && g_str_has_prefix (text, label) && gtk_widget_get_visible (widget);
}

static GtkWidget *
find_button (Fixture *f, const char *label)
{
  return find_widget (f->page, is_button, label);
}

static gboolean
is_check (GtkWidget *widget, gconstpointer label)
{
  const char *text =
    GTK_IS_CHECK_BUTTON (widget) ? gtk_check_button_get_label (GTK_CHECK_BUTTON (widget)) : NULL;
  return text && g_str_equal (text, label);
}

/* Opens the popover, whose widgets are new each time. */
static GtkWidget *
open_menu (Fixture *f)
{
  GtkWidget *button = find_button (f, "Load: ");
  g_assert_nonnull (button);
  gtk_menu_button_popup (GTK_MENU_BUTTON (button));
  return GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (button)));
}

static void
choose (GtkWidget *menu, const char *label)
{
  GtkWidget *check = find_widget (menu, is_check, label);
  g_assert_nonnull (check);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), TRUE);
}

static void
profile (Fixture *f)
{
  GtkWidget *button = find_button (f, "Load: ");
  if (button)
    gtk_menu_button_popdown (GTK_MENU_BUTTON (button));
  g_action_group_activate_action (G_ACTION_GROUP (f->window), "profile", NULL);
  WAIT_FOR (!lig_measurement_is_active (LIG_MEASUREMENT (f->profiling)));
  wait_for_frame (f->window);
}

static const char *
get_load (Fixture *f)
{
  g_assert_null (lig_measurement_get_error (LIG_MEASUREMENT (f->profiling)));
  return lig_profiling_get_shown (f->profiling)->load;
}

static char *
get_command (Fixture *f)
{
  return lig_page_to_command (LIG_PAGE (f->page));
}

static void
test_chosen (Fixture *f, gconstpointer data)
{
  g_assert_nonnull (find_button (f, "Load: even"));
  profile (f);
  g_assert_cmpstr (get_load (f), ==, "even");
  g_autofree char *plain = get_command (f);
  g_assert_null (strstr (plain, "--load"));
  GtkWidget *menu = open_menu (f);
  GtkWidget *exponent = find_type (menu, GTK_TYPE_SPIN_BUTTON);
  g_assert_false (gtk_widget_get_sensitive (exponent));
  choose (menu, "_Zipf, exponent");
  g_assert_true (gtk_widget_get_sensitive (exponent));
  g_assert_cmpstr (lig_profiling_get_load (f->profiling), ==, "zipf:1");
  gtk_spin_button_set_value (GTK_SPIN_BUTTON (exponent), 1.5);
  g_assert_nonnull (find_button (f, "Load: zipf:1.5"));
  profile (f);
  g_assert_cmpstr (get_load (f), ==, "zipf:1.5");
  g_autofree char *described = lig_profile_load_describe ("zipf:1.5");
  const char *subtitle = gtk_label_get_label (
    GTK_LABEL (gtk_widget_get_template_child (f->page, G_OBJECT_TYPE (f->page), "subtitle")));
  g_assert_true (g_str_has_suffix (subtitle, described));
  g_autofree char *command = get_command (f);
  g_assert_nonnull (strstr (command, " --load zipf:1.5"));
  choose (open_menu (f), "_Even");
  g_assert_null (lig_profiling_get_load (f->profiling));
}

/* A run that does not exist is an error of the measurement, not of the page. */
static void
test_run (Fixture *f, gconstpointer data)
{
  GtkWidget *menu = open_menu (f);
  choose (menu, "Last of _run");
  g_assert_cmpstr (lig_profiling_get_load (f->profiling), ==, "last");
  gtk_editable_set_text (GTK_EDITABLE (find_type (menu, GTK_TYPE_ENTRY)), "no such run");
  g_autofree char *command = get_command (f);
  g_assert_nonnull (strstr (command, " --load 'no such run'"));
  profile (f);
  g_assert_nonnull (
    strstr (lig_measurement_get_error (LIG_MEASUREMENT (f->profiling)), "no such run"));
}

/* Without experts, the button is hidden and the load without effect. */
static void
test_without (Fixture *f, gconstpointer data)
{
  lig_profiling_set_load (f->profiling, "zipf:2");
  fill_with (f->doc, "linear(8) ! gelu", "32x8", NULL);
  wait_for_plan (f->doc);
  wait_for_frame (f->window);
  g_assert_null (find_button (f, "Load: "));
  g_autofree char *command = get_command (f);
  g_assert_null (strstr (command, "--load"));
  profile (f);
  g_assert_null (get_load (f));
}

static void
add_tests (void)
{
  g_assert_true (g_main_context_acquire (NULL));
  g_test_add ("/ui/profile-load/chosen", Fixture, NULL, set_up, test_chosen, tear_down);
  g_test_add ("/ui/profile-load/run", Fixture, NULL, set_up, test_run, tear_down);
  g_test_add ("/ui/profile-load/without", Fixture, NULL, set_up, test_without, tear_down);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
