/* SPDX-License-Identifier: MIT */
/* Reads the rows of a csv file as the training read its own: columns by name, scaled by the
 * training rows' statistics. The text is parsed twice, first to count the rows. */
#include "engine/base/file.h"
#include "engine/data/csv-rows.h"
#include "engine/data/files.h"
#include "engine/data/transform-private.h"
#include <ligature/csv.h>

#include <string.h>

/* The names of missing columns that an error lists. */
enum { SHOWN = 5 };

/* The file, and where its columns are. */
typedef struct {
  const LigTransform *transform;
  GBytes *bytes;
  LigCsvRows rows;
  char *name; /* of the file, in messages */
  gboolean header, targeted;
  guint n_columns;
  guint *features, *targets; /* the columns of each, from 0 */
  gint64 count;
} Table;

static void
clear_table (Table *self)
{
  lig_csv_rows_clear (&self->rows);
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_free (self->name);
  g_free (self->features);
  g_free (self->targets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Table, clear_table)

static const LigTransformColumn *
nth (GArray *columns, guint n)
{
  return &g_array_index (columns, LigTransformColumn, n);
}

/* --- Columns ------------------------------------------------------------------------------- */

/* Returns whether no field of the first row is a number, so that it names the columns. */
static gboolean
has_names (const LigCsvRows *rows)
{
  double value;
  for (guint i = 0; i < lig_csv_rows_count (rows); i++)
    if (lig_csv_parse_number (lig_csv_rows_field (rows, i), &value))
      return FALSE;
  return TRUE;
}

/* Finds the columns of that name; returns how many are missing and appends their names. */
static guint
find_names (const Table *self, GArray *columns, guint *places, GString *missing)
{
  guint count = 0;
  for (guint i = 0; i < columns->len; i++) {
    const char *name = nth (columns, i)->name;
    guint at = 0;
    while (at < self->n_columns && strcmp (lig_csv_rows_field (&self->rows, at), name) != 0)
      at++;
    places[i] = at;
    if (at < self->n_columns)
      continue;
    g_autofree char *shown = lig_format_excerpt (name, 40);
    if (count++ < SHOWN)
      g_string_append_printf (missing, "%s%s", missing->len > 0 ? ", " : "", shown);
  }
  return count;
}

static gboolean
place_by_name (Table *self, GError **error)
{
  const LigTransform *transform = self->transform;
  g_autoptr (GString) missing = g_string_new (NULL), rest = g_string_new (NULL);
  guint count = find_names (self, transform->features, self->features, missing);
  self->targeted =
    transform->targets->len > 0 && find_names (self, transform->targets, self->targets, rest) == 0;
  if (count == 0)
    return TRUE;
  return lig_csv_reject (&self->rows.place, error, LIG_ERROR_FORMAT,
                         g_dngettext (GETTEXT_PACKAGE, "column %s%s is missing from the header",
                                      "columns %s%s are missing from the header", count),
                         missing->str, count > SHOWN ? ", …" : "");
}

/* Takes columns by their numbers in the training data; a file of only the features has them in the
 * same order. */
static gboolean
place_by_number (Table *self, GError **error)
{
  const LigTransform *transform = self->transform;
  guint highest = 0, features = transform->features->len;
  for (guint i = 0; i < features; i++)
    highest = MAX (highest, nth (transform->features, i)->number);
  gboolean compact = self->n_columns == features;
  for (guint i = 0; i < features; i++)
    self->features[i] = compact ? i : nth (transform->features, i)->number - 1;
  self->targeted = !compact && transform->targets->len > 0;
  for (guint i = 0; self->targeted && i < transform->targets->len; i++) {
    self->targets[i] = nth (transform->targets, i)->number - 1;
    self->targeted = self->targets[i] < self->n_columns;
  }
  if (compact || highest <= self->n_columns)
    return TRUE;
  return lig_csv_reject (&self->rows.place, error, LIG_ERROR_FORMAT,
                         g_dngettext (GETTEXT_PACKAGE,
                                      "has %u column, expected the %u features, or as many columns "
                                      "as the training data, which had no names",
                                      "has %u columns, expected the %u features, or as many "
                                      "columns as the training data, which had no names",
                                      self->n_columns),
                         self->n_columns, features);
}

static gboolean
place_columns (Table *self, GError **error)
{
  gboolean found;
  if (!lig_csv_rows_next (&self->rows, &found, error))
    return FALSE;
  if (!found) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", self->name, _ ("is empty"));
    return FALSE;
  }
  self->n_columns = lig_csv_rows_count (&self->rows);
  self->header = self->transform->header || has_names (&self->rows);
  self->features = g_new0 (guint, self->transform->features->len);
  self->targets = g_new0 (guint, self->transform->targets->len + 1);
  return self->transform->header ? place_by_name (self, error) : place_by_number (self, error);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static gboolean
rewind_rows (Table *self, GError **error)
{
  gboolean found;
  lig_csv_rows_rewind (&self->rows);
  return !self->header || lig_csv_rows_next (&self->rows, &found, error);
}

/* Counts the rows and checks their numbers of fields. */
static gboolean
count_rows (Table *self, GError **error)
{
  gboolean found;
  if (!rewind_rows (self, error) || !lig_csv_rows_next (&self->rows, &found, error))
    return FALSE;
  for (self->count = 0; found; self->count++) {
    guint count = lig_csv_rows_count (&self->rows);
    if (count != self->n_columns)
      return lig_csv_reject (&self->rows.place, error, LIG_ERROR_FORMAT,
                             g_dngettext (GETTEXT_PACKAGE, "has %u field, the first row has %u",
                                          "has %u fields, the first row has %u", count),
                             count, self->n_columns);
    if (!lig_csv_rows_next (&self->rows, &found, error))
      return FALSE;
  }
  if (self->count > 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", self->name,
               _ ("has a header and no rows"));
  return FALSE;
}

static gboolean
reject_cell (Table *self, const LigTransformColumn *column, const char *text, GError **error)
{
  g_autofree char *name = lig_format_excerpt (column->name, 40);
  g_autofree char *shown = lig_format_excerpt (text, 40);
  if (!*text)
    return lig_csv_reject (&self->rows.place, error, LIG_ERROR_FORMAT,
                           _ ("column %s is empty, expected a number"), name);
  return lig_csv_reject (&self->rows.place, error, LIG_ERROR_FORMAT,
                         _ ("column %s is '%s', expected a number"), name, shown);
}

static gboolean
read_feature (
  Table *self, const LigTransformColumn *column, const char *text, float *to, GError **error)
{
  return lig_transform_parse_feature (self->transform, column, text, to) ||
         reject_cell (self, column, text, error);
}

/* A missing target is NaN: such a row is predicted, but has no loss. */
static gboolean
read_target (
  Table *self, const LigTransformColumn *column, const char *text, float *to, GError **error)
{
  guint classes = self->transform->classes->len;
  if (lig_transform_parse_target (self->transform, text, to))
    return TRUE;
  if (classes == 0)
    return reject_cell (self, column, text, error);
  g_autofree char *name = lig_format_excerpt (column->name, 40);
  g_autofree char *shown = lig_format_excerpt (text, 40);
  return lig_csv_reject (&self->rows.place, error, LIG_ERROR_VALUE,
                         g_dngettext (GETTEXT_PACKAGE,
                                      "column %s is '%s', which is not the %u class of the "
                                      "training data",
                                      "column %s is '%s', which is none of the %u classes of "
                                      "the training data",
                                      classes),
                         name, shown, classes);
}

/* Adds the cells of the row as a line of csv. */
static void
keep_line (const Table *self, LigRows *to)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < self->n_columns; i++) {
    g_string_append (line, i > 0 ? "," : "");
    lig_csv_append_text (line, lig_csv_rows_field (&self->rows, i));
  }
  g_ptr_array_add (to->lines, g_strdup (line->str));
}

