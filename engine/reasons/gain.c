/* SPDX-License-Identifier: MIT */
/* Estimates the time that a rejected fusion would save compared with the current groups, and
 * numbers the fixes. The estimate is the bytes of the values that would stay in the kernel, divided
 * by the copy bandwidth, plus the saved launches; known times of the groups replace it. */
#include "engine/reasons/near-miss.h"
#include "engine/reasons/words.h"

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

/* Returns the microseconds saved if `first` to `last` were one kernel that neither writes nor reads
 * intermediate values. A value that another op reads is still written. */
static double
estimate_saving (const Explainer *self, int first, int last, gboolean kept)
{
  double bytes = 0;
  for (int i = first; i < last && i < (int) self->facts->n_ops; i++)
    bytes += self->facts->ops[i].bytes;
  return 1e6 * (bytes * (kept ? 1 : 2) / self->facts->copy + self->facts->launch * (last - first));
}

/* The savings of groups compared with their unfused ops. */
typedef struct {
  double timed, estimated; /* microseconds; timed: NaN if a time is missing */
  double bytes;            /* NaN if unknown */
  double noise;            /* of the timed groups, in seconds */
  double outside;          /* seconds of their ops outside the range, unfused */
  gboolean measured;
  guint count;
} Savings;

static void
add_group (const Explainer *self, int owner, int first, int last, Savings *sum)
{
  const LigVerdict *group = &self->facts->verdicts[owner];
  const LigReasonTimes *times = &self->facts->times[owner];
  for (int side = 0; side < 2; side++)
    for (int i = group->first; i < group->first + group->count && covers (group->pass, side); i++)
      if (i < first || i > last)
        sum->outside += self->facts->alone[side][i];
  sum->timed += 1e6 * (times->unfused - times->fused);
  sum->estimated += estimate_saving (self, group->first, group->first + group->count - 1, FALSE);
  sum->bytes += times->unfused_bytes - times->fused_bytes;
  sum->noise += times->fused_noise;
  sum->measured &= times->measured;
  sum->count++;
}

/* Sums the savings of the groups that cover ops of the range in the pass. */
static Savings
sum_groups (const Explainer *self, LigPass pass, int first, int last)
{
  Savings sum = {.measured = TRUE};
  for (int side = 0; side < 2; side++)
    for (int i = first, previous = -1;
         covers (pass, side) && i <= last && i < (int) self->facts->n_ops; i++) {
      int owner = self->owners[side][i];
      if (owner < 0 || owner == previous)
        continue;
      const LigVerdict *group = &self->facts->verdicts[owner];
      previous = owner;
      /* Already counted with the first pass. */
      if (side == 1 && group->pass == LIG_PASS_JOINT && covers (pass, 0))
        continue;
      add_group (self, owner, first, last, &sum);
    }
  return sum;
}

/* Returns whether the gain is unknown: for a pattern that no edit makes match, for another recipe,
 * which would change all matmuls, for other parallelism, and for an edit that adds an op. */
static gboolean
is_unknown (const LigVerdict *verdict, const LigFix *fix)
{
  return verdict->taken || (verdict->reason == LIG_REASON_PATTERN && !fix) ||
         (verdict->reason == LIG_REASON_FORBIDDEN && !verdict->fits) ||
         verdict->reason == LIG_REASON_RECIPE || verdict->reason == LIG_REASON_PARALLEL ||
         (fix && fix->kind == LIG_FIX_INSERT_OP);
}

/* Returns the bytes of the values that would stay in the kernel: they are neither written nor read,
 * except that one that another op reads is still written. */
static double
estimate_bytes (const Explainer *self, int first, int last, gboolean kept)
{
  double bytes = 0;
  for (int i = first; i < last && i < (int) self->facts->n_ops; i++)
    bytes += self->facts->ops[i].bytes;
  return bytes * (kept ? 1 : 2);
}

/* Fills in the times. Times of whole steps, by which the compiler decided, replace those of
 * groups. */
static void
fill_times (LigVerdict *verdict, const LigReasonTimes *times, const Savings *now)
{
  verdict->fused = verdict->present = NAN;
  verdict->times_measured = times->measured && (verdict->taken || now->measured);
  verdict->whole = (verdict->reason == LIG_REASON_SLOWER || verdict->taken) && verdict->whole;
  if (verdict->whole && !verdict->taken) {
    verdict->times_measured = verdict->found.measured;
    verdict->fused = verdict->found.value;
    verdict->present = verdict->needed.value;
  } else if (is_timed (times)) {
    /* Both times cover the same ops, including those that the current groups would lose. */
    verdict->fused = 1e6 * (times->fused + now->outside);
    verdict->fused_noise = 1e6 * times->fused_noise;
    verdict->present = 1e6 * (times->unfused + now->outside) - (verdict->taken ? 0 : now->timed);
    verdict->present_noise =
      1e6 * (verdict->taken || now->count == 0 ? times->unfused_noise : now->noise);
  }
}

