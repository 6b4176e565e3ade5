/* SPDX-License-Identifier: MIT */
/* Runs the passes of the compiler in order and verifies each. */
#include "engine/compile/predict.h"
#include "engine/sequence/table.h"

/* Gives the values their memory, once it is known which of them are computed again. */
static gboolean
place_values (LigDraft *draft, GError **error)
{
  if (!lig_recompute (draft, error) || !lig_verify_steps (draft, error))
    return FALSE;
  lig_forget_unread (draft);
  return lig_allocate (draft, error) && lig_verify_memory (draft, error);
}

static gboolean
run_passes (LigDraft *draft, GError **error)
{
  return lig_expand (draft, error) && lig_verify_parts (draft, error) && lig_infer (draft, error) &&
         lig_differentiate (draft, error) && lig_verify_values (draft, error) &&
         lig_represent (draft, error) && lig_fuse (draft, error) &&
         lig_verify_groups (draft, error) && lig_schedule (draft, error) &&
         lig_verify_steps (draft, error) && (draft->compared || place_values (draft, error));
}

gboolean
lig_draft_compile (LigDraft *self, GError **error)
{
  lig_registry_hold ();
  gboolean fine = run_passes (self, error);
  if (fine)
    lig_predict_lanes (self);
  lig_registry_release ();
  return fine;
}

gboolean
lig_draft_infer (LigDraft *self, GError **error)
{
  lig_registry_hold ();
  gboolean fine = lig_expand (self, error) && lig_infer (self, error);
  lig_registry_release ();
  return fine;
}
