/* SPDX-License-Identifier: MIT */
/* What was understood of a data set: a sentence and a small table, or why it was refused. */
#pragma once

#include <ligature/sequence.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_DATA_PREVIEW (lig_data_preview_get_type ())
G_DECLARE_FINAL_TYPE (LigDataPreview, lig_data_preview, LIG, DATA_PREVIEW, GtkWidget)

/* Signal `settled`: the last data asked for were read, or refused. */
GtkWidget *lig_data_preview_new (void);

/* @spec: `KIND:PATH?key=value`, null for none yet. Read on a thread, a moment later. */
void lig_data_preview_show (LigDataPreview *self, const char *spec, LigSequence *sequence);

/* Whether the last data asked for were understood. */
gboolean lig_data_preview_is_fine (LigDataPreview *self);

/* The sentence that is shown. */
const char *lig_data_preview_get_text (LigDataPreview *self);

G_END_DECLS
