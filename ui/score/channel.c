/* SPDX-License-Identifier: MIT */
/* A channel of the score. */
#include "ui/score/channel.h"

#include "ui/document/edit.h"
#include "ui/document/ends.h"
#include "ui/score/host.h"
#include "ui/widgets/toast.h"
#include "ui/widgets/tooltip.h"

#include <glib/gi18n.h>

struct _LigScoreChannel {
  GtkWidget parent_instance;
  LigDocument *document; /* cleared before the sheet is freed */
  guint number, from, to;
  LigOp *source, *sink; /* owned; a sink in a folded block has no row */
  char *name;           /* as the sink writes it */
  char *label;
  gboolean hovered;
  GtkWidget *popover; /* the menu, or the entry for a name */
};

G_DEFINE_FINAL_TYPE (LigScoreChannel, lig_score_channel, GTK_TYPE_WIDGET)

static void
redraw (LigScoreChannel *self)
{
  GtkWidget *sheet = gtk_widget_get_parent (GTK_WIDGET (self));
  if (sheet)
    gtk_widget_queue_draw (sheet);
}

gboolean
lig_score_channel_is_lit (LigScoreChannel *self)
{
  return self->hovered || self->popover || gtk_widget_has_focus (GTK_WIDGET (self));
}

guint
lig_score_channel_get_number (LigScoreChannel *self)
{
  return self->number;
}

void
lig_score_channel_bind (LigScoreChannel *self, const LigScoreMap *map, guint number)
{
  const LigScoreArc *arc = &g_array_index (map->arcs, LigScoreArc, number);
  const LigScoreSlot *from = lig_score_map_get_slot (map, arc->from);
  self->number = number;
  self->from = arc->from;
  self->to = arc->to;
  g_set_object (&self->source, from->op);
  g_set_object (&self->sink, arc->sink);
  g_free (self->name);
  self->name = g_strdup (arc->name);
  /* Translators: a channel's name, and title and path of the operations at its ends. */
  g_autofree char *label =
    g_strdup_printf (_ ("Branch %s from %s at %s to %s at %s"), lig_ends_local_name (arc->name),
                     _ (lig_op_get_info (from->op)->title), from->path,
                     _ (lig_op_get_info (arc->sink)->title), arc->sink_path);
  if (g_strcmp0 (label, self->label) == 0)
    return;
  g_free (self->label);
  self->label = g_steal_pointer (&label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, self->label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  _ ("F2 renames it, Delete disconnects it"), -1);
}

/* --- The menu and the entry ---------------------------------------------------------------- */

static void
drop_popover (gpointer data)
{
  LigScoreChannel *self = data;
  g_clear_pointer (&self->popover, gtk_widget_unparent);
  redraw (self);
  g_object_unref (self);
}

/* The chosen action is activated after this signal. */
static void
popover_closed (LigScoreChannel *self)
{
  g_idle_add_once (drop_popover, g_object_ref (self));
}

static void
open_popover (LigScoreChannel *self, GtkWidget *popover, double x, double y)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  GdkRectangle at = {x < 0 ? width / 2 : (int) x, y < 0 ? 12 : (int) y, 1, 1};
  g_clear_pointer (&self->popover, gtk_widget_unparent);
  self->popover = popover;
  gtk_widget_set_parent (popover, GTK_WIDGET (self));
  gtk_popover_set_pointing_to (GTK_POPOVER (popover), &at);
  g_signal_connect_swapped (popover, "closed", G_CALLBACK (popover_closed), self);
  gtk_popover_popup (GTK_POPOVER (popover));
  redraw (self);
}

static void
show_menu (LigScoreChannel *self, double x, double y)
{
  g_autoptr (GMenu) menu = g_menu_new ();
  g_autoptr (GMenu) ends = g_menu_new ();
  g_menu_append (menu, _ ("Rename…"), "channel.rename");
  g_menu_append (menu, _ ("Disconnect"), "channel.disconnect");
  g_menu_append (ends, _ ("Go to its start"), "channel.start");
  g_menu_append (ends, _ ("Go to its end"), "channel.end");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (ends));
  GtkWidget *popover = gtk_popover_menu_new_from_model (G_MENU_MODEL (menu));
  gtk_popover_set_has_arrow (GTK_POPOVER (popover), FALSE);
  gtk_widget_set_halign (popover, GTK_ALIGN_START);
  open_popover (self, popover, x, y);
}

