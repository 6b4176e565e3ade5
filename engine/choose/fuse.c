/* SPDX-License-Identifier: MIT */
/* fuse: finds the legal fusions and chooses among them. The policy `all` accepts them in the order
 * of the list; `measured` chooses the cover with the least total time. */
#include "engine/choose/fuse.h"

#include "engine/base/suggest.h"
#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/choose/fixes.h"
#include "engine/choose/verdict-text.h"
#include "engine/graph/problems.h"
#include "engine/lower/kernels.h"

#include <glib/gi18n-lib.h>

static const char *
keep (LigGraph *graph, char *text)
{
  const char *kept = text ? g_string_chunk_insert (graph->strings, text) : NULL;
  g_free (text);
  return kept;
}

static void
add_candidate (LigGraph *graph, GArray *candidates, LigMatch *match)
{
  LigVerdict verdict = {
    .fusion = match->group.fusion,
    .pass = match->group.fusion->pass,
    .first = match->first,
    .count = match->count,
    .reason = match->reason,
    .observed = keep (graph, match->rejection.observed),
    .required = keep (graph, match->rejection.required),
    .fits = match->fits,
    .found = match->found,
    .needed = match->needed,
  };
  const LigPart *part = lig_part (graph, match->first);
  LigCandidate candidate = {
    .group = match->group,
    .verdict = (int) graph->choice->verdicts->len,
    .legal = match->reason == LIG_REASON_NONE,
    .whole = match->whole,
    .forced = g_strv_contains (lig_op_get_forced (part->plan.written), verdict.fusion->name),
  };
  if (match->fix)
    match->fix->fusion = verdict.fusion->name;
  g_array_append_val (graph->choice->verdicts, verdict);
  g_ptr_array_add (graph->choice->fixes, g_steal_pointer (&match->fix));
  g_ptr_array_add (graph->choice->alternatives, NULL);
  g_array_append_val (candidates, candidate);
}

/* Adds the match without its optional last elements, which may be faster: `measured` times it too,
 * and the options' choices may name it. Both share one verdict. */
static gboolean
add_shorter (LigGraph *graph, GArray *candidates, LigMatch *match, GError **error)
{
  g_autoptr (GError) local = NULL;
  int verdict = (int) graph->choice->verdicts->len - 1;
  while (lig_match_shorten (graph, match, &local)) {
    LigCandidate candidate = {
      .group = match->group,
      .verdict = verdict,
      .legal = match->reason == LIG_REASON_NONE,
      .shorter = TRUE,
    };
    if (candidate.legal)
      g_array_append_val (candidates, candidate);
    g_clear_pointer (&match->rejection.observed, g_free);
    g_clear_pointer (&match->rejection.required, g_free);
    g_clear_pointer (&match->fix, g_free);
  }
  if (!local)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&local));
  return FALSE;
}

static gboolean
find_candidates (LigGraph *graph, GArray *candidates, GError **error)
{
  const LigFusion *fusion;
  for (guint n = 0; (fusion = lig_fusion_nth (n)); n++)
    for (int i = 0; i < (int) graph->parts->len; i++) {
      LigMatch match;
      g_autoptr (GError) local = NULL;
      if (lig_match (graph, fusion, i, &match, &local)) {
        add_candidate (graph, candidates, &match);
        match.rejection = (LigRejection){0};
        if (match.reason == LIG_REASON_NONE &&
            (graph->request->policy == LIG_POLICY_MEASURED || graph->request->options.choices) &&
            !add_shorter (graph, candidates, &match, error))
          return FALSE;
      }
      if (local) {
        g_propagate_error (error, g_steal_pointer (&local));
        return FALSE;
      }
    }
  return TRUE;
}

/* Returns whether a rejection may be caused by a shape that does not fit or is guessed. */
static gboolean
may_follow (LigGraph *graph, const LigCandidate *candidate, const LigVerdict *verdict)
{
  gboolean depends = verdict->reason == LIG_REASON_SHAPE || verdict->reason == LIG_REASON_DTYPE ||
                     verdict->reason == LIG_REASON_KERNEL || verdict->reason == LIG_REASON_IN_USE;
  gboolean guessed = FALSE;
  for (int i = verdict->first; graph->problems && i < verdict->first + verdict->count; i++) {
    const LigPart *part = lig_part (graph, i);
    guessed |= part->faulty || part->incomplete || lig_value_work (graph, part->y)->uncertain ||
               lig_value_work (graph, part->x)->uncertain;
  }
  return depends && guessed;
}

