/* SPDX-License-Identifier: MIT */
/* A group of parameters below a heading that folds it. A folded group names the parameters that are
 * set in it. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_PARAM_FOLD (lig_param_fold_get_type ())
G_DECLARE_FINAL_TYPE (LigParamFold, lig_param_fold, LIG, PARAM_FOLD, AdwBin)

/* @title: translated */
GtkWidget *lig_param_fold_new (const char *title);

/* Returns the box for the rows, each a LigParamRow, and for pictures. */
GtkWidget *lig_param_fold_get_card (LigParamFold *self);

gboolean lig_param_fold_get_open (LigParamFold *self);
void lig_param_fold_set_open (LigParamFold *self, gboolean open);

/* Names the parameters with non-default values. Call it after the rows have changed. */
void lig_param_fold_update (LigParamFold *self);

G_END_DECLS