static void
estimate_gain (const Explainer *self, guint number)
{
  int first, last;
  LigVerdict *verdict = &self->facts->verdicts[number];
  const LigReasonTimes *times = &self->facts->times[number];
  lig_verdict_get_range (verdict, &first, &last);
  Savings now = sum_groups (self, verdict->pass, first, last);
  gboolean kept = verdict->reason == LIG_REASON_IN_USE;
  fill_times (verdict, times, &now);
  verdict->gain = NAN;
  verdict->bytes = verdict->taken ? times->unfused_bytes - times->fused_bytes : NAN;
  if (is_unknown (verdict, self->facts->fixes[number]))
    return;
  verdict->bytes = (isnan (times->fused_bytes) ? estimate_bytes (self, first, last, kept)
                                               : times->unfused_bytes - times->fused_bytes) -
                   now.bytes;
  verdict->gain_measured = !isnan (verdict->fused) && verdict->times_measured;
  if (!isnan (verdict->present))
    verdict->gain = verdict->present - verdict->fused;
  else if (self->facts->copy > 0)
    verdict->gain = estimate_saving (self, first, last, kept) - now.estimated;
  /* The compiler ignores a difference within 2 % or the noise. */
  if (verdict->reason == LIG_REASON_SLOWER && verdict->gain > 0)
    verdict->gain = 0;
}

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const LigVerdict *verdicts = data;
  guint one = *(const guint *) a, two = *(const guint *) b;
  int order = lig_verdict_compare (&verdicts[one], &verdicts[two]);
  return order != 0 ? order : one < two ? -1 : 1;
}

/* Returns a key of the edit: equal edits have equal keys. */
static char *
describe_edit (const LigFix *fix)
{
  gboolean names_fusion = fix->kind == LIG_FIX_UNFORBID || fix->kind == LIG_FIX_FORCE;
  return g_strdup_printf ("%d %s %s %s", fix->kind, fix->path ? fix->path : "",
                          names_fusion ? fix->fusion : "", fix->value ? fix->value : "");
}

static void
number_fix (const Explainer *self, guint verdict_number, LigFix *fix, GHashTable *edits)
{
  const LigVerdict *verdict = &self->facts->verdicts[verdict_number];
  if (!fix)
    return;
  if (fix->path) {
    /* An edit in a block applies to all its repetitions. */
    g_autofree char *path = lig_verdict_row_path (fix->path);
    fix->path = g_string_chunk_insert_const (self->facts->strings, path);
  }
  char *edit = describe_edit (fix);
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (edits, edit));
  fix->number = number > 0 ? number : g_hash_table_size (edits) + 1;
  /* An edit that only enables another group has no gain of its own. */
  gboolean blocked = self->facts->times[verdict_number].blocked;
  fix->gain = blocked ? NAN : verdict->gain;
  fix->measured = verdict->gain_measured;
  fix->bytes = blocked ? NAN : verdict->bytes;
  g_hash_table_replace (edits, edit, GUINT_TO_POINTER (fix->number));
}

/* Numbers the fixes from 1 in reading order. */
static void
number_fixes (const Explainer *self)
{
  g_autoptr (GHashTable) edits = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree guint *order = g_new (guint, MAX (self->facts->n_verdicts, 1));
  guint count = 0;
  for (guint i = 0; i < self->facts->n_verdicts; i++)
    if (self->facts->fixes[i] || self->facts->verdicts[i].alternative)
      order[count++] = i;
  g_qsort_with_data (order, (int) count, sizeof *order, compare, self->facts->verdicts);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &self->facts->verdicts[order[i]];
    number_fix (self, order[i], self->facts->fixes[order[i]], edits);
    if (verdict->alternative)
      number_fix (self, order[i], self->facts->alternatives[order[i]], edits);
  }
}

/* Sets a verdict's fixes; another policy is a fix only if the current policy missed a gain, or if
 * the gain is unknown because nothing was measured. */
static void
give_fixes (const Explainer *self, guint number)
{
  const LigFix *fix = self->facts->alternatives[number];
  LigVerdict *verdict = &self->facts->verdicts[number];
  gboolean leaves = !fix || fix->kind != LIG_FIX_CHOOSE_POLICY || !(verdict->gain <= 0);
  verdict->fix = self->facts->fixes[number];
  verdict->alternative = leaves ? fix : NULL;
}

/* Writes titles, then the sentences that refer to them. */
static void
write_texts (const Explainer *self)
{
  const LigReasonCase *facts = self->facts;
  LigReasonCase the = *facts;
  the.owners[0] = self->owners[0];
  the.owners[1] = self->owners[1];
  the.names = g_new0 (char *, facts->n_ops + 1);
  the.needs = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint i = 0; i < facts->n_verdicts; i++)
    lig_reasons_entitle (&the, &facts->verdicts[i], &facts->fusions[i]);
  for (guint i = 0; i < facts->n_verdicts; i++)
    lig_reasons_write (&the, &facts->verdicts[i], &facts->fusions[i]);
  for (guint i = 0; i < facts->n_ops; i++)
    g_free (the.names[i]);
  g_free (the.names);
  g_hash_table_unref (the.needs);
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
    give_fixes (&self, i);
  }
  number_fixes (&self);
  write_texts (&self);
  g_free (self.owners[0]);
  g_free (self.owners[1]);
}
