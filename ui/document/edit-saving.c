/* SPDX-License-Identifier: MIT */
/* The edit that makes a saving. */
#include "ui/document/edit.h"

#include "ui/document/savings.h"
#include <ligature/plan.h>

#include <glib/gi18n.h>

gboolean
lig_edit_apply_saving (LigDocument *doc, const LigSaving *saving, GError **error)
{
  LigPolicy policy;
  LigPlan *searched = lig_document_get_searched (doc);
  g_autofree char *label = lig_document_label_saving (saving);
  if (!lig_saving_is_edit (saving) && lig_policy_from_name (saving->value, &policy)) {
    lig_document_set_policy (doc, policy);
    return TRUE;
  }
  if (!searched) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "%s",
                 _ ("the sequence has changed since; wait for the new list"));
    return FALSE;
  }
  /* The commit frees the savings. */
  g_autoptr (LigPlan) plan = lig_plan_ref (searched);
  if (!lig_saving_apply (saving, plan, lig_document_get_sequence (doc), error))
    return FALSE;
  lig_document_commit (doc, label, NULL);
  return TRUE;
}
