/* SPDX-License-Identifier: MIT */
/* Rows below a heading that folds them. The rows remain in the widget tree while the group is
 * folded, so that typed text and errors are kept. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_FOLD (lig_fold_get_type ())
G_DECLARE_FINAL_TYPE (LigFold, lig_fold, LIG, FOLD, AdwBin)

/* @title: translated. @rows: below the heading, folded at first */
GtkWidget *lig_fold_new (const char *title, GtkWidget *rows);

GtkWidget *lig_fold_get_rows (LigFold *self);

gboolean lig_fold_get_open (LigFold *self);
void lig_fold_set_open (LigFold *self, gboolean open);

/* Sets what the heading says about the rows while they are folded. @note: (nullable): translated */
void lig_fold_set_note (LigFold *self, const char *note);

G_END_DECLS
