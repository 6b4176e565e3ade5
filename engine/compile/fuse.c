/* SPDX-License-Identifier: MIT */
/* fuse: finds the legal fusions and chooses among them. The policy `all` takes them in the order of
 * the list; `measured` takes the cover with the least total time. */
#include "engine/base/suggest.h"
#include "engine/compile/collect.h"
#include "engine/compile/cover.h"
#include "engine/compile/kernels.h"
#include "engine/compile/offer.h"

#include <glib/gi18n-lib.h>

static const char *
keep (LigDraft *draft, char *text)
{
  const char *kept = text ? g_string_chunk_insert (draft->strings, text) : NULL;
  g_free (text);
  return kept;
}

static void
add_candidate (LigDraft *draft, GArray *candidates, LigMatch *match)
{
  LigVerdict verdict = {
    .fusion = match->group.fusion,
    .pass = match->group.fusion->pass,
    .first = match->first,
    .count = match->count,
    .reason = match->reason,
    .observed = keep (draft, match->refusal.observed),
    .required = keep (draft, match->refusal.required),
    .fits = match->fits,
    .found = match->found,
    .needed = match->needed,
  };
  const LigPart *part = lig_part (draft, match->first);
  LigCandidate candidate = {
    .group = match->group,
    .verdict = (int) draft->verdicts->len,
    .legal = match->reason == LIG_REASON_NONE,
    .whole = match->whole,
    .forced = g_strv_contains (lig_op_get_forced (part->written), verdict.fusion->name),
  };
  if (match->mend)
    match->mend->fusion = verdict.fusion->name;
  g_array_append_val (draft->verdicts, verdict);
  g_ptr_array_add (draft->mends, g_steal_pointer (&match->mend));
  g_ptr_array_add (draft->alternatives, NULL);
  g_array_append_val (candidates, candidate);
}

/* Adds the match without its optional last elements, which may be faster: `measured` prices it too,
 * and the options' choices may name it. They share one verdict. */
