/* SPDX-License-Identifier: MIT */
/* Offers to drop the force of the group that covers a fusion's ops, and to choose the policy that
 * measures. */
#include "engine/compile/cover.h"
#include "engine/compile/offer.h"

typedef struct {
  LigDraft *draft;
  GArray *candidates;
  const LigFusion *dropped; /* the force that is dropped: its fusion and its op as written */
  const LigOp *at;
} Trial;

static const LigCandidate *
get (const Trial *self, guint number)
{
  return &g_array_index (self->candidates, LigCandidate, number);
}

/* Returns whether the candidate is forced, and remains so. */
static gboolean
stays_forced (const Trial *self, const LigCandidate *candidate)
{
  return candidate->forced && (candidate->group.fusion != self->dropped ||
                               lig_part (self->draft, candidate->group.first)->written != self->at);
}

static gboolean
overlap (const LigCandidate *a, const LigCandidate *b)
{
  gboolean pass = FALSE;
  for (LigPass side = LIG_PASS_FORWARD; side <= LIG_PASS_BACKWARD; side++)
    pass |= lig_covers_pass (a, side) && lig_covers_pass (b, side);
  return pass && a->group.first < b->group.first + b->group.count &&
         b->group.first < a->group.first + a->group.count;
}

/* Claims the candidate's ops if they are free. @owned: of each op, a bit for each pass */
static gboolean
claim (const LigCandidate *candidate, guint8 *owned)
{
  guint8 bits = (lig_covers_pass (candidate, LIG_PASS_FORWARD) ? 1 : 0) |
                (lig_covers_pass (candidate, LIG_PASS_BACKWARD) ? 2 : 0);
  for (int i = 0; i < candidate->group.count; i++)
    if (owned[candidate->group.first + i] & bits)
      return FALSE;
  for (int i = 0; i < candidate->group.count; i++)
    owned[candidate->group.first + i] |= bits;
  return TRUE;
}

/* Returns whether policy `all` would take the candidate without the force. */
static gboolean
wins_in_order (const Trial *self, const LigCandidate *wanted)
{
  gboolean taken = FALSE;
  g_autofree guint8 *owned = g_new0 (guint8, self->draft->parts->len);
  for (int forced = 1; forced >= 0; forced--)
    for (guint i = 0; i < self->candidates->len; i++) {
      const LigCandidate *candidate = get (self, i);
      if ((candidate->legal || candidate == wanted) && !candidate->shorter &&
          stays_forced (self, candidate) == forced && claim (candidate, owned))
        taken |= candidate == wanted;
    }
  return taken;
}

/* Returns whether policy `measured` would take the candidate: it saves more than all those together
 * whose ops it needs. */
static gboolean
wins_measured (const Trial *self, const LigCandidate *wanted)
{
  double others = 0;
  if (wanted->loses)
    return FALSE;
  for (guint i = 0; i < self->candidates->len; i++) {
    const LigCandidate *candidate = get (self, i);
    if (candidate == wanted || !candidate->legal || !overlap (candidate, wanted))
      continue;
    if (stays_forced (self, candidate))
      return FALSE;
    /* A shorter match at the same op saves a part of what the whole one saves. */
    gboolean part = candidate->shorter && candidate->group.fusion == wanted->group.fusion &&
                    candidate->group.first == wanted->group.first;
    if (!candidate->loses && !part)
      others += candidate->unfused - candidate->fused;
  }
  return wanted->unfused - wanted->fused > others;
}

static LigMend *
new_mend (LigMendKind kind, const LigCandidate *candidate, const char *path, const char *value)
{
  LigMend *mend = g_new0 (LigMend, 1);
  mend->kind = kind;
  mend->fusion = candidate->group.fusion->name;
  mend->path = path;
  mend->value = value;
  return mend;
}

/* Returns whether the candidate would be taken if its force replaced the one that is dropped. Two
 * different forced fusions that overlap are an error. */
