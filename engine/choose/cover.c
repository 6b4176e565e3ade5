/* SPDX-License-Identifier: MIT */
/* Chooses covers by order: forced candidates first, then each candidate whose ops are free. */
#include "engine/choose/cover.h"

#include "engine/choose/choice.h"
#include "engine/choose/verdict-text.h"
#include "engine/graph/problems.h"
#include "engine/reasons/explain.h"
#include "engine/reasons/words.h"

#include <glib/gi18n-lib.h>
#include <string.h>

gboolean
lig_cover_forced (LigGraph *graph, GArray *candidates, GError **error)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (!candidate->legal || !candidate->forced)
      continue;
    /* A pattern whose optional first element is missing may begin at two ops of one macro. */
    const LigCandidate *owner = lig_find_claimant (graph, candidates, candidate);
    gboolean same = owner && owner->group.fusion == candidate->group.fusion;
    if (!lig_cover_claim (graph, candidates, candidate) && !same) {
      LigVerdict *verdict =
        &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
      g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("cannot force at %s: %s"),
                   lig_part (graph, candidate->group.first)->plan.path,
                   lig_verdict_text (graph, verdict));
      lig_error_set_path (error, lig_part (graph, candidate->group.first)->plan.path);
      if (!lig_graph_collect_problem (graph, candidate->group.first, error))
        return FALSE;
      lig_graph_offer (graph, LIG_PROBLEM_FIX_UNFORCE,
                       lig_part (graph, candidate->group.first)->plan.path,
                       candidate->group.fusion->name, NULL);
    }
  }
  return TRUE;
}

void
lig_cover_in_order (LigGraph *graph, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->legal && !candidate->taken && !candidate->shorter)
      lig_cover_claim (graph, candidates, candidate);
  }
}

/* --- Choices of a checkpoint ----------------------------------------------------------------- */

/* Restores covers: a checkpoint names its groups, `FUSION@FIRST+COUNT` each, followed by `/PIECES`
 * if each rank's rows are communicated in several parts. */

/* Returns whether the text is the number of parts in which the candidate communicates rows, if any,
 * and sets it. */
static gboolean
read_pieces (LigGraph *graph, LigCandidate *candidate, const char *text)
{
  guint64 pieces;
  if (*text == '\0')
    return TRUE;
  if (*text != '/' || candidate->group.fusion->min_pieces < 1 ||
      !g_ascii_string_to_unsigned (text + 1, 10, 1, G_MAXINT, &pieces, NULL) ||
      !lig_group_can_split (graph, &candidate->group, (int) pieces))
    return FALSE;
  candidate->group.pieces = (int) pieces;
  g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict).pieces = (int) pieces;
  return TRUE;
}

static LigCandidate *
find (LigGraph *graph, GArray *candidates, const char *choice)
{
  gsize length = strcspn (choice, "/");
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    g_autofree char *text = g_strdup_printf ("%s@%d+%d", candidate->group.fusion->name,
                                             candidate->group.first, candidate->group.count);
    if (candidate->legal && strlen (text) == length && strncmp (text, choice, length) == 0 &&
        read_pieces (graph, candidate, choice + length))
      return candidate;
  }
  return NULL;
}

gboolean
lig_cover_choices (LigGraph *graph, GArray *candidates, GError **error)
{
  g_auto (GStrv) choices = g_strsplit (graph->request->options.choices, " ", -1);
  for (char **choice = choices; *choice; choice++) {
    LigCandidate *candidate = **choice ? find (graph, candidates, *choice) : NULL;
    if (!**choice || (candidate && candidate->taken) ||
        (candidate && lig_cover_claim (graph, candidates, candidate)))
      continue;
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION, _ ("the group %s cannot be used on %s"),
                 *choice, lig_device_get_name (graph->request->device));
    return FALSE;
  }
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    LigVerdict *verdict = &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
    if (!candidate->legal || candidate->taken || candidate->shorter)
      continue;
    if (lig_find_claimant (graph, candidates, candidate)) {
      lig_cover_claim (graph, candidates, candidate);
      continue;
    }
    verdict->reason = LIG_REASON_CLAIMED;
    verdict->observed = verdict->required =
      g_string_chunk_insert_const (graph->strings, "the groups chosen before");
  }
  return TRUE;
}
