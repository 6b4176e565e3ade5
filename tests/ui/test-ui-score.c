/* SPDX-License-Identifier: MIT */
/* The score in a window: its rows, brackets, gaps, verdict cards, and how fast it follows. */
#include "ui/edit.h"
#include "ui/score-group.h"
#include "ui/score-sheet.h"
#include "ui/score.h"
#include "ui/verdict-card.h"

#include <adwaita.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *score;
  LigScoreSheet *sheet;
} Fixture;

static GtkWidget *
find_widget (GtkWidget *widget, GType type)
{
  if (G_TYPE_CHECK_INSTANCE_TYPE (widget, type))
    return widget;
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child)) {
    GtkWidget *found = find_widget (child, type);
    if (found)
      return found;
  }
  return NULL;
}

static void
wait_for_plan (LigDocument *doc)
{
  gint64 until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  while (lig_document_is_stale (doc) && g_get_monotonic_time () < until)
    g_main_context_iteration (NULL, TRUE);
  g_assert_false (lig_document_is_stale (doc));
}

static void
settle (Fixture *f)
{
  wait_for_plan (f->doc);
  gtk_test_widget_wait_for_draw (f->window);
}

static void
set_up (Fixture *f, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  f->folder = g_dir_make_tmp ("ligature-XXXXXX", NULL);
  g_autofree char *store = g_build_filename (f->folder, "store.db", NULL);
  f->session = lig_session_new (store, &error);
  g_assert_no_error (error);
  f->doc = lig_document_new (f->session);
  lig_document_set_device (f->doc, "null:h200");
  f->window = gtk_window_new ();
  gtk_window_set_default_size (GTK_WINDOW (f->window), 1200, 800);
  f->score = lig_score_new (f->doc);
  gtk_window_set_child (GTK_WINDOW (f->window), f->score);
  f->sheet = LIG_SCORE_SHEET (find_widget (f->score, LIG_TYPE_SCORE_SHEET));
  gtk_window_present (GTK_WINDOW (f->window));
  settle (f);
}

static void
tear_down (Fixture *f, gconstpointer data)
{
  GtkWidget *score = f->score;
  g_object_add_weak_pointer (G_OBJECT (score), (gpointer *) &score);
  gtk_window_destroy (GTK_WINDOW (f->window));
  for (int i = 0; i < 200 && score; i++) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (5000);
  }
  g_assert_null (score);
  g_object_unref (f->doc);
  g_object_unref (f->session);
  g_autofree char *command = g_strdup_printf ("rm -r '%s'", f->folder);
  g_assert_cmpint (system (command), ==, 0);
  g_free (f->folder);
}

static void
fill (Fixture *f, const char *expression)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_expression (expression, &error);
  g_assert_no_error (error);
  LigShape shape = {.n_axes = 2, .axes = {64, 64}};
  lig_sequence_set_input (sequence, &shape, LIG_BF16);
  lig_document_replace (f->doc, sequence, "Test");
  settle (f);
}

static void
assert_text (Fixture *f, const char *expected)
{
  g_autofree char *text = lig_sequence_to_expression (lig_document_get_sequence (f->doc));
  g_assert_cmpstr (text, ==, expected);
}

static GtkWidget *
row_at (Fixture *f, guint n)
{
  GtkWidget *row = lig_score_sheet_get_row (f->sheet, n);
  g_assert_nonnull (row);
  return row;
}

static void
do_action (Fixture *f, guint row, const char *action)
{
  g_assert_true (gtk_widget_activate_action (row_at (f, row), action, NULL));
}

static void
select_row (Fixture *f, guint n)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (n, <, count);
  lig_document_select (f->doc, rows[n].op, LIG_SELECT_ONLY);
}

/* --- Rows and brackets --------------------------------------------------------------------- */

typedef struct {
  const char *expression;
  const char *forward, *backward; /* groups: first op, count, `*` where fused */
} Rails;

static char *
describe_rail (Fixture *f, LigPass pass)
{
  const LigScoreMap *map = lig_score_sheet_get_map (f->sheet);
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < map->brackets[pass]->len; i++) {
    const LigScoreBracket *bracket = &g_array_index (map->brackets[pass], LigScoreBracket, i);
    GtkWidget *group = lig_score_sheet_get_group (f->sheet, pass, i);
    g_assert_nonnull (group);
    g_assert_nonnull (bracket->group);
    g_assert_true (gtk_widget_has_css_class (group, "fused") == (bracket->group->fusion != NULL));
    g_string_append_printf (text, "%s%d+%d%s", i > 0 ? " " : "", bracket->group->first,
                            bracket->group->count, bracket->group->fusion ? "*" : "");
    g_assert_cmpint (bracket->height, >, 0);
  }
  return g_strdup (text->str);
}

static void
test_rails (Fixture *f, gconstpointer data)
{
  const Rails rails[] = {
    {"layer-norm ! linear(256) ! gelu ! linear(64)", "0+1 1+3* 4+2*", "0+1 1+1 2+2* 4+2*"},
    {"layer-norm ! linear(256) ! swiglu ! linear(64)", "0+1 1+2* 3+1 4+2*", "0+1 1+1 2+2* 4+2*"},
    {"make-extra-output(to=r) ! layer-norm ! linear(256) ! gelu ! linear(64) ! "
     "add-extra-input(from=r)",
     "0+1 1+1 2+3* 5+3*", "0+2* 2+1 3+2* 5+2* 7+1"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (rails); i++) {
    fill (f, rails[i].expression);
    g_autofree char *forward = describe_rail (f, LIG_PASS_FORWARD);
    g_autofree char *backward = describe_rail (f, LIG_PASS_BACKWARD);
    g_assert_cmpstr (forward, ==, rails[i].forward);
    g_assert_cmpstr (backward, ==, rails[i].backward);
  }
}

int
main (int argc, char **argv)
{
  gtk_test_init (&argc, &argv, NULL);
  adw_init ();
#define ADD(name) g_test_add ("/score/" #name, Fixture, NULL, set_up, test_##name, tear_down)
  ADD (rails);
  return g_test_run ();
}
