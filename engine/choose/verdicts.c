/* SPDX-License-Identifier: MIT */
/* Computes the gains of a graph's verdicts: the times of each legal candidate and of its single
 * ops. They are measured times if this compilation or an earlier one measured them, else
 * predictions; nothing is measured for them. */
#include "engine/choose/choice.h"
#include "engine/choose/cover.h"
#include "engine/choose/fixes.h"
#include "engine/choose/verdict-text.h"
#include "engine/reasons/explain.h"

#include <math.h>

typedef struct {
  LigGraph *graph;
  double *bytes[2];   /* likewise */
  LigPrice *alone[2]; /* of each single op; seconds NaN: unknown, negative: not looked up yet */
} Prices;

static const LigPrice *
get_alone (Prices *self, int index, LigPass pass)
{
  LigPrice *price = &self->alone[pass][index];
  LigPlanGroup group = {.first = index, .count = 1, .n_elements = 1};
  if (price->seconds < 0)
    lig_price_recall_bytes (self->graph, &group, pass, price, &self->bytes[pass][index]);
  return price;
}

static void
add_price (double *seconds, double *noise, gboolean *measured, const LigPrice *price)
{
  *seconds += price->seconds;
  *noise += price->noise;
  *measured &= price->measured || price->seconds == 0;
}

static LigReasonTimes
find_times (Prices *self, const LigCandidate *candidate)
{
  LigReasonTimes times = {.measured = TRUE};
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    LigPrice fused;
    double bytes;
    if (!lig_covers_pass (candidate, pass))
      continue;
    lig_price_recall_bytes (self->graph, &candidate->group, pass, &fused, &bytes);
    times.fused_bytes += bytes;
    add_price (&times.fused, &times.fused_noise, &times.measured, &fused);
    for (int i = candidate->group.first; i < candidate->group.first + candidate->group.count; i++) {
      add_price (&times.unfused, &times.unfused_noise, &times.measured, get_alone (self, i, pass));
      times.unfused_bytes += self->bytes[pass][i];
    }
  }
  return times;
}

/* Returns whether the candidate's ops can be lowered. A forbidden fusion with its own condition is
 * excluded, because the condition was not checked. */
static gboolean
can_be_priced (const LigCandidate *candidate, const LigVerdict *verdict)
{
  return candidate->legal || (verdict->reason == LIG_REASON_FORBIDDEN && candidate->whole &&
                              !candidate->group.fusion->allows);
}

static void
fill_times (LigGraph *graph, GArray *candidates, LigReasonTimes *times, double *const alone[2])
{
  Prices prices = {.graph = graph};
  for (int pass = 0; pass < 2; pass++) {
    prices.alone[pass] = g_new0 (LigPrice, graph->parts->len);
    prices.bytes[pass] = g_new0 (double, graph->parts->len);
    for (guint i = 0; i < graph->parts->len; i++)
      prices.alone[pass][i].seconds = -1;
  }
  for (guint i = 0; i < graph->choice->verdicts->len; i++)
    times[i] =
      (LigReasonTimes){.fused = NAN, .unfused = NAN, .fused_bytes = NAN, .unfused_bytes = NAN};
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    const LigVerdict *verdict =
      &g_array_index (graph->choice->verdicts, LigVerdict, candidate->verdict);
    if (candidate->shorter && !candidate->taken)
      continue;
    if (can_be_priced (candidate, verdict))
      times[candidate->verdict] = find_times (&prices, candidate);
    times[candidate->verdict].blocked = lig_is_blocked (graph, candidates, i);
  }
  for (int pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < graph->parts->len; i++)
      alone[pass][i] = prices.alone[pass][i].seconds < 0 ? NAN : prices.alone[pass][i].seconds;
    g_free (prices.alone[pass]);
    g_free (prices.bytes[pass]);
  }
}

void
lig_explain_verdicts (LigGraph *graph, GArray *candidates)
{
  const LigDeviceFacts *facts = lig_device_get_facts (graph->request->device);
  g_autofree LigReasonOp *ops = NULL;
  g_autofree LigReasonTimes *times = g_new (LigReasonTimes, MAX (graph->choice->verdicts->len, 1));
  g_autofree LigReasonFusion *fusions =
    g_new0 (LigReasonFusion, MAX (graph->choice->verdicts->len, 1));
  for (guint i = 0; i < graph->choice->verdicts->len; i++)
    fusions[i] = lig_name_fusion (g_array_index (graph->choice->verdicts, LigVerdict, i).fusion);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->shorter && !candidate->taken)
      continue;
    fusions[candidate->verdict].elements = candidate->group.elements;
    fusions[candidate->verdict].n_elements = LIG_MAX_ELEMENTS;
  }
  g_autofree double *forward = g_new (double, MAX (graph->parts->len, 1));
  g_autofree double *backward = g_new (double, MAX (graph->parts->len, 1));
  double *const alone[] = {forward, backward};
  fill_times (graph, candidates, times, alone);
  LigReasonCase the = lig_begin_case (graph, &ops);
  the.verdicts = (LigVerdict *) (gpointer) graph->choice->verdicts->data;
  the.fixes = (LigFix *const *) graph->choice->fixes->pdata;
  the.alternatives = (LigFix *const *) graph->choice->alternatives->pdata;
  the.times = times;
  the.alone[0] = forward;
  the.alone[1] = backward;
  the.fusions = fusions;
  the.n_verdicts = graph->choice->verdicts->len;
  the.copy = facts->copy;
  the.launch = facts->launch;
  lig_reasons_explain (&the);
}
