/* SPDX-License-Identifier: MIT */
/* Policy `measured`: every legal candidate and every single op is timed; in each pass, dynamic
 * programming over the ops finds the cover with the least total time. A candidate must be faster
 * than its single ops by more than 2 % and the noise. */
#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/device/device-private.h"
#include "engine/measure/tuning-private.h"

#include <math.h>

#define MIN_GAIN 0.02
/* The time of measuring whole steps relative to that of all prices. */
#define WHOLE_SHARE 0.4
#define MAX_PIECES 4      /* times the minimum that a fusion needs */
#define PIECES_GAIN 0.005 /* by which more parts must be faster, plus the noise */

/* Returns the candidate's group, then those of its single ops. */
static LigPlanGroup *
list_groups (const LigCandidate *candidate, guint *count)
{
  *count = (guint) candidate->group.count + 1;
  LigPlanGroup *groups = g_new0 (LigPlanGroup, *count);
  groups[0] = candidate->group;
  for (guint i = 1; i < *count; i++)
    groups[i] =
      (LigPlanGroup){.first = candidate->group.first + (int) i - 1, .count = 1, .n_elements = 1};
  return groups;
}

/* Finds the prices of one candidate and of its single ops, in every pass that it covers. */
static gboolean
price_candidate (
  LigGraph *graph, LigCandidate *candidate, gboolean *measured, double *noise, GError **error)
{
  guint count;
  g_autofree LigPlanGroup *groups = list_groups (candidate, &count);
  g_autofree LigPrice *prices = g_new0 (LigPrice, count);
  candidate->fused = candidate->unfused = *noise = 0;
  *measured = TRUE;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    if (!lig_covers_pass (candidate, pass))
      continue;
    if (!lig_price_groups (graph, groups, count, pass, prices, error))
      return FALSE;
    for (guint i = 0; i < count; i++) {
      *(i == 0 ? &candidate->fused : &candidate->unfused) += prices[i].seconds;
      *noise += prices[i].noise;
      *measured &= prices[i].measured || prices[i].seconds == 0;
    }
  }
  return TRUE;
}

/* Finds the number of parts in which each rank's rows are communicated and multiplied: with more
 * parts, communication begins earlier, but the matmuls are less efficient. */
static gboolean
choose_pieces (LigGraph *graph, LigCandidate *candidate, GError **error)
{
  gboolean measured;
  int fewest = candidate->group.fusion->min_pieces;
  double noise, min = INFINITY;
  candidate->group.pieces = lig_group_get_given_pieces (graph, &candidate->group);
  if (candidate->group.pieces > 0)
    return TRUE;
  for (int pieces = fewest; pieces <= fewest * MAX_PIECES; pieces *= 2) {
    LigCandidate tried = *candidate;
    tried.group.pieces = pieces;
    if (!lig_group_can_split (graph, &candidate->group, pieces))
      break;
    if (!price_candidate (graph, &tried, &measured, &noise, error))
      return FALSE;
    if (tried.fused >= min * (1 - PIECES_GAIN) - (measured ? noise / 2 : 0))
      continue;
    min = tried.fused;
    candidate->group.pieces = pieces;
  }
  return TRUE;
}

static const char *
format (LigGraph *graph, double seconds, double noise, gboolean measured)
{
  g_autoptr (GString) text = g_string_new (NULL);
  if (noise > 0)
    g_string_append_printf (text, " ± %.2g", noise * (seconds < 1e-3 ? 1e6 : 1e3));
  if (!measured)
    g_string_append (text, " (predicted)");
  return lig_format_price (graph, seconds, text->str);
}

static void
write_times (LigGraph *graph, const LigCandidate *candidate)
{
  LigVerdict *verdict = &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
  verdict->observed = format (graph, candidate->fused, 0, candidate->measured);
  verdict->required = format (graph, candidate->unfused, candidate->noise / 2, candidate->measured);
  verdict->found.value = candidate->fused * 1e6;
  verdict->needed.value = candidate->unfused * 1e6;
  verdict->found.unit = verdict->needed.unit = "us";
  verdict->found.measured = verdict->needed.measured = candidate->measured;
}

