/* SPDX-License-Identifier: MIT */
/* The keys for edits also have a meaning in a text entry, and a focused entry handles them first.
 * They are therefore not accelerators of the application, which take precedence over widgets. */
#include "app/window-keys.h"

/* @everywhere: on every page, and when a text that does not use the key has the focus */
typedef struct {
  const char *key, *action;
  gboolean everywhere;
} EditKey;

static const EditKey edit_keys[] = {
  {"<Control>z", "win.undo", TRUE},
  {"<Control><Shift>z", "win.redo", TRUE},
  {"<Control>y", "win.redo", TRUE},
  {"<Control>x", "win.cut", FALSE},
  {"<Control>c", "win.copy", FALSE},
  {"<Control>v", "win.paste", FALSE},
  {"<Shift>Delete", "win.cut", FALSE},
  {"<Control>Insert", "win.copy", FALSE},
  {"<Shift>Insert", "win.paste", FALSE},
  {"Delete", "win.delete", FALSE},
  {"KP_Delete", "win.delete", FALSE},
  {"<Control>d", "win.duplicate", FALSE},
  {"<Control>a", "win.select-all", FALSE},
  {"<Alt>Up", "win.move-up", FALSE},
  {"<Alt>Down", "win.move-down", FALSE},
  {"m", "win.fence", FALSE},
  {"<Control>g", "win.group", FALSE},
  {"<Control><Shift>g", "win.ungroup", FALSE},
  {"<Control>l", "win.connect", FALSE},
  {"<Control><Shift>l", "win.disconnect", FALSE},
  {"f", "win.forbid", FALSE},
};

static gboolean
press_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  const EditKey *key = data;
  GtkWidget *focus = gtk_window_get_focus (GTK_WINDOW (widget));
  gboolean typing = GTK_IS_TEXT (focus) || GTK_IS_TEXT_VIEW (focus);
  g_autoptr (GVariant) page = g_action_group_get_action_state (G_ACTION_GROUP (widget), "page");
  gboolean score = page && g_str_equal (g_variant_get_string (page, NULL), "sequence");
  if (!key->everywhere && (typing || !score))
    return FALSE;
  return gtk_widget_activate_action (widget, key->action, NULL);
}

void
lig_window_keys_add (GtkWindow *window)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();
  for (guint i = 0; i < G_N_ELEMENTS (edit_keys); i++)
    gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (gtk_shortcut_trigger_parse_string (edit_keys[i].key),
                        gtk_callback_action_new (press_key, (gpointer) &edit_keys[i], NULL)));
  gtk_widget_add_controller (GTK_WIDGET (window), keys);
}

const char *
lig_window_keys_find (const char *action)
{
  for (guint i = 0; i < G_N_ELEMENTS (edit_keys); i++)
    if (g_str_equal (edit_keys[i].action, action))
      return edit_keys[i].key;
  return NULL;
}
