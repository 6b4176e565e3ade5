/* SPDX-License-Identifier: MIT */
/* The menus that name the edits: the list of the Undo button, and a section of the main menu. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

/**
 * lig_window_undo_fill:
 * @list: filled with the edits that can be redone and undone, the newest first; each undoes or
 *   redoes up to its position
 * @section: filled with the next one of both
 * @undo, @redo: labels, the next edit first
 */
void lig_window_undo_fill (GMenu *list,
                           GMenu *section,
                           const char *const *undo,
                           const char *const *redo);

G_END_DECLS
