/* SPDX-License-Identifier: MIT */
#include "app/window-notice.h"

struct _LigNoticeBar {
  GtkRevealer *revealer;
  GtkInfoBar *bar;
  GtkLabel *label;
  GtkWidget *buttons[2];
  GQueue *notices; /* of LigNotice; the first is shown */
};

static void
free_notice (gpointer data)
{
  LigNotice *notice = data;
  if (notice->free_data)
    notice->free_data (notice->data);
  g_free ((char *) notice->text);
  g_free (notice);
}

static void
show_first (LigNoticeBar *self)
{
  const LigNotice *notice = g_queue_peek_head (self->notices);
  for (int i = 0; i < 2; i++)
    if (self->buttons[i])
      gtk_info_bar_remove_action_widget (self->bar, g_steal_pointer (&self->buttons[i]));
  gtk_revealer_set_reveal_child (self->revealer, notice != NULL);
  if (!notice)
    return;
  gtk_info_bar_set_message_type (self->bar, notice->type);
  gtk_label_set_text (self->label, notice->text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  notice->text, -1);
  for (int i = 0; i < 2 && notice->labels[i]; i++)
    self->buttons[i] = gtk_info_bar_add_button (self->bar, notice->labels[i], i);
}

void
lig_notice_bar_add (LigNoticeBar *self, const LigNotice *notice)
{
  LigNotice *copy = g_memdup2 (notice, sizeof *notice);
  copy->text = g_strdup (notice->text);
  g_queue_push_tail (self->notices, copy);
  if (g_queue_get_length (self->notices) == 1)
    show_first (self);
}

void
lig_notice_bar_remove_first (LigNoticeBar *self)
{
  LigNotice *first = g_queue_pop_head (self->notices);
  if (first)
    free_notice (first);
  show_first (self);
}

const LigNotice *
lig_notice_bar_get_first (LigNoticeBar *self)
{
  return g_queue_peek_head (self->notices);
}

static void
respond (LigNoticeBar *self, int response)
{
  LigNotice *notice = g_queue_peek_head (self->notices);
  gboolean button = notice && response >= 0 && response < 2 && notice->labels[response];
  if (button && notice->keep) {
    notice->callbacks[response](notice->data);
    return;
  }
  g_queue_pop_head (self->notices);
  if (button && notice->callbacks[response])
    notice->callbacks[response](notice->data);
  if (notice)
    free_notice (notice);
  show_first (self);
}

LigNoticeBar *
lig_notice_bar_new (GtkRevealer *revealer, GtkInfoBar *bar, GtkLabel *label)
{
  LigNoticeBar *self = g_new0 (LigNoticeBar, 1);
  *self = (LigNoticeBar){revealer, bar, label, {NULL}, g_queue_new ()};
  g_signal_connect_swapped (bar, "response", G_CALLBACK (respond), self);
  return self;
}

void
lig_notice_bar_free (LigNoticeBar *self)
{
  g_signal_handlers_disconnect_by_data (self->bar, self);
  g_queue_free_full (self->notices, free_notice);
  g_free (self);
}
