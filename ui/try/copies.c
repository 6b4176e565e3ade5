/* SPDX-License-Identifier: MIT */
#include "ui/try/copies.h"

#include "ui/try/columns.h"
#include "ui/try/tokens.h"
#include "ui/widgets/figures.h"
#include <ligature/json.h>

#include <glib/gi18n.h>

/* The column of a text. */
typedef struct {
  GtkWidget *box, *number;
  GtkLabel *remark; /* its length, and why it ended */
  LigTokens *tokens;
  gboolean writing;
} Copy;

struct _LigTryCopies {
  AdwBin parent_instance;
  GtkBox *columns;
  Copy copies[LIG_MAX_COPIES];
  guint count;
};

G_DEFINE_FINAL_TYPE (LigTryCopies, lig_try_copies, ADW_TYPE_BIN)

/* --- Columns ------------------------------------------------------------------------------- */

static void
show_remark (Copy *copy, const char *why)
{
  guint count = lig_tokens_get_count (copy->tokens);
  g_autofree char *number = lig_figure_count (count);
  g_autofree char *tokens = g_strdup_printf (ngettext ("%s token", "%s tokens", count), number);
  g_autofree char *text =
    why ? g_strdup_printf ("%s · %s", tokens, why) : g_steal_pointer (&tokens);
  gtk_label_set_label (copy->remark, text);
}

static void
make_column (LigTryCopies *self, guint n)
{
  Copy *copy = &self->copies[n];
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 12);
  g_autofree char *number = g_strdup_printf ("%u", n + 1);
  GtkWidget *label = gtk_label_new (number);
  GtkWidget *remark = gtk_label_new (NULL);
  copy->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  copy->number = label;
  copy->remark = GTK_LABEL (remark);
  copy->tokens = LIG_TOKENS (lig_tokens_new ());
  gtk_widget_add_css_class (label, "heading");
  gtk_widget_add_css_class (remark, "dim-label");
  gtk_widget_add_css_class (remark, "numeric");
  gtk_widget_add_css_class (remark, "caption");
  gtk_label_set_ellipsize (copy->remark, PANGO_ELLIPSIZE_END);
  gtk_label_set_xalign (copy->remark, 0);
  gtk_widget_set_hexpand (remark, TRUE);
  gtk_box_append (GTK_BOX (head), label);
  gtk_box_append (GTK_BOX (head), remark);
  gtk_box_append (GTK_BOX (copy->box), head);
  gtk_box_append (GTK_BOX (copy->box), GTK_WIDGET (copy->tokens));
  gtk_widget_set_size_request (copy->box, 200, -1);
  gtk_widget_add_css_class (copy->box, "try-copy");
  gtk_box_append (self->columns, copy->box);
}

static void
show_columns (LigTryCopies *self)
{
  for (guint i = 0; i < LIG_MAX_COPIES; i++)
    gtk_widget_set_visible (self->copies[i].box, i < self->count);
  gtk_widget_set_visible (self->copies[0].number, self->count > 1);
}

/* --- Texts --------------------------------------------------------------------------------- */

void
lig_try_copies_begin (LigTryCopies *self, guint count)
{
  self->count = MIN (count, LIG_MAX_COPIES);
  for (guint i = 0; i < LIG_MAX_COPIES; i++) {
    Copy *copy = &self->copies[i];
    lig_tokens_clear (copy->tokens);
    copy->writing = i < self->count;
    gtk_label_set_label (copy->remark, _ ("reading the prompt"));
  }
  show_columns (self);
}

void
lig_try_copies_continue (LigTryCopies *self)
{
  for (guint i = 0; i < self->count; i++)
    self->copies[i].writing = TRUE;
}

static const char *
describe_end (const char *ended)
{
  static const char *const words[][2] = {
    {"stop", N_ ("at a stop")},
    {"length", N_ ("at the limit")},
    {"cancelled", N_ ("stopped")},
  };
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (ended, words[i][0]))
      return _ (words[i][1]);
  return ended;
}

void
lig_try_copies_take (LigTryCopies *self, guint n, JsonObject *line)
{
  if (n >= self->count)
    return;
  Copy *copy = &self->copies[n];
  const char *ended = lig_json_get_string (line, "ended", NULL);
  const char *error = lig_json_get_string (line, "error", NULL);
  if (!ended && !error) {
    lig_tokens_add (copy->tokens, line);
    show_remark (copy, NULL);
    return;
  }
  lig_tokens_end (copy->tokens, lig_json_get_string (line, "shown", ""));
  copy->writing = FALSE;
  show_remark (copy, ended ? describe_end (ended) : _ ("failed"));
}

void
lig_try_copies_abandon (LigTryCopies *self)
{
  for (guint i = 0; i < self->count; i++) {
    if (self->copies[i].writing)
      show_remark (&self->copies[i], describe_end ("cancelled"));
    self->copies[i].writing = FALSE;
  }
}

guint
lig_try_copies_get_count (LigTryCopies *self)
{
  return self->count;
}

guint
lig_try_copies_get_writing (LigTryCopies *self)
{
  guint writing = 0;
  for (guint i = 0; i < self->count; i++)
    writing += self->copies[i].writing;
  return writing;
}

gboolean
lig_try_copies_is_writing (LigTryCopies *self, guint n)
{
  return n < self->count && self->copies[n].writing;
}

const char *
lig_try_copies_get_text (LigTryCopies *self, guint n)
{
  return n < self->count ? lig_tokens_get_text (self->copies[n].tokens) : "";
}

guint
lig_try_copies_get_tokens (LigTryCopies *self, guint n)
{
  return n < self->count ? lig_tokens_get_count (self->copies[n].tokens) : 0;
}

void
lig_try_copies_set_plain (LigTryCopies *self, gboolean plain)
{
  for (guint i = 0; i < LIG_MAX_COPIES; i++)
    lig_tokens_set_plain (self->copies[i].tokens, plain);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_try_copies_class_init (LigTryCopiesClass *class)
{
}

static void
lig_try_copies_init (LigTryCopies *self)
{
  self->columns = GTK_BOX (gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 0));
  lig_columns_use (self->columns, 18);
  gtk_widget_set_valign (GTK_WIDGET (self->columns), GTK_ALIGN_START);
  adw_bin_set_child (ADW_BIN (self), GTK_WIDGET (self->columns));
  for (guint i = 0; i < LIG_MAX_COPIES; i++)
    make_column (self, i);
  show_columns (self);
}

GtkWidget *
lig_try_copies_new (void)
{
  return g_object_new (LIG_TYPE_TRY_COPIES, NULL);
}
