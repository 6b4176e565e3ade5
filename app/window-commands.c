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

/* Actions that only make sense where a button offers them. */
static const char *const elsewhere[] = {"command-palette", "copy-error", "show-error-folder",
                                        "undo-document", NULL};

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
