/* SPDX-License-Identifier: MIT */
/* A row as a form: an entry for each column, with a slider over the range of the validation rows,
 * and the target. */
#pragma once

#include <adwaita.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_FORM (lig_try_form_get_type ())
G_DECLARE_FINAL_TYPE (LigTryForm, lig_try_form, LIG, TRY_FORM, AdwBin)

/* Signal: `changed` when the user has edited it. */
GtkWidget *lig_try_form_new (void);

/* Makes an entry for each column of a model. */
void lig_try_form_set_model (LigTryForm *self, JsonObject *model);

/* Shows a validation row: the answer to its request. */
void lig_try_form_set_row (LigTryForm *self, JsonObject *answer);

/* Adds the members `row` and `target` of a request. */
void lig_try_form_add_request (LigTryForm *self, JsonBuilder *to);

/* Adds the index of the chosen class to an answer, which does not repeat it. */
void lig_try_form_add_target (LigTryForm *self, JsonObject *answer);

/* Sets the text of a column, and emits `changed`; for tests. */
void lig_try_form_type (LigTryForm *self, guint column, const char *text);

G_END_DECLS
