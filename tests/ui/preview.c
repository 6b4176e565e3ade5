/* SPDX-License-Identifier: MIT */
/* Tests previews in the score: ghosts over the rails, the line with the step's change, and starting
 * and ending them by pointer and keys. */
#include "ui/document/preview.h"
#include "tests/ui/case.h"
#include "ui/document/edit.h"
#include "ui/run/choice-preview.h"
#include "ui/score/gap.h"
#include "ui/score/ghost.h"
#include "ui/score/head.h"
#include "ui/score/score.h"
#include "ui/widgets/preview-hook.h"

#define EXPRESSION "layer-norm ! linear(3072) ! gelu ! linear(768)"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window;
  LigScoreSheet *sheet;
  LigScoreGhost *ghost;
} Fixture;

static void
set_up (Fixture *f, gconstpointer expression)
{
  make_document (&f->folder, &f->session, &f->doc, "null:h200");
  lig_document_set_policy (f->doc, LIG_POLICY_ALL);
  fill_with (f->doc, expression ? expression : EXPRESSION, "2048x768:bf16", NULL);
  wait_for_plan (f->doc);
  f->window = gtk_window_new ();
  GtkWidget *score = lig_score_view_new (f->doc);
  show_in (f->window, score, 1000, 600);
  f->sheet = find_type (score, LIG_TYPE_SCORE_SHEET);
  f->ghost = find_type (score, LIG_TYPE_SCORE_GHOST);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  gpointer sheet = f->sheet;
  g_object_add_weak_pointer (G_OBJECT (sheet), &sheet);
  gtk_window_destroy (GTK_WINDOW (f->window));
  WAIT_FOR (!sheet);
  free_document (f->folder, f->session, f->doc);
}

static gpointer
find_controller (GtkWidget *widget, GType type)
{
  g_autoptr (GListModel) list = gtk_widget_observe_controllers (widget);
  for (guint i = 0; i < g_list_model_get_n_items (list); i++) {
    g_autoptr (GObject) item = g_list_model_get_item (list, i);
    const char *name = gtk_event_controller_get_name (GTK_EVENT_CONTROLLER (item));
    if (G_TYPE_CHECK_INSTANCE_TYPE (item, type) && g_strcmp0 (name, "preview") == 0)
      return item;
  }
  g_assert_not_reached ();
}

static void
rest_on (GtkWidget *widget)
{
  g_signal_emit_by_name (find_controller (widget, GTK_TYPE_EVENT_CONTROLLER_MOTION), "enter", 5.0,
                         5.0);
}

static void
leave (GtkWidget *widget)
{
  g_signal_emit_by_name (find_controller (widget, GTK_TYPE_EVENT_CONTROLLER_MOTION), "leave");
}

static gboolean
press (GtkWidget *widget, guint key)
{
  gboolean taken = FALSE;
  g_signal_emit_by_name (find_controller (widget, GTK_TYPE_EVENT_CONTROLLER_KEY), "key-pressed",
                         key, 0, 0, &taken);
  return taken;
}

static void
run_for (guint milliseconds)
{
  gint64 until = g_get_monotonic_time () + milliseconds * 1000;
  while (g_get_monotonic_time () < until)
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (2000);
}

/* The gap between the linear's row and the activation's, which one kernel computes. */
static void
test_pointer (Fixture *f, gconstpointer data)
{
  GtkWidget *gap = lig_score_sheet_get_gap (f->sheet, 2);
  g_assert_cmpuint (lig_score_ghost_count (f->ghost), ==, 0);
  rest_on (gap);
  run_for (50);
  g_assert_null (lig_document_get_preview_label (f->doc));
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_cmpuint (lig_score_ghost_count (f->ghost), >=, 2);
  g_assert_nonnull (strstr (lig_score_ghost_get_text (f->ghost), "· step ≈ "));
  g_assert_nonnull (strstr (lig_score_ghost_get_text (f->ghost), "(+"));
  wait_for_frame (f->window);
  leave (gap);
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_cmpuint (lig_score_ghost_count (f->ghost), ==, 0);
  g_assert_cmpstr (lig_score_ghost_get_text (f->ghost), ==, "");
  /* A pointer that only passes over starts nothing. */
  rest_on (gap);
  leave (gap);
  run_for (250);
  g_assert_null (lig_document_get_preview_label (f->doc));
}