static gboolean
price_all (LigGraph *graph, GArray *candidates, GError **error)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    gboolean measured;
    double noise;
    if (!candidate->legal)
      continue;
    if (candidate->group.fusion->min_pieces > 0 && !choose_pieces (graph, candidate, error))
      return FALSE;
    if (!price_candidate (graph, candidate, &measured, &noise, error))
      return FALSE;
    candidate->loses =
      !(candidate->fused < candidate->unfused * (1 - MIN_GAIN) - (measured ? noise / 2 : 0));
    candidate->noise = noise;
    candidate->measured = measured;
    /* The time of a joint fusion belongs to no single pass. */
    if (measured && candidate->group.fusion->pass != LIG_PASS_JOINT)
      candidate->group.measured = candidate->fused;
    if (!candidate->shorter)
      write_times (graph, candidate);
  }
  return TRUE;
}

static gboolean
is_free (const LigGraph *graph, const LigCandidate *candidate, LigPass pass)
{
  for (int i = 0; i < candidate->group.count; i++)
    if (graph->choice->owners[pass][candidate->group.first + i] >= 0)
      return FALSE;
  return TRUE;
}

/* Returns whether a candidate may be accepted in a pass: its ops are free, and not those of
 * `kept`. */
static gboolean
can_take (const LigGraph *graph,
          const LigCandidate *candidate,
          const LigCandidate *kept,
          LigPass pass)
{
  gboolean apart = !kept || candidate->group.first + candidate->group.count <= kept->group.first ||
                   kept->group.first + kept->group.count <= candidate->group.first;
  return candidate->legal && !candidate->loses && candidate->group.fusion->pass == pass && apart &&
         is_free (graph, candidate, pass);
}

/* Finds the best cover of one pass without the ops of `kept`, unless that is null, and claims it if
 * `claims`. Only differences matter: a single op costs nothing, a candidate minus its gain. Returns
 * the cost. */
static double
choose (
  LigGraph *graph, GArray *candidates, const LigCandidate *kept, LigPass pass, gboolean claims)
{
  int length = (int) graph->parts->len;
  g_autofree double *best = g_new0 (double, length + 1);
  g_autofree int *choice = g_new (int, length + 1);
  g_autoptr (GPtrArray) ending = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (int i = 0; i <= length; i++)
    g_ptr_array_add (ending, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (can_take (graph, candidate, kept, pass))
      g_array_append_val ((GArray *) ending->pdata[candidate->group.first + candidate->group.count],
                          i);
  }
  for (int at = 1; at <= length; at++) {
    const GArray *here = ending->pdata[at];
    best[at] = best[at - 1];
    choice[at] = -1;
    for (guint i = 0; i < here->len; i++) {
      guint number = g_array_index (here, guint, i);
      const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, number);
      double total = best[candidate->group.first] + candidate->fused - candidate->unfused;
      if (total < best[at]) {
        best[at] = total;
        choice[at] = (int) number;
      }
    }
  }
  for (int at = claims ? length : 0; at > 0;) {
    LigCandidate *candidate =
      choice[at] < 0 ? NULL : &g_array_index (candidates, LigCandidate, choice[at]);
    if (candidate)
      lig_cover_claim (graph, candidates, candidate);
    at -= candidate ? candidate->group.count : 1;
  }
  return best[length];
}

/* Returns the cost of the covers of both passes without the ops of `kept`. */
static double
cost_beside (LigGraph *graph, GArray *candidates, const LigCandidate *kept)
{
  return choose (graph, candidates, kept, LIG_PASS_FORWARD, FALSE) +
         choose (graph, candidates, kept, LIG_PASS_BACKWARD, FALSE);
}

/* Accepts joint candidates first, if both passes together are faster with them than with the best
 * covers of the others. */
static void
choose_joint (LigGraph *graph, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    gboolean joint = candidate->group.fusion->pass == LIG_PASS_JOINT;
    if (!joint || !candidate->legal || candidate->loses || candidate->taken ||
        !is_free (graph, candidate, LIG_PASS_FORWARD) ||
        !is_free (graph, candidate, LIG_PASS_BACKWARD))
      continue;
    double gain = candidate->fused - candidate->unfused;
    if (cost_beside (graph, candidates, candidate) + gain < cost_beside (graph, candidates, NULL))
      lig_cover_claim (graph, candidates, candidate);
  }
}

