/* SPDX-License-Identifier: MIT */
/* The values that the backward pass reads. Ops mark those that their backward pass reads by its
 * description; a part of it may be left out, as the gradient of a frozen weight. */
#include "engine/compile/lower.h"

/* Marks the memory that steps of the backward pass read. */
static gboolean *
find_read (const LigDraft *draft)
{
  gboolean *read = g_new0 (gboolean, draft->values->len + 1);
  for (int i = draft->first_backward; i < draft->first_update; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = 0; j < step->n_inputs; j++)
      if (step->values[j] >= 0)
        read[lig_draft_root (draft, step->values[j])] = TRUE;
  }
  return read;
}

/* A callback of the embedding program reads its values by itself. */
static void
keep_opaque (const LigDraft *draft, gboolean *read)
{
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    if (!part->info->opaque_backward)
      continue;
    read[lig_draft_root (draft, part->x)] = TRUE;
    read[lig_draft_root (draft, part->y)] = TRUE;
  }
}

void
lig_forget_unread (LigDraft *draft)
{
  g_autofree gboolean *read = find_read (draft);
  keep_opaque (draft, read);
  for (int i = 0; i < (int) draft->values->len; i++)
    if (!read[lig_draft_root (draft, i)])
      lig_value (draft, i)->saved = FALSE;
}
