/* SPDX-License-Identifier: MIT */
/* csv: a table of numbers, fields separated by `,`, `;` or tab and optionally quoted. A target
 * column that contains a text other than a number or a missing value has labels, which are numbered
 * in order: numbers by value, then texts. The text is parsed twice, first to count the rows and to
 * detect labels, then to fill arrays of the right size; then it is freed. */
#include "engine/base/file.h"
#include "engine/data/csv-rows.h"
#include "engine/data/files.h"
#include <ligature/json-members.h>
#include <ligature/json.h>

#include <json-glib/json-glib.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* fp32 represents every integer up to this one. */
#define MAX_CLASSES (1 << 24)

/* The labels that a description names. */
#define MAX_SHOWN 8u

typedef enum { TASK_OPEN, TASK_CLASS, TASK_VALUE } Task;
typedef enum { MISSING_REJECT, MISSING_DROP, MISSING_MEAN } Missing;

/* A column is the number of a target, or one of these. */
enum { FEATURE = -1, UNUSED = -2 };

typedef struct {
  Task task;
  Missing missing;
  gboolean standardize;
  int header;       /* 1 with a header, 0 without, -1 if not specified */
  GPtrArray *names; /* names of the columns; null without a header */
  guint n_columns;
  guint n_features;
  guint n_targets;
  int *target_of; /* for each column the index of its target, FEATURE or UNUSED */
  gint64 n_rows, n_dropped;
  gint64 n_own;           /* the rows of the first file */
  double *wide;           /* rows x features as read; missing values are NaN */
  float *features;        /* the same, once all rows are known */
  double *means, *stds;   /* of each feature over the training rows */
  float *targets;         /* rows x targets; classes as their numbers */
  GHashTable *labels;     /* label to class; null if targets are numbers */
  GPtrArray *class_names; /* the labels in their order; null without labels */
  gboolean ignores;       /* some target has no class */
  float largest;          /* largest class if all targets are classes */
  /* The first rows with that class, with a target that is not a class (unfit), and with one that is
   * text; line 0: none. */
  LigCsvPlace largest_place, unfit_place, text_place;
  float unfit;
  char *validation_name; /* (nullable): of the second file, in messages */
} Csv;

/* The files of a table: its own and, for validation, an optional second one with the same
 * columns. */
typedef struct {
  GBytes *bytes[2];
  LigCsvRows rows[2];
  guint count;
} Files;

static void
clear_files (Files *files)
{
  for (guint i = 0; i < files->count; i++) {
    lig_csv_rows_clear (&files->rows[i]);
    g_bytes_unref (files->bytes[i]);
  }
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Files, clear_files)

static char *
name_column (const Csv *csv, guint column)
{
  if (!csv->names)
    return g_strdup_printf (_ ("column %u"), column + 1);
  g_autofree char *name = lig_format_excerpt (g_ptr_array_index (csv->names, column), 40);
  return g_strdup_printf (_ ("column %u (%s)"), column + 1, name);
}

static gboolean rewind_rows (const Csv *csv, LigCsvRows *rows, GError **error);

/* Returns an option that reads only the numeric columns, or nothing if there are none or too many
 * to list. It reads the rows again, because text in another column would be the next error. */
static char *
name_numbers (const Csv *csv, LigCsvRows *rows)
{
  g_autofree gboolean *has_text = g_new0 (gboolean, csv->n_columns);
  g_autoptr (GString) list = g_string_new (NULL);
  gboolean found;
  double number;
  if (!rewind_rows (csv, rows, NULL) || !lig_csv_rows_next (rows, &found, NULL))
    return g_strdup ("");
  while (found && lig_csv_rows_count (rows) == csv->n_columns) {
    for (guint i = 0; i < csv->n_columns; i++) {
      const char *text = lig_csv_rows_field (rows, i);
      has_text[i] |= !lig_csv_is_missing (text) && !lig_csv_parse_number (text, &number);
    }
    if (!lig_csv_rows_next (rows, &found, NULL))
      break;
  }
  for (guint i = 0; i < csv->n_columns; i++)
    if (!has_text[i] && csv->target_of[i] == FEATURE)
      g_string_append_printf (list, "%s%u", list->len > 0 ? "," : "", i + 1);
  return list->len == 0 || list->len > 200
           ? g_strdup ("")
           : g_strdup_printf (_ ("; columns=%s reads only the numeric columns"), list->str);
}

