/* SPDX-License-Identifier: MIT */
#include "ui/history/repeat-row.h"

#include "ui/widgets/figures.h"

#include <glib/gi18n.h>
#include <string.h>

struct _LigRepeatRow {
  AdwBin parent_instance;
  GtkImage *icon;
  GtkLabel *title, *text;
  GtkProgressBar *bar;
  GtkWidget *stop;
  LigRepeating *shown;
};

G_DEFINE_FINAL_TYPE (LigRepeatRow, lig_repeat_row, ADW_TYPE_BIN)

static const struct {
  const char *title, *icon, *style;
} outcomes[] = {
  [LIG_REPETITION_SAME] = {N_ ("Bitwise identical"), "emblem-ok-symbolic", "done"},
  [LIG_REPETITION_NOISE] = {N_ ("Within the noise"), "emblem-ok-symbolic", "done"},
  [LIG_REPETITION_DIFFERENT] = {N_ ("Different"), "dialog-warning-symbolic", "failed"},
};

static void
set_status (LigRepeatRow *self, const char *icon, const char *style, const char *title)
{
  static const char *const styles[] = {"done", "failed", "running"};
  gtk_image_set_from_icon_name (self->icon, icon);
  for (guint i = 0; i < G_N_ELEMENTS (styles); i++)
    gtk_widget_remove_css_class (GTK_WIDGET (self->icon), styles[i]);
  gtk_widget_add_css_class (GTK_WIDGET (self->icon), style);
  gtk_label_set_text (self->title, title);
}

static void
show_share (LigRepeatRow *self)
{
  double share = lig_repeating_get_share (self->shown);
  if (share < 0)
    gtk_progress_bar_pulse (self->bar);
  else
    gtk_progress_bar_set_fraction (self->bar, share);
}

static void
update (LigRepeatRow *self)
{
  if (!self->shown)
    return;
  gboolean active = lig_repeating_is_active (self->shown);
  const LigRepetition *result = lig_repeating_get_result (self->shown);
  const char *error = lig_repeating_get_error (self->shown);
  gtk_widget_set_visible (GTK_WIDGET (self->bar), active);
  gtk_widget_set_visible (self->stop, active);
  gtk_widget_set_visible (GTK_WIDGET (self->text), !active);
  if (active) {
    set_status (self, "view-refresh-symbolic", "running", _ ("Repeating"));
    show_share (self);
    return;
  }
  const char *said = result ? result->text : error ? error : "";
  /* The title is the outcome; the figures follow after a colon. */
  const char *figures =
    result && result->outcome != LIG_REPETITION_SAME ? strstr (said, ": ") : NULL;
  said = figures ? figures + strlen (": ") : said;
  g_autofree char *sentence = lig_figure_sentence (said);
  gtk_label_set_text (self->text, sentence);
  if (result)
    set_status (self, outcomes[result->outcome].icon, outcomes[result->outcome].style,
                _ (outcomes[result->outcome].title));
  else
    set_status (self, "dialog-warning-symbolic", "failed", _ ("Not repeated"));
}

void
lig_repeat_row_show (LigRepeatRow *self, LigSession *session, const char *run)
{
  LigRepeating *found = session && run ? lig_repeating_find (session, run) : NULL;
  if (found != self->shown) {
    if (self->shown)
      g_signal_handlers_disconnect_by_func (self->shown, update, self);
    g_set_object (&self->shown, found);
    if (found)
      g_signal_connect_object (found, "changed", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  }
  gtk_widget_set_visible (GTK_WIDGET (self), found != NULL);
  update (self);
}

static void
stop (LigRepeatRow *self)
{
  if (self->shown)
    lig_repeating_stop (self->shown);
}

static void
lig_repeat_row_dispose (GObject *object)
{
  g_clear_object (&LIG_REPEAT_ROW (object)->shown);
  G_OBJECT_CLASS (lig_repeat_row_parent_class)->dispose (object);
}

static void
lig_repeat_row_class_init (LigRepeatRowClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_repeat_row_dispose;
}

static GtkLabel *
make_label (const char *style)
{
  GtkWidget *label = gtk_label_new (NULL);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_widget_set_hexpand (label, TRUE);
  if (style)
    gtk_widget_add_css_class (label, style);
  return GTK_LABEL (label);
}

static void
lig_repeat_row_init (LigRepeatRow *self)
{
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *head = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  self->icon = GTK_IMAGE (gtk_image_new ());
  self->title = make_label ("heading");
  self->text = make_label (NULL);
  self->bar = GTK_PROGRESS_BAR (gtk_progress_bar_new ());
  self->stop = gtk_button_new_with_mnemonic (_ ("_Stop"));
  gtk_widget_add_css_class (GTK_WIDGET (self->icon), "history-status");
  gtk_label_set_selectable (self->text, TRUE);
  gtk_widget_set_valign (self->stop, GTK_ALIGN_CENTER);
  g_signal_connect_object (self->stop, "clicked", G_CALLBACK (stop), self, G_CONNECT_SWAPPED);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Progress of the repetition"), -1);
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->icon));
  gtk_box_append (GTK_BOX (head), GTK_WIDGET (self->title));
  gtk_box_append (GTK_BOX (head), self->stop);
  gtk_box_append (GTK_BOX (box), head);
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->bar));
  gtk_box_append (GTK_BOX (box), GTK_WIDGET (self->text));
  gtk_widget_add_css_class (GTK_WIDGET (self), "history-repeat");
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  adw_bin_set_child (ADW_BIN (self), box);
}