static void
explain_losers (LigGraph *graph, GArray *candidates)
{
  for (guint i = 0; i < candidates->len; i++) {
    LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->shorter && candidate->taken)
      write_times (graph, candidate);
    if (candidate->taken)
      g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict).pieces =
        candidate->group.pieces;
    if (!candidate->legal || candidate->taken || candidate->shorter)
      continue;
    if (candidate->loses)
      g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict).reason =
        LIG_REASON_SLOWER;
    else
      lig_cover_claim (graph, candidates, candidate);
  }
}

/* Returns whether a single op can be timed: a callback of the embedding program is not called for
 * timing, and a kernel may be missing. */
static gboolean
can_be_priced (LigGraph *graph, const LigPlanGroup *group, LigPass pass, GArray *steps)
{
  const LigPart *part = lig_part (graph, group->first);
  LigProbe probe;
  g_array_set_size (steps, 0);
  return !part->plan.info->opaque_forward && !part->plan.info->opaque_backward &&
         (pass == LIG_PASS_FORWARD || part->plan.needs_backward) &&
         lig_lower_group (graph, group, pass, steps, &probe, NULL) && !probe.missing;
}

/* Finds the prices of the ops that no candidate contains, so that the time of a pass is known. The
 * cover does not depend on them. */
static gboolean
price_others (LigGraph *graph, GError **error)
{
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++)
    for (int i = 0; i < (int) graph->parts->len; i++) {
      const LigPlanGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
      LigPrice price;
      if (can_be_priced (graph, &group, pass, steps) &&
          !lig_price_groups (graph, &group, 1, pass, &price, error))
        return FALSE;
    }
  return TRUE;
}

/* The work of a series of measurements. */
typedef struct {
  LigGraph *graph;
  GArray *candidates;
  double whole; /* of whole steps; 0 until it is counted */
} Work;

/* Returns the work of measuring all unknown prices and whole steps. */
static double
count_work (gpointer data)
{
  Work *self = data;
  LigGraph *graph = self->graph;
  GArray *candidates = self->candidates;
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (LigGraphStep));
  double work = 0;
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    for (guint i = 0; i < candidates->len; i++) {
      const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
      guint count;
      g_autofree LigPlanGroup *groups = list_groups (candidate, &count);
      if (candidate->legal && lig_covers_pass (candidate, pass))
        work += lig_price_count_work (graph, groups, count, pass, seen);
    }
    for (int i = 0; i < (int) graph->parts->len; i++) {
      const LigPlanGroup group = {.pass = pass, .first = i, .count = 1, .n_elements = 1};
      if (can_be_priced (graph, &group, pass, steps))
        work += lig_price_count_work (graph, &group, 1, pass, seen);
    }
  }
  self->whole = WHOLE_SHARE * work;
  return work + self->whole;
}

/* Chooses by the prices of groups, then by the times of whole steps. */
static gboolean
choose_measured (LigGraph *graph, GArray *candidates, const Work *work, GError **error)
{
  if (!price_all (graph, candidates, error) || !price_others (graph, error))
    return FALSE;
  choose_joint (graph, candidates);
  choose (graph, candidates, NULL, LIG_PASS_FORWARD, TRUE);
  choose (graph, candidates, NULL, LIG_PASS_BACKWARD, TRUE);
  const LigBackend *calls = lig_device_calls (graph->request->device);
  gboolean whole =
    calls ? calls->capture != NULL : lig_device_get_facts (graph->request->device)->costs.known;
  if (whole && !lig_cover_whole (graph, candidates, work->whole, error))
    return FALSE;
  explain_losers (graph, candidates);
  return TRUE;
}

gboolean
lig_cover_measured (LigGraph *graph, GArray *candidates, GError **error)
{
  Work work = {graph, candidates, 0};
  lig_tuning_begin (count_work, &work);
  gboolean fine = choose_measured (graph, candidates, &work, error);
  lig_tuning_begin (NULL, NULL);
  return fine;
}
