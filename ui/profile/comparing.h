/* SPDX-License-Identifier: MIT */
/* Comparisons of recipes for a document: times, memory, and the errors of each op. The profiles are
 * recorded in the store. */
#pragma once

#include "ui/profile/measurement.h"
#include <ligature/conditions.h>
#include <ligature/recipe-errors.h>
#include <ligature/spread.h>

G_BEGIN_DECLS

#define LIG_TYPE_COMPARING (lig_comparing_get_type ())
G_DECLARE_FINAL_TYPE (LigComparing, lig_comparing, LIG, COMPARING, LigMeasurement)

/**
 * LigComparedRecipe: one recipe; times in seconds.
 *
 * @rejection: (nullable): why it cannot be compared; then all that follows is unset
 * @remark: (nullable): why nothing is quantized by it
 * @errors: (nullable): null for none
 */
typedef struct {
  char *recipe, *rejection, *remark;
  LigSpread forward, backward, step;
  LigConditions conditions;
  gint64 bytes;
  const LigRecipeErrors *errors;
} LigComparedRecipe;

/* Returns: (transfer none): the comparison of a document, created at the first call; it lives as
 *   long as the document. */
LigComparing *lig_comparing_of (LigDocument *document);

/**
 * lig_comparing_start:
 * @recipes: to be compared with none, which need not be among them
 * @rounds: how often each runs for its times
 *
 * Returns: %FALSE with an error as lig_measurement_start(), or while the document is profiled
 */
gboolean
lig_comparing_start (LigComparing *self, const char *const *recipes, guint rounds, GError **error);

/* Returns 0 to 1 of the times, then 0 to 1 of the errors, for which it sets @errors; negative
 * during preparation. */
double lig_comparing_get_progress (LigComparing *self, gboolean *errors);

/* Returns: (nullable): the last results, none first. */
const LigComparedRecipe *lig_comparing_get (LigComparing *self, guint n);

/* Returns: (transfer none) (nullable): the errors of the recipes that could be compared, for
 *   lig_draw_recipes(). */
GPtrArray *lig_comparing_get_errors (LigComparing *self);

/* Adds the option that compares the same recipes to a command; not if the results are outdated.
 * @command: (transfer full). Returns: (transfer full) */
char *lig_comparing_to_command (LigComparing *self, char *command);

G_END_DECLS
