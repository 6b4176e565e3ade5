/* SPDX-License-Identifier: MIT */
/* The facts of the inspector: lines of a label and a value. */
#include "ui/inspector/parts.h"
#include "ui/widgets/css-class.h"

#include <glib/gi18n.h>

struct _LigFacts {
  AdwBin parent_instance;
  GtkBox *box;
  GtkWidget *next, *last; /* the line of the next fact, and of the last one added */
};

G_DEFINE_FINAL_TYPE (LigFacts, lig_facts, ADW_TYPE_BIN)

GtkWidget *
lig_inspector_label (const char *text, const char *class)
{
  GtkWidget *label = gtk_label_new (text);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_wrap (GTK_LABEL (label), TRUE);
  gtk_label_set_wrap_mode (GTK_LABEL (label), PANGO_WRAP_WORD_CHAR);
  /* A long sentence must not widen the pane. */
  gtk_label_set_max_width_chars (GTK_LABEL (label), 28);
  if (class)
    gtk_widget_add_css_class (label, class);
  return label;
}

GtkWidget *
lig_inspector_override (const char *text,
                        const char *fusion,
                        const char *button,
                        const char *action)
{
  GtkWidget *line = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *texts = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  GtkWidget *remove = gtk_button_new_with_label (button);
  GtkWidget *name = lig_inspector_label (fusion, "caption");
  g_autofree char *whole = g_strdup_printf ("%s: %s", button, fusion);
  gtk_widget_add_css_class (name, "dim-label");
  gtk_box_append (GTK_BOX (texts), lig_inspector_label (text, NULL));
  gtk_box_append (GTK_BOX (texts), name);
  gtk_widget_set_hexpand (texts, TRUE);
  gtk_widget_set_valign (remove, GTK_ALIGN_CENTER);
  gtk_actionable_set_action_name (GTK_ACTIONABLE (remove), action);
  gtk_actionable_set_action_target (GTK_ACTIONABLE (remove), "s", fusion);
  gtk_accessible_update_property (GTK_ACCESSIBLE (remove), GTK_ACCESSIBLE_PROPERTY_LABEL, whole,
                                  -1);
  gtk_widget_add_css_class (line, "line");
  gtk_box_append (GTK_BOX (line), texts);
  gtk_box_append (GTK_BOX (line), remove);
  return line;
}

/* --- Lines --------------------------------------------------------------------------------- */

/* A grid: label and value, with the detail below both. */
static GtkWidget *
make_line (void)
{
  GtkWidget *line = g_object_new (GTK_TYPE_GRID, "accessible-role", GTK_ACCESSIBLE_ROLE_GROUP,
                                  "column-spacing", 12, NULL);
  GtkWidget *label = lig_inspector_label ("", NULL);
  GtkWidget *value = lig_inspector_label ("", "numeric");
  GtkWidget *detail = lig_inspector_label ("", "caption");
  gtk_widget_add_css_class (label, "fact");
  gtk_widget_add_css_class (detail, "dim-label");
  gtk_widget_set_hexpand (value, TRUE);
  gtk_widget_set_valign (label, GTK_ALIGN_START);
  gtk_label_set_xalign (GTK_LABEL (value), 1);
  gtk_label_set_justify (GTK_LABEL (value), GTK_JUSTIFY_RIGHT);
  gtk_label_set_selectable (GTK_LABEL (value), TRUE);
  gtk_widget_set_focusable (value, FALSE);
  gtk_grid_attach (GTK_GRID (line), label, 0, 0, 1, 1);
  gtk_grid_attach (GTK_GRID (line), value, 1, 0, 1, 1);
  gtk_grid_attach (GTK_GRID (line), detail, 0, 1, 2, 1);
  gtk_widget_add_css_class (line, "line");
  return line;
}

static void
set_cell (GtkWidget *line, int column, int row, const char *text)
{
  GtkWidget *cell = gtk_grid_get_child_at (GTK_GRID (line), column, row);
  if (g_strcmp0 (gtk_label_get_text (GTK_LABEL (cell)), text) != 0)
    gtk_label_set_text (GTK_LABEL (cell), text ? text : "");
  gtk_widget_set_visible (cell, text != NULL);
}

void
lig_facts_begin (LigFacts *self)
{
  self->next = gtk_widget_get_first_child (GTK_WIDGET (self->box));
}

