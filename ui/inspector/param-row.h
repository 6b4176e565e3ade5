/* SPDX-License-Identifier: MIT */
/* A parameter of one op, or of several of one kind: label, editor, reset, and below it the engine's
 * error if the typed value is rejected. */
#pragma once

#include "ui/document/document.h"
#include <ligature/op.h>

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_PARAM_ROW (lig_param_row_get_type ())
G_DECLARE_FINAL_TYPE (LigParamRow, lig_param_row, LIG, PARAM_ROW, AdwBin)

/* Actions: `param.reset`; of a channel `param.channel` with a name, empty for none. */
GtkWidget *lig_param_row_new (LigDocument *doc, const LigParam *param);

/**
 * lig_param_row_show:
 * @ops: (element-type LigOp): all of one kind
 * @inferred: (nullable): the inferred value of an omitted parameter, as text
 * @discard: drop typed text, because it belongs to another op
 *
 * Otherwise, the editor keeps its text unless the value changed.
 */
void lig_param_row_show (LigParamRow *self, GPtrArray *ops, const char *inferred, gboolean discard);

const LigParam *lig_param_row_get_param (LigParamRow *self);

/* Returns a GtkEntry, a GtkSwitch or a GtkDropDown. */
GtkWidget *lig_param_row_get_editor (LigParamRow *self);

/* Returns whether the shown value differs from the default. */
gboolean lig_param_row_is_changed (LigParamRow *self);

/* Returns: (nullable): the error that is shown. */
const char *lig_param_row_get_error (LigParamRow *self);

G_END_DECLS
