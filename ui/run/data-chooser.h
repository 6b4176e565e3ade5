/* SPDX-License-Identifier: MIT */
/* A dialog that chooses a document's data: kind, file and options, with a preview of the
 * samples. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_DATA_CHOOSER (lig_data_chooser_get_type ())
G_DECLARE_FINAL_TYPE (LigDataChooser, lig_data_chooser, LIG, DATA_CHOOSER, AdwWindow)

/* Returns a window to be presented. The choice is stored in the document's `train` object. */
GtkWindow *lig_data_chooser_new (GtkWindow *parent, LigDocument *doc);

/* Chooses a file as the user would. */
void lig_data_chooser_set_path (LigDataChooser *self, const char *path);

/* Shows other data: `csv:rows.csv?target=y`. */
void lig_data_chooser_set_spec (LigDataChooser *self, const char *spec);

/* Returns: (transfer full) (nullable): the current choice. */
char *lig_data_chooser_get_spec (LigDataChooser *self);

/* Returns the sentence under the options. @fine: whether it describes the data, not an error */
const char *lig_data_chooser_get_preview (LigDataChooser *self, gboolean *fine);

/* Returns: (nullable): why the data do not fit the document's sequence. */
const char *lig_data_chooser_get_misfit (LigDataChooser *self);

G_END_DECLS
