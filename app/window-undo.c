/* SPDX-License-Identifier: MIT */
#include "app/window-undo.h"

#include <glib/gi18n.h>

/* A menu does not scroll. */
#define MAX_UNDONE 16u
#define MAX_REDONE 6u

static void
append_item (GMenu *menu, const char *label, const char *action, const char *key)
{
  g_autoptr (GMenuItem) item = g_menu_item_new (label, action);
  g_menu_item_set_attribute (item, "accel", "s", key);
  g_menu_append_item (menu, item);
}

static void
fill_section (GMenu *section, const char *undo, const char *redo)
{
  g_autofree char *undo_text = undo ? g_strdup_printf (_ ("_Undo “%s”"), undo) : NULL;
  g_autofree char *redo_text = redo ? g_strdup_printf (_ ("_Redo “%s”"), redo) : NULL;
  g_menu_remove_all (section);
  append_item (section, undo_text ? undo_text : _ ("_Undo"), "win.undo", "<Control>z");
  append_item (section, redo_text ? redo_text : _ ("_Redo"), "win.redo", "<Control><Shift>z");
}

/* A label is text, in which an underscore is not a mnemonic. */
static void
append_step (GMenu *menu, const char *label, int steps)
{
  g_auto (GStrv) parts = g_strsplit (label, "_", -1);
  g_autofree char *text = g_strjoinv ("__", parts);
  g_autoptr (GMenuItem) item = g_menu_item_new (text, NULL);
  g_menu_item_set_action_and_target (item, "win.undo-steps", "i", steps);
  g_menu_append_item (menu, item);
}

static void
append_section (GMenu *list, const char *title, GMenu *section)
{
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (list, title, G_MENU_MODEL (section));
}

void
lig_window_undo_fill (GMenu *list, GMenu *section, const char *const *undo, const char *const *redo)
{
  g_autoptr (GMenu) undone = g_menu_new ();
  g_autoptr (GMenu) redone = g_menu_new ();
  for (guint i = 0; undo[i] && i < MAX_UNDONE; i++)
    append_step (undone, undo[i], (int) i + 1);
  for (guint i = MIN (g_strv_length ((GStrv) redo), MAX_REDONE); i > 0; i--)
    append_step (redone, redo[i - 1], -(int) i);
  fill_section (section, undo[0], redo[0]);
  g_menu_remove_all (list);
  append_section (list, _ ("Redo up to"), redone);
  append_section (list, _ ("Undo back to before"), undone);
}
