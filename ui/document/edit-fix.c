/* SPDX-License-Identifier: MIT */
/* The edit that removes a problem. */
#include "ui/document/edit.h"

#include "ui/document/private.h"

gboolean
lig_edit_fix_problem (LigDocument *doc, const LigProblemFix *fix, GError **error)
{
  g_autoptr (LigSequence) copy = lig_sequence_copy (lig_document_get_sequence (doc));
  g_autofree char *phrase = lig_problem_fix_describe (fix);
  g_autofree char *label = lig_document_capitalize (phrase);
  /* The edit is first tried on a copy, so that one that fails halfway leaves the document
   * unchanged. */
  if (!lig_problem_fix_apply (fix, copy, error) ||
      !lig_problem_fix_apply (fix, lig_document_get_sequence (doc), error))
    return FALSE;
  lig_document_commit (doc, label, NULL);
  return TRUE;
}
