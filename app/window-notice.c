/* SPDX-License-Identifier: MIT */
#include "app/window-notice.h"

#include <glib/gi18n.h>

/* More would leave no room for the page. */
enum { MAX_SHOWN = 3 };

struct _LigNoticeBar {
  GtkRevealer *revealer;
  GtkBox *box;
  GQueue *notices; /* of Shown, oldest first */
};

/* A notice, and its bar while it is shown. */
typedef struct {
  LigNoticeBar *owner;
  LigNotice notice;
  GtkWidget *bar; /* owned by the box; null while the notice waits */
} Shown;

static void
free_shown (gpointer data)
{
  Shown *shown = data;
  if (shown->notice.free_data)
    shown->notice.free_data (shown->notice.data);
  g_free ((char *) shown->notice.text);
  g_free (shown);
}

static void
hide (Shown *shown)
{
  if (!shown->bar)
    return;
  g_signal_handlers_disconnect_by_data (shown->bar, shown);
  gtk_box_remove (shown->owner->box, shown->bar);
  shown->bar = NULL;
}

/* GTK does not name the close button. */
static void
name_close (GtkWidget *widget)
{
  if (GTK_IS_BUTTON (widget) && gtk_widget_has_css_class (widget, "close"))
    gtk_accessible_update_property (GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    _ ("Close"), -1);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    name_close (child);
}

static void respond (Shown *shown, int response);

static void
show (Shown *shown)
{
  GtkWidget *bar = gtk_info_bar_new ();
  GtkWidget *label = gtk_label_new (shown->notice.text);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_selectable (GTK_LABEL (label), TRUE);
  gtk_widget_set_hexpand (label, TRUE);
  gtk_info_bar_add_child (GTK_INFO_BAR (bar), label);
  gtk_info_bar_set_show_close_button (GTK_INFO_BAR (bar), TRUE);
  gtk_info_bar_set_message_type (GTK_INFO_BAR (bar), shown->notice.type);
  gtk_accessible_update_property (GTK_ACCESSIBLE (bar), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  shown->notice.text, -1);
  for (int i = 0; i < 2 && shown->notice.labels[i]; i++)
    gtk_info_bar_add_button (GTK_INFO_BAR (bar), shown->notice.labels[i], i);
  name_close (bar);
  g_signal_connect_swapped (bar, "response", G_CALLBACK (respond), shown);
  gtk_box_append (shown->owner->box, bar);
  shown->bar = bar;
}

static void
update (LigNoticeBar *self)
{
  GList *item = self->notices->head;
  for (guint i = 0; item && i < MAX_SHOWN; i++, item = item->next)
    if (!((Shown *) item->data)->bar)
      show (item->data);
  gtk_revealer_set_reveal_child (self->revealer, self->notices->head != NULL);
}

/* The callback may add or remove notices, but no longer this one. */
static void
respond (Shown *shown, int response)
{
  LigNoticeBar *self = shown->owner;
  LigNotice *notice = &shown->notice;
  gboolean button = response >= 0 && response < 2 && notice->labels[response];
  if (button && notice->keep) {
    notice->callbacks[response](notice->data);
    return;
  }
  g_queue_remove (self->notices, shown);
  hide (shown);
  if (button && notice->callbacks[response])
    notice->callbacks[response](notice->data);
  free_shown (shown);
  update (self);
}

void
lig_notice_bar_add (LigNoticeBar *self, const LigNotice *notice)
{
  Shown *shown = g_new0 (Shown, 1);
  shown->owner = self;
  shown->notice = *notice;
  shown->notice.text = g_strdup (notice->text);
  g_queue_push_tail (self->notices, shown);
  update (self);
}

guint
lig_notice_bar_remove (LigNoticeBar *self, LigNoticeCallback callback)
{
  guint removed = 0;
  for (GList *item = self->notices->head, *next; item; item = next) {
    Shown *shown = item->data;
    next = item->next;
    if (shown->notice.callbacks[0] != callback)
      continue;
    g_queue_delete_link (self->notices, item);
    hide (shown);
    free_shown (shown);
    removed++;
  }
  update (self);
  return removed;
}

LigNoticeBar *
lig_notice_bar_new (GtkRevealer *revealer, GtkBox *box)
{
  LigNoticeBar *self = g_new0 (LigNoticeBar, 1);
  *self = (LigNoticeBar){revealer, box, g_queue_new ()};
  return self;
}

void
lig_notice_bar_free (LigNoticeBar *self)
{
  for (GList *item = self->notices->head; item; item = item->next)
    hide (item->data);
  g_queue_free_full (self->notices, free_shown);
  g_free (self);
}