static gboolean
reject_field (const LigDataset *self, LigCsvRows *rows, guint column, GError **error)
{
  const Csv *csv = self->data;
  const char *text = lig_csv_rows_field (rows, column);
  LigCsvPlace place = rows->place;
  double number;
  g_autofree char *where = name_column (csv, column);
  g_autofree char *shown = lig_format_excerpt (text, 40);
  const char *remedy = _ ("missing=drop drops such rows, missing=mean takes the mean");
  if (!*text)
    return lig_csv_reject (&place, error, LIG_ERROR_FORMAT, _ ("%s is empty; %s"), where, remedy);
  if (lig_csv_is_missing (text))
    return lig_csv_reject (&place, error, LIG_ERROR_FORMAT, _ ("%s is '%s', which is missing; %s"),
                           where, shown, remedy);
  gboolean parsed = lig_csv_parse_number (text, &number);
  gboolean names = csv->n_rows == 0 && !csv->names;
  g_autofree char *numbers =
    parsed || names || csv->target_of[column] != FEATURE ? g_strdup ("") : name_numbers (csv, rows);
  return lig_csv_reject (&place, error, LIG_ERROR_FORMAT, _ ("%s is '%s', expected a %snumber%s"),
                         where, shown, parsed ? _ ("finite ") : "",
                         names ? _ ("; header=true takes the first row as names") : numbers);
}

/* Reads a number within the range of fp32; a missing one is NaN unless these are rejected. */
static gboolean
read_number (const LigDataset *self, LigCsvRows *rows, guint column, double *value, GError **error)
{
  const Csv *csv = self->data;
  const char *text = lig_csv_rows_field (rows, column);
  *value = (double) NAN;
  if (csv->missing != MISSING_REJECT && lig_csv_is_missing (text))
    return TRUE;
  return (lig_csv_parse_number (text, value) && isfinite ((float) *value)) ||
         reject_field (self, rows, column, error);
}

static void
read_options (const LigDataset *self, Csv *csv)
{
  const char *task = lig_dataset_option (self, "task");
  const char *header = lig_dataset_option (self, "header");
  const char *missing = lig_dataset_option (self, "missing");
  csv->header = header ? strcmp (header, "true") == 0 : -1;
  if (task)
    csv->task = strcmp (task, "class") == 0 ? TASK_CLASS : TASK_VALUE;
  if (missing && strcmp (missing, "reject") != 0)
    csv->missing = strcmp (missing, "drop") == 0 ? MISSING_DROP : MISSING_MEAN;
  csv->standardize = lig_dataset_boolean (self, "standardize");
}

/* Decides whether the first row names the columns, and keeps the names. */
static void
read_header (Csv *csv, const LigCsvRows *rows)
{
  gboolean header = TRUE;
  for (guint i = 0; i < csv->n_columns; i++) {
    double value;
    header &= !lig_csv_parse_number (lig_csv_rows_field (rows, i), &value) || !isfinite (value);
  }
  if (csv->header == 1 || (csv->header < 0 && header)) {
    csv->names = g_ptr_array_new_with_free_func (g_free);
    for (guint i = 0; i < csv->n_columns; i++)
      g_ptr_array_add (csv->names, g_strdup (lig_csv_rows_field (rows, i)));
  }
}

/* Returns the column with that name, else the one with that number, counted from 1; -1 if neither
 * exists. */
static int
find_column (const Csv *csv, const char *name)
{
  guint64 number;
  for (guint i = 0; csv->names && i < csv->n_columns; i++)
    if (strcmp (g_ptr_array_index (csv->names, i), name) == 0)
      return (int) i;
  if (g_ascii_string_to_unsigned (name, 10, 1, csv->n_columns, &number, NULL))
    return (int) number - 1;
  return -1;
}

/* Assigns to a column the role that the option gives it. */
typedef gboolean (*Choose) (
  LigDataset *self, const char *option, const char *name, int column, GError **error);

static gboolean
choose_target (LigDataset *self, const char *option, const char *name, int column, GError **error)
{
  Csv *csv = self->data;
  if (csv->target_of[column] >= 0)
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE, _ ("%s '%s' is named twice"), option,
                               name);
  csv->target_of[column] = (int) csv->n_targets++;
  return TRUE;
}

/* Targets have been chosen before, and stay targets. */
static gboolean
choose_feature (LigDataset *self, const char *option, const char *name, int column, GError **error)
{
  Csv *csv = self->data;
  if (csv->target_of[column] == UNUSED)
    csv->target_of[column] = FEATURE;
  return TRUE;
}

static gboolean
skip_column (LigDataset *self, const char *option, const char *name, int column, GError **error)
{
  Csv *csv = self->data;
  if (csv->target_of[column] >= 0)
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                               _ ("%s '%s' is a target; name another one"), option, name);
  csv->target_of[column] = UNUSED;
  return TRUE;
}

static gboolean
choose_column (
  LigDataset *self, const char *option, const char *name, Choose choose, GError **error)
{
  const Csv *csv = self->data;
  int column = find_column (csv, name);
  if (column >= 0)
    return choose (self, option, name, column, error);
  return lig_dataset_reject (
    self, error, LIG_ERROR_VALUE,
    _ ("%s '%s' is neither the name of a column nor a number from 1 to %u"), option, name,
    csv->n_columns);
}

/* Calls `choose` for each column that an option lists. A name may contain a comma, so the whole
 * text is tried before its parts. */
