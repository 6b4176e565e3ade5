/* SPDX-License-Identifier: MIT */
/* Computes the gains of a draft's verdicts: the times of each legal candidate and of its single
 * ops. They are measured times if this compilation or an earlier one measured them, else
 * predictions; nothing is measured for them. */
#include "engine/compile/cover.h"
#include "engine/compile/offer.h"
#include "engine/reasons/explain.h"

#include <math.h>

typedef struct {
  LigDraft *draft;
  double *bytes[2];   /* likewise */
  LigPrice *alone[2]; /* of each single op; seconds NaN: unknown, negative: not looked up yet */
} Prices;

static const LigPrice *
get_alone (Prices *self, int index, LigPass pass)
{
  LigPrice *price = &self->alone[pass][index];
  LigGroup group = {.first = index, .count = 1, .n_elements = 1};
  if (price->seconds < 0)
    lig_price_recall_bytes (self->draft, &group, pass, price, &self->bytes[pass][index]);
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
    lig_price_recall_bytes (self->draft, &candidate->group, pass, &fused, &bytes);
    times.fused_bytes += bytes;
    add_price (&times.fused, &times.fused_noise, &times.measured, &fused);
    for (int i = candidate->group.first; i < candidate->group.first + candidate->group.count; i++) {
      add_price (&times.unfused, &times.unfused_noise, &times.measured, get_alone (self, i, pass));
      times.unfused_bytes += self->bytes[pass][i];
    }
  }
  return times;
}

/* Returns whether the candidate's ops can be lowered. A forbidden fusion with a condition of its
 * own is excluded, as the condition was not checked. */
static gboolean
can_be_priced (const LigCandidate *candidate, const LigVerdict *verdict)
{
  return candidate->legal || (verdict->reason == LIG_REASON_FORBIDDEN && candidate->whole &&
                              !candidate->group.fusion->allows);
}

static void
fill_times (LigDraft *draft, GArray *candidates, LigReasonTimes *times, double *const alone[2])
{
  Prices prices = {.draft = draft};
  for (int pass = 0; pass < 2; pass++) {
    prices.alone[pass] = g_new0 (LigPrice, draft->parts->len);
    prices.bytes[pass] = g_new0 (double, draft->parts->len);
    for (guint i = 0; i < draft->parts->len; i++)
      prices.alone[pass][i].seconds = -1;
  }
  for (guint i = 0; i < draft->verdicts->len; i++)
    times[i] =
      (LigReasonTimes){.fused = NAN, .unfused = NAN, .fused_bytes = NAN, .unfused_bytes = NAN};
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    const LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
    if (candidate->shorter && !candidate->taken)
      continue;
    if (can_be_priced (candidate, verdict))
      times[candidate->verdict] = find_times (&prices, candidate);
    times[candidate->verdict].blocked = lig_is_blocked (draft, candidates, i);
  }
  for (int pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < draft->parts->len; i++)
      alone[pass][i] = prices.alone[pass][i].seconds < 0 ? NAN : prices.alone[pass][i].seconds;
    g_free (prices.alone[pass]);
    g_free (prices.bytes[pass]);
  }
}

/* Returns the case of a draft with its ops, without verdicts. The ops are (transfer full). */
static LigReasonCase
begin_case (LigDraft *draft, LigReasonOp **ops)
{
  *ops = g_new (LigReasonOp, MAX (draft->parts->len, 1));
  for (int i = 0; i < (int) draft->parts->len; i++) {
    const LigPart *part = lig_part (draft, i);
    (*ops)[i] = (LigReasonOp){(double) lig_value (draft, part->y)->bytes, part->path, part->title,
                              part->info, part->implicit};
  }
  return (LigReasonCase){.ops = *ops, .n_ops = draft->parts->len, .strings = draft->strings};
}

static LigReasonFusion
name_fusion (const LigFusion *fusion)
{
  return (LigReasonFusion){
    .name = fusion->name, .summary = fusion->summary, .gradients = fusion->gradients};
}

const char *
lig_verdict_text (LigDraft *draft, const LigVerdict *verdict)
{
  g_autofree LigReasonOp *ops = NULL;
  LigReasonCase the = begin_case (draft, &ops);
  LigVerdict written = *verdict;
  written.gain = written.fused = written.present = NAN;
  LigReasonFusion fusion = name_fusion (verdict->fusion);
  lig_reasons_write (&the, &written, &fusion);
  return written.text;
}

void
lig_explain_verdicts (LigDraft *draft, GArray *candidates)
{
  const LigDeviceFacts *facts = lig_device_get_facts (draft->device);
  g_autofree LigReasonOp *ops = NULL;
  g_autofree LigReasonTimes *times = g_new (LigReasonTimes, MAX (draft->verdicts->len, 1));
  g_autofree LigReasonFusion *fusions = g_new0 (LigReasonFusion, MAX (draft->verdicts->len, 1));
  for (guint i = 0; i < draft->verdicts->len; i++)
    fusions[i] = name_fusion (g_array_index (draft->verdicts, LigVerdict, i).fusion);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    if (candidate->shorter && !candidate->taken)
      continue;
    fusions[candidate->verdict].elements = candidate->group.elements;
    fusions[candidate->verdict].n_elements = LIG_MAX_ELEMENTS;
  }
  g_autofree double *forward = g_new (double, MAX (draft->parts->len, 1));
  g_autofree double *backward = g_new (double, MAX (draft->parts->len, 1));
  double *const alone[] = {forward, backward};
  fill_times (draft, candidates, times, alone);
  LigReasonCase the = begin_case (draft, &ops);
  the.verdicts = (LigVerdict *) (gpointer) draft->verdicts->data;
  the.mends = (LigMend *const *) draft->mends->pdata;
  the.alternatives = (LigMend *const *) draft->alternatives->pdata;
  the.times = times;
  the.alone[0] = forward;
  the.alone[1] = backward;
  the.fusions = fusions;
  the.n_verdicts = draft->verdicts->len;
  the.copy = facts->copy;
  the.launch = facts->launch;
  lig_reasons_explain (&the);
}
