/* SPDX-License-Identifier: MIT */
/* The brackets of the rails: the groups of a pass along the rows that they cover. */
#include "ui/score/map.h"

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

/* Returns FALSE for a group without a row for any op. */
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

/* --- Marks --------------------------------------------------------------------------------- */

/* Returns the marks of each op in a pass; (transfer full). A fusion that is forbidden everywhere
 * marks only the ops where it would match. */
static guint8 *
mark_ops (LigPlan *plan, LigPass pass)
{
  guint count, n_ops;
  const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
  const LigPlanGroup *groups;
  lig_plan_get_ops (plan, &n_ops);
  guint8 *marks = g_new0 (guint8, n_ops + 1);
  for (guint i = 0; i < count; i++) {
    const LigVerdict *verdict = &verdicts[i];
    gboolean here = verdict->pass == pass || verdict->pass == LIG_PASS_JOINT;
    if (here && verdict->reason == LIG_REASON_FORBIDDEN && verdict->fits &&
        verdict->found.kind == LIG_EVIDENCE_FORBIDDEN)
      marks[verdict->first] |= LIG_SCORE_FORBIDDEN;
  }
  groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < count; i++) {
    if (groups[i].fusion && lig_plan_is_forced (plan, &groups[i]))
      marks[groups[i].first] |= LIG_SCORE_FORCED;
    int bits = lig_plan_get_bits (plan, &groups[i]);
    if (bits > 0)
      marks[groups[i].first] |= bits == 4 ? LIG_SCORE_FOUR : LIG_SCORE_EIGHT;
  }
  return marks;
}

static LigScoreMarks
sum_marks (const guint8 *marks, int first, int count)
{
  guint8 all = 0;
  for (int i = first; i < first + count; i++)
    all |= marks[i];
  return (LigScoreMarks) all;
}

/* --- All ----------------------------------------------------------------------------------- */

/* Sums the groups that start in a block or folded macro. A group that extends beyond a folded row
 * has its own bracket. */
static void
sum_block (LigScoreBracket *bracket,
           const LigScoreSlot *slot,
           const LigPlanGroup *groups,
           const LigFigures *figures,
           const guint8 *placed,
           guint count)
{
  lig_figures_init (&bracket->figures);
  for (guint i = 0; i < count; i++)
    if (groups[i].first >= slot->first && groups[i].first < slot->first + slot->count &&
        (slot->open || !placed[i]))
      lig_figures_add (&bracket->figures, &figures[i]);
}

/* Copies the figures that are shown most. */
static void
settle (LigScoreBracket *bracket)
{
  bracket->measured = bracket->figures.measured && bracket->figures.kernels > 0;
  bracket->seconds = bracket->figures.seconds;
}

static int
compare_brackets (gconstpointer a, gconstpointer b)
{
  return ((const LigScoreBracket *) a)->y - ((const LigScoreBracket *) b)->y;
}

/* Returns whether a group that starts before an unfolded block continues in it, and so covers the
 * space next to the block's head. */
static gboolean
is_covered (const LigScoreSlot *slot, const LigPlanGroup *groups, guint count)
{
  for (guint i = 0; i < count && slot->open; i++)
    if (groups[i].first < slot->first && groups[i].first + groups[i].count > slot->first)
      return TRUE;
  return FALSE;
}

static void
add_blocks (LigScoreMap *self,
            LigPass pass,
            const LigPlanGroup *groups,
            const LigFigures *figures,
            const guint8 *placed,
            guint count,
            const guint8 *marks)
{
  for (guint i = 0; i < self->slots->len && count > 0; i++) {
    const LigScoreSlot *slot = lig_score_map_get_slot (self, i);
    LigScoreBracket bracket = {
      .pass = pass, .from = i, .to = i, .y = slot->y, .height = slot->height};
    if (!(slot->block || lig_score_slot_is_folded (slot)) || slot->first < 0 ||
        is_covered (slot, groups, count))
      continue;
    sum_block (&bracket, slot, groups, figures, placed, count);
    bracket.marks =
      sum_marks (marks, slot->first, MIN (slot->count, (int) self->n_ops - slot->first));
    settle (&bracket);
    g_array_append_val (self->brackets[pass], bracket);
  }
}

void
lig_score_map_add_brackets (LigScoreMap *self,
                            LigPass pass,
                            const LigTimedPlan *timed,
                            const LigTimedPlan *unfused)
{
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
  g_autofree LigFigures *figures = g_new (LigFigures, count + 1);
  g_autofree guint8 *marks = mark_ops (self->plan, pass), *placed = g_new0 (guint8, count + 1);
  lig_figures_of_pass (timed, unfused, pass, &self->figures[pass]);
  self->seconds[pass] = self->figures[pass].seconds;
  for (guint i = 0; i < count; i++) {
    LigScoreBracket bracket = {.group = &groups[i], .pass = pass};
    lig_figures_of_group (timed, unfused, &groups[i], &figures[i]);
    bracket.figures = figures[i];
    bracket.marks = sum_marks (marks, groups[i].first, groups[i].count);
    settle (&bracket);
    placed[i] = place_group (self, &groups[i], &bracket);
    if (placed[i])
      g_array_append_val (self->brackets[pass], bracket);
  }
  add_blocks (self, pass, groups, figures, placed, count, marks);
  g_array_sort (self->brackets[pass], compare_brackets);
}
