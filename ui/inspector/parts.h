/* SPDX-License-Identifier: MIT */
/* What the inspector is made of: its three faces, lists of parameters, lists of facts. Each is
 * updated in place, so that focus and what is being typed stay. */
#pragma once

#include "ui/document/document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/* --- Parameters ---------------------------------------------------------------------------- */

#define LIG_TYPE_PARAM_LIST (lig_param_list_get_type ())
G_DECLARE_FINAL_TYPE (LigParamList, lig_param_list, LIG, PARAM_LIST, AdwBin)

/* A card with a row for each parameter; hidden where there is none. */
GtkWidget *lig_param_list_new (LigDocument *doc);

/* @ops: (element-type LigOp): of one kind. @key: tells other ops from the same after undo. */
void lig_param_list_show (LigParamList *self, GPtrArray *ops, const char *key);

/* --- Facts --------------------------------------------------------------------------------- */

#define LIG_TYPE_FACTS (lig_facts_get_type ())
G_DECLARE_FINAL_TYPE (LigFacts, lig_facts, LIG, FACTS, AdwBin)

/* @title: (nullable): translated, above the list. */
GtkWidget *lig_facts_new (const char *title);

/* Between begin and end, each fact in turn; lines of the last time are used again. @detail:
 * (nullable): a second, lesser line. Without facts the list is hidden. */
void lig_facts_begin (LigFacts *self);
void lig_facts_add (LigFacts *self, const char *label, const char *value, const char *detail);

/* The value is freed. */
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

/* --- Pieces -------------------------------------------------------------------------------- */

/* A label that wraps, at the left; @class: (nullable). */
GtkWidget *lig_inspector_label (const char *text, const char *class);

/* What a fusion is called before people: `linear + bias + gelu` has the name
 * `forward-linear-bias-activation`. A line with a button whose action @action takes the name. */
GtkWidget *
lig_inspector_wish (const char *text, const char *fusion, const char *button, const char *action);

G_END_DECLS
