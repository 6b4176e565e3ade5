/* SPDX-License-Identifier: MIT */
/* The edits of the verdict card: one for each of its buttons. An edit refers to its op by path, so
 * that it can be applied to the document's sequence or to a hidden copy. */
#pragma once

#include "ui/document/document.h"
#include <ligature/plan.h>

#include <gtk/gtk.h>

G_BEGIN_DECLS

typedef enum {
  LIG_CARD_FENCE,  /* a fence before the op at the path */
  LIG_CARD_FORBID, /* the fusion is forbidden at the path */
  LIG_CARD_FIX,    /* a fix of a verdict, or a similar one */
} LigCardEditKind;

/**
 * LigCardEdit:
 *
 * @path: (nullable): of an op as written
 * @fusion: (nullable): the name of a fusion
 * @fix: of FIX; its strings belong to @plan, if it is not null, or are static
 * @plan: (nullable): keeps the strings alive
 * @label: of the document's history, translated: `Remove the fence`
 */
typedef struct {
  LigCardEditKind kind;
  char *path, *fusion;
  LigFix fix;
  LigPlan *plan;
  char *label;
} LigCardEdit;

LigCardEdit *lig_card_edit_copy (const LigCardEdit *self);
void lig_card_edit_free (LigCardEdit *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCardEdit, lig_card_edit_free)

/* Returns whether the edit changes the policy, an option of the document, and not the sequence. */
gboolean lig_card_edit_get_policy (const LigCardEdit *self, LigPolicy *policy);

/* Applies the edit to a sequence: the document's, or a copy. An edit of the policy does not change
 * the sequence. */
gboolean lig_card_edit_apply (const LigCardEdit *self, LigSequence *sequence, GError **error);

/* Applies the edit as one step of the document's history, or sets the document's policy. */
gboolean lig_card_edit_commit (const LigCardEdit *self, LigDocument *document, GError **error);

/* Returns a button that applies the edit and then closes the enclosing popover. @text: on the
 * button;
 * @edit: (transfer full); @gains: whether the edit saves time */
GtkWidget *
lig_card_button_new (LigDocument *document, const char *text, LigCardEdit *edit, gboolean gains);

/* Empties all buttons inside a widget: GTK keeps the button that had the focus alive, and with it
 * the plan and the document. */
void lig_card_buttons_forget (GtkWidget *widget);

/* Returns the edit of a button of a card; null for other widgets. (nullable) (transfer none) */
const LigCardEdit *lig_card_button_get_edit (GtkWidget *button);

G_END_DECLS