static gboolean
choose_columns (LigDataset *self, const char *option, Choose choose, GError **error)
{
  const char *text = lig_dataset_option (self, option);
  if (!text)
    return TRUE;
  g_auto (GStrv) names = g_strsplit (text, ",", -1);
  if (!*names)
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                               _ ("%s names no column; omit it, or name some"), option);
  if (find_column (self->data, text) >= 0)
    return choose_column (self, option, text, choose, error);
  for (char **name = names; *name; name++)
    if (!choose_column (self, option, *name, choose, error))
      return FALSE;
  return TRUE;
}

static gboolean
choose_all (LigDataset *self, Csv *csv, GError **error)
{
  int first = lig_dataset_option (self, "columns") ? UNUSED : FEATURE;
  csv->target_of = g_new (int, csv->n_columns);
  for (guint i = 0; i < csv->n_columns; i++)
    csv->target_of[i] = first;
  if (!lig_dataset_option (self, "target"))
    csv->target_of[csv->n_columns - 1] = (int) csv->n_targets++;
  if (!choose_columns (self, "target", choose_target, error) ||
      !choose_columns (self, "columns", choose_feature, error) ||
      !choose_columns (self, "skip", skip_column, error))
    return FALSE;
  for (guint i = 0; i < csv->n_columns; i++)
    csv->n_features += csv->target_of[i] == FEATURE;
  if (csv->n_features == 0)
    return lig_dataset_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE, "has %u column, %u of them targets; no feature is left",
                   "has %u columns, %u of them targets; no feature is left",
                   (gulong) (csv->n_columns)),
      csv->n_columns, csv->n_targets);
  if (csv->task == TASK_CLASS && csv->n_targets > 1)
    return lig_dataset_reject (self, error, LIG_ERROR_VALUE,
                               _ ("task=class takes 1 target column, %u are named"),
                               csv->n_targets);
  return TRUE;
}

/* Rewinds, so that the next row read is the first one with data. */
static gboolean
rewind_rows (const Csv *csv, LigCsvRows *rows, GError **error)
{
  gboolean found;
  lig_csv_rows_rewind (rows);
  return !csv->names || lig_csv_rows_next (rows, &found, error);
}

static int
compare_labels (gconstpointer a, gconstpointer b)
{
  const char *one = *(const char *const *) a, *other = *(const char *const *) b;
  double x, y;
  gboolean number = lig_csv_parse_number (one, &x), too = lig_csv_parse_number (other, &y);
  if (number != too)
    return number ? -1 : 1;
  return number && x != y ? (x > y) - (x < y) : strcmp (one, other);
}

/* Numbers the labels: numbers in their order, then texts. */
static void
number_labels (Csv *csv)
{
  guint count;
  g_autofree gpointer *sorted = g_hash_table_get_keys_as_array (csv->labels, &count);
  qsort (sorted, count, sizeof *sorted, compare_labels);
  csv->class_names = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < count; i++) {
    g_ptr_array_add (csv->class_names, g_strdup (sorted[i]));
    g_hash_table_insert (csv->labels, g_strdup (sorted[i]), GUINT_TO_POINTER (i));
  }
}

/* Collects the texts of the target column of a file. */
static gboolean
collect_labels (Csv *csv, LigCsvRows *rows, guint column, GError **error)
{
  gboolean found;
  if (!rewind_rows (csv, rows, error) || !lig_csv_rows_next (rows, &found, error))
    return FALSE;
  while (found) {
    const char *label = lig_csv_rows_field (rows, column);
    if (!lig_csv_is_missing (label) && !g_hash_table_contains (csv->labels, label))
      g_hash_table_insert (csv->labels, g_strdup (label), NULL);
    if (g_hash_table_size (csv->labels) > MAX_CLASSES)
      return lig_csv_reject (&rows->place, error, LIG_ERROR_VALUE,
                             _ ("there are more than %d different labels"), MAX_CLASSES);
    if (!lig_csv_rows_next (rows, &found, error))
      return FALSE;
  }
  return TRUE;
}

static guint
target_column (const Csv *csv)
{
  guint column = 0;
  while (csv->target_of[column] < 0)
    column++;
  return column;
}

/* Counts the rows of a file, checks their numbers of fields, and searches the targets for text. */
static gboolean
survey_rows (Csv *csv, LigCsvRows *rows, gint64 *n_rows, GError **error)
{
  guint column = target_column (csv);
  gboolean found, may_be_text = csv->n_targets == 1 && csv->task != TASK_VALUE;
  if (!rewind_rows (csv, rows, error) || !lig_csv_rows_next (rows, &found, error))
    return FALSE;
  for (*n_rows = 0; found; ++*n_rows) {
    double value;
    if (lig_csv_rows_count (rows) != csv->n_columns)
      return lig_csv_reject (&rows->place, error, LIG_ERROR_FORMAT,
                             g_dngettext (GETTEXT_PACKAGE, "has %u field, the first row has %u",
                                          "has %u fields, the first row has %u",
                                          (gulong) (lig_csv_rows_count (rows))),
                             lig_csv_rows_count (rows), csv->n_columns);
    const char *target = lig_csv_rows_field (rows, column);
    if (may_be_text && csv->text_place.line == 0 && !lig_csv_is_missing (target) &&
        !lig_csv_parse_number (target, &value))
      csv->text_place = rows->place;
    if (!lig_csv_rows_next (rows, &found, error))
      return FALSE;
  }
  if (*n_rows > 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", rows->place.name,
               _ ("has a header and no rows"));
  return FALSE;
}

