/* SPDX-License-Identifier: MIT */
/* The sequence as one line of text, checked at every keystroke; Return applies it to the
 * document. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_QUICK_ENTRY (lig_quick_entry_get_type ())
G_DECLARE_FINAL_TYPE (LigQuickEntry, lig_quick_entry, LIG, QUICK_ENTRY, GtkWidget)

/* Signal `finished`: Return applied the text, or Escape was pressed with nothing to restore. */
GtkWidget *lig_quick_entry_new (LigDocument *doc);

/* Moves the focus to the entry, for win.quick-entry; all of the text is selected. */
void lig_quick_entry_focus (LigQuickEntry *self);

/* Returns: (nullable): the error in the text. */
const char *lig_quick_entry_get_error (LigQuickEntry *self);

G_END_DECLS
