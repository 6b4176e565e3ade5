/* SPDX-License-Identifier: MIT */
/* The time that a refused fusion would save over the groups that run now, and the numbers of mends.
 * An estimate counts the bytes of the values that would stay in the kernel over the bandwidth of a
 * copy, and the launches that go; times of the groups take its place where they are known. */
#include "engine/reasons/explain.h"

#include <math.h>

typedef struct {
  const LigReasonCase *the;
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
  return !isnan (times->fused) && !isnan (times->apart);
}

/* Microseconds for values that `first` to `last`, as one kernel, would not write and read again. A
 * value that another op reads is still written. */
static double
estimate_saving (const Explainer *self, int first, int last, gboolean kept)
{
  double bytes = 0;
  for (int i = first; i < last && i < (int) self->the->n_ops; i++)
    bytes += self->the->ops[i].bytes;
  return 1e6 * (bytes * (kept ? 1 : 2) / self->the->copy + self->the->launch * (last - first));
}

/* Adds up over the groups that cover ops of the range in the pass; false where a time is missing.
 */
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
         covers (pass, side) && i <= last && i < (int) self->the->n_ops; i++) {
      int owner = self->owners[side][i];
      if (owner < 0 || owner == previous)
        continue;
      const LigVerdict *group = &self->the->verdicts[owner];
      previous = owner;
      /* The first side counted it already. */
      if (side == 1 && group->pass == LIG_PASS_JOINT && covers (pass, 0))
        continue;
      const LigReasonTimes *times = &self->the->times[owner];
      if (timed && !is_timed (times))
        return FALSE;
      int last_op = group->first + group->count - 1;
      *saved += timed ? 1e6 * (times->apart - times->fused)
                      : estimate_saving (self, group->first, last_op, FALSE);
      *measured &= times->measured;
    }
  return TRUE;
}

/* Of a pattern that no edit makes fit, and of an edit that adds work of its own, nothing is known.
 */
static gboolean
is_unknown (const LigVerdict *verdict, const LigMend *mend)
{
  return verdict->taken || (verdict->reason == LIG_REASON_PATTERN && !mend) ||
         (verdict->reason == LIG_REASON_FORBIDDEN && !verdict->fits) ||
         (mend && mend->kind == LIG_MEND_INSERT_OP);
}

/* Times of whole steps take the place of those of groups where they decided. */
static void
estimate_gain (const Explainer *self, guint number)
{
  int first, last;
  double now = 0;
  LigVerdict *verdict = &self->the->verdicts[number];
  const LigReasonTimes *times = &self->the->times[number];
  gboolean measured = times->measured;
  verdict->gain = NAN;
  if (is_unknown (verdict, self->the->mends[number]))
    return;
  lig_verdict_get_range (verdict, &first, &last);
  if (verdict->reason == LIG_REASON_SLOWER && g_strcmp0 (verdict->found.unit, "us") == 0) {
    verdict->gain = verdict->needed.value - verdict->found.value;
    verdict->gain_measured = verdict->found.measured && verdict->needed.measured;
  } else if (is_timed (times) &&
             sum_groups (self, verdict->pass, first, last, &now, TRUE, &measured)) {
    verdict->gain = 1e6 * (times->apart - times->fused) - now;
    verdict->gain_measured = measured;
  } else if (self->the->copy > 0) {
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

/* The edit as a text that is the same for the same edit. */
static char *
describe_edit (const Explainer *self, const LigVerdict *verdict, const LigMend *mend)
{
  gconstpointer place = NULL;
  gboolean wish = mend->kind == LIG_MEND_UNFORBID || mend->kind == LIG_MEND_FORCE;
  for (int i = verdict->first; mend->path && !place && i < (int) self->the->n_ops; i++)
    if (self->the->ops[i].path && g_str_equal (self->the->ops[i].path, mend->path))
      place = self->the->ops[i].written;
  return g_strdup_printf ("%d %p %s %s %s", mend->kind, place,
                          place || !mend->path ? "" : mend->path, wish ? mend->fusion : "",
                          mend->value ? mend->value : "");
}

/* The first in the order of reading has the number 1. */
static void
number_mends (const Explainer *self)
{
  g_autoptr (GHashTable) edits = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint *order = g_new (guint, MAX (self->the->n_verdicts, 1));
  guint count = 0;
  for (guint i = 0; i < self->the->n_verdicts; i++)
    if (self->the->mends[i])
      order[count++] = i;
  g_qsort_with_data (order, (int) count, sizeof *order, compare, self->the->verdicts);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &self->the->verdicts[order[i]];
    LigMend *mend = self->the->mends[order[i]];
    char *edit = describe_edit (self, verdict, mend);
    guint number = GPOINTER_TO_UINT (g_hash_table_lookup (edits, edit));
    mend->number = number > 0 ? number : g_hash_table_size (edits) + 1;
    mend->gain = verdict->gain;
    mend->measured = verdict->gain_measured;
    g_hash_table_replace (edits, edit, GUINT_TO_POINTER (mend->number));
  }
}

void
lig_reasons_explain (const LigReasonCase *the)
{
  Explainer self = {the, {NULL, NULL}};
  for (int side = 0; side < 2; side++) {
    self.owners[side] = g_new (int, MAX (the->n_ops, 1));
    for (guint i = 0; i < the->n_ops; i++)
      self.owners[side][i] = -1;
  }
  for (guint i = 0; i < the->n_verdicts; i++)
    for (int side = 0; side < 2 && the->verdicts[i].taken; side++)
      for (int k = 0; k < the->verdicts[i].count && covers (the->verdicts[i].pass, side); k++)
        self.owners[side][the->verdicts[i].first + k] = (int) i;
  for (guint i = 0; i < the->n_verdicts; i++) {
    estimate_gain (&self, i);
    the->verdicts[i].mend = the->mends[i];
  }
  number_mends (&self);
  g_free (self.owners[0]);
  g_free (self.owners[1]);
}
