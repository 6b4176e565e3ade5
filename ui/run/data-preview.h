/* SPDX-License-Identifier: MIT */
/* A preview of a dataset: a sentence and a small table, or an error. */
#pragma once

#include <ligature/sequence.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_DATA_PREVIEW (lig_data_preview_get_type ())
G_DECLARE_FINAL_TYPE (LigDataPreview, lig_data_preview, LIG, DATA_PREVIEW, GtkWidget)

/* Signal `answered`: the data of the last request were read, or rejected. */
GtkWidget *lig_data_preview_new (void);

/* Reads data on a thread, after a short delay. @spec: `KIND:PATH?key=value`, null for none */
void lig_data_preview_show (LigDataPreview *self, const char *spec, LigSequence *sequence);

/* Returns whether the data of the last request were read. */
gboolean lig_data_preview_is_fine (LigDataPreview *self);

/* Returns: (nullable): why the data of the last request do not fit the sequence. */
const char *lig_data_preview_get_misfit (LigDataPreview *self);

/* Returns the sentence that is shown. */
const char *lig_data_preview_get_text (LigDataPreview *self);

G_END_DECLS