static void
apply_name (GtkEntry *entry, LigScoreChannel *self)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigScoreChannel) kept = g_object_ref (self);
  g_autofree char *name = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (entry))));
  g_autofree char *old = g_strdup (self->name);
  g_autoptr (LigOp) source = g_object_ref (self->source);
  if (lig_edit_rename_channel (self->document, source, old, name, &error)) {
    if (self->popover)
      gtk_popover_popdown (GTK_POPOVER (self->popover));
    return;
  }
  gtk_widget_add_css_class (GTK_WIDGET (entry), "error");
  lig_tooltip_set (GTK_WIDGET (entry), error->message);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  error->message, -1);
}

static void
forget_error (GtkWidget *entry)
{
  gtk_widget_remove_css_class (entry, "error");
  lig_tooltip_set (entry, NULL);
}

void
lig_score_channel_rename (LigScoreChannel *self)
{
  GtkWidget *popover = gtk_popover_new (), *entry = gtk_entry_new ();
  gtk_editable_set_text (GTK_EDITABLE (entry), lig_ends_local_name (self->name));
  gtk_editable_set_max_width_chars (GTK_EDITABLE (entry), 18);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Name of the branch"), -1);
  g_signal_connect_object (entry, "activate", G_CALLBACK (apply_name), self, 0);
  g_signal_connect (entry, "changed", G_CALLBACK (forget_error), NULL);
  gtk_popover_set_child (GTK_POPOVER (popover), entry);
  gtk_popover_set_position (GTK_POPOVER (popover), GTK_POS_RIGHT);
  open_popover (self, popover, -1, gtk_widget_get_height (GTK_WIDGET (self)) / 2.0);
  gtk_widget_grab_focus (entry);
}

/* --- Actions ------------------------------------------------------------------------------- */

static void
rename_action (GtkWidget *widget, const char *action, GVariant *target)
{
  lig_score_channel_rename (LIG_SCORE_CHANNEL (widget));
}

static void
disconnect_action (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (widget);
  LigScoreHost *host = lig_score_host_of (widget);
  guint row = self->to;
  g_autofree char *name = g_strdup (self->name);
  g_autofree char *text =
    g_strdup_printf (_ ("Disconnected “%s”"), lig_ends_local_name (self->name));
  g_autoptr (LigOp) source = g_object_ref (self->source), sink = g_object_ref (self->sink);
  lig_score_host_focus_row (host, row);
  lig_edit_disconnect_channel (self->document, source, sink, name);
  lig_toast (GTK_WIDGET (host), text, _ ("Undo"), "win.undo");
}

static void
go_action (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (widget);
  guint row = g_str_equal (action, "channel.start") ? self->from : self->to;
  LigScoreHost *host = lig_score_host_of (widget);
  lig_score_host_focus_row (host, row);
  lig_document_select (self->document,
                       lig_score_map_get_slot (lig_score_host_get_map (host), row)->op,
                       LIG_SELECT_ONLY);
}

/* Moves to the next channel at either end of this one. */
static void
next_action (GtkWidget *widget, const char *action, GVariant *target)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (widget);
  LigScoreHost *host = lig_score_host_of (widget);
  const GArray *arcs = lig_score_host_get_map (host)->arcs;
  for (guint i = 1; i < arcs->len; i++) {
    guint number = (self->number + i) % arcs->len;
    const LigScoreArc *arc = &g_array_index (arcs, LigScoreArc, number);
    if (arc->from == self->from || arc->to == self->from || arc->from == self->to ||
        arc->to == self->to) {
      gtk_widget_grab_focus (lig_score_host_get_channel (host, number));
      return;
    }
  }
}

static void
menu_action (GtkWidget *widget, const char *action, GVariant *target)
{
  show_menu (LIG_SCORE_CHANNEL (widget), -1, -1);
}

/* --- The pointer --------------------------------------------------------------------------- */

