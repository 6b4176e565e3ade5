/* SPDX-License-Identifier: MIT */
/* The sequence as one line of text: typed, checked at every keystroke, made the sequence by Return.
 */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_QUICK_ENTRY (lig_quick_entry_get_type ())
G_DECLARE_FINAL_TYPE (LigQuickEntry, lig_quick_entry, LIG, QUICK_ENTRY, GtkWidget)

/* Signal `finished`: Return was taken, or Escape where there was nothing to restore. */
GtkWidget *lig_quick_entry_new (LigDocument *doc);

/* For win.quick-entry; all of the text is selected. */
void lig_quick_entry_focus (LigQuickEntry *self);

/* (nullable): why the text is no sequence. */
const char *lig_quick_entry_get_error (LigQuickEntry *self);

G_END_DECLS
