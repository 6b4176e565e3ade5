/* SPDX-License-Identifier: MIT */
/* What a person should know and may act upon stands in a bar above the pages until it is dismissed;
 * one notice at a time, the others wait. */
#include "app/window-private.h"

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
show_first (LigWindow *self)
{
  const LigNotice *notice = g_queue_peek_head (self->notices);
  for (int i = 0; i < 2; i++)
    if (self->notice_buttons[i])
      gtk_info_bar_remove_action_widget (self->notice, g_steal_pointer (&self->notice_buttons[i]));
  gtk_revealer_set_reveal_child (self->notice_revealer, notice != NULL);
  if (!notice)
    return;
  gtk_info_bar_set_message_type (self->notice, notice->type);
  gtk_label_set_text (self->notice_label, notice->text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->notice), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  notice->text, -1);
  for (int i = 0; i < 2 && notice->labels[i]; i++)
    self->notice_buttons[i] = gtk_info_bar_add_button (self->notice, notice->labels[i], i);
}

void
lig_window_add_notice (LigWindow *self, const LigNotice *notice)
{
  LigNotice *copy = g_memdup2 (notice, sizeof *notice);
  copy->text = g_strdup (notice->text);
  g_queue_push_tail (self->notices, copy);
  if (g_queue_get_length (self->notices) == 1)
    show_first (self);
}

void
lig_window_remove_notice (LigWindow *self)
{
  LigNotice *first = g_queue_pop_head (self->notices);
  if (first)
    free_notice (first);
  show_first (self);
}

static void
respond (LigWindow *self, int response)
{
  LigNotice *notice = g_queue_peek_head (self->notices);
  gboolean button = notice && response >= 0 && response < 2 && notice->labels[response];
  if (button && notice->keep) {
    notice->callbacks[response](self, notice->data);
    return;
  }
  g_queue_pop_head (self->notices);
  if (button && notice->callbacks[response])
    notice->callbacks[response](self, notice->data);
  if (notice)
    free_notice (notice);
  show_first (self);
}

void
lig_window_init_notices (LigWindow *self)
{
  self->notices = g_queue_new ();
  g_signal_connect_object (self->notice, "response", G_CALLBACK (respond), self, G_CONNECT_SWAPPED);
}

void
lig_window_clear_notices (LigWindow *self)
{
  if (self->notices)
    g_queue_free_full (g_steal_pointer (&self->notices), free_notice);
}