static gboolean
survey_files (Csv *csv, Files *files, gint64 n_rows[2], GError **error)
{
  guint column = target_column (csv);
  for (guint i = 0; i < files->count; i++)
    if (!survey_rows (csv, &files->rows[i], &n_rows[i], error))
      return FALSE;
  if (csv->text_place.line == 0)
    return TRUE;
  csv->labels = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < files->count; i++)
    if (!collect_labels (csv, &files->rows[i], column, error))
      return FALSE;
  number_labels (csv);
  return TRUE;
}

/* Returns whether losses ignore a class: PyTorch's ignore_index, or the one that scikit-learn gives
 * to unlabeled rows. */
static gboolean
is_ignored (float value)
{
  return value == -1 || value == -100;
}

/* Records the facts about a target that lig_dataset_bind() checks. */
static void
note_target (Csv *csv, float value, const LigCsvPlace *place)
{
  gboolean is_class = value >= 0 && value <= MAX_CLASSES && value == floorf (value);
  csv->ignores |= is_ignored (value);
  if (!is_class && !is_ignored (value) && csv->unfit_place.line == 0) {
    csv->unfit_place = *place;
    csv->unfit = value;
  }
  if (is_class && (csv->largest_place.line == 0 || value > csv->largest)) {
    csv->largest = value;
    csv->largest_place = *place;
  }
}

/* Reads the used fields of a row. `whole` becomes FALSE if one is missing and is not replaced. */
static gboolean
fill_row (LigDataset *self, Csv *csv, LigCsvRows *rows, gboolean *whole, GError **error)
{
  double *feature = csv->wide + csv->n_rows * csv->n_features, value;
  float *targets = csv->targets + csv->n_rows * csv->n_targets;
  *whole = TRUE;
  for (guint i = 0; i < csv->n_columns; i++) {
    int target = csv->target_of[i];
    const char *text = lig_csv_rows_field (rows, i);
    if (target == UNUSED)
      continue;
    if (target >= 0 && csv->labels && !lig_csv_is_missing (text))
      value = GPOINTER_TO_UINT (g_hash_table_lookup (csv->labels, text));
    else if (!read_number (self, rows, i, &value, error))
      return FALSE;
    *whole &= !isnan (value) || (target == FEATURE && csv->missing == MISSING_MEAN);
    if (target >= 0)
      targets[target] = (float) value;
    else
      *feature++ = value;
  }
  return TRUE;
}

static gboolean
fill_rows (LigDataset *self, Csv *csv, LigCsvRows *rows, gint64 n_rows, GError **error)
{
  gboolean found, whole;
  gint64 before = csv->n_rows;
  if (!rewind_rows (csv, rows, error))
    return FALSE;
  for (gint64 i = 0; i < n_rows; i++) {
    if (!lig_csv_rows_next (rows, &found, error) || !fill_row (self, csv, rows, &whole, error))
      return FALSE;
    for (guint target = 0; whole && target < csv->n_targets; target++)
      note_target (csv, csv->targets[csv->n_rows * csv->n_targets + target], &rows->place);
    csv->n_rows += whole;
    csv->n_dropped += !whole;
  }
  if (csv->n_rows > before)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, "%s: %s", rows->place.name,
               _ ("a cell is missing in each row; skip= skips columns"));
  return FALSE;
}

/* Reads the rows of the files one after the other. */
static gboolean
fill_table (LigDataset *self, Csv *csv, Files *files, const gint64 counts[2], GError **error)
{
  gint64 n_rows = counts[0] + (files->count > 1 ? counts[1] : 0);
  gsize features = (gsize) n_rows * csv->n_features, targets = (gsize) n_rows * csv->n_targets;
  csv->wide = g_try_new (double, features);
  csv->targets = g_try_new (float, targets);
  if (!csv->wide || !csv->targets)
    return lig_dataset_reject (self, error, LIG_ERROR_MEMORY,
                               _ ("no memory for %" PRId64 " row%s of %u column%s"), n_rows,
                               LIG_ENDING (n_rows), csv->n_columns, LIG_ENDING (csv->n_columns));
  for (guint i = 0; i < files->count; i++) {
    if (!fill_rows (self, csv, &files->rows[i], counts[i], error))
      return FALSE;
    if (i == 0)
      csv->n_own = csv->n_rows;
  }
  return TRUE;
}

