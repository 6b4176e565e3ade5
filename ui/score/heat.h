/* SPDX-License-Identifier: MIT */
/* The figures that colour the score's brackets, and the order of their times. */
#pragma once

#include "ui/score/map.h"

#include <ligature/figures.h>

G_BEGIN_DECLS

/* The order is that of the settings' `score-colour`. */
typedef enum {
  LIG_SCORE_COLOUR_FUSION, /* forward and backward, fused and unfused */
  LIG_SCORE_COLOUR_TIME,
  LIG_SCORE_COLOUR_BYTES,
  LIG_SCORE_COLOUR_BOUND,
} LigScoreColour;

enum { LIG_SCORE_HEAT_LEVELS = 5 };

/* Returns the time of a bracket in seconds, measured or else predicted; NaN: unknown. */
double lig_score_bracket_seconds (const LigScoreBracket *self);

/* Returns seconds, or the bytes read and written if colours show bytes; NaN: unknown. */
double lig_score_bracket_value (const LigScoreMap *map,
                                const LigScoreBracket *bracket,
                                LigScoreColour colour);

/* Returns the peak rate that bounds most of a bracket's time. */
LigBound lig_score_bracket_bound (const LigScoreMap *map, const LigScoreBracket *bracket);

/* Returns FALSE for the sum of an unfolded block, because its groups have their own brackets. */
gboolean lig_score_bracket_counts (const LigScoreMap *map, const LigScoreBracket *bracket);

/* Returns the maximum over all brackets, 0 if all are unknown. */
double lig_score_map_peak (const LigScoreMap *self, LigScoreColour colour);

/* Returns 1 to LIG_SCORE_HEAT_LEVELS; 0 for an unknown value. */
guint lig_score_heat_level (double value, double peak);

/* Returns: (transfer full) (element-type LigScoreBracket): the brackets with a time, longest first.
 * They belong to the map. */
GPtrArray *lig_score_map_list_hot (const LigScoreMap *self);

G_END_DECLS
