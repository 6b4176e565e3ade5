/* SPDX-License-Identifier: MIT */
/* The figures that colour the score's brackets, and the order of their times. */
#include "ui/score/heat.h"

#include <math.h>

double
lig_score_bracket_seconds (const LigScoreBracket *self)
{
  return self->seconds;
}

double
lig_score_bracket_value (const LigScoreMap *map,
                         const LigScoreBracket *bracket,
                         LigScoreColour colour)
{
  return colour == LIG_SCORE_COLOUR_BYTES ? bracket->figures.bytes : bracket->seconds;
}

LigBound
lig_score_bracket_bound (const LigScoreMap *map, const LigScoreBracket *bracket)
{
  return bracket->figures.bound;
}

gboolean
lig_score_bracket_counts (const LigScoreMap *map, const LigScoreBracket *bracket)
{
  return bracket->group || !lig_score_map_get_slot (map, bracket->from)->open;
}

double
lig_score_map_peak (const LigScoreMap *self, LigScoreColour colour)
{
  double peak = 0;
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->brackets[pass]->len; i++) {
      const LigScoreBracket *bracket = &g_array_index (self->brackets[pass], LigScoreBracket, i);
      if (lig_score_bracket_counts (self, bracket))
        peak = fmax (peak, lig_score_bracket_value (self, bracket, colour));
    }
  return peak;
}

guint
lig_score_heat_level (double value, double peak)
{
  if (!(value > 0) || peak <= 0)
    return 0;
  return (guint) CLAMP (ceil (value / peak * LIG_SCORE_HEAT_LEVELS), 1, LIG_SCORE_HEAT_LEVELS);
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const LigScoreBracket *one = *(const LigScoreBracket *const *) a;
  const LigScoreBracket *two = *(const LigScoreBracket *const *) b;
  double first = lig_score_bracket_seconds (one), second = lig_score_bracket_seconds (two);
  if (first != second)
    return first > second ? -1 : 1;
  return one->y != two->y ? one->y - two->y : (int) one->pass - (int) two->pass;
}

GPtrArray *
lig_score_map_list_hot (const LigScoreMap *self)
{
  GPtrArray *hot = g_ptr_array_new ();
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < self->brackets[pass]->len; i++) {
      LigScoreBracket *bracket = &g_array_index (self->brackets[pass], LigScoreBracket, i);
      if (lig_score_bracket_counts (self, bracket) && lig_score_bracket_seconds (bracket) > 0)
        g_ptr_array_add (hot, bracket);
    }
  g_ptr_array_sort (hot, compare_times);
  return hot;
}