/* Adds the names of the columns, or their numbers. The first row is the current one. */
static void
keep_names (const Table *self, LigRows *to)
{
  if (self->header) {
    keep_line (self, to);
    return;
  }
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < self->n_columns; i++)
    g_string_append_printf (line, "%s%u", i > 0 ? "," : "", i + 1);
  g_ptr_array_add (to->lines, g_strdup (line->str));
}

static gboolean
fill_rows (Table *self, LigRows *to, GError **error)
{
  const LigTransform *transform = self->transform;
  float *feature = to->input->data, *target = to->targets ? to->targets->data : NULL;
  gboolean found;
  if (!rewind_rows (self, error))
    return FALSE;
  to->lines = g_ptr_array_new_with_free_func (g_free);
  keep_names (self, to);
  for (gint64 row = 0; row < self->count; row++) {
    if (!lig_csv_rows_next (&self->rows, &found, error))
      return FALSE;
    for (guint i = 0; i < transform->features->len; i++)
      if (!read_feature (self, nth (transform->features, i),
                         lig_csv_rows_field (&self->rows, self->features[i]), feature++, error))
        return FALSE;
    for (guint i = 0; target && i < transform->targets->len; i++)
      if (!read_target (self, nth (transform->targets, i),
                        lig_csv_rows_field (&self->rows, self->targets[i]), target++, error))
        return FALSE;
    keep_line (self, to);
  }
  return TRUE;
}

LigRows *
lig_transform_read_csv (const LigTransform *self, const char *path, GError **error)
{
  g_auto (Table) table = {.transform = self, .name = g_filename_display_name (path)};
  table.bytes = lig_data_read (path, error);
  if (!table.bytes || !lig_csv_rows_open (&table.rows, table.name, table.bytes, error) ||
      !place_columns (&table, error) || !count_rows (&table, error))
    return NULL;
  guint features = self->features->len, targets = table.targeted ? self->targets->len : 0;
  g_autoptr (LigRows) rows = lig_rows_new (table.count, features, targets, error);
  if (!rows || !fill_rows (&table, rows, error))
    return NULL;
  rows->ignored = table.n_columns - MIN (features + targets, table.n_columns);
  return g_steal_pointer (&rows);
}
