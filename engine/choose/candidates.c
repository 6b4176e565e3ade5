/* SPDX-License-Identifier: MIT */
/* Candidates: places where a fusion is legal, and the ops that the accepted ones cover. */
#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/reasons/explain.h"
#include "engine/reasons/words.h"

gboolean
lig_covers_pass (const LigCandidate *candidate, LigPass pass)
{
  return candidate->group.fusion->pass == pass || candidate->group.fusion->pass == LIG_PASS_JOINT;
}

static const char *
describe_group (LigGraph *graph, const LigPlanGroup *group)
{
  g_autofree char *path = lig_verdict_row_path (lig_part (graph, group->first)->plan.path);
  g_autofree char *text = g_strdup_printf ("%s at %s", group->fusion->name, path);
  return g_string_chunk_insert_const (graph->strings, text);
}

/* Names the policy in the evidence and keeps its number. */
static void
name_policy (LigGraph *graph, LigEvidence *evidence)
{
  const char **names = g_new0 (const char *, 2);
  names[0] = lig_policy_name (graph->request->policy);
  g_ptr_array_add (graph->choice->names, names);
  evidence->kind = LIG_EVIDENCE_POLICY;
  evidence->names = names;
}

const LigCandidate *
lig_find_claimant (const LigGraph *graph, GArray *candidates, const LigCandidate *candidate)
{
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, pass) && i < candidate->group.count; i++) {
      int owner = graph->choice->owners[pass][candidate->group.first + i];
      if (owner >= 0)
        return &g_array_index (candidates, LigCandidate, owner);
    }
  return NULL;
}

static void
own (LigGraph *graph, GArray *candidates, LigCandidate *candidate)
{
  int number = (int) (candidate - (LigCandidate *) (gpointer) candidates->data);
  candidate->taken = TRUE;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; lig_covers_pass (candidate, pass) && i < candidate->group.count; i++)
      graph->choice->owners[pass][candidate->group.first + i] = number;
}

gboolean
lig_cover_claim (LigGraph *graph, GArray *candidates, LigCandidate *candidate)
{
  const LigCandidate *other = lig_find_claimant (graph, candidates, candidate);
  if (!other) {
    own (graph, candidates, candidate);
    return TRUE;
  }
  LigVerdict *verdict = &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
  verdict->reason = LIG_REASON_CLAIMED;
  verdict->found.kind = LIG_EVIDENCE_GROUP;
  verdict->found.fusion = other->group.fusion->name;
  verdict->found.first = other->group.first;
  verdict->found.count = other->group.count;
  verdict->found.path = other->forced ? lig_part (graph, other->group.first)->plan.path : NULL;
  name_policy (graph, &verdict->needed);
  verdict->observed = describe_group (graph, &other->group);
  verdict->required = g_string_chunk_insert_const (graph->strings, "free ops");
  return FALSE;
}