/* Completes a feature: replaces missing numbers by the mean over the training rows. With
 * standardization, scales it to mean 0 and variance 1 over the training rows; a feature that is
 * constant there becomes 0. */
static void
complete_feature (const LigDataset *self, guint feature)
{
  Csv *csv = self->data;
  double *column = csv->wide + feature, sum = 0, squares = 0;
  gint64 count = 0, training = self->samples[LIG_SPLIT_TRAINING];
  for (gint64 sample = 0; sample < training; sample++) {
    double number = column[lig_dataset_row (self, LIG_SPLIT_TRAINING, sample) * csv->n_features];
    if (!isnan (number)) {
      sum += number;
      count++;
    }
  }
  double mean = csv->means[feature] = count > 0 ? sum / (double) count : 0;
  for (gint64 row = 0; row < csv->n_rows; row++)
    if (isnan (column[row * csv->n_features]))
      column[row * csv->n_features] = mean;
  if (!csv->standardize)
    return;
  for (gint64 sample = 0; sample < training; sample++) {
    gint64 row = lig_dataset_row (self, LIG_SPLIT_TRAINING, sample);
    double difference = column[row * csv->n_features] - mean;
    squares += difference * difference;
  }
  double std = sqrt (squares / (double) training);
  double scale = std > 0 ? 1 / std : 1;
  csv->stds[feature] = std > 0 ? std : 1;
  for (gint64 row = 0; row < csv->n_rows; row++)
    column[row * csv->n_features] = (column[row * csv->n_features] - mean) * scale;
}

/* Converts the numbers to fp32. Returns in how many columns adjacent values that differ become
 * equal. */
static guint
narrow_features (Csv *csv)
{
  gsize count = (gsize) csv->n_rows * csv->n_features;
  g_autofree gboolean *merges = g_new0 (gboolean, csv->n_features);
  guint merged = 0;
  csv->features = g_new (float, count);
  for (gsize i = 0; i < count; i++) {
    csv->features[i] = (float) csv->wide[i];
    if (i >= csv->n_features)
      merges[i % csv->n_features] |= csv->wide[i] != csv->wide[i - csv->n_features] &&
                                     csv->features[i] == csv->features[i - csv->n_features];
  }
  for (guint i = 0; i < csv->n_features; i++)
    merged += merges[i];
  g_clear_pointer (&csv->wide, g_free);
  return merged;
}

/* Checks that the header of the second file names the same columns. */
static gboolean
check_header (const Csv *csv, LigCsvRows *rows, GError **error)
{
  gboolean found;
  if (!csv->names || !lig_csv_rows_next (rows, &found, error))
    return !csv->names;
  for (guint i = 0; found && i < MIN (csv->n_columns, lig_csv_rows_count (rows)); i++) {
    const char *wanted = csv->names->pdata[i], *name = lig_csv_rows_field (rows, i);
    if (strcmp (wanted, name) == 0)
      continue;
    g_autofree char *shown = lig_format_excerpt (name, 40);
    g_autofree char *expected = lig_format_excerpt (wanted, 40);
    return lig_csv_reject (&rows->place, error, LIG_ERROR_FORMAT,
                           _ ("column %u is '%s', expected '%s' as in the training file"), i + 1,
                           shown, expected);
  }
  return TRUE;
}

static gboolean
read_table (LigDataset *self, Csv *csv, Files *files, GError **error)
{
  gboolean found;
  gint64 n_rows[2] = {0};
  LigCsvRows *rows = &files->rows[0];
  if (!lig_csv_rows_next (rows, &found, error))
    return FALSE;
  if (!found)
    return lig_dataset_reject (self, error, LIG_ERROR_FORMAT, _ ("is empty"));
  csv->n_columns = lig_csv_rows_count (rows);
  if (csv->n_columns < 2)
    return lig_csv_reject (&rows->place, error, LIG_ERROR_FORMAT,
                           _ ("has 1 column, expected at least a feature and a target separated by "
                              "a comma, a semicolon or a tab"));
  read_header (csv, rows);
  return choose_all (self, csv, error) &&
         (files->count < 2 || check_header (csv, &files->rows[1], error)) &&
         survey_files (csv, files, n_rows, error) && fill_table (self, csv, files, n_rows, error);
}

