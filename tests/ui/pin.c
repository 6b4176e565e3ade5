/* SPDX-License-Identifier: MIT */
/* Tests the strip of a pinned plan: its line, both plans next to each other, devices, reports. */
#include "ui/document/pin.h"
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/inspector/compared.h"
#include "ui/score/pin-strip.h"
#include "ui/score/score.h"
#include "ui/score/sheet.h"
#include "ui/widgets/picture-view.h"

#define EXPRESSION "layer-norm ! linear(3072) ! gelu ! linear(768)"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *score;
  LigPinStrip *strip;
} Fixture;

static void
set_up (Fixture *f, gconstpointer data)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, EXPRESSION, "2048x768:bf16", NULL);
  wait_for_plan (f->doc);
  f->window = gtk_window_new ();
  f->score = lig_score_view_new (f->doc);
  show_in (f->window, f->score, 1000, 600);
  f->strip = find_type (f->score, LIG_TYPE_PIN_STRIP);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gtk_window_destroy (GTK_WINDOW (f->window));
  free_document (f->folder, f->session, f->doc);
}

static void
act (Fixture *f, const char *action, const char *target)
{
  g_assert_true (
    gtk_widget_activate_action (GTK_WIDGET (f->strip), action, target ? "s" : NULL, target));
}

static void
test_strip (Fixture *f, gconstpointer data)
{
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (f->strip)));
  g_assert_true (lig_document_pin (f->doc));
  g_assert_true (gtk_widget_get_visible (GTK_WIDGET (f->strip)));
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "the same groups"));
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "| after ≈ "));
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "(+"));
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "groups differ"));
  act (f, "pin.present", NULL);
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "the same groups"));
  act (f, "pin.remove", NULL);
  g_assert_false (gtk_widget_get_visible (GTK_WIDGET (f->strip)));
}

/* Both plans replace the score until the switch is off, or the plan is unpinned. */
static void
test_compare (Fixture *f, gconstpointer data)
{
  guint count, lost = 0, added = 0;
  GtkWidget *sheet = find_type (f->score, LIG_TYPE_SCORE_SHEET);
  g_assert_true (gtk_widget_get_mapped (sheet));
  lig_document_pin (f->doc);
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  act (f, "pin.compare", NULL);
  wait_for_frame (f->window);
  g_assert_true (lig_pin_strip_is_comparing (f->strip));
  g_assert_false (gtk_widget_get_mapped (sheet));
  LigPictureView *picture = NULL;
  for (GtkWidget *child = gtk_widget_get_next_sibling (GTK_WIDGET (f->strip)); child && !picture;
       child = gtk_widget_get_next_sibling (child))
    picture = find_type (child, LIG_TYPE_PICTURE_VIEW);
  g_assert_nonnull (picture);
  g_assert_true (gtk_widget_get_mapped (GTK_WIDGET (picture)));
  const LigMark *marks = lig_picture_view_get_marks (picture, &count);
  for (guint i = 0; i < count; i++) {
    lost += strstr (marks[i].text, "only in the first plan") != NULL;
    added += strstr (marks[i].text, "only in the second plan") != NULL;
  }
  g_assert_cmpuint (lost, >=, 1);
  g_assert_cmpuint (added, >=, 2);
  lig_document_unpin (f->doc);
  wait_for_frame (f->window);
  g_assert_false (lig_pin_strip_is_comparing (f->strip));
  g_assert_true (gtk_widget_get_mapped (sheet));
}

static void
test_device (Fixture *f, gconstpointer data)
{
  guint count;
  lig_document_pin (f->doc);
  WAIT_FOR (lig_session_get_devices (f->session, &count) && count > 1);
  act (f, "pin.device", "null:a100");
  WAIT_FOR (strstr (lig_pin_strip_get_text (f->strip), "H200"));
  g_assert_nonnull (strstr (lig_document_get_pinned_title (f->doc), "A100"));
  g_assert_nonnull (strstr (lig_pin_strip_get_text (f->strip), "(−"));
}

static void
test_report (Fixture *f, gconstpointer data)
{
  g_autofree char *path = g_build_filename (f->folder, "both.html", NULL);
  g_autofree char *text = NULL;
  lig_document_pin (f->doc);
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  act (f, "pin.save-to", path);
  WAIT_FOR (g_file_test (path, G_FILE_TEST_EXISTS));
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  g_assert_nonnull (strstr (text, "<svg"));
  g_assert_nonnull (strstr (text, "before"));
  g_assert_nonnull (strstr (text, "forward-linear-bias-activation"));
}

/* The inspector's section pins a plan, shows the difference, and unpins it. */
static void
test_inspector (Fixture *f, gconstpointer data)
{
  GtkWidget *window = gtk_window_new (), *section = lig_compared_new (f->doc);
  show_in (window, section, 320, 300);
  g_assert_true (gtk_widget_activate_action (section, "compared.pin", NULL));
  g_assert_true (lig_document_is_pinned (f->doc));
  g_assert_nonnull (find_widget (section, shows_text, "Compared with before"));
  g_assert_nonnull (find_widget (section, shows_text, "none"));
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  g_assert_nonnull (find_widget (section, shows_text, "1 forward"));
  g_assert_nonnull (find_widget (section, shows_text, "current: +"));
  g_assert_true (gtk_widget_activate_action (section, "compared.unpin", NULL));
  g_assert_false (lig_document_is_pinned (f->doc));
  g_assert_true (gtk_widget_activate_action (section, "compared.device", "s", "null:a100"));
  WAIT_FOR (lig_document_is_pinned (f->doc));
  g_assert_nonnull (find_widget (section, shows_text, "A100"));
  gtk_window_destroy (GTK_WINDOW (window));
}

static void
add_tests (void)
{
  g_test_add ("/pin/strip", Fixture, NULL, set_up, test_strip, tear_down);
  g_test_add ("/pin/compare", Fixture, NULL, set_up, test_compare, tear_down);
  g_test_add ("/pin/device", Fixture, NULL, set_up, test_device, tear_down);
  g_test_add ("/pin/inspector", Fixture, NULL, set_up, test_inspector, tear_down);
  g_test_add ("/pin/report", Fixture, NULL, set_up, test_report, tear_down);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
