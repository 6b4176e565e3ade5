/* SPDX-License-Identifier: MIT */
/* Reads single cells, as a user types them. */
#include "engine/base/file.h"
#include "engine/data/csv-rows.h"
#include "engine/data/transform-private.h"
#include <ligature/error.h>

#include <glib/gi18n-lib.h>
#include <math.h>

gboolean
lig_transform_parse_feature (const LigTransform *self,
                             const LigTransformColumn *column,
                             const char *text,
                             float *to)
{
  double value;
  if (self->replaces && lig_csv_is_missing (text))
    value = column->mean;
  else if (!lig_csv_parse_number (text, &value) || !isfinite ((float) value))
    return FALSE;
  *to = (float) (column->scale > 0 ? (value - column->mean) * column->scale : value);
  return TRUE;
}

gboolean
lig_transform_parse_target (const LigTransform *self, const char *text, float *to)
{
  double value;
  gpointer index;
  if (lig_csv_is_missing (text)) {
    *to = NAN;
  } else if (self->classes->len > 0) {
    if (!g_hash_table_lookup_extended (self->indices, text, NULL, &index))
      return FALSE;
    *to = (float) GPOINTER_TO_UINT (index);
  } else {
    if (!lig_csv_parse_number (text, &value) || !isfinite ((float) value))
      return FALSE;
    *to = (float) value;
  }
  return TRUE;
}

static const LigTransformColumn *
nth (GArray *columns, guint n)
{
  return &g_array_index (columns, LigTransformColumn, n);
}

gboolean
lig_transform_get_statistics (const LigTransform *self, guint n, double *mean, double *std)
{
  const LigTransformColumn *column = n < self->features->len ? nth (self->features, n) : NULL;
  gboolean scaled = column && column->scale > 0;
  if (mean)
    *mean = scaled ? column->mean : 0;
  if (std)
    *std = scaled ? 1 / column->scale : 1;
  return scaled;
}

gboolean
lig_transform_get_image (const LigTransform *self, gint64 *rows, gint64 *columns)
{
  if (!self->images)
    return FALSE;
  *rows = self->lengths[0];
  *columns = self->lengths[1];
  return TRUE;
}

gboolean
lig_transform_read_feature (
  const LigTransform *self, guint n, const char *text, float *scaled, GError **error)
{
  g_return_val_if_fail (n < self->features->len, FALSE);
  const LigTransformColumn *column = nth (self->features, n);
  if (lig_transform_parse_feature (self, column, text ? text : "", scaled))
    return TRUE;
  g_autofree char *name = lig_format_excerpt (column->name, 40);
  g_autofree char *shown = lig_format_excerpt (text ? text : "", 40);
  if (!*shown)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("column %s is empty, expected a number"),
                 name);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("column %s is '%s', expected a number"),
                 name, shown);
  return FALSE;
}

gboolean
lig_transform_read_target (
  const LigTransform *self, guint n, const char *text, float *target, GError **error)
{
  g_return_val_if_fail (n < self->targets->len, FALSE);
  if (lig_transform_parse_target (self, text ? text : "", target))
    return TRUE;
  g_autofree char *name = lig_format_excerpt (nth (self->targets, n)->name, 40);
  g_autofree char *shown = lig_format_excerpt (text ? text : "", 40);
  if (self->classes->len > 0)
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 g_dngettext (GETTEXT_PACKAGE,
                              "column %s is '%s', which is not the %u class of the training data",
                              "column %s is '%s', which is none of the %u classes of the training "
                              "data",
                              self->classes->len),
                 name, shown, self->classes->len);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("column %s is '%s', expected a number"),
                 name, shown);
  return FALSE;
}