static gboolean
add_shorter (LigDraft *draft, GArray *candidates, LigMatch *match, GError **error)
{
  g_autoptr (GError) local = NULL;
  int verdict = (int) draft->verdicts->len - 1;
  while (lig_match_shorten (draft, match, &local)) {
    LigCandidate candidate = {
      .group = match->group,
      .verdict = verdict,
      .legal = match->reason == LIG_REASON_NONE,
      .shorter = TRUE,
    };
    if (candidate.legal)
      g_array_append_val (candidates, candidate);
    g_clear_pointer (&match->refusal.observed, g_free);
    g_clear_pointer (&match->refusal.required, g_free);
    g_clear_pointer (&match->mend, g_free);
  }
  if (!local)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
find_candidates (LigDraft *draft, GArray *candidates, GError **error)
{
  const LigFusion *fusion;
  for (guint n = 0; (fusion = lig_fusion_nth (n)); n++)
    for (int i = 0; i < (int) draft->parts->len; i++) {
      LigMatch match;
      g_autoptr (GError) local = NULL;
      if (lig_match (draft, fusion, i, &match, &local)) {
        add_candidate (draft, candidates, &match);
        match.refusal = (LigRefusal){0};
        if (match.reason == LIG_REASON_NONE &&
            (draft->policy == LIG_POLICY_MEASURED || draft->options.choices) &&
            !add_shorter (draft, candidates, &match, error))
          return FALSE;
      }
      if (local) {
        g_propagate_error (error, g_steal_pointer (&local));
        return FALSE;
      }
    }
  return TRUE;
}

/* Returns whether a refusal may only follow from a shape that does not fit or is guessed. */
static gboolean
may_follow (LigDraft *draft, const LigCandidate *candidate, const LigVerdict *verdict)
{
  gboolean depends = verdict->reason == LIG_REASON_SHAPE || verdict->reason == LIG_REASON_DTYPE ||
                     verdict->reason == LIG_REASON_KERNEL || verdict->reason == LIG_REASON_IN_USE;
  gboolean guessed = FALSE;
  for (int i = verdict->first; draft->problems && i < verdict->first + verdict->count; i++) {
    const LigPart *part = lig_part (draft, i);
    guessed |= part->faulty || part->incomplete || lig_value (draft, part->y)->unsure ||
               lig_value (draft, part->x)->unsure;
  }
  return depends && guessed;
}

/* Offers the edit that removes the refusal of a forced fusion. */
static void
offer_mend (LigDraft *draft, const LigMend *mend)
{
  if (mend && mend->kind == LIG_MEND_REMOVE_FENCE)
    lig_draft_offer (draft, LIG_PROBLEM_MEND_REMOVE_FENCE, mend->path, NULL, NULL);
  else if (mend && mend->kind == LIG_MEND_UNFORBID)
    lig_draft_offer (draft, LIG_PROBLEM_MEND_UNFORBID, mend->path, mend->fusion, NULL);
  else if (mend && mend->kind == LIG_MEND_SET_DTYPE)
    lig_draft_offer (draft, LIG_PROBLEM_MEND_SET_DTYPE, NULL, NULL, mend->value);
  else if (mend && mend->kind == LIG_MEND_INSERT_OP)
    lig_draft_offer (draft, LIG_PROBLEM_MEND_INSERT_OP, mend->path, NULL, mend->value);
}

static const char *
get_name (guint n)
{
  const LigFusion *fusion = lig_fusion_nth (n);
  return fusion ? fusion->name : NULL;
}

static void
refuse_unknown (const char *name, GError **error)
{
  g_autofree char *like = lig_suggest_nth (name, get_name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("fusion '%s' is unknown%s"), name, like);
}

/* Checks a forced fusion. It is also an error if it names no fusion, or an op at which the fusion
 * does not begin. */
static gboolean
check_force (LigDraft *draft, GArray *candidates, int index, const char *name, GError **error)
{
  const LigPart *part = lig_part (draft, index);
  LigCandidate *best = NULL;
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!g_str_equal (candidate->group.fusion->name, name) ||
        lig_part (draft, g_array_index (draft->verdicts, LigVerdict, candidate->verdict).first)
            ->written != part->written)
      continue;
    if (!best || candidate->legal)
      best = candidate;
  }
  if (best && best->legal)
    return TRUE;
  if (best) {
    LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, best->verdict);
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("cannot force at %s: %s"), part->path,
                 lig_verdict_text (draft, verdict));
  } else if (lig_fusion_find (name)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("cannot force at %s: %s does not begin with %s"), part->path, name,
                 part->title);
  } else {
    refuse_unknown (name, error);
  }
  lig_error_set_path (error, part->path);
  if (best &&
      may_follow (draft, best, &g_array_index (draft->verdicts, LigVerdict, best->verdict))) {
    g_clear_error (error);
    return TRUE;
  }
  if (!lig_draft_goes_on (draft, index, error))
    return FALSE;
  if (best)
    offer_mend (draft, draft->mends->pdata[best->verdict]);
  lig_draft_offer (draft, LIG_PROBLEM_MEND_UNFORCE, part->path, name, NULL);
  return TRUE;
}

static gboolean
check_constraints (LigDraft *draft, GArray *candidates, GError **error)
{
  const char *const *global = lig_sequence_get_forbidden (draft->sequence);
  for (; *global; global++)
    if (!lig_fusion_find (*global)) {
      refuse_unknown (*global, error);
      if (!lig_draft_goes_on (draft, -1, error))
        return FALSE;
      lig_draft_offer (draft, LIG_PROBLEM_MEND_UNFORBID, NULL, *global, NULL);
    }
  for (int i = 0; i < (int) draft->parts->len; i++) {
    LigOp *written = lig_part (draft, i)->written;
    const char *const *forced = lig_op_get_forced (written);
    for (; *forced; forced++) {
      const LigFusion *fusion = lig_fusion_find (*forced);
      /* Without a backward pass such a force has no effect and cannot fail. */
      if (fusion && fusion->pass != LIG_PASS_FORWARD && !draft->options.training)
        continue;
      if (!check_force (draft, candidates, i, *forced, error))
        return FALSE;
    }
    const char *const *forbidden = lig_op_get_forbidden (written);
    for (; *forbidden; forbidden++)
      if (!lig_fusion_find (*forbidden)) {
        refuse_unknown (*forbidden, error);
        lig_error_set_path (error, lig_part (draft, i)->path);
        if (!lig_draft_goes_on (draft, i, error))
          return FALSE;
        lig_draft_offer (draft, LIG_PROBLEM_MEND_UNFORBID, lig_part (draft, i)->path, *forbidden,
                         NULL);
      }
  }
  return TRUE;
}

