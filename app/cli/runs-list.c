/* SPDX-License-Identifier: MIT */
/* `lig runs list`: a table that fits the terminal, or a JSON document with everything. */
#include "app/cli/runs-columns.h"
#include "app/cli/runs-table.h"
#include "app/cli/table.h"

#include <ligature/columns.h>
#include <ligature/printable.h>
#include <ligature/report.h>
#include <ligature/store-groups.h>
#include <ligature/store.h>
#include <ligature/suggest.h>

#include <math.h>
#include <string.h>

/* The minimum length of shortened texts, and the space between columns. */
enum { MIN_TEXT = 12, GAP = 2 };

/* A column of the printed table with its cells, all escaped. */
typedef struct {
  char *header;
  GPtrArray *cells;
  int priority;
  gboolean elastic;
} Column;

static void
free_column (gpointer data)
{
  Column *self = data;
  g_free (self->header);
  g_ptr_array_unref (self->cells);
  g_free (self);
}

/* --- Cells --------------------------------------------------------------------------------- */

static gboolean
is_number (const char *text)
{
  char *end;
  g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

/* Formats the value of a setting; a whole number keeps its digits. */
static char *
format_setting (const char *text)
{
  if (!text)
    return g_strdup ("-");
  if (!is_number (text) || strspn (text, "0123456789") == strlen (text))
    return g_strdup (text);
  return lig_runs_format_number (g_ascii_strtod (text, NULL));
}

static gboolean
add_setting (LigStore *store, GArray *keys, const char *name, Column *to, GError **error)
{
  g_autoptr (GPtrArray) values =
    lig_store_read_setting (store, (const gint64 *) (gpointer) keys->data, keys->len, name, error);
  gboolean numeric = TRUE;
  for (guint i = 0; values && i < values->len; i++) {
    const char *value = values->pdata[i];
    g_autofree char *text = format_setting (value);
    numeric &= !value || is_number (value);
    g_ptr_array_add (to->cells, lig_printable (text));
  }
  g_free (to->header);
  to->header = g_strconcat (numeric ? ">" : "", name, NULL);
  to->elastic = !numeric;
  return values != NULL;
}

static Column *
add_column (GPtrArray *table, const char *header, int priority, gboolean elastic)
{
  Column *column = g_new0 (Column, 1);
  column->header = g_strdup (header);
  column->cells = g_ptr_array_new_with_free_func (g_free);
  column->priority = priority;
  column->elastic = elastic;
  g_ptr_array_add (table, column);
  return column;
}

/* Adds a known column; without a function its values are read as a setting. */
static gboolean
add_known (LigStore *store,
           GArray *keys,
           GPtrArray *rows,
           const LigRunsColumn *known,
           GPtrArray *table,
           GError **error)
{
  Column *column = add_column (table, known->header, known->priority, known->elastic);
  if (!known->format)
    return add_setting (store, keys, known->key, column, error);
  for (guint i = 0; i < rows->len; i++) {
    g_autofree char *text = rows->pdata[i] ? known->format (rows->pdata[i]) : g_strdup ("");
    g_ptr_array_add (column->cells, lig_printable (text));
  }
  return TRUE;
}

static gboolean
add_named (LigStore *store,
           GArray *keys,
           GPtrArray *rows,
           const char *names,
           GPtrArray *table,
           GError **error)
{
  g_auto (GStrv) parts = g_strsplit (*names ? names : " ", ",", -1);
  for (char **part = parts; *part; part++) {
    const LigRunsColumn *known = lig_runs_find_column (g_strstrip (*part));
    if (known && !add_known (store, keys, rows, known, table, error))
      return FALSE;
    g_autofree char *setting =
      known ? NULL : lig_runs_find_setting (store, "--columns", *part, error);
    if (!known && (!setting || !add_setting (store, keys, setting,
                                             add_column (table, setting, 0, TRUE), error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean
add_usual (LigStore *store, GArray *keys, GPtrArray *rows, GPtrArray *table, GError **error)
{
  gboolean swept = FALSE;
  for (guint i = 0; i < rows->len; i++)
    swept |= rows->pdata[i] && ((const LigRunRow *) rows->pdata[i])->point >= 0;
  for (guint i = 0; lig_runs_column_nth (i); i++) {
    const LigRunsColumn *known = lig_runs_column_nth (i);
    if (known->priority > 0 && (swept || strcmp (known->key, "sweep") != 0) &&
        !add_known (store, keys, rows, known, table, error))
      return FALSE;
  }
  return TRUE;
}

/* --- Fitting ------------------------------------------------------------------------------- */

static guint
get_header_width (const Column *self)
{
  return (guint) lig_columns_width (self->header) - (self->header[0] == '>');
}

static guint
get_width (const Column *self)
{
  guint width = get_header_width (self);
  for (guint i = 0; i < self->cells->len; i++)
    width = MAX (width, (guint) lig_columns_width (self->cells->pdata[i]));
  return width;
}

static guint
get_min_width (const Column *self)
{
  return self->elastic ? MIN (get_width (self), MAX (MIN_TEXT, get_header_width (self)))
                       : get_width (self);
}

static guint
add_widths (GPtrArray *table, guint (*get) (const Column *self))
{
  guint sum = 0;
  for (guint i = 0; i < table->len; i++)
    sum += get (table->pdata[i]) + (i > 0 ? GAP : 0);
  return sum;
}

static void
shorten (Column *self, guint width)
{
  for (guint i = 0; i < self->cells->len; i++) {
    char *cell = self->cells->pdata[i];
    self->cells->pdata[i] = lig_columns_elide (cell, (int) width);
    g_free (cell);
  }
}

/* Columns without any value are omitted first. */
static void
demote_empty (GPtrArray *table)
{
  for (guint i = 0; i < table->len; i++) {
    Column *column = table->pdata[i];
    gboolean empty = TRUE;
    for (guint j = 0; empty && j < column->cells->len; j++) {
      const char *cell = column->cells->pdata[j];
      empty = !*cell || strcmp (cell, "-") == 0;
    }
    if (empty)
      column->priority = MIN (column->priority, 1);
  }
}

/* Omits columns until the rest fits with shortened texts; returns the names of the omitted ones. */
static GStrv
leave_out (GPtrArray *table, guint width)
{
  g_autoptr (GStrvBuilder) gone = g_strv_builder_new ();
  while (add_widths (table, get_min_width) > width) {
    guint min = 0;
    for (guint i = 1; i < table->len; i++)
      if (((Column *) table->pdata[i])->priority < ((Column *) table->pdata[min])->priority)
        min = i;
    const Column *column = table->pdata[min];
    if (column->priority > 90)
      break;
    g_strv_builder_add (gone, column->header + (column->header[0] == '>'));
    g_ptr_array_remove_index (table, min);
  }
  return g_strv_builder_end (gone);
}

/* Shortens the texts of the widest elastic column, then of the others, until the table fits. */
static void
shorten_texts (GPtrArray *table, guint width)
{
  guint sum;
  while ((sum = add_widths (table, get_width)) > width) {
    Column *widest = NULL;
    for (guint i = 0; i < table->len; i++) {
      Column *one = table->pdata[i];
      if (get_width (one) > get_min_width (one) &&
          (!widest || get_width (one) > get_width (widest)))
        widest = one;
    }
    if (!widest)
      return;
    guint spare = get_width (widest) - get_min_width (widest);
    shorten (widest, get_width (widest) - MIN (spare, sum - width));
  }
}

static void
fit (GPtrArray *table, gboolean chosen, guint width)
{
  demote_empty (table);
  g_auto (GStrv) gone = chosen ? NULL : leave_out (table, width);
  shorten_texts (table, width);
  if (!gone || !*gone)
    return;
  g_autofree char *names = g_strjoinv (", ", gone);
  lig_cli_say ("not shown at width %u: %s; choose with --columns", width, names);
}

static void
print (GPtrArray *table, guint count)
{
  g_autoptr (GPtrArray) lines = lig_runs_new_table ();
  g_autofree const char **header = g_new0 (const char *, table->len + 1);
  for (guint j = 0; j < table->len; j++)
    header[j] = ((const Column *) table->pdata[j])->header;
  for (guint i = 0; i < count; i++) {
    char **cells = g_new0 (char *, table->len + 1);
    for (guint j = 0; j < table->len; j++)
      cells[j] = g_strdup (((const Column *) table->pdata[j])->cells->pdata[i]);
    g_ptr_array_add (lines, cells);
  }
  lig_cli_print_table (header, lines);
}

gboolean
lig_runs_print_list (LigStore *store, GArray *keys, const char *columns, GError **error)
{
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (store, (const gint64 *) (gpointer) keys->data, keys->len, error);
  g_autoptr (GPtrArray) table = g_ptr_array_new_with_free_func (free_column);
  guint width = lig_runs_get_width ();
  if (!rows || !(columns ? add_named (store, keys, rows, columns, table, error)
                         : add_usual (store, keys, rows, table, error)))
    return FALSE;
  if (width > 0)
    fit (table, columns != NULL, width);
  print (table, rows->len);
  return TRUE;
}

/* --- JSON ---------------------------------------------------------------------------------- */

static JsonNode *
make_json (const LigRunRow *row, const char *best)
{
  JsonNode *node = lig_run_row_to_json (row);
  JsonObject *object = json_node_get_object (node);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_number (builder, "best_eval_loss", best ? g_ascii_strtod (best, NULL) : NAN);
  lig_json_add_number (builder, "step_ms", row->step_ms);
  lig_json_add_document (builder, "settings", row->settings);
  lig_json_add_text (builder, "revision", *row->revision ? row->revision : NULL);
  lig_json_add_text (builder, "parent", *row->parent ? row->parent : NULL);
  if (row->saved_step >= 0)
    lig_json_add_integer (builder, "saved_step", row->saved_step);
  else
    lig_json_add_number (builder, "saved_step", NAN);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) more = json_builder_get_root (builder);
  g_autoptr (GList) members = json_object_get_members (json_node_get_object (more));
  for (GList *m = members; m; m = m->next)
    if (!json_object_has_member (object, m->data))
      json_object_set_member (object, m->data,
                              json_object_dup_member (json_node_get_object (more), m->data));
  return node;
}

/* The rows of a list and, for each, the best validation loss as text, or null. */
typedef struct {
  GPtrArray *rows, *best;
} Listed;

static JsonNode *
make_element (guint index, gpointer data)
{
  const Listed *listed = data;
  const LigRunRow *row = listed->rows->pdata[index];
  return row ? make_json (row, listed->best->pdata[index]) : NULL;
}

/* The document contains everything; the columns are only checked. */
static gboolean
print_json (LigStore *store, GArray *keys, const char *columns, GError **error)
{
  const gint64 *all = (const gint64 *) (gpointer) keys->data;
  g_autoptr (GPtrArray) rows = lig_store_read_runs (store, all, keys->len, error);
  g_autoptr (GPtrArray) table = g_ptr_array_new_with_free_func (free_column);
  if (rows && columns && !add_named (store, keys, rows, columns, table, error))
    return FALSE;
  g_autoptr (GPtrArray) best =
    rows ? lig_store_read_setting (store, all, keys->len, LIG_RUN_BEST_EVAL_LOSS, error) : NULL;
  if (!best)
    return FALSE;
  Listed listed = {rows, best};
  lig_cli_print_elements ("runs-list", rows->len, make_element, &listed);
  return TRUE;
}

int
lig_runs_list (LigStore *store, const LigRunsOptions *options, int n, char **arguments)
{
  GError *error = NULL;
  g_autoptr (GArray) keys =
    lig_runs_select_keys (store, options, n > 0 ? arguments[0] : NULL, &error);
  if (!keys)
    return lig_cli_fail (error);
  if (keys->len == 0 && !lig_cli_json ())
    lig_cli_say ("no %sruns in %s", n > 0 || lig_runs_has_filter (options) ? "matching " : "",
                 lig_store_get_path (store));
  else if (!(lig_cli_json () ? print_json (store, keys, options->columns, &error)
                             : lig_runs_print_list (store, keys, options->columns, &error)))
    return lig_cli_fail (error);
  return LIG_EXIT_OK;
}
