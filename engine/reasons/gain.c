/* SPDX-License-Identifier: MIT */
/* Estimates the time that a refused fusion would save compared with the current groups, and numbers
 * the mends. An estimate is the bytes of the values that would stay in the kernel, divided by the
 * copy bandwidth, plus the saved launches; known times of the groups replace it. */
#include "engine/reasons/explain.h"

#include <math.h>

typedef struct {
  const LigReasonCase *facts;
  int *owners[2]; /* the verdict whose group covers each op in a pass, or -1 */
} Explainer;

static gboolean
covers (LigPass pass, int asked)
{
  return pass == LIG_PASS_JOINT || (int) pass == asked;
}

static gboolean
is_timed (const LigReasonTimes *times)
{
  return !isnan (times->fused) && !isnan (times->unfused);
}

/* Returns the microseconds saved if `first` to `last`, as one kernel, did not write and read
 * intermediate values. A value that another op reads is still written. */
static double
estimate_saving (const Explainer *self, int first, int last, gboolean kept)
{
  double bytes = 0;
  for (int i = first; i < last && i < (int) self->facts->n_ops; i++)
    bytes += self->facts->ops[i].bytes;
  return 1e6 * (bytes * (kept ? 1 : 2) / self->facts->copy + self->facts->launch * (last - first));
}

/* Adds the savings of the groups that cover ops of the range in the pass; false if a time is
 * missing. */
static gboolean
sum_groups (const Explainer *self,
            LigPass pass,
            int first,
            int last,
            double *saved,
            gboolean timed,
            gboolean *measured)
{
  for (int side = 0; side < 2; side++)
    for (int i = first, previous = -1;
         covers (pass, side) && i <= last && i < (int) self->facts->n_ops; i++) {
      int owner = self->owners[side][i];
      if (owner < 0 || owner == previous)
        continue;
      const LigVerdict *group = &self->facts->verdicts[owner];
      previous = owner;
      /* Counted with the first side. */
      if (side == 1 && group->pass == LIG_PASS_JOINT && covers (pass, 0))
        continue;
      const LigReasonTimes *times = &self->facts->times[owner];
      if (timed && !is_timed (times))
        return FALSE;
      int last_op = group->first + group->count - 1;
      *saved += timed ? 1e6 * (times->unfused - times->fused)
                      : estimate_saving (self, group->first, last_op, FALSE);
      *measured &= times->measured;
    }
  return TRUE;
}

/* Returns whether the gain is unknown, as for a pattern that no edit makes fit, and for an edit
 * that adds an op. */
static gboolean
is_unknown (const LigVerdict *verdict, const LigMend *mend)
{
  return verdict->taken || (verdict->reason == LIG_REASON_PATTERN && !mend) ||
         (verdict->reason == LIG_REASON_FORBIDDEN && !verdict->fits) ||
         (mend && mend->kind == LIG_MEND_INSERT_OP);
}

/* Estimates a gain. Times of whole steps replace those of groups if they decided the verdict. */
static void
estimate_gain (const Explainer *self, guint number)
{
  int first, last;
  double now = 0;
  LigVerdict *verdict = &self->facts->verdicts[number];
  const LigReasonTimes *times = &self->facts->times[number];
  gboolean measured = times->measured;
  verdict->gain = NAN;
  if (is_unknown (verdict, self->facts->mends[number]))
    return;
  lig_verdict_get_range (verdict, &first, &last);
  if (verdict->reason == LIG_REASON_SLOWER && g_strcmp0 (verdict->found.unit, "us") == 0) {
    verdict->gain = verdict->needed.value - verdict->found.value;
    verdict->gain_measured = verdict->found.measured && verdict->needed.measured;
  } else if (is_timed (times) &&
             sum_groups (self, verdict->pass, first, last, &now, TRUE, &measured)) {
    verdict->gain = 1e6 * (times->unfused - times->fused) - now;
    verdict->gain_measured = measured;
  } else if (self->facts->copy > 0) {
    now = 0;
    sum_groups (self, verdict->pass, first, last, &now, FALSE, &measured);
    verdict->gain = estimate_saving (self, first, last, verdict->reason == LIG_REASON_IN_USE) - now;
  }
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigVerdict *verdicts = data;
  guint one = *(const guint *) a, two = *(const guint *) b;
  int order = lig_verdict_compare (&verdicts[one], &verdicts[two]);
  return order != 0 ? order : one < two ? -1 : 1;
}

/* Returns a text that is the same for the same edit. */
static char *
describe_edit (const Explainer *self, const LigVerdict *verdict, const LigMend *mend)
{
  gconstpointer place = NULL;
  gboolean names_fusion = mend->kind == LIG_MEND_UNFORBID || mend->kind == LIG_MEND_FORCE;
  for (int i = verdict->first; mend->path && !place && i < (int) self->facts->n_ops; i++)
    if (self->facts->ops[i].path && g_str_equal (self->facts->ops[i].path, mend->path))
      place = self->facts->ops[i].written;
  return g_strdup_printf ("%d %p %s %s %s", mend->kind, place,
                          place || !mend->path ? "" : mend->path, names_fusion ? mend->fusion : "",
                          mend->value ? mend->value : "");
}

/* Numbers the mends from 1 in reading order. */
static void
number_mends (const Explainer *self)
{
  g_autoptr (GHashTable) edits = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint *order = g_new (guint, MAX (self->facts->n_verdicts, 1));
  guint count = 0;
  for (guint i = 0; i < self->facts->n_verdicts; i++)
    if (self->facts->mends[i])
      order[count++] = i;
  g_qsort_with_data (order, (int) count, sizeof *order, compare, self->facts->verdicts);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &self->facts->verdicts[order[i]];
    LigMend *mend = self->facts->mends[order[i]];
    char *edit = describe_edit (self, verdict, mend);
    guint number = GPOINTER_TO_UINT (g_hash_table_lookup (edits, edit));
    mend->number = number > 0 ? number : g_hash_table_size (edits) + 1;
    mend->gain = verdict->gain;
    mend->measured = verdict->gain_measured;
    g_hash_table_replace (edits, edit, GUINT_TO_POINTER (mend->number));
  }
}

void
lig_reasons_explain (const LigReasonCase *facts)
{
  Explainer self = {facts, {NULL, NULL}};
  for (int side = 0; side < 2; side++) {
    self.owners[side] = g_new (int, MAX (facts->n_ops, 1));
    for (guint i = 0; i < facts->n_ops; i++)
      self.owners[side][i] = -1;
  }
  for (guint i = 0; i < facts->n_verdicts; i++)
    for (int side = 0; side < 2 && facts->verdicts[i].taken; side++)
      for (int k = 0; k < facts->verdicts[i].count && covers (facts->verdicts[i].pass, side); k++)
        self.owners[side][facts->verdicts[i].first + k] = (int) i;
  for (guint i = 0; i < facts->n_verdicts; i++) {
    estimate_gain (&self, i);
    facts->verdicts[i].mend = facts->mends[i];
  }
  number_mends (&self);
  g_free (self.owners[0]);
  g_free (self.owners[1]);
}