/* Builds the groups of a pass; ops that no candidate took become groups of their own. */
static void
build_groups (LigDraft *draft, GArray *candidates, LigPass pass)
{
  int length = (int) draft->parts->len;
  g_autofree int *taken = g_new (int, length);
  memset (taken, -1, (gsize) length * sizeof *taken);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->taken && lig_covers_pass (candidate, pass))
      taken[candidate->group.first] = (int) i;
  }
  for (int i = 0; i < length;) {
    LigGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
    if (taken[i] >= 0)
      group = g_array_index (candidates, LigCandidate, taken[i]).group;
    group.pass = pass;
    if (taken[i] >= 0 || pass == LIG_PASS_FORWARD || lig_part (draft, i)->needs_backward) {
      for (int j = i; j < i + group.count; j++)
        lig_part (draft, j)->group[pass] = (int) draft->groups[pass]->len;
      g_array_append_val (draft->groups[pass], group);
    }
    i += group.count;
  }
}

static void
write_verdicts (LigDraft *draft, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
    if (candidate->shorter && !candidate->taken)
      continue;
    verdict->taken = candidate->taken;
    if (candidate->taken) {
      verdict->reason = LIG_REASON_NONE;
      verdict->count = candidate->group.count;
      g_clear_pointer (&draft->mends->pdata[candidate->verdict], g_free);
    }
    /* The claiming group was part of an intermediate cover and may not exist in the final one. */
    if (verdict->reason != LIG_REASON_CLAIMED && verdict->found.kind == LIG_EVIDENCE_GROUP)
      verdict->found.kind = verdict->needed.kind = LIG_EVIDENCE_NONE;
  }
}

/* Finds the times that were measured for groups by themselves, earlier or for the cover. */
static void
recall_prices (LigDraft *draft, LigPass pass)
{
  for (guint i = 0; i < draft->groups[pass]->len; i++) {
    LigGroup *group = lig_group (draft, pass, i);
    LigPrice price;
    if (group->measured > 0 || (group->fusion && group->fusion->pass == LIG_PASS_JOINT))
      continue;
    lig_price_recall (draft, group, pass, &price);
    group->measured = price.measured ? price.seconds : 0;
  }
}

/* Finds the candidates and takes those that are forced. */
static gboolean
begin (LigDraft *draft, GArray *candidates, GError **error)
{
  for (int pass = 0; pass < 2; pass++) {
    draft->owners[pass] = g_new (int, draft->parts->len);
    memset (draft->owners[pass], -1, draft->parts->len * sizeof (int));
  }
  return (draft->apart || find_candidates (draft, candidates, error)) &&
         check_constraints (draft, candidates, error) &&
         lig_cover_forced (draft, candidates, error);
}

gboolean
lig_fuse_check (LigDraft *draft, GError **error)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (LigCandidate));
  return begin (draft, candidates, error);
}

gboolean
lig_fuse (LigDraft *draft, GError **error)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (LigCandidate));
  if (!begin (draft, candidates, error))
    return FALSE;
  if (draft->options.choices) {
    if (!lig_cover_choices (draft, candidates, error))
      return FALSE;
  } else if (draft->policy == LIG_POLICY_MEASURED && lig_shape_size (&draft->input) > 0) {
    /* Without rows no step takes measurable time. */
    if (!lig_check_single_ops (draft, error) || !lig_cover_measured (draft, candidates, error))
      return FALSE;
  } else {
    lig_cover_in_order (draft, candidates);
  }
  write_verdicts (draft, candidates);
  if (!draft->options.choices) {
    lig_offer_forces (draft, candidates);
    lig_offer_options (draft, candidates);
  }
  lig_explain_verdicts (draft, candidates);
  build_groups (draft, candidates, LIG_PASS_FORWARD);
  build_groups (draft, candidates, LIG_PASS_BACKWARD);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    if (draft->prices || draft->options.tuning)
      recall_prices (draft, pass);
  for (guint i = 0; i < draft->groups[LIG_PASS_FORWARD]->len; i++)
    if (!lig_lower_saves (draft, lig_group (draft, LIG_PASS_FORWARD, i), error))
      return FALSE;
  return TRUE;
}