static gboolean
wins_by_force (const Trial *self, const LigCandidate *wanted)
{
  gboolean taken = FALSE;
  const LigOp *at = lig_part (self->draft, wanted->group.first)->written;
  g_autofree guint8 *owned = g_new0 (guint8, self->draft->parts->len);
  for (guint i = 0; i < self->candidates->len; i++) {
    const LigCandidate *candidate = get (self, i);
    gboolean same = candidate->group.fusion == wanted->group.fusion;
    gboolean forced = stays_forced (self, candidate) ||
                      (same && lig_part (self->draft, candidate->group.first)->written == at);
    if (!candidate->legal || candidate->shorter || !forced)
      continue;
    gboolean fits = claim (candidate, owned);
    taken |= fits && candidate == wanted;
    if (!fits && !same)
      return FALSE;
  }
  return taken;
}

static void
offer_unforce (LigDraft *draft, GArray *candidates, const LigCandidate *candidate)
{
  const LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
  const LigFusion *forced = lig_fusion_find (verdict->found.fusion);
  Trial self = {draft, candidates, forced, lig_part (draft, verdict->found.first)->written};
  gboolean wins = draft->policy == LIG_POLICY_MEASURED ? wins_measured (&self, candidate)
                                                       : wins_in_order (&self, candidate);
  if (draft->mends->pdata[candidate->verdict])
    return;
  if (wins) {
    draft->mends->pdata[candidate->verdict] =
      new_mend (LIG_MEND_UNFORCE, candidate, verdict->found.path, forced->name);
  } else if (wins_by_force (&self, candidate)) {
    g_autofree char *path = lig_verdict_row_path (verdict->found.path);
    g_autofree char *replaced = g_strdup_printf ("%s@%s", forced->name, path);
    draft->mends->pdata[candidate->verdict] =
      new_mend (LIG_MEND_FORCE, candidate, lig_part (draft, candidate->group.first)->path,
                g_string_chunk_insert_const (draft->strings, replaced));
  }
}

gboolean
lig_is_blocked (LigDraft *draft, GArray *candidates, guint number)
{
  const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, number);
  const LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
  Trial self = {draft, candidates, NULL, NULL};
  gboolean edited = verdict->reason == LIG_REASON_FENCED || verdict->reason == LIG_REASON_IN_USE ||
                    verdict->reason == LIG_REASON_FORBIDDEN ||
                    verdict->reason == LIG_REASON_PATTERN;
  if (!edited || candidate->shorter || !draft->mends->pdata[candidate->verdict])
    return FALSE;
  if (draft->policy == LIG_POLICY_ALL)
    return !wins_in_order (&self, candidate);
  for (guint i = 0; i < candidates->len; i++)
    if (get (&self, i)->forced && get (&self, i)->legal && overlap (get (&self, i), candidate))
      return TRUE;
  return FALSE;
}

void
lig_offer_options (LigDraft *draft, GArray *candidates)
{
  gboolean measures =
    draft->policy != LIG_POLICY_MEASURED && !lig_device_has (draft->device, LIG_DEVICE_DESCRIBED);
  for (guint i = 0; i < candidates->len; i++) {
    const LigCandidate *candidate = &g_array_index (candidates, LigCandidate, i);
    const LigVerdict *verdict = &g_array_index (draft->verdicts, LigVerdict, candidate->verdict);
    gboolean claimed = verdict->reason == LIG_REASON_CLAIMED;
    gboolean none = verdict->reason == LIG_REASON_FORBIDDEN &&
                    verdict->found.kind == LIG_EVIDENCE_POLICY && candidate->whole;
    if (candidate->shorter || candidate->taken || (!claimed && !none))
      continue;
    if (claimed && verdict->found.path)
      offer_unforce (draft, candidates, candidate);
    else if (measures)
      draft->alternatives->pdata[candidate->verdict] =
        new_mend (LIG_MEND_CHOOSE_POLICY, candidate, NULL, lig_policy_name (LIG_POLICY_MEASURED));
  }
}
