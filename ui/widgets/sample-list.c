/* SPDX-License-Identifier: MIT */
#include "ui/widgets/sample-list.h"

#include "ui/session/task.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/tooltip.h"
#include <ligature/store-rows.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <string.h>

/* A label with more characters takes long to lay out. */
#define MAX_CHARACTERS 4000

struct _LigSampleList {
  AdwBin parent_instance;
  GtkLabel *after;
  GtkWidget *older, *newer;
  GtkBox *texts;
  LigStore *store;
  char *run;
  GPtrArray *rows; /* (nullable): of LigSampleRow, in the order of steps */
  gint64 step;     /* shown */
  guint serial;    /* of the last question; answers to earlier ones are dropped */
};

G_DEFINE_FINAL_TYPE (LigSampleList, lig_sample_list, ADW_TYPE_BIN)

static const LigSampleRow *
get_row (LigSampleList *self, guint n)
{
  return self->rows && n < self->rows->len ? self->rows->pdata[n] : NULL;
}

/* Returns the index of the first text of a step or of a later one. */
static guint
find_step (LigSampleList *self, gint64 step)
{
  guint n = 0;
  while (get_row (self, n) && get_row (self, n)->step < step)
    n++;
  return n;
}

/* --- Texts --------------------------------------------------------------------------------- */

/* The store may have been written by any program. */
static char *
escape (const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text ? text : "", -1);
  if (g_utf8_strlen (valid, -1) > MAX_CHARACTERS)
    strcpy (g_utf8_offset_to_pointer (valid, MAX_CHARACTERS - 1), "…");
  return g_markup_escape_text (valid, -1);
}

static GtkWidget *
make_text (const LigSampleRow *row)
{
  g_autofree char *prompt = escape (row->prompt), *text = escape (row->text);
  g_autofree char *markup = g_strdup_printf ("<span alpha=\"60%%\">%s</span>%s", prompt, text);
  GtkWidget *label = gtk_label_new (NULL), *card = adw_bin_new ();
  gtk_label_set_markup (GTK_LABEL (label), markup);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_margin_top (label, 12);
  gtk_widget_set_margin_bottom (label, 12);
  gtk_widget_set_margin_start (label, 12);
  gtk_widget_set_margin_end (label, 12);
  gtk_widget_add_css_class (card, "card");
  adw_bin_set_child (ADW_BIN (card), label);
  return card;
}

static void
show_step (LigSampleList *self)
{
  GtkWidget *child;
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->texts))))
    gtk_box_remove (self->texts, child);
  guint n = find_step (self, self->step);
  gtk_widget_set_sensitive (self->older, n > 0);
  for (; get_row (self, n) && get_row (self, n)->step == self->step; n++)
    gtk_box_append (self->texts, make_text (get_row (self, n)));
  gtk_widget_set_sensitive (self->newer, get_row (self, n) != NULL);
  g_autofree char *number = lig_figure_count (self->step);
  /* Translators: the step of a training run */
  g_autofree char *after = g_strdup_printf (_ ("after step %s"), number);
  gtk_label_set_text (self->after, self->step > 0 ? after : _ ("before the first step"));
  gtk_widget_set_visible (GTK_WIDGET (self), lig_sample_list_get_newest (self) >= 0);
}

static void
show_older (LigSampleList *self)
{
  guint n = find_step (self, self->step);
  if (n == 0)
    return;
  self->step = get_row (self, n - 1)->step;
  show_step (self);
}

static void
show_newer (LigSampleList *self)
{
  const LigSampleRow *row = get_row (self, find_step (self, self->step + 1));
  if (!row)
    return;
  self->step = row->step;
  show_step (self);
}

/* --- Reading ------------------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  char *run;
  guint serial;
  GPtrArray *rows;
} Question;

static void
free_question (gpointer data)
{
  Question *self = data;
  g_object_unref (self->store);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_free (self->run);
  g_free (self);
}

static void
read_samples (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Question *self = data;
  self->rows = lig_store_get_samples (self->store, self->run, NULL);
  g_task_return_boolean (task, TRUE);
}

static void
take_samples (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigSampleList *self = LIG_SAMPLE_LIST (source);
  Question *answer = g_task_get_task_data (G_TASK (result));
  guint before = self->rows ? self->rows->len : 0;
  if (answer->serial != self->serial || !answer->rows || answer->rows->len == before)
    return;
  gboolean follows = self->step == lig_sample_list_get_newest (self);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  self->rows = g_steal_pointer (&answer->rows);
  if (follows)
    self->step = lig_sample_list_get_newest (self);
  show_step (self);
}

static void
leave (LigSampleList *self)
{
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  g_clear_pointer (&self->run, g_free);
  self->step = -1;
  self->serial++;
}

void
lig_sample_list_show (LigSampleList *self, LigStore *store, const char *run)
{
  if (store != self->store || g_strcmp0 (run, self->run) != 0) {
    leave (self);
    show_step (self);
  }
  g_set_object (&self->store, store);
  if (!store || !run)
    return;
  g_free (self->run);
  self->run = g_strdup (run);
  Question *question = g_new0 (Question, 1);
  question->store = g_object_ref (store);
  question->run = g_strdup (run);
  question->serial = ++self->serial;
  g_autoptr (GTask) task = g_task_new (self, NULL, take_samples, NULL);
  g_task_set_task_data (task, question, free_question);
  lig_task_run (task, read_samples);
}

gint64
lig_sample_list_get_newest (LigSampleList *self)
{
  const LigSampleRow *last =
    self->rows && self->rows->len > 0 ? self->rows->pdata[self->rows->len - 1] : NULL;
  return last ? last->step : -1;
}

/* --- Construction -------------------------------------------------------------------------- */

static GtkWidget *
make_button (LigSampleList *self, const char *icon, const char *label, GCallback clicked)
{
  GtkWidget *button = gtk_button_new_from_icon_name (icon);
  gtk_widget_add_css_class (button, "flat");
  lig_tooltip_set (button, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  -1);
  g_signal_connect_object (button, "clicked", clicked, self, G_CONNECT_SWAPPED);
  return button;
}

static void
lig_sample_list_dispose (GObject *object)
{
  LigSampleList *self = LIG_SAMPLE_LIST (object);
  leave (self);
  g_clear_object (&self->store);
  G_OBJECT_CLASS (lig_sample_list_parent_class)->dispose (object);
}

static void
lig_sample_list_class_init (LigSampleListClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_sample_list_dispose;
}

static void
lig_sample_list_init (LigSampleList *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *title = gtk_label_new (_ ("Generated texts")), *after = gtk_label_new (NULL);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  self->step = -1;
  self->after = GTK_LABEL (after);
  self->texts = GTK_BOX (texts);
  self->older = make_button (self, "go-previous-symbolic", _ ("Texts of the step before"),
                             G_CALLBACK (show_older));
  self->newer =
    make_button (self, "go-next-symbolic", _ ("Texts of the step after"), G_CALLBACK (show_newer));
  gtk_widget_add_css_class (title, "heading");
  gtk_widget_add_css_class (after, "dim-label");
  gtk_widget_add_css_class (after, "numeric");
  gtk_label_set_xalign (self->after, 0);
  gtk_widget_set_hexpand (after, TRUE);
  gtk_box_append (GTK_BOX (head), title);
  gtk_box_append (GTK_BOX (head), after);
  gtk_box_append (GTK_BOX (head), self->older);
  gtk_box_append (GTK_BOX (head), self->newer);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), texts);
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), box);
}
