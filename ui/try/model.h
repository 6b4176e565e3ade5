/* SPDX-License-Identifier: MIT */
/* The description of a model of rows: the first line of `lig predict --lines`. */
#pragma once

#include <glib.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* @min, @max: of the validation rows; NaN: unknown */
typedef struct {
  const char *name;
  double mean, min, max;
} LigTryFeature;

/* Functions that read the description. Names are (transfer none) (nullable): null after the
 * last. */
guint lig_try_model_count (JsonObject *model, const char *list);
LigTryFeature lig_try_model_get_feature (JsonObject *model, guint n);
const char *lig_try_model_get_class (JsonObject *model, gint64 n);
const char *lig_try_model_get_target (JsonObject *model, guint n);
gint64 lig_try_model_get_validation (JsonObject *model);

/* Returns a member or an element that is a number; NaN for anything else. */
double lig_try_number (JsonObject *object, const char *name);
double lig_try_number_at (JsonArray *array, guint n);

/* Formats a number with about four digits (transfer full); a dash for NaN. */
char *lig_try_format (double value);

G_END_DECLS