static void
pressed (GtkGestureClick *gesture, int presses, double x, double y, LigScoreChannel *self)
{
  gboolean menu =
    gtk_gesture_single_get_current_button (GTK_GESTURE_SINGLE (gesture)) == GDK_BUTTON_SECONDARY;
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (menu)
    show_menu (self, x, y);
  else if (presses == 2)
    lig_score_channel_rename (self);
}

static void
set_hovered (LigScoreChannel *self, gboolean hovered)
{
  self->hovered = hovered;
  redraw (self);
}

static void
entered (LigScoreChannel *self)
{
  set_hovered (self, TRUE);
}

static void
left (LigScoreChannel *self)
{
  set_hovered (self, FALSE);
}

static gboolean
query_tooltip (GtkWidget *widget, int x, int y, gboolean keyboard, GtkTooltip *tooltip)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (widget);
  if (self->popover || !self->label)
    return FALSE;
  gtk_tooltip_set_text (tooltip, self->label);
  return TRUE;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
size_allocate (GtkWidget *widget, int width, int height, int baseline)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (widget);
  if (self->popover)
    gtk_popover_present (GTK_POPOVER (self->popover));
}

static void
dispose (GObject *object)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (object);
  g_clear_pointer (&self->popover, gtk_widget_unparent);
  g_clear_object (&self->source);
  g_clear_object (&self->sink);
  G_OBJECT_CLASS (lig_score_channel_parent_class)->dispose (object);
}

static void
finalize (GObject *object)
{
  LigScoreChannel *self = LIG_SCORE_CHANNEL (object);
  g_free (self->name);
  g_free (self->label);
  G_OBJECT_CLASS (lig_score_channel_parent_class)->finalize (object);
}

static void
lig_score_channel_class_init (LigScoreChannelClass *class)
{
  static const struct {
    const char *name;
    GtkWidgetActionActivateFunc activate;
    guint key;
    GdkModifierType modifiers;
  } actions[] = {
    {"channel.rename", rename_action, GDK_KEY_F2, 0},
    {"channel.rename", NULL, GDK_KEY_Return, 0},
    {"channel.disconnect", disconnect_action, GDK_KEY_Delete, 0},
    {"channel.disconnect", NULL, GDK_KEY_KP_Delete, 0},
    {"channel.start", go_action, GDK_KEY_Up, 0},
    {"channel.end", go_action, GDK_KEY_Down, 0},
    {"channel.end", NULL, GDK_KEY_Right, 0},
    {"channel.end", NULL, GDK_KEY_Escape, 0},
    {"channel.next", next_action, GDK_KEY_c, 0},
    {"channel.menu", menu_action, GDK_KEY_Menu, 0},
    {"channel.menu", NULL, GDK_KEY_F10, GDK_SHIFT_MASK},
  };
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);
  G_OBJECT_CLASS (class)->dispose = dispose;
  G_OBJECT_CLASS (class)->finalize = finalize;
  widget_class->query_tooltip = query_tooltip;
  widget_class->size_allocate = size_allocate;
  gtk_widget_class_set_css_name (widget_class, "scorechannel");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_BUTTON);
  /* A menu shows the key that was bound last. */
  for (guint i = G_N_ELEMENTS (actions); i > 0; i--) {
    if (actions[i - 1].activate)
      gtk_widget_class_install_action (widget_class, actions[i - 1].name, NULL,
                                       actions[i - 1].activate);
    gtk_widget_class_add_binding_action (widget_class, actions[i - 1].key, actions[i - 1].modifiers,
                                         actions[i - 1].name, NULL);
  }
}

static void
lig_score_channel_init (LigScoreChannel *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_cursor_from_name (widget, "pointer");
  GtkGesture *click = gtk_gesture_click_new ();
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), 0);
  g_signal_connect (click, "pressed", G_CALLBACK (pressed), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  GtkEventController *motion = gtk_event_controller_motion_new ();
  g_signal_connect_swapped (motion, "enter", G_CALLBACK (entered), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (left), self);
  gtk_widget_add_controller (widget, motion);
  g_signal_connect (self, "notify::has-focus", G_CALLBACK (redraw), NULL);
}

GtkWidget *
lig_score_channel_new (LigDocument *document)
{
  LigScoreChannel *self = g_object_new (LIG_TYPE_SCORE_CHANNEL, NULL);
  self->document = document;
  return GTK_WIDGET (self);
}