/* Returns further remarks about the table, each after a semicolon. */
static char *
describe_notes (const Csv *csv, guint merged)
{
  g_autoptr (GString) text = g_string_new (NULL);
  if (csv->class_names) {
    guint count = csv->class_names->len;
    g_string_append_printf (
      text, g_dngettext (GETTEXT_PACKAGE, "; %u class: ", "; %u classes: ", count), count);
    for (guint i = 0; i < MIN (count, MAX_SHOWN); i++) {
      g_autofree char *shown = lig_format_excerpt (csv->class_names->pdata[i], 24);
      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", shown);
    }
    g_string_append (text, count > MAX_SHOWN ? ", …" : "");
  }
  if (csv->n_dropped > 0) {
    g_autofree char *dropped = lig_format_count (csv->n_dropped);
    g_string_append_printf (text, _ ("; %s dropped because of missing cells"), dropped);
  }
  if (merged > 0)
    g_string_append_printf (
      text,
      g_dngettext (
        GETTEXT_PACKAGE, "; fp32 merges numbers of %u column, standardize=true keeps them distinct",
        "; fp32 merges numbers of %u columns, standardize=true keeps them distinct", merged),
      merged);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Opens one more file of the table. */
static gboolean
open_file (LigDataset *self, Files *files, const char *path, const char *name, GError **error)
{
  gsize size;
  g_autoptr (GBytes) file = lig_data_read (path, error);
  if (!file)
    return FALSE;
  const char *content = g_bytes_get_data (file, &size);
  self->content = lig_hash_content (self->content, content, size);
  LigCsvRows *rows = &files->rows[files->count];
  if (!lig_csv_rows_open (rows, name, file, error)) {
    lig_csv_rows_clear (rows);
    return FALSE;
  }
  files->bytes[files->count++] = g_steal_pointer (&file);
  return TRUE;
}

static gboolean
open_files (LigDataset *self, Csv *csv, Files *files, GError **error)
{
  if (!open_file (self, files, self->path, self->name, error))
    return FALSE;
  if (!self->validation_path)
    return TRUE;
  csv->validation_name = g_filename_display_name (self->validation_path);
  return lig_data_check_apart (self->path, self->validation_path, error) &&
         open_file (self, files, self->validation_path, csv->validation_name, error);
}

/* Returns the class of each row, -1 for none; null if the targets are not classes. */
static gint32 *
read_classes (const Csv *csv)
{
  if (csv->n_targets > 1 || csv->task == TASK_VALUE || csv->unfit_place.line > 0)
    return NULL;
  gint32 *classes = g_try_new (gint32, (gsize) csv->n_rows);
  for (gint64 row = 0; classes && row < csv->n_rows; row++)
    classes[row] = is_ignored (csv->targets[row]) ? -1 : (gint32) csv->targets[row];
  return classes;
}

/* Chooses the training and validation rows. */
static gboolean
split_rows (LigDataset *self, const Csv *csv, GError **error)
{
  if (self->validation_path) {
    lig_dataset_divide_files (self, csv->n_own, csv->n_rows);
    return TRUE;
  }
  g_autofree gint32 *classes = read_classes (csv);
  return lig_dataset_divide (self, csv->n_rows, classes, error);
}

static char *
describe (const LigDataset *self, guint merged)
{
  const Csv *csv = self->data;
  g_autofree char *count = lig_format_count (csv->n_rows);
  g_autofree char *training = lig_format_count (self->samples[LIG_SPLIT_TRAINING]);
  g_autofree char *all_rows = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%s row", "%s rows", (gulong) csv->n_rows), count);
  g_autofree char *features = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u feature", "%u features", (gulong) csv->n_features),
    csv->n_features);
  g_autofree char *targets = g_strdup_printf (
    g_dngettext (GETTEXT_PACKAGE, "%u target", "%u targets", (gulong) csv->n_targets),
    csv->n_targets);
  g_autofree char *split = lig_dataset_describe_split (self);
  g_autofree char *notes = describe_notes (csv, merged);
  return g_strdup_printf (_ ("csv: %s of %s and %s, %s for training%s%s"), all_rows, features,
                          targets, training, split, notes);
}

static gboolean
csv_open (LigDataset *self, GError **error)
{
  Csv *csv = self->data = g_new0 (Csv, 1);
  g_auto (Files) files = {0};
  read_options (self, csv);
  if (!open_files (self, csv, &files, error) || !read_table (self, csv, &files, error) ||
      !split_rows (self, csv, error))
    return FALSE;
  csv->means = g_new0 (double, csv->n_features);
  csv->stds = g_new0 (double, csv->n_features);
  for (guint i = 0; i < csv->n_features; i++)
    complete_feature (self, i);
  guint merged = narrow_features (csv);
  lig_shape_init (&self->input, 2, self->batch, (gint64) csv->n_features);
  self->dtype = LIG_FP32;
  self->description = describe (self, merged);
  return TRUE;
}

