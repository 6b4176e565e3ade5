/* SPDX-License-Identifier: MIT */
/* Finds the verdicts at a place, most useful first. */
#include "engine/reasons/near-miss.h"

#include <ligature/verdict.h>

#include <math.h>

void
lig_verdict_get_range (const LigVerdict *self, int *first, int *last)
{
  *first = self->first;
  *last = self->first + self->count - 1;
  if (self->reason != LIG_REASON_PATTERN)
    return;
  if (self->found.kind == LIG_EVIDENCE_END)
    ++*last;
  *first = MAX (*first, *last - 1);
}

/* Returns the priority of a verdict. An edit may satisfy a condition; an overlapping group is
 * harder to avoid. */
static int
get_rank (const LigVerdict *verdict)
{
  if (verdict->taken)
    return 2;
  if (verdict->reason == LIG_REASON_PATTERN)
    return 3;
  return verdict->reason == LIG_REASON_CLAIMED ? 1 : 0;
}

int
lig_verdict_compare (const LigVerdict *a, const LigVerdict *b)
{
  if (get_rank (a) != get_rank (b))
    return get_rank (a) - get_rank (b);
  if (a->fits != b->fits)
    return a->fits ? -1 : 1;
  if (isnan (a->gain) != isnan (b->gain))
    return isnan (a->gain) ? 1 : -1;
  if (!isnan (a->gain) && a->gain != b->gain)
    return a->gain > b->gain ? -1 : 1;
  if ((a->fix == NULL) != (b->fix == NULL))
    return a->fix ? -1 : 1;
  return 0;
}

/* Compares verdicts; ties keep the order of the plan. */
static int
compare (gconstpointer a, gconstpointer b)
{
  const LigVerdict *one = *(const LigVerdict *const *) a, *two = *(const LigVerdict *const *) b;
  int order = lig_verdict_compare (one, two);
  return order != 0                 ? order
         : one->first != two->first ? one->first - two->first
         : one < two                ? -1
                                    : 1;
}

/* Returns whether the verdict says more about its fusion at a place than the other. */
static gboolean
says_more (const LigVerdict *verdict, const LigVerdict *than)
{
  if (verdict->taken != than->taken)
    return verdict->taken;
  return compare (&verdict, &than) < 0;
}

GPtrArray *
lig_verdicts_about (const LigVerdict *verdicts,
                    guint n_verdicts,
                    guint n_ops,
                    int first,
                    int last,
                    gboolean gaps,
                    LigPass pass)
{
  GPtrArray *list = g_ptr_array_new ();
  g_autoptr (GPtrArray) all = lig_verdicts_at (verdicts, n_verdicts, n_ops, first, last, gaps);
  for (guint i = 0; i < all->len; i++) {
    guint known = 0;
    const LigVerdict *verdict = all->pdata[i];
    if (verdict->pass != pass && verdict->pass != LIG_PASS_JOINT)
      continue;
    while (known < list->len &&
           ((const LigVerdict *) list->pdata[known])->fusion != verdict->fusion)
      known++;
    if (known == list->len)
      g_ptr_array_add (list, (gpointer) verdict);
    else if (says_more (verdict, list->pdata[known]))
      list->pdata[known] = (gpointer) verdict;
  }
  g_ptr_array_sort (list, compare);
  return list;
}

GPtrArray *
lig_verdicts_at (
  const LigVerdict *verdicts, guint n_verdicts, guint n_ops, int first, int last, gboolean gaps)
{
  GPtrArray *list = g_ptr_array_new ();
  for (guint i = 0; i < n_verdicts; i++) {
    int from, to;
    lig_verdict_get_range (&verdicts[i], &from, &to);
    gboolean touches =
      gaps ? MAX (first, from) < MIN (last, to) : from <= last && first <= to && to < (int) n_ops;
    if (touches)
      g_ptr_array_add (list, (gpointer) &verdicts[i]);
  }
  g_ptr_array_sort (list, compare);
  return list;
}
