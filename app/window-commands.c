/* SPDX-License-Identifier: MIT */
#include "app/window-commands.h"

#include "app/window-keys.h"
#include "ui/page.h"

#include <glib/gi18n.h>
#include <string.h>

static const struct {
  const char *action, *title;
} commands[] = {
  {"win.add-op", N_ ("Add an operation")},
  {"win.quick-entry", N_ ("Type a sequence")},
  {"win.templates", N_ ("Begin with an example")},
  {"win.find", N_ ("Find on this page")},
  {"win.next-problem", N_ ("Next problem")},
  {"win.run", N_ ("Train")},
  {"win.pause", N_ ("Pause or continue training")},
  {"win.stop", N_ ("Stop training")},
  {"win.resume", N_ ("Continue training from the checkpoint")},
  {"win.new-sweep", N_ ("New sweep")},
  {"win.profile", N_ ("Profile")},
  {"win.compare-policies", N_ ("Compare policies")},
  {"win.compare-recipes", N_ ("Compare recipes")},
  {"win.check-plan", N_ ("Check this plan")},
  {"win.savings", N_ ("Savings")},
  {"win.compare-with", N_ ("Compare with another sequence")},
  {"win.pin", N_ ("Pin the plan, or unpin it")},
  {"win.open", N_ ("Open a file")},
  {"win.save", N_ ("Save")},
  {"win.save-as", N_ ("Save as")},
  {"win.export", N_ ("Export a report")},
  {"win.copy-command", N_ ("Copy as command")},
  {"win.choose-store", N_ ("Choose another store")},
  {"win.undo", N_ ("Undo")},
  {"win.redo", N_ ("Redo")},
  {"win.cut", N_ ("Cut")},
  {"win.copy", N_ ("Copy")},
  {"win.paste", N_ ("Paste")},
  {"win.duplicate", N_ ("Duplicate")},
  {"win.delete", N_ ("Delete")},
  {"win.select-all", N_ ("Select all")},
  {"win.move-up", N_ ("Move up")},
  {"win.move-down", N_ ("Move down")},
  {"win.fence", N_ ("Add or remove a fence")},
  {"win.forbid", N_ ("Forbid or allow the fusion")},
  {"win.group", N_ ("Make a block")},
  {"win.ungroup", N_ ("Expand the block or macro")},
  {"win.connect", N_ ("Connect")},
  {"win.disconnect", N_ ("Disconnect")},
  {"win.zoom-in", N_ ("Zoom in")},
  {"win.zoom-out", N_ ("Zoom out")},
  {"win.zoom-reset", N_ ("Zoom to the normal size")},
  {"win.zoom-fit", N_ ("Zoom to fit the window")},
  {"win.compact", N_ ("Compact rows, or full ones")},
  {"win.fold-all", N_ ("Fold all blocks")},
  {"win.unfold-all", N_ ("Unfold all blocks")},
  {"win.hotspot", N_ ("Next hotspot")},
  {"win.previous-hotspot", N_ ("Previous hotspot")},
  {"win.score-colour::fusion", N_ ("Colour by fusion")},
  {"win.score-colour::time", N_ ("Colour by time")},
  {"win.score-colour::bytes", N_ ("Colour by bytes moved")},
  {"win.score-colour::bound", N_ ("Colour by bound")},
  {"win.sidebars", N_ ("Show or hide the sidebars")},
  {"win.palette", N_ ("Show or hide the operations")},
  {"win.inspector", N_ ("Show or hide the inspector")},
  {"win.new-tab", N_ ("New tab")},
  {"win.move-tab", N_ ("Move the tab to a new window")},
  {"win.close-tab", N_ ("Close the tab")},
  {"app.new-window", N_ ("New window")},
  {"app.preferences", N_ ("Preferences")},
  {"win.show-help-overlay", N_ ("Keyboard shortcuts")},
  {"app.about", N_ ("About Ligature")},
  {"app.quit", N_ ("Quit")},
};

/* Keys of the score, which are neither the application's nor the window's. */
static const struct {
  const char *action, *key;
} score_keys[] = {
  {"win.zoom-in", "<Control>plus"},
  {"win.zoom-out", "<Control>minus"},
  {"win.zoom-reset", "<Control>0"},
  {"win.zoom-fit", "<Control>9"},
  {"win.compact", "<Control>r"},
  {"win.fold-all", "<Control>bracketleft"},
  {"win.unfold-all", "<Control>bracketright"},
  {"win.hotspot", "<Control>h"},
  {"win.previous-hotspot", "<Control><Shift>h"},
};

/* Actions that only make sense where a button offers them. */
static const char *const elsewhere[] = {"command-palette",   "score",         "copy-error",
                                        "show-error-folder", "undo-document", NULL};

static void
free_command (gpointer data)
{
  LigWindowCommand *self = data;
  g_free (self->title);
  g_free (self->action);
  g_free (self->key);
  g_free (self);
}

/* Returns: (transfer full) (nullable): the first accelerator of an action. */
static char *
find_key (GtkApplication *application, const char *action)
{
  g_auto (GStrv) keys = gtk_application_get_accels_for_action (application, action);
  for (guint i = 0; i < G_N_ELEMENTS (score_keys); i++)
    if (g_str_equal (score_keys[i].action, action))
      return g_strdup (score_keys[i].key);
  return g_strdup (keys && keys[0] ? keys[0] : lig_window_keys_find (action));
}

static void
add (GPtrArray *to, GtkApplication *application, const char *title, char *action)
{
  LigWindowCommand *command = g_new (LigWindowCommand, 1);
  *command = (LigWindowCommand){g_strdup (title), action, find_key (application, action)};
  g_ptr_array_add (to, command);
}

GPtrArray *
lig_window_commands_list (GtkApplication *application)
{
  const LigPageInfo *info;
  GPtrArray *all = g_ptr_array_new_with_free_func (free_command);
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    add (all, application, _ (commands[i].title), g_strdup (commands[i].action));
  for (guint i = 0; (info = lig_page_info_nth (i)); i++) {
    g_autofree char *title = g_strdup_printf (_ ("Go to %s"), _ (info->title));
    add (all, application, title, g_strdup_printf ("win.page::%s", info->name));
  }
  return all;
}

static gboolean
is_listed (const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_equal (strchr (commands[i].action, '.') + 1, name))
      return TRUE;
  return g_strv_contains (elsewhere, name);
}

char *
lig_window_commands_find_missing (GActionGroup *window)
{
  g_auto (GStrv) names = g_action_group_list_actions (window);
  for (char **name = names; *name; name++)
    if (!g_action_group_get_action_parameter_type (window, *name) && !is_listed (*name))
      return g_strdup (*name);
  return NULL;
}