/* Ghosts are at the brackets of the rows that they would join or split. */
static void
test_places (Fixture *f, gconstpointer data)
{
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  const LigScoreSlot *linear = lig_score_map_get_slot (map, 1);
  const LigScoreSlot *gelu = lig_score_map_get_slot (map, 2);
  gboolean upper = FALSE, lower = FALSE;
  rest_on (lig_score_sheet_get_gap (f->sheet, 2));
  WAIT_FOR (lig_document_get_preview (f->doc));
  for (guint i = 0; i < lig_score_ghost_count (f->ghost); i++) {
    LigPass pass;
    int y, height;
    lig_score_ghost_get (f->ghost, i, &pass, &y, &height);
    if (pass != LIG_PASS_FORWARD)
      continue;
    upper |= y == linear->y && height == linear->height;
    lower |= y == gelu->y && height == gelu->height;
  }
  g_assert_true (upper && lower);
}

static void
test_keys (Fixture *f, gconstpointer data)
{
  GtkWidget *gap = lig_score_sheet_get_gap (f->sheet, 2);
  g_assert_true (press (gap, GDK_KEY_space));
  g_assert_nonnull (lig_document_get_preview_label (f->doc));
  g_assert_true (press (gap, GDK_KEY_space));
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_false (press (gap, GDK_KEY_Escape));
  g_assert_true (press (gap, GDK_KEY_space));
  g_assert_true (press (gap, GDK_KEY_Escape));
  g_assert_null (lig_document_get_preview_label (f->doc));
  /* A gap where a fence would change nothing is still explained. */
  g_assert_false (press (lig_score_sheet_get_gap (f->sheet, 1), GDK_KEY_space));
  g_assert_false (press (gap, GDK_KEY_Return));
}

/* A fence is previewed away. */
static void
test_fence (Fixture *f, gconstpointer data)
{
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  g_assert_true (press (lig_score_sheet_get_gap (f->sheet, 2), GDK_KEY_space));
  g_assert_cmpstr (lig_document_get_preview_label (f->doc), ==, "Remove the fence");
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_nonnull (strstr (lig_score_ghost_get_text (f->ghost), "(−"));
  /* The following click makes the edit and ends the preview. */
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), FALSE);
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_cmpuint (lig_score_ghost_count (f->ghost), ==, 0);
}

/* The line is a status for screen readers. */
static void
test_accessible (Fixture *f, gconstpointer data)
{
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  wait_for_frame (f->window);
  GtkWidget *line = find_widget (GTK_WIDGET (f->ghost), shows_text, "Preview · step ≈ ");
  g_assert_nonnull (line);
  g_assert_cmpint (gtk_accessible_get_accessible_role (GTK_ACCESSIBLE (line)), ==,
                   GTK_ACCESSIBLE_ROLE_STATUS);
  g_assert_false (gtk_widget_get_can_target (GTK_WIDGET (f->ghost)));
}

static GtkWidget *
find_button (GtkWidget *root, const char *text)
{
  const char *label = GTK_IS_BUTTON (root) ? gtk_button_get_label (GTK_BUTTON (root)) : NULL;
  if (label && strstr (label, text))
    return root;
  for (GtkWidget *child = gtk_widget_get_first_child (root); child;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find_button (child, text);
    if (found)
      return found;
  }
  return NULL;
}

/* The buttons of a verdict's card preview their edits; Enter and a click still make them. */
static void
test_card (Fixture *f, gconstpointer data)
{
  lig_edit_set_fence (f->doc, op_at (f->doc, "2"), TRUE);
  wait_for_plan (f->doc);
  wait_for_frame (f->window);
  lig_score_sheet_explain_gap (f->sheet, 2);
  run_for (100);
  GtkWidget *button = find_button (GTK_WIDGET (f->sheet), "Remove the fence");
  g_assert_nonnull (button);
  rest_on (button);
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_nonnull (strstr (lig_score_ghost_get_text (f->ghost), "(−"));
  g_assert_cmpuint (lig_score_ghost_count (f->ghost), >=, 1);
  leave (button);
  g_assert_null (lig_document_get_preview_label (f->doc));
  g_assert_true (press (button, GDK_KEY_space));
  g_assert_nonnull (lig_document_get_preview_label (f->doc));
  g_assert_false (press (button, GDK_KEY_Return));
  g_assert_true (lig_op_get_fence (op_at (f->doc, "2")));
  g_signal_emit_by_name (button, "clicked");
  g_assert_false (lig_op_get_fence (op_at (f->doc, "2")));
  g_assert_null (lig_document_get_preview_label (f->doc));
}

static GtkWidget *
find_item (GtkWidget *root, const char *text)
{
  GtkWidget *label = find_widget (root, shows_text, text);
  for (; label; label = gtk_widget_get_parent (label))
    if (lig_preview_is_hooked (label))
      return label;
  return NULL;
}

