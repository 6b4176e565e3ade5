/* SPDX-License-Identifier: MIT */
/* Continuations of one prompt, in columns. */
#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

enum { LIG_MAX_COPIES = 4 };

#define LIG_TYPE_TRY_COPIES (lig_try_copies_get_type ())
G_DECLARE_FINAL_TYPE (LigTryCopies, lig_try_copies, LIG, TRY_COPIES, AdwBin)

GtkWidget *lig_try_copies_new (void);

/* Begins with empty texts. */
void lig_try_copies_begin (LigTryCopies *self, guint count);

/* Begins to continue the texts. */
void lig_try_copies_continue (LigTryCopies *self);

/* Adds a line of `lig generate --lines` to a text: a token, its end, or an error. */
void lig_try_copies_take (LigTryCopies *self, guint n, JsonObject *line);

/* Ends all texts whose process ended. */
void lig_try_copies_abandon (LigTryCopies *self);

/* Returns the number of texts, and of those that are being written. */
guint lig_try_copies_get_count (LigTryCopies *self);
guint lig_try_copies_get_writing (LigTryCopies *self);

/* Returns whether a text is being written, its text, and the number of its tokens. */
gboolean lig_try_copies_is_writing (LigTryCopies *self, guint n);
const char *lig_try_copies_get_text (LigTryCopies *self, guint n);
guint lig_try_copies_get_tokens (LigTryCopies *self, guint n);

void lig_try_copies_set_plain (LigTryCopies *self, gboolean plain);

G_END_DECLS