/* --- Lines that lead to an op -------------------------------------------------------------- */

static void
follow (GtkWidget *line)
{
  const char *path = g_object_get_data (G_OBJECT (line), "path");
  if (path)
    gtk_widget_activate_action (line, "place.select", "s", path);
}

static void
released (GtkGestureClick *click, int presses, double x, double y, GtkWidget *line)
{
  if (gtk_widget_contains (line, x, y))
    follow (line);
}

static gboolean
key_pressed (
  GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state, GtkWidget *line)
{
  if (key != GDK_KEY_Return && key != GDK_KEY_KP_Enter && key != GDK_KEY_space)
    return FALSE;
  follow (line);
  return TRUE;
}

static void
set_path (GtkWidget *line, const char *path)
{
  gboolean known = g_object_get_data (G_OBJECT (line), "listens") != NULL;
  if (!path && !known)
    return;
  g_object_set_data_full (G_OBJECT (line), "path", g_strdup (path), g_free);
  gtk_widget_set_focusable (line, path != NULL);
  lig_css_class_set (line, "leads", path != NULL);
  if (known)
    return;
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  g_signal_connect (click, "released", G_CALLBACK (released), line);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (key_pressed), line);
  gtk_widget_add_controller (line, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (line, keys);
  g_object_set_data (G_OBJECT (line), "listens", GINT_TO_POINTER (TRUE));
}

void
lig_facts_lead_to (LigFacts *self, const char *path)
{
  g_return_if_fail (self->last);
  set_path (self->last, path);
}

/* --- Facts --------------------------------------------------------------------------------- */

static GtkWidget *
add_line (LigFacts *self, const char *label, const char *value, const char *detail)
{
  GtkWidget *line = self->next;
  if (line)
    self->next = gtk_widget_get_next_sibling (line);
  else
    gtk_box_append (self->box, line = make_line ());
  set_cell (line, 0, 0, label);
  set_cell (line, 1, 0, value);
  set_cell (line, 0, 1, detail);
  gtk_widget_set_visible (line, TRUE);
  set_path (line, NULL);
  self->last = line;
  g_autofree char *spoken = g_strdup_printf ("%s: %s", label, value);
  gtk_accessible_update_property (GTK_ACCESSIBLE (line), GTK_ACCESSIBLE_PROPERTY_LABEL, spoken,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, detail ? detail : "", -1);
  return line;
}

void
lig_facts_add (LigFacts *self, const char *label, const char *value, const char *detail)
{
  gtk_widget_remove_css_class (add_line (self, label, value, detail), "predicted");
}

void
lig_facts_add_figure (
  LigFacts *self, const char *label, const char *value, gboolean measured, const char *detail)
{
  GtkWidget *line = add_line (self, label, value, detail);
  lig_css_class_set (line, "predicted", !measured);
}

void
lig_facts_take (LigFacts *self, const char *label, char *value)
{
  lig_facts_add (self, label, value, NULL);
  g_free (value);
}

void
lig_facts_end (LigFacts *self)
{
  GtkWidget *first = gtk_widget_get_first_child (GTK_WIDGET (self->box));
  gtk_widget_set_visible (GTK_WIDGET (self), first && first != self->next);
  for (; self->next; self->next = gtk_widget_get_next_sibling (self->next))
    gtk_widget_set_visible (self->next, FALSE);
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_facts_class_init (LigFactsClass *class)
{
  gtk_widget_class_set_accessible_role (GTK_WIDGET_CLASS (class), GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
lig_facts_init (LigFacts *self)
{
}

GtkWidget *
lig_facts_new (const char *title)
{
  LigFacts *self = g_object_new (LIG_TYPE_FACTS, NULL);
  GtkWidget *whole = gtk_box_new (GTK_ORIENTATION_VERTICAL, 6);
  GtkWidget *box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 0);
  self->box = GTK_BOX (box);
  gtk_widget_add_css_class (box, "lines");
  if (title)
    gtk_box_append (GTK_BOX (whole), lig_inspector_label (title, "heading"));
  gtk_box_append (GTK_BOX (whole), box);
  adw_bin_set_child (ADW_BIN (self), whole);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  title ? title : _ ("Facts"), -1);
  return GTK_WIDGET (self);
}