static void
choose_by_pointer (Fixture *f, GtkDropDown *choice, const char *item)
{
  GtkWidget *popover = NULL;
  g_signal_emit_by_name (choice, "activate");
  for (GtkWidget *child = gtk_widget_get_first_child (GTK_WIDGET (choice)); child;
       child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_POPOVER (child))
      popover = child;
  g_assert_nonnull (popover);
  GtkWidget *row = NULL;
  WAIT_FOR ((row = find_item (popover, item)));
  rest_on (row);
  WAIT_FOR (lig_document_get_preview (f->doc));
  g_assert_nonnull (strstr (lig_document_get_preview_label (f->doc), item));
  leave (row);
  g_assert_null (lig_document_get_preview_label (f->doc));
  gtk_popover_popdown (GTK_POPOVER (popover));
}

/* The items of an open list of devices or policies preview their plans, without being chosen. */
static void
test_choices (Fixture *f, gconstpointer data)
{
  guint count;
  const char *const policies[] = {"No fusions", "All fusions", "Measured", NULL};
  const LigDeviceEntry *entries = lig_session_get_devices (f->session, &count);
  g_autoptr (GtkStringList) devices = gtk_string_list_new (NULL);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6), *window = gtk_window_new ();
  GtkWidget *policy = gtk_drop_down_new_from_strings (policies);
  WAIT_FOR ((entries = lig_session_get_devices (f->session, &count)) && count > 2);
  for (guint i = 0; i < count; i++)
    gtk_string_list_append (devices, entries[i].title);
  GtkWidget *device = gtk_drop_down_new (G_LIST_MODEL (g_steal_pointer (&devices)), NULL);
  lig_preview_policies (GTK_DROP_DOWN (policy), f->doc);
  lig_preview_devices (GTK_DROP_DOWN (device), f->doc);
  gtk_box_append (GTK_BOX (box), policy);
  gtk_box_append (GTK_BOX (box), device);
  show_in (window, box, 400, 300);
  choose_by_pointer (f, GTK_DROP_DOWN (policy), "No fusions");
  g_assert_cmpint (lig_document_get_policy (f->doc), ==, LIG_POLICY_ALL);
  choose_by_pointer (f, GTK_DROP_DOWN (device), "A100");
  g_assert_cmpstr (lig_document_get_device (f->doc), ==, "null:h200");
  gtk_window_destroy (GTK_WINDOW (window));
}

/* The heads of the columns have the change of their pass. */
static void
test_heads (Fixture *f, gconstpointer data)
{
  lig_document_preview (f->doc, NULL, "null:a100", LIG_POLICY_ALL, "NVIDIA A100");
  WAIT_FOR (lig_document_get_preview (f->doc));
  GtkWidget *score = gtk_window_get_child (GTK_WINDOW (f->window));
  GtkWidget *head = find_type (score, LIG_TYPE_SCORE_HEAD);
  g_assert_nonnull (find_widget (head, shows_text, "+"));
  lig_document_end_preview (f->doc);
  g_assert_null (find_widget (head, shows_text, "+"));
}

/* All changes in a folded block share one ghost per rail. */
static void
test_folded (Fixture *f, gconstpointer data)
{
  guint forward = 0;
  lig_document_preview (f->doc, NULL, NULL, LIG_POLICY_NONE, "No fusions");
  WAIT_FOR (lig_document_get_preview (f->doc));
  for (guint i = 0; i < lig_score_ghost_count (f->ghost); i++) {
    LigPass pass;
    int y, height;
    lig_score_ghost_get (f->ghost, i, &pass, &y, &height);
    forward += pass == LIG_PASS_FORWARD;
  }
  g_assert_cmpuint (forward, ==, 1);
  wait_for_frame (f->window);
}

static void
add_test (const char *path, const char *expression, void (*func) (Fixture *, gconstpointer))
{
  g_test_add (path, Fixture, expression, set_up, func, tear_down);
}

static void
add_tests (void)
{
  add_test ("/preview/pointer", NULL, test_pointer);
  add_test ("/preview/places", NULL, test_places);
  add_test ("/preview/keys", NULL, test_keys);
  add_test ("/preview/fence", NULL, test_fence);
  add_test ("/preview/accessible", NULL, test_accessible);
  add_test ("/preview/card", NULL, test_card);
  add_test ("/preview/choices", NULL, test_choices);
  add_test ("/preview/heads", NULL, test_heads);
  add_test ("/preview/folded", "block(4) { " EXPRESSION " }", test_folded);
}

int
main (int argc, char **argv)
{
  return run_window_tests (argc, argv, add_tests);
}
