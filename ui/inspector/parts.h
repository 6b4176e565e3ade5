/* SPDX-License-Identifier: MIT */
/* The parts of the inspector: its three faces, lists of parameters, lists of facts. Each is updated
 * in place, so that focus and typed text are kept. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* --- Parameters ---------------------------------------------------------------------------- */

#define LIG_TYPE_PARAM_LIST (lig_param_list_get_type ())
G_DECLARE_FINAL_TYPE (LigParamList, lig_param_list, LIG, PARAM_LIST, AdwBin)

/* Returns a card with a row for each parameter; hidden if there is none. */
GtkWidget *lig_param_list_new (LigDocument *doc);

/* Sets a picture that is placed below the parameter `mask`. Call before showing an op.
 */
void lig_param_list_set_picture (LigParamList *self, GtkWidget *picture);

/* Shows the ops' parameters. @ops: (element-type LigOp): of one kind. @key: identifies the ops,
 * even after undo. */
void lig_param_list_show (LigParamList *self, GPtrArray *ops, const char *key);

/* --- Facts --------------------------------------------------------------------------------- */

#define LIG_TYPE_FACTS (lig_facts_get_type ())
G_DECLARE_FINAL_TYPE (LigFacts, lig_facts, LIG, FACTS, AdwBin)

/* Returns a list of facts. @title: (nullable): translated, shown above the list. */
GtkWidget *lig_facts_new (const char *title);

/* Call add for each fact between begin and end; existing lines are reused. @detail: (nullable): a
 * second, dimmer line. Without facts, the list is hidden. */
void lig_facts_begin (LigFacts *self);
void lig_facts_add (LigFacts *self, const char *label, const char *value, const char *detail);

/* Adds a time, dimmed unless it was measured. */
void lig_facts_add_figure (
  LigFacts *self, const char *label, const char *value, gboolean measured, const char *detail);

/* Links a line to an op of the document: a click or Enter activates the action `place.select` with
 * its path. @path: (nullable): null removes the link. Call it after adding the line. */
void lig_facts_lead_to (LigFacts *self, const char *path);

/* Adds a fact and frees the value. */
void lig_facts_take (LigFacts *self, const char *label, char *value);
void lig_facts_end (LigFacts *self);

/* --- Faces --------------------------------------------------------------------------------- */

#define LIG_TYPE_INSPECTOR_OP (lig_inspector_op_get_type ())
G_DECLARE_FINAL_TYPE (LigInspectorOp, lig_inspector_op, LIG, INSPECTOR_OP, AdwBin)
GtkWidget *lig_inspector_op_new (LigDocument *doc);
void lig_inspector_op_show (LigInspectorOp *self, LigOp *op);

#define LIG_TYPE_INSPECTOR_SEVERAL (lig_inspector_several_get_type ())
G_DECLARE_FINAL_TYPE (LigInspectorSeveral, lig_inspector_several, LIG, INSPECTOR_SEVERAL, AdwBin)
GtkWidget *lig_inspector_several_new (LigDocument *doc);
void lig_inspector_several_show (LigInspectorSeveral *self, GPtrArray *rows);

#define LIG_TYPE_INSPECTOR_SEQUENCE (lig_inspector_sequence_get_type ())
G_DECLARE_FINAL_TYPE (LigInspectorSequence, lig_inspector_sequence, LIG, INSPECTOR_SEQUENCE, AdwBin)
GtkWidget *lig_inspector_sequence_new (LigDocument *doc);
void lig_inspector_sequence_show (LigInspectorSequence *self);

/* --- Overrides ----------------------------------------------------------------------------- */

#define LIG_TYPE_OVERRIDE_LIST (lig_override_list_get_type ())
G_DECLARE_FINAL_TYPE (LigOverrideList, lig_override_list, LIG, OVERRIDE_LIST, AdwBin)

/* Returns a card with all forced and forbidden fusions of the sequence; hidden without any. */
GtkWidget *lig_override_list_new (LigDocument *doc);
void lig_override_list_show (LigOverrideList *self);

/* --- Pieces -------------------------------------------------------------------------------- */

/* Returns a label that wraps, aligned to the left. @class: (nullable): a CSS class */
GtkWidget *lig_inspector_label (const char *text, const char *class);

/* Returns a line for a fusion, with a button whose action @action takes the fusion's name. The line
 * shows its title: `linear + bias + gelu` for `forward-linear-bias-activation`. */
GtkWidget *lig_inspector_override (const char *text,
                                   const char *fusion,
                                   const char *button,
                                   const char *action);

G_END_DECLS