static gboolean
bind_classes (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  const Csv *csv = self->data;
  if (csv->task == TASK_VALUE)
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("task=value gives values, the loss requires classes"));
  if (csv->n_targets > 1)
    return lig_dataset_reject (self, error, LIG_ERROR_SHAPE,
                               _ ("%u target column%s named, a loss over classes takes 1"),
                               csv->n_targets, csv->n_targets == 1 ? _ (" is") : _ ("s are"));
  if (csv->unfit_place.line > 0)
    return lig_csv_reject (
      &csv->unfit_place, error, LIG_ERROR_VALUE,
      _ ("the target is %g, a class is a whole number from 0 to %d, or -1 for none"), csv->unfit,
      MAX_CLASSES);
  if (!lig_dataset_require_class (self, target, size, error))
    return FALSE;
  if ((gint64) csv->largest >= target->classes)
    return lig_csv_reject (&csv->largest_place, error, LIG_ERROR_VALUE,
                           g_dngettext (GETTEXT_PACKAGE,
                                        "class %.0f is beyond the prediction's %" PRId64 " class",
                                        "class %.0f is beyond the prediction's %" PRId64 " classes",
                                        (gulong) (target->classes)),
                           csv->largest, target->classes);
  self->ignores = csv->ignores;
  g_autofree gint32 *classes = read_classes (csv);
  if (classes)
    lig_dataset_compare_classes (
      self, classes, csv->class_names ? (const char *const *) csv->class_names->pdata : NULL);
  return TRUE;
}

static gboolean
csv_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error)
{
  const Csv *csv = self->data;
  if (target->classes > 0)
    return bind_classes (self, target, size, error);
  if (csv->text_place.line > 0)
    return lig_csv_reject (&csv->text_place, error, LIG_ERROR_DTYPE,
                           _ ("the target is text, the loss requires values"));
  if (csv->task == TASK_CLASS)
    return lig_dataset_reject (self, error, LIG_ERROR_DTYPE,
                               _ ("task=class gives classes, the loss requires values"));
  if (size != (gint64) csv->n_targets)
    return lig_dataset_reject (
      self, error, LIG_ERROR_SHAPE,
      _ ("the prediction has %" PRId64
         " feature%s per row, the targets have %u column%s; name them as target=A,B"),
      size, LIG_ENDING (size), csv->n_targets, LIG_ENDING (csv->n_targets));
  return TRUE;
}

static gboolean
csv_read (const LigDataset *self,
          LigSplit part,
          gint64 sample,
          void *input,
          void *target,
          GError **error G_GNUC_UNUSED)
{
  const Csv *csv = self->data;
  gint64 row = lig_dataset_row (self, part, sample);
  const float *targets = csv->targets + row * csv->n_targets;
  memcpy (input, csv->features + row * csv->n_features, csv->n_features * sizeof (float));
  if (target && self->target.classes > 0)
    *(gint32 *) target = is_ignored (*targets) ? self->ignored : (gint32) *targets;
  else if (target)
    lig_narrow (self->target.dtype, targets, target, csv->n_targets);
  return TRUE;
}

/* Returns a number as files write it, with a decimal point in every locale. */
static char *
show_number (float value)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  return g_strdup (g_ascii_formatd (text, sizeof text, "%g", (double) value));
}

static char *
show_target (const Csv *csv, float value)
{
  if (!csv->class_names)
    return show_number (value);
  return value >= 0 ? lig_format_excerpt (csv->class_names->pdata[(guint) value], 24)
                    : g_strdup ("");
}

/* Returns the text of a preview cell. */
static char *
show_cell (const Csv *csv, gint64 row, guint column)
{
  int target = csv->target_of[column];
  guint feature = 0;
  if (target >= 0)
    return show_target (csv, csv->targets[row * csv->n_targets + target]);
  for (guint before = 0; before < column; before++)
    feature += csv->target_of[before] == FEATURE;
  return show_number (csv->features[row * csv->n_features + feature]);
}

/* Shows the columns that are read; targets have an arrow before their name. */
static guint
csv_preview (const LigDataset *self, guint rows, GPtrArray *cells)
{
  const Csv *csv = self->data;
  guint columns[LIG_PREVIEW_COLUMNS], count = 0;
  for (guint i = 0; i < csv->n_columns; i++)
    if (csv->target_of[i] != UNUSED)
      columns[count < LIG_PREVIEW_COLUMNS ? count++ : count - 1] = i;
  for (guint i = 0; i < count; i++) {
    guint column = columns[i];
    const char *arrow = csv->target_of[column] >= 0 ? "→ " : "";
    g_autofree char *name = csv->names ? lig_format_excerpt (csv->names->pdata[column], 24)
                                       : g_strdup_printf ("%u", column + 1);
    g_ptr_array_add (cells, g_strconcat (arrow, name, NULL));
  }
  for (gint64 row = 0; row < MIN ((gint64) rows, csv->n_rows); row++)
    for (guint i = 0; i < count; i++)
      g_ptr_array_add (cells, show_cell (csv, row, columns[i]));
  return count;
}

/* Begins the object of a column. */
static void
begin_column (JsonBuilder *to, const Csv *csv, guint column)
{
  g_autofree char *number = g_strdup_printf ("%u", column + 1);
  json_builder_begin_object (to);
  lig_json_add_text (to, "name", csv->names ? csv->names->pdata[column] : number);
  lig_json_add_integer (to, "column", column + 1);
}

