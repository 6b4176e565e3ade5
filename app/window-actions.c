/* SPDX-License-Identifier: MIT */
#include "app/window-actions.h"

struct _LigWindowActions {
  GActionMap *window;
  GSimpleActionGroup *own;
  GSimpleActionGroup *selected; /* null without a view */
};

void
lig_window_actions_add (LigWindowActions *self,
                        const GActionEntry *entries,
                        int count,
                        gpointer data)
{
  g_action_map_add_action_entries (G_ACTION_MAP (self->own), entries, count, data);
  for (int i = 0; i < count; i++)
    g_action_map_add_action (
      self->window, g_action_map_lookup_action (G_ACTION_MAP (self->own), entries[i].name));
}

static void
copy_action (GActionGroup *from, const char *name, GActionMap *to)
{
  g_action_map_add_action (to, g_action_map_lookup_action (G_ACTION_MAP (from), name));
}

static void
copy_actions (GSimpleActionGroup *from, GActionMap *to)
{
  g_auto (GStrv) names = g_action_group_list_actions (G_ACTION_GROUP (from));
  for (char **name = names; *name; name++)
    copy_action (G_ACTION_GROUP (from), *name, to);
}

void
lig_window_actions_adopt (LigWindowActions *self, GSimpleActionGroup *view)
{
  copy_actions (self->own, G_ACTION_MAP (view));
}

static gboolean
has (GSimpleActionGroup *group, const char *name)
{
  return group && g_action_group_has_action (G_ACTION_GROUP (group), name);
}

void
lig_window_actions_select (LigWindowActions *self, GSimpleActionGroup *view)
{
  GSimpleActionGroup *old = self->selected;
  if (old == view)
    return;
  self->selected = view ? g_object_ref (view) : NULL;
  if (view) {
    copy_actions (view, self->window);
    /* A page that is created later adds its actions then. */
    g_signal_connect (view, "action-added", G_CALLBACK (copy_action), self->window);
  }
  g_auto (GStrv) names = old ? g_action_group_list_actions (G_ACTION_GROUP (old)) : NULL;
  for (char **name = names; name && *name; name++)
    if (!has (view, *name) && !has (self->own, *name))
      g_action_map_remove_action (self->window, *name);
  if (old)
    g_signal_handlers_disconnect_by_func (old, copy_action, self->window);
  g_clear_object (&old);
}

LigWindowActions *
lig_window_actions_new (GActionMap *window)
{
  LigWindowActions *self = g_new0 (LigWindowActions, 1);
  self->window = window;
  self->own = g_simple_action_group_new ();
  return self;
}

void
lig_window_actions_free (LigWindowActions *self)
{
  lig_window_actions_select (self, NULL);
  g_object_unref (self->own);
  g_free (self);
}
