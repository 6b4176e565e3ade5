/* SPDX-License-Identifier: MIT */
/* Chooses covers by order: forced candidates first, then each candidate whose ops are free. */
#include "engine/compile/cover.h"

#include "engine/compile/collect.h"
#include "engine/reasons/explain.h"
#include "engine/reasons/words.h"

#include <glib/gi18n-lib.h>

gboolean
lig_covers_pass (const LigCandidate *candidate, LigPass pass)
{
  return candidate->group.fusion->pass == pass || candidate->group.fusion->pass == LIG_PASS_JOINT;
}

static const char *
describe_group (LigDraft *draft, const LigGroup *group)
{
  g_autofree char *path = lig_verdict_row_path (lig_part (draft, group->first)->path);
  g_autofree char *text = g_strdup_printf ("%s at %s", group->fusion->name, path);
  return g_string_chunk_insert_const (draft->strings, text);
}

/* Names the policy in the evidence, whose number stays. */
static void
name_policy (LigDraft *draft, LigEvidence *evidence)
{
  const char **names = g_new0 (const char *, 2);
  names[0] = lig_policy_name (draft->policy);
  g_ptr_array_add (draft->names, names);
  evidence->kind = LIG_EVIDENCE_POLICY;
  evidence->names = names;
}

static const LigCandidate *
claimant (const LigDraft *draft, GArray *candidates, const LigCandidate *candidate)
{
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, pass) && i < candidate->group.count; i++) {
      int owner = draft->owners[pass][candidate->group.first + i];
      if (owner >= 0)
        return &g_array_index (candidates, LigCandidate, owner);
    }
  return NULL;
}

static void
own (LigDraft *draft, GArray *candidates, LigCandidate *candidate)
{
  int number = (int) (candidate - (LigCandidate *) (gpointer) candidates->data);
  candidate->taken = TRUE;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, pass) && i < candidate->group.count; i++)
      draft->owners[pass][candidate->group.first + i] = number;
}

gboolean
lig_cover_claim (LigDraft *draft, GArray *candidates, LigCandidate *candidate)
{
  const LigCandidate *other = claimant (draft, candidates, candidate);
  if (!other) {
    own (draft, candidates, candidate);
    return TRUE;
  }
  LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
  verdict->reason = LIG_REASON_CLAIMED;
  verdict->found.kind = LIG_EVIDENCE_GROUP;
  verdict->found.fusion = other->group.fusion->name;
  verdict->found.first = other->group.first;
  verdict->found.count = other->group.count;
  verdict->found.path = other->forced ? lig_part (draft, other->group.first)->path : NULL;
  name_policy (draft, &verdict->needed);
  verdict->observed = describe_group (draft, &other->group);
  verdict->required = g_string_chunk_insert_const (draft->strings, "free ops");
  return FALSE;
}

gboolean
lig_cover_forced (LigDraft *draft, GArray *candidates, GError **error)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!candidate->legal || !candidate->forced)
      continue;
    /* A pattern whose optional first element is missing may begin at two ops of one macro. */
    const LigCandidate *owner = claimant (draft, candidates, candidate);
    gboolean same = owner && owner->group.fusion == candidate->group.fusion;
    if (!lig_cover_claim (draft, candidates, candidate) && !same) {
      LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
      g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("cannot force at %s: %s"),
                   lig_part (draft, candidate->group.first)->path,
                   lig_verdict_text (draft, verdict));
      lig_error_set_path (error, lig_part (draft, candidate->group.first)->path);
      if (!lig_draft_goes_on (draft, candidate->group.first, error))
        return FALSE;
      lig_draft_offer (draft, LIG_PROBLEM_MEND_UNFORCE,
                       lig_part (draft, candidate->group.first)->path,
                       candidate->group.fusion->name, NULL);
    }
  }
  return TRUE;
}

void
lig_cover_in_order (LigDraft *draft, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->legal && !candidate->taken && !candidate->shorter)
      lig_cover_claim (draft, candidates, candidate);
  }
}