/* Adds the features and their scaling. */
static void
add_features (JsonBuilder *to, const Csv *csv)
{
  lig_json_begin_array (to, "features");
  for (guint i = 0, feature = 0; i < csv->n_columns; i++) {
    if (csv->target_of[i] != FEATURE)
      continue;
    begin_column (to, csv, i);
    if (csv->standardize || csv->missing == MISSING_MEAN)
      lig_json_add_number (to, "mean", csv->means[feature]);
    if (csv->standardize)
      lig_json_add_number (to, "std", csv->stds[feature]);
    json_builder_end_object (to);
    feature++;
  }
  json_builder_end_array (to);
}

/* Adds the targets in the order in which the option names them. */
static void
add_targets (JsonBuilder *to, const Csv *csv)
{
  lig_json_begin_array (to, "targets");
  for (int target = 0; target < (int) csv->n_targets; target++)
    for (guint i = 0; i < csv->n_columns; i++)
      if (csv->target_of[i] == target) {
        begin_column (to, csv, i);
        json_builder_end_object (to);
      }
  json_builder_end_array (to);
}

static void
csv_table (const LigDataset *self, JsonBuilder *to)
{
  static const char *const missing[] = {"reject", "drop", "mean"};
  const Csv *csv = self->data;
  lig_json_add_truth (to, "standardized", csv->standardize);
  lig_json_add_truth (to, "header", csv->names != NULL);
  lig_json_add_text (to, "missing", missing[csv->missing]);
  add_features (to, csv);
  add_targets (to, csv);
  if (!csv->class_names)
    return;
  lig_json_begin_array (to, "classes");
  for (guint i = 0; i < csv->class_names->len; i++)
    json_builder_add_string_value (to, csv->class_names->pdata[i]);
  json_builder_end_array (to);
}

static void
csv_close (LigDataset *self)
{
  Csv *csv = self->data;
  g_clear_pointer (&csv->names, g_ptr_array_unref);
  g_clear_pointer (&csv->labels, g_hash_table_unref);
  g_clear_pointer (&csv->class_names, g_ptr_array_unref);
  g_free (csv->validation_name);
  g_free (csv->target_of);
  g_free (csv->means);
  g_free (csv->stds);
  g_free (csv->wide);
  g_free (csv->features);
  g_free (csv->targets);
  g_free (csv);
}

static const LigDatasetChoice header_choices[] = {
  {"true", N_ ("Names of the columns")},
  {"false", N_ ("Numbers")},
  {NULL, NULL},
};

static const LigDatasetChoice task_choices[] = {
  {"class", N_ ("Classes")},
  {"value", N_ ("Values")},
  {NULL, NULL},
};

static const LigDatasetChoice missing_choices[] = {
  {"reject", N_ ("Reject the file")},
  {"drop", N_ ("Drop the row")},
  {"mean", N_ ("Take the mean of the column")},
  {NULL, NULL},
};

static const LigDatasetOption options[] = {
  {.type = LIG_DATASET_TEXT,
   .name = "target",
   .label = N_ ("Target columns"),
   .help = N_ ("Target columns, by name or number; by default the last column")},
  {.type = LIG_DATASET_TEXT,
   .name = "columns",
   .label = N_ ("Feature columns"),
   .help = N_ ("Columns read as features, by name or number; by default all others")},
  {.type = LIG_DATASET_TEXT,
   .name = "skip",
   .label = N_ ("Skipped columns"),
   .help = N_ ("Columns to skip, by name or number")},
  {.type = LIG_DATASET_CHOICE,
   .name = "missing",
   .label = N_ ("Missing cells"),
   .help = N_ ("How empty cells and NA are handled; a row without a target is always dropped"),
   .choices = missing_choices,
   .unset = N_ ("Reject the file")},
  {.type = LIG_DATASET_CHOICE,
   .name = "task",
   .label = N_ ("Target"),
   .help = N_ ("class: classification, value: regression; by default as the loss requires"),
   .choices = task_choices,
   .unset = N_ ("As the loss requires")},
  {.type = LIG_DATASET_CHOICE,
   .name = "header",
   .label = N_ ("First row"),
   .help =
     N_ ("Whether the first row has column names; by default, if none of its fields is a number"),
   .choices = header_choices,
   .unset = N_ ("Detected from its fields")},
  {.type = LIG_DATASET_BOOLEAN,
   .name = "standardize",
   .label = N_ ("Standardize"),
   .help = N_ ("Scales each feature to mean 0 and variance 1")},
  LIG_SPLIT_OPTION,
  {.name = NULL},
};

const LigDatasetKind lig_dataset_csv = {
  .info = {.name = "csv",
           .title = N_ ("Table: a .csv file of numbers"),
           .help = N_ ("Separated by commas, semicolons or tabs"),
           .path = LIG_DATASET_FILE,
           .files = "*.csv *.tsv",
           .options = options},
  .open = csv_open,
  .bind = csv_bind,
  .read = csv_read,
  .close = csv_close,
  .preview = csv_preview,
  .table = csv_table,
};
