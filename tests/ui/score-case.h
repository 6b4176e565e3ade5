/* SPDX-License-Identifier: MIT */
/* Shared by the tests of the score: a score in a window, with or without the inspector, with a
 * document for a described device; its rows, brackets and actions. */
#pragma once

#include "tests/ui/case.h"
#include "ui/inspector/inspector.h"
#include "ui/score/score.h"
#include "ui/score/sheet.h"

typedef struct {
  char *folder;
  LigSession *session;
  LigDocument *doc;
  GtkWidget *window, *score;
  GtkWidget *inspector; /* null: only the score */
  LigScoreSheet *sheet;
  GtkAdjustment *adjustment; /* of the score's container */
} Fixture;

static inline void
wait_for_score (Fixture *f)
{
  wait_for_plan (f->doc);
  wait_for_frame (f->window);
}

/* Creates the document and the score without showing them, so that more can be set. */
static inline void
make_score (Fixture *f, const char *device)
{
  make_document (&f->folder, &f->session, &f->doc, device);
  f->window = gtk_window_new ();
  f->score = lig_score_view_new (f->doc);
  f->sheet = find_type (f->score, LIG_TYPE_SCORE_SHEET);
  GtkWidget *scroller = gtk_widget_get_ancestor (GTK_WIDGET (f->sheet), GTK_TYPE_SCROLLED_WINDOW);
  f->adjustment = gtk_scrolled_window_get_vadjustment (GTK_SCROLLED_WINDOW (scroller));
}

static inline void
set_up_on (Fixture *f, const char *device)
{
  make_score (f, device);
  show_in (f->window, f->score, 1200, 800);
  wait_for_score (f);
}

static inline void
set_up (Fixture *f, gconstpointer data)
{
  set_up_on (f, "null:h200");
}

static inline void
set_up_with_inspector (Fixture *f, gconstpointer data)
{
  GtkWidget *both = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0);
  make_score (f, "null:h200");
  f->inspector = lig_inspector_new (f->doc);
  gtk_widget_set_hexpand (f->score, TRUE);
  gtk_box_append (GTK_BOX (both), f->score);
  gtk_box_append (GTK_BOX (both), f->inspector);
  show_in (f->window, both, 1400, 860);
  wait_for_score (f);
}

static inline void
tear_down (Fixture *f, gconstpointer data)
{
  GtkWidget *score = f->score;
  g_object_add_weak_pointer (G_OBJECT (score), (gpointer *) &score);
  gtk_window_destroy (GTK_WINDOW (f->window));
  WAIT_FOR (!score);
  free_document (f->folder, f->session, f->doc);
}

static inline void
show_for (Fixture *f, const char *expression, const char *input)
{
  fill_with (f->doc, expression, input, NULL);
  wait_for_score (f);
}

/* Shows a sequence with this many rows. */
static inline void
show_long (Fixture *f, const char *const ops[4], guint rows)
{
  g_autoptr (GString) text = g_string_new (NULL);
  for (guint i = 0; i < rows; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? " ! " : "", ops[i % 4]);
  show_for (f, text->str, "64x64:bf16");
}

static const char *const usual_ops[4] = {"layer-norm", "linear(64)", "gelu", "linear(64)"};

static inline const LigScoreMap *
map_of (Fixture *f)
{
  return lig_score_sheet_get_map (f->sheet);
}

static inline const LigScoreSlot *
slot_at (Fixture *f, guint n)
{
  g_assert_cmpuint (n, <, map_of (f)->slots->len);
  return lig_score_map_get_slot (map_of (f), n);
}

static inline GtkWidget *
row_at (Fixture *f, guint n)
{
  GtkWidget *row = lig_score_sheet_get_row (f->sheet, n);
  g_assert_nonnull (row);
  return row;
}

static inline void
select_row (Fixture *f, guint n)
{
  guint count;
  const LigRow *rows = lig_document_get_rows (f->doc, &count);
  g_assert_cmpuint (n, <, count);
  lig_document_select (f->doc, rows[n].op, LIG_SELECT_ONLY);
}

/* Activates an action of a row. */
static inline void
do_action (Fixture *f, guint row, const char *action)
{
  g_assert_true (gtk_widget_activate_action (row_at (f, row), action, NULL));
  wait_for_score (f);
}
