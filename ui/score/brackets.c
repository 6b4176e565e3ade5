/* SPDX-License-Identifier: MIT */
/* The brackets of the rails: the groups of a pass along the rows that they cover. */
#include "ui/score/map.h"
#include "ui/widgets/figures.h"

double
lig_score_group_measured (const LigPlanGroup *group, const double *steps, guint n_steps)
{
  double seconds = 0;
  for (int i = 0; i < group->n_steps && group->first_step + i < (int) n_steps; i++)
    seconds += steps[group->first_step + i];
  return seconds;
}

static guint
find_slot (const LigScoreMap *self, int y)
{
  guint low = 0, high = self->slots->len;
  while (low + 1 < high) {
    guint middle = (low + high) / 2;
    if (lig_score_map_get_slot (self, middle)->y <= y)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Returns FALSE for a group none of whose ops has a row. */
static gboolean
place_group (const LigScoreMap *self, const LigPlanGroup *group, LigScoreBracket *bracket)
{
  int top = G_MAXINT, bottom = 0;
  for (int i = group->first; i < group->first + group->count; i++)
    if (i < (int) self->n_ops && self->bottoms[i] > 0) {
      top = MIN (top, self->tops[i]);
      bottom = MAX (bottom, self->bottoms[i]);
    }
  if (bottom == 0)
    return FALSE;
  bracket->y = top;
  bracket->height = bottom - top;
  bracket->from = find_slot (self, top);
  bracket->to = find_slot (self, bottom - 1);
  return TRUE;
}

static double
get_measured (const LigPlanGroup *group, const double *steps, guint n_steps)
{
  return steps ? lig_score_group_measured (group, steps, n_steps) : group->measured;
}

static void
sum_block (LigScoreBracket *bracket,
           const LigScoreSlot *slot,
           const LigPlanGroup *groups,
           guint count,
           const double *steps,
           guint n_steps)
{
  for (guint i = 0; i < count; i++) {
    if (groups[i].first < slot->first || groups[i].first >= slot->first + slot->count)
      continue;
    if (groups[i].fusion)
      bracket->fused++;
    else if (groups[i].n_steps > 0)
      bracket->alone++;
    bracket->seconds += lig_figure_predicted (&groups[i]);
    bracket->measured += get_measured (&groups[i], steps, n_steps);
  }
}

static int
compare_brackets (gconstpointer a, gconstpointer b)
{
  return ((const LigScoreBracket *) a)->y - ((const LigScoreBracket *) b)->y;
}

void
lig_score_map_add_brackets (LigScoreMap *self, LigPass pass, const double *steps, guint n_steps)
{
  guint count;
  GArray *brackets = self->brackets[pass];
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  for (guint i = 0; i < count; i++) {
    LigScoreBracket bracket = {.group = &groups[i],
                               .pass = pass,
                               .seconds = lig_figure_predicted (&groups[i]),
                               .measured = get_measured (&groups[i], steps, n_steps)};
    self->seconds[pass] += bracket.measured > 0 ? bracket.measured : bracket.seconds;
    self->bytes[pass] += groups[i].bytes;
    if (place_group (self, &groups[i], &bracket))
      g_array_append_val (brackets, bracket);
  }
  for (guint i = 0; i < self->slots->len && count > 0; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self, i);
    LigScoreBracket bracket = {
      .pass = pass, .from = i, .to = i, .y = slot->y, .height = slot->height};
    if (!slot->block || slot->first < 0)
      continue;
    sum_block (&bracket, slot, groups, count, steps, n_steps);
    g_array_append_val (brackets, bracket);
  }
  g_array_sort (brackets, compare_brackets);
}
