/* SPDX-License-Identifier: MIT */
/* A setting of a new sweep and the values to try. */
#pragma once

#include "ui/document/document.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define LIG_TYPE_SWEEP_SETTING_ROW (lig_sweep_setting_row_get_type ())
G_DECLARE_FINAL_TYPE (LigSweepSettingRow, lig_sweep_setting_row, LIG, SWEEP_SETTING_ROW, GtkBox)

/**
 * LigSweepSettingRow::changed, LigSweepSettingRow::removed:
 *
 * Emitted when the setting or its values changed; when the user removes the row.
 */

/* Returns a row for one of the settings of the document, with these values. */
GtkWidget *lig_sweep_setting_row_new (LigDocument *doc, const char *key, const char *values);

/* Returns: (transfer full) (nullable): `lr=0.1,0.01`, null without values. */
char *lig_sweep_setting_row_get_setting (LigSweepSettingRow *self);

/* Shows an error below the values; null: none. */
void lig_sweep_setting_row_set_error (LigSweepSettingRow *self, const char *message);

G_END_DECLS