/* Suggests the edit that removes the rejection of a forced fusion. */
static void
offer_fix (LigGraph *graph, const LigFix *fix)
{
  if (fix && fix->kind == LIG_FIX_REMOVE_FENCE)
    lig_graph_offer (graph, LIG_PROBLEM_FIX_REMOVE_FENCE, fix->path, NULL, NULL);
  else if (fix && fix->kind == LIG_FIX_UNFORBID)
    lig_graph_offer (graph, LIG_PROBLEM_FIX_UNFORBID, fix->path, fix->fusion, NULL);
  else if (fix && fix->kind == LIG_FIX_SET_DTYPE)
    lig_graph_offer (graph, LIG_PROBLEM_FIX_SET_DTYPE, NULL, NULL, fix->value);
  else if (fix && fix->kind == LIG_FIX_INSERT_OP)
    lig_graph_offer (graph, LIG_PROBLEM_FIX_INSERT_OP, fix->path, NULL, fix->value);
}

static const char *
get_name (guint n)
{
  const LigFusion *fusion = lig_fusion_nth (n);
  return fusion ? fusion->name : NULL;
}

static void
reject_unknown (const char *name, GError **error)
{
  g_autofree char *like = lig_suggest_nth (name, get_name);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("fusion '%s' is unknown%s"), name, like);
}

/* Checks a forced fusion. It is also an error if the fusion does not exist, or does not begin at
 * the op. */
static gboolean
check_force (LigGraph *graph, GArray *candidates, int index, const char *name, GError **error)
{
  const LigPart *part = lig_part (graph, index);
  LigCandidate *best = NULL;
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!g_str_equal (candidate->group.fusion->name, name) ||
        lig_part (graph,
                  g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict).first)
            ->plan.written != part->plan.written)
      continue;
    if (!best || candidate->legal)
      best = candidate;
  }
  if (best && best->legal)
    return TRUE;
  if (best) {
    LigVerdict *verdict = &g_array_index (graph->choice->verdicts, LigVerdict, best->verdict);
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("cannot force at %s: %s"), part->plan.path,
                 lig_verdict_text (graph, verdict));
  } else if (lig_fusion_find (name)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("cannot force at %s: %s does not begin with %s"), part->plan.path, name,
                 part->plan.title);
  } else {
    reject_unknown (name, error);
  }
  lig_error_set_path (error, part->plan.path);
  if (best && may_follow (graph, best,
                          &g_array_index (graph->choice->verdicts, LigVerdict, best->verdict))) {
    g_clear_error (error);
    return TRUE;
  }
  if (!lig_graph_collect_problem (graph, index, error))
    return FALSE;
  if (best)
    offer_fix (graph, graph->choice->fixes->pdata[best->verdict]);
  lig_graph_offer (graph, LIG_PROBLEM_FIX_UNFORCE, part->plan.path, name, NULL);
  return TRUE;
}

static gboolean
check_constraints (LigGraph *graph, GArray *candidates, GError **error)
{
  const char *const *global = lig_sequence_get_forbidden (graph->request->sequence);
  for (; *global; global++)
    if (!lig_fusion_find (*global)) {
      reject_unknown (*global, error);
      if (!lig_graph_collect_problem (graph, -1, error))
        return FALSE;
      lig_graph_offer (graph, LIG_PROBLEM_FIX_UNFORBID, NULL, *global, NULL);
    }
  for (int i = 0; i < (int) graph->parts->len; i++) {
    LigOp *written = lig_part (graph, i)->plan.written;
    const char *const *forced = lig_op_get_forced (written);
    for (; *forced; forced++) {
      const LigFusion *fusion = lig_fusion_find (*forced);
      /* Without a backward pass, forcing such a fusion has no effect and cannot fail. */
      if (fusion && fusion->pass != LIG_PASS_FORWARD && !graph->request->options.training)
        continue;
      if (!check_force (graph, candidates, i, *forced, error))
        return FALSE;
    }
    const char *const *forbidden = lig_op_get_forbidden (written);
    for (; *forbidden; forbidden++)
      if (!lig_fusion_find (*forbidden)) {
        reject_unknown (*forbidden, error);
        lig_error_set_path (error, lig_part (graph, i)->plan.path);
        if (!lig_graph_collect_problem (graph, i, error))
          return FALSE;
        lig_graph_offer (graph, LIG_PROBLEM_FIX_UNFORBID, lig_part (graph, i)->plan.path,
                         *forbidden, NULL);
      }
  }
  return TRUE;
}

