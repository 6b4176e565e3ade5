/* SPDX-License-Identifier: MIT */
/* Completion of op names below an entry that holds an expression. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigOpCompletion LigOpCompletion;

/* Creates the completion of an entry. The entry's owner frees it in its dispose. */
LigOpCompletion *lig_op_completion_new (GtkEntry *entry);
void lig_op_completion_free (LigOpCompletion *self);

/* Offers the names that match the word before the cursor, or hides. */
void lig_op_completion_update (LigOpCompletion *self, int below);
void lig_op_completion_hide (LigOpCompletion *self);

/* Handles a key and returns whether it did: Up and Down choose, Tab and Return insert the chosen
 * name, Escape closes. */
gboolean lig_op_completion_press_key (LigOpCompletion *self, guint key);

G_END_DECLS
