/* SPDX-License-Identifier: MIT */
/* The edits of the verdict card, and the buttons that make them. */
#include "ui/score/verdict-card-edit.h"

#include "ui/widgets/preview-hook.h"
#include "ui/widgets/toast.h"

LigCardEdit *
lig_card_edit_copy (const LigCardEdit *self)
{
  LigCardEdit *copy = g_memdup2 (self, sizeof *self);
  copy->path = g_strdup (self->path);
  copy->fusion = g_strdup (self->fusion);
  copy->label = g_strdup (self->label);
  copy->plan = self->plan ? lig_plan_ref (self->plan) : NULL;
  /* A fix without a plan points to the edit's own strings. */
  copy->fix.path = self->fix.path == self->path ? copy->path : self->fix.path;
  copy->fix.fusion = self->fix.fusion == self->fusion ? copy->fusion : self->fix.fusion;
  copy->fix.value = self->fix.value == self->fusion ? copy->fusion : self->fix.value;
  return copy;
}

void
lig_card_edit_free (LigCardEdit *self)
{
  g_free (self->path);
  g_free (self->fusion);
  g_free (self->label);
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_free (self);
}

gboolean
lig_card_edit_get_policy (const LigCardEdit *self, LigPolicy *policy)
{
  return self->kind == LIG_CARD_FIX && self->fix.kind == LIG_FIX_CHOOSE_POLICY &&
         lig_policy_from_name (self->fix.value, policy);
}

static void
forbid (LigOp *op, const char *fusion)
{
  g_autoptr (GStrvBuilder) names = g_strv_builder_new ();
  const char *const *present = lig_op_get_forbidden (op);
  for (; present && *present; present++)
    if (!g_str_equal (*present, fusion))
      g_strv_builder_add (names, *present);
  g_strv_builder_add (names, fusion);
  g_auto (GStrv) list = g_strv_builder_end (names);
  lig_op_set_forbidden (op, (const char *const *) list);
}

gboolean
lig_card_edit_apply (const LigCardEdit *self, LigSequence *sequence, GError **error)
{
  LigPolicy policy;
  if (lig_card_edit_get_policy (self, &policy))
    return TRUE;
  if (self->kind == LIG_CARD_FIX)
    return lig_fix_apply (&self->fix, sequence, error);
  LigOp *op = lig_sequence_find (sequence, self->path, error);
  if (op && self->kind == LIG_CARD_FENCE)
    lig_op_set_fence (op, TRUE);
  else if (op)
    forbid (op, self->fusion);
  return op != NULL;
}

gboolean
lig_card_edit_commit (const LigCardEdit *self, LigDocument *document, GError **error)
{
  LigPolicy policy;
  LigSequence *sequence = lig_document_get_sequence (document);
  if (lig_card_edit_get_policy (self, &policy)) {
    lig_document_set_policy (document, policy);
    return TRUE;
  }
  if (!lig_card_edit_apply (self, sequence, error))
    return FALSE;
  lig_document_commit (document, self->label, NULL);
  /* A new op is selected, so that its parameters are shown. */
  if (self->kind == LIG_CARD_FIX &&
      (self->fix.kind == LIG_FIX_REPLACE_OP || self->fix.kind == LIG_FIX_INSERT_OP))
    lig_document_select (document, lig_sequence_find (sequence, self->fix.path, NULL),
                         LIG_SELECT_ONLY);
  return TRUE;
}

/* --- Buttons ------------------------------------------------------------------------------- */

static const char edit_key[] = "lig-card-edit";

static void
clicked (GtkButton *button, LigDocument *document)
{
  GError *error = NULL;
  g_autoptr (LigDocument) kept = g_object_ref (document);
  g_autoptr (LigCardEdit) edit =
    lig_card_edit_copy (lig_card_button_get_edit (GTK_WIDGET (button)));
  GtkWidget *popover = gtk_widget_get_ancestor (GTK_WIDGET (button), GTK_TYPE_POPOVER);
  GtkWidget *outside = popover ? gtk_widget_get_parent (popover) : GTK_WIDGET (button);
  if (!lig_card_edit_commit (edit, document, &error))
    lig_toast_error (outside, error);
  if (popover)
    gtk_popover_popdown (GTK_POPOVER (popover));
}

/* Previews a button's edit on a copy. */
static gboolean
try_edit (GtkWidget *button, LigDocument *document, LigPreviewTrial *trial, gpointer data)
{
  const LigCardEdit *edit = lig_card_button_get_edit (button);
  if (!lig_card_edit_get_policy (edit, &trial->policy)) {
    g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (document));
    if (!lig_card_edit_apply (edit, copy, NULL))
      return FALSE;
    trial->sequence = g_steal_pointer (&copy);
  }
  trial->label = g_strdup (edit->label ? edit->label : gtk_button_get_label (GTK_BUTTON (button)));
  return TRUE;
}

GtkWidget *
lig_card_button_new (LigDocument *document, const char *text, LigCardEdit *edit, gboolean gains)
{
  GtkWidget *button = gtk_button_new_with_label (text);
  g_object_set_data_full (G_OBJECT (button), edit_key, edit, (GDestroyNotify) lig_card_edit_free);
  g_signal_connect_object (button, "clicked", G_CALLBACK (clicked), document, 0);
  gtk_widget_add_css_class (button, "verdict-button");
  if (gains)
    gtk_widget_add_css_class (button, "suggested-action");
  lig_preview_hook (button, document, try_edit, NULL, NULL);
  return button;
}

void
lig_card_buttons_forget (GtkWidget *widget)
{
  lig_preview_unhook (widget);
  g_object_set_data (G_OBJECT (widget), edit_key, NULL);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child;
       child = gtk_widget_get_next_sibling (child))
    lig_card_buttons_forget (child);
}

const LigCardEdit *
lig_card_button_get_edit (GtkWidget *button)
{
  return g_object_get_data (G_OBJECT (button), edit_key);
}
