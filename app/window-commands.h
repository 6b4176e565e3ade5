/* SPDX-License-Identifier: MIT */
/* The commands of the window: every action without a parameter, and the pages, with titles and
 * keys. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/**
 * LigWindowCommand:
 * @title: translated
 * @action: a detailed name, such as `win.page::plan`
 * @key: (nullable): an accelerator, such as `<Control>k`
 */
typedef struct {
  char *title, *action, *key;
} LigWindowCommand;

/* Returns: (transfer full) (element-type LigWindowCommand): all commands, owned by the array. */
GPtrArray *lig_window_commands_list (GtkApplication *application);

/* Returns whether the actions that the window has are all in the list, else the name of one that is
 * missing. For tests. Returns: (transfer full) (nullable) */
char *lig_window_commands_find_missing (GActionGroup *window);

G_END_DECLS
