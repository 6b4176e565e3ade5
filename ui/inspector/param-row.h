/* SPDX-License-Identifier: MIT */
/* A parameter of one op, or of several of one kind: label, editor, reset, and the engine's sentence
 * under it where what was typed is refused. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_PARAM_ROW (lig_param_row_get_type ())
G_DECLARE_FINAL_TYPE (LigParamRow, lig_param_row, LIG, PARAM_ROW, AdwBin)

/* Actions: `param.reset`; of a channel `param.channel` with a name, empty for none. */
GtkWidget *lig_param_row_new (LigDocument *doc, const LigParam *param);

/**
 * lig_param_row_show:
 * @ops: (element-type LigOp): all of one kind
 * @inferred: (nullable): what a value that is left out comes to, as text
 * @afresh: drop what is being typed, as it belongs to another op
 *
 * Otherwise the editor is left alone unless the value is another than it was.
 */
void lig_param_row_show (LigParamRow *self, GPtrArray *ops, const char *inferred, gboolean afresh);

const LigParam *lig_param_row_get_param (LigParamRow *self);

/* A GtkEntry or a GtkSwitch. */
GtkWidget *lig_param_row_get_editor (LigParamRow *self);

/* (nullable): the sentence that is shown. */
const char *lig_param_row_get_error (LigParamRow *self);

G_END_DECLS