/* Builds the groups of a pass; ops that no candidate covers become single-op groups. */
static void
build_groups (LigGraph *graph, GArray *candidates, LigPass pass)
{
  int length = (int) graph->parts->len;
  g_autofree int *taken = g_new (int, length);
  memset (taken, -1, (gsize) length * sizeof *taken);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->taken && lig_covers_pass (candidate, pass))
      taken[candidate->group.first] = (int) i;
  }
  for (int i = 0; i < length;) {
    LigPlanGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
    if (taken[i] >= 0)
      group = g_array_index (candidates, LigCandidate, taken[i]).group;
    group.pass = pass;
    if (taken[i] >= 0 || pass == LIG_PASS_FORWARD || lig_part (graph, i)->plan.needs_backward) {
      for (int j = i; j < i + group.count; j++)
        lig_part (graph, j)->group[pass] = (int) graph->groups[pass]->len;
      g_array_append_val (graph->groups[pass], group);
    }
    i += group.count;
  }
}

static void
write_verdicts (LigGraph *graph, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    LigVerdict *verdict = &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
    if (candidate->shorter && !candidate->taken)
      continue;
    verdict->taken = candidate->taken;
    if (candidate->taken) {
      verdict->reason = LIG_REASON_NONE;
      verdict->count = candidate->group.count;
      g_clear_pointer (&graph->choice->fixes->pdata[candidate->verdict], g_free);
    }
    /* The claiming group was part of an intermediate cover and may not exist in the final one. */
    if (verdict->reason != LIG_REASON_CLAIMED && verdict->found.kind == LIG_EVIDENCE_GROUP)
      verdict->found.kind = verdict->needed.kind = LIG_EVIDENCE_NONE;
  }
}

/* Finds the times that were measured for single groups, earlier or for the cover. */
static void
recall_prices (LigGraph *graph, LigPass pass)
{
  for (guint i = 0; i < graph->groups[pass]->len; i++) {
    LigPlanGroup *group = lig_group (graph, pass, i);
    LigPrice price;
    if (group->measured > 0 || (group->fusion && group->fusion->pass == LIG_PASS_JOINT))
      continue;
    lig_price_recall (graph, group, pass, &price);
    group->measured = price.measured ? price.seconds : 0;
  }
}

/* Finds the candidates and accepts the forced ones. */
static gboolean
begin (LigGraph *graph, GArray *candidates, GError **error)
{
  for (int pass = 0; pass < 2; pass++) {
    graph->choice->owners[pass] = g_new (int, graph->parts->len);
    memset (graph->choice->owners[pass], -1, graph->parts->len * sizeof (int));
  }
  return (graph->request->apart || find_candidates (graph, candidates, error)) &&
         check_constraints (graph, candidates, error) &&
         lig_cover_forced (graph, candidates, error);
}

gboolean
lig_fuse_check (LigGraph *graph, GError **error)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (LigCandidate));
  return begin (graph, candidates, error);
}

gboolean
lig_fuse (LigGraph *graph, GError **error)
{
  g_autoptr (GArray) candidates = g_array_new (FALSE, TRUE, sizeof (LigCandidate));
  if (!begin (graph, candidates, error))
    return FALSE;
  if (graph->request->options.choices) {
    if (!lig_cover_choices (graph, candidates, error))
      return FALSE;
  } else if (graph->request->policy == LIG_POLICY_MEASURED &&
             lig_shape_size (&graph->request->input) > 0) {
    /* Without rows no step takes measurable time. */
    if (!lig_check_single_ops (graph, error) || !lig_cover_measured (graph, candidates, error))
      return FALSE;
  } else {
    lig_cover_in_order (graph, candidates);
  }
  write_verdicts (graph, candidates);
  if (!graph->request->options.choices) {
    lig_offer_forces (graph, candidates);
    lig_offer_options (graph, candidates);
  }
  lig_explain_verdicts (graph, candidates);
  build_groups (graph, candidates, LIG_PASS_FORWARD);
  build_groups (graph, candidates, LIG_PASS_BACKWARD);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    if (graph->choice->prices || graph->request->options.tuning)
      recall_prices (graph, pass);
  for (guint i = 0; i < graph->groups[LIG_PASS_FORWARD]->len; i++)
    if (!lig_lower_saves (graph, lig_group (graph, LIG_PASS_FORWARD, i), error))
      return FALSE;
  return TRUE;
}
