/* SPDX-License-Identifier: MIT */
#include "app/tab-drag.h"

#define PATIENCE 1500 /* milliseconds for the answer to a drop */

/* The type that tab bars offer, so that desktops accept a tab. */
#define OF_TABS "application/x-rootwindow-drop"

/* A drag of a tab whose drop was performed but not yet answered. */
typedef struct {
  GdkDrag *drag;
  gboolean ended;
} Wait;

static void
free_wait (gpointer data)
{
  Wait *wait = data;
  g_signal_handlers_disconnect_by_data (wait->drag, wait);
  g_object_unref (wait->drag);
  g_free (wait);
}

static void
set_ended (Wait *wait)
{
  wait->ended = TRUE;
}

static gboolean
give_up (gpointer data)
{
  Wait *wait = data;
  if (!wait->ended)
    g_signal_emit_by_name (wait->drag, "cancel", GDK_DRAG_CANCEL_NO_TARGET);
  return G_SOURCE_REMOVE;
}

static void
drop_performed (GdkDrag *drag)
{
  Wait *wait = g_new0 (Wait, 1);
  wait->drag = g_object_ref (drag);
  g_signal_connect_swapped (drag, "dnd-finished", G_CALLBACK (set_ended), wait);
  g_signal_connect_swapped (drag, "cancel", G_CALLBACK (set_ended), wait);
  g_timeout_add_full (G_PRIORITY_DEFAULT, PATIENCE, give_up, wait, free_wait);
}

/* A drag that begins in a window is over it first. */
static void
entered (GtkDropControllerMotion *motion)
{
  GdkDrop *drop = gtk_drop_controller_motion_get_drop (motion);
  GdkDrag *drag = drop ? gdk_drop_get_drag (drop) : NULL;
  if (!drag || !gdk_content_formats_contain_mime_type (gdk_drag_get_formats (drag), OF_TABS) ||
      g_object_get_data (G_OBJECT (drag), "watched"))
    return;
  g_object_set_data (G_OBJECT (drag), "watched", drag);
  g_signal_connect (drag, "drop-performed", G_CALLBACK (drop_performed), NULL);
}

void
lig_tab_drag_watch (GtkWidget *window)
{
  GtkEventController *motion = gtk_drop_controller_motion_new ();
  gtk_event_controller_set_propagation_phase (motion, GTK_PHASE_CAPTURE);
  g_signal_connect (motion, "enter", G_CALLBACK (entered), NULL);
  gtk_widget_add_controller (window, motion);
}
