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
 * @rejection: (nullable): the reason why it cannot be compared; then all other fields are unset
 * @remark: (nullable): the reason why it quantizes nothing
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
 * @recipes: to be compared with `none`, which need not be among them
 * @rounds: the number of timed runs of each
 *
 * Returns: %FALSE with an error as lig_measurement_start(), or while the document is profiled
 */
gboolean
lig_comparing_start (LigComparing *self, const char *const *recipes, guint rounds, GError **error);

/* Returns the progress of the times, then of the errors, each from 0 to 1, and sets @errors for the
 * latter; negative during preparation. */
double lig_comparing_get_progress (LigComparing *self, gboolean *errors);

/* Returns: (nullable): the last results, `none` first. */
const LigComparedRecipe *lig_comparing_get (LigComparing *self, guint n);

/* Returns: (transfer none) (nullable): the errors of the recipes that could be compared, for
 *   lig_draw_recipes(). */
GPtrArray *lig_comparing_get_errors (LigComparing *self);

/* Adds the option that compares the same recipes to a command, unless the results are outdated.
 * @command: (transfer full). Returns: (transfer full) */
char *lig_comparing_to_command (LigComparing *self, char *command);

G_END_DECLS
