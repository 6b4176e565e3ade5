/* SPDX-License-Identifier: MIT */
/* Each rank measures its own times. The duration of a collective is the one on the rank that
 * reaches it last, because that rank does not wait. Waits are compared like in a run: those of the
 * rank that waits least are the time of the collectives, and the others' longer waits are for that
 * rank. */
#include "engine/train/profile-ranks.h"

#include "engine/ranks/messages.h"
#include <glib/gi18n-lib.h>
#include <ligature/fabric.h>
#include <ligature/kernels.h>
#include <ligature/ranks.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* The numbers that a rank sends to the others: those of the step, then those of each collective. */
enum { WAITED, BUSY, FIRST_COLLECTIVE };
enum { TIME, WAIT, N_FIGURES };

/* Collectives of different plans would hang. */
gboolean
lig_profile_compare_ranks (
  LigSequence *sequence, LigDevice *device, guint count, guint rounds, GError **error)
{
  LigRanks *ranks = lig_device_get_ranks (device);
  if (!ranks)
    return TRUE;
  g_autofree char *text = lig_sequence_to_json (sequence);
  g_autofree char *numbers = g_strdup_printf ("%u, %u", count, rounds);
  return lig_ranks_agree (ranks, _ ("the version"), LIG_VERSION, error) &&
         lig_ranks_agree (ranks, _ ("the sequence"), text, error) &&
         lig_ranks_agree (ranks, _ ("the plans and rounds of the profile"), numbers, error);
}

gboolean
lig_profile_meet (LigDevice *device, gboolean *goes_on, GError **error)
{
  LigRanks *ranks = lig_device_get_ranks (device);
  double together = 0;
  return lig_ranks_sum (ranks, &together, 1, error) &&
         lig_ranks_broadcast (ranks, goes_on, sizeof *goes_on, error);
}

void
lig_profile_ranks_free (LigProfileRanks *self)
{
  if (!self)
    return;
  g_free (self->collectives);
  g_free (self);
}

static double
find_median (const double *samples, guint width, guint column, guint rounds)
{
  LigSpread spread;
  g_autofree double *values = g_new (double, rounds);
  for (guint round = 0; round < rounds; round++)
    values[round] = samples[round * width + column];
  lig_spread_measure (values, rounds, &spread);
  return spread.median;
}

/* Returns the indices of steps that are collectives; (transfer full), of int. */
static GArray *
list_collectives (LigPlan *plan)
{
  guint count;
  const LigPlanStep *steps = lig_plan_get_steps (plan, &count);
  GArray *list = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) count; i++)
    if (steps[i].kernel && steps[i].kernel->collective)
      g_array_append_val (list, i);
  return list;
}

/* Returns the mean number of CPUs that this process has kept busy since the measurement began. */
static double
find_busy (const LigConditions *conditions)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  double used = (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                1e-6 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  double seconds = 1e-6 * (double) g_get_monotonic_time () - conditions->began[0];
  return seconds > 0 ? fmax (used - conditions->began[2], 0) / seconds : 0;
}

/* The other ranks of this machine do not count as programs that disturb the measurement. */
static void
exclude_ranks (LigConditions *conditions, LigRanks *ranks, const double *all, guint stride)
{
  int self = lig_ranks_get_rank (ranks);
  for (int rank = 0; rank < lig_ranks_get_count (ranks) && conditions->others >= 0; rank++)
    if (rank != self &&
        strcmp (lig_ranks_get_host (ranks, rank), lig_ranks_get_host (ranks, self)) == 0)
      conditions->others = fmax (conditions->others - all[(gsize) rank * stride + BUSY], 0);
  lig_conditions_judge (conditions);
}

/* Returns the numbers that this rank measured. */
static double *
list_own (GArray *collectives,
          const double *samples,
          guint width,
          guint first_step,
          guint rounds,
          guint *count)
{
  guint n_steps = (width - first_step) / 2;
  *count = FIRST_COLLECTIVE + N_FIGURES * collectives->len;
  double *own = g_new0 (double, *count);
  for (guint i = 0; i < collectives->len; i++) {
    guint column = first_step + (guint) g_array_index (collectives, int, i);
    double *figures = own + FIRST_COLLECTIVE + N_FIGURES * i;
    figures[TIME] = find_median (samples, width, column, rounds);
    figures[WAIT] = find_median (samples, width, column + n_steps, rounds);
  }
  g_autofree double *sums = g_new0 (double, rounds);
  for (guint round = 0; round < rounds; round++)
    for (guint i = first_step + n_steps; i < width; i++)
      sums[round] += samples[round * width + i];
  own[WAITED] = find_median (sums, 1, 0, rounds);
  return own;
}

/* Compares a collective of all ranks; `all` has `stride` numbers of each. */
static void
compare_collective (
  const double *all, guint stride, int count, int slowest, LigProfileCollective *collective)
{
  double min = all[WAIT], max = all[WAIT];
  collective->seconds = all[TIME];
  for (int rank = 1; rank < count; rank++) {
    const double *figures = all + (gsize) rank * stride;
    collective->seconds = MIN (collective->seconds, figures[TIME]);
    min = MIN (min, figures[WAIT]);
    max = MAX (max, figures[WAIT]);
  }
  collective->exposed = all[(gsize) slowest * stride + WAIT];
  collective->imbalance = max - min;
}

static LigProfileRanks *
compare (const double *all, guint stride, int count, GArray *collectives)
{
  LigProfileRanks *self = g_new0 (LigProfileRanks, 1);
  double max = all[WAITED];
  self->count = count;
  for (int rank = 1; rank < count; rank++) {
    double waited = all[(gsize) rank * stride + WAITED];
    max = MAX (max, waited);
    if (waited < all[(gsize) self->slowest * stride + WAITED])
      self->slowest = rank;
  }
  self->exposed = all[(gsize) self->slowest * stride + WAITED];
  self->imbalance = max - self->exposed;
  self->n_collectives = collectives->len;
  self->collectives = g_new0 (LigProfileCollective, collectives->len);
  for (guint i = 0; i < collectives->len; i++) {
    self->collectives[i].step = g_array_index (collectives, int, i);
    compare_collective (all + FIRST_COLLECTIVE + N_FIGURES * i, stride, count, self->slowest,
                        &self->collectives[i]);
  }
  return self;
}

gboolean
lig_profile_join_ranks (LigProfile *self,
                        const double *samples,
                        guint width,
                        guint first_step,
                        guint rounds,
                        GError **error)
{
  LigRanks *ranks = lig_device_get_ranks (lig_plan_get_device (self->plan));
  guint stride;
  if (!ranks)
    return TRUE;
  int count = lig_ranks_get_count (ranks);
  g_autoptr (GArray) collectives = list_collectives (self->plan);
  g_autofree double *own = list_own (collectives, samples, width, first_step, rounds, &stride);
  g_autofree double *all = g_new (double, (gsize) stride *(gsize) count);
  own[BUSY] = find_busy (&self->conditions);
  if (!lig_ranks_gather (ranks, own, stride, all, error))
    return FALSE;
  exclude_ranks (&self->conditions, ranks, all, stride);
  self->ranks = compare (all, stride, count, collectives);
  return TRUE;
}
