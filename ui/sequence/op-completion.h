/* SPDX-License-Identifier: MIT */
/* Names of ops offered below an entry that holds an expression. */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef struct _LigOpCompletion LigOpCompletion;

/* To be freed in the entry's owner's dispose. */
LigOpCompletion *lig_op_completion_new (GtkEntry *entry);
void lig_op_completion_free (LigOpCompletion *self);

/* Offers what fits the word before the cursor, or goes. */
void lig_op_completion_update (LigOpCompletion *self);
void lig_op_completion_hide (LigOpCompletion *self);

/* Up and Down choose, Tab and Return take what is chosen, Escape closes. Whether the key was for
 * it. */
gboolean lig_op_completion_press_key (LigOpCompletion *self, guint key);

G_END_DECLS
