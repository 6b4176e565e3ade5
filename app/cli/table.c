/* SPDX-License-Identifier: MIT */
#include "app/cli/table.h"

#include "app/cli/live.h"
#include "app/cli/modes.h"
#include "app/cli/terminal.h"
#include <ligature/columns.h>
#include <ligature/printable.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Widths: the gap between cells; a cell that is always readable; a last cell next to the others;
 * the indentation of a last cell below them. */
enum { GAP = 2, MIN_WIDTH = 6, ROOM = 20, INDENT = 6 };

typedef struct {
  const char *const *header;
  guint n_fixed;   /* the columns except a last one that may wrap */
  gboolean breaks; /* there is such a last column */
  gboolean below;  /* it has its own lines */
  int *widths;
  int width, sum; /* of a line, and of the fixed columns with the gap after each */
} Table;

int
lig_cli_text_width (void)
{
  return CLAMP (lig_cli_width (STDOUT_FILENO), LIG_CLI_NARROWEST, LIG_CLI_WIDEST);
}

void
lig_cli_print_wrapped (const char *text, int width)
{
  g_autofree char *line = lig_printable (text);
  g_autoptr (GString) lines = g_string_new (NULL);
  lig_columns_wrap (lines, line, 0, GAP, width);
  fputs (lines->str, stdout);
}

void
lig_cli_print_lines (const char *text, int width)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) broken = g_string_new (NULL);
  for (guint i = 0; lines[i] && (*lines[i] || lines[i + 1]); i++) {
    int indent = (int) strspn (lines[i], " ");
    g_autofree char *line = lig_printable (lines[i] + indent);
    g_string_append_printf (broken, "%*s", indent, "");
    lig_columns_wrap (broken, line, indent, indent + GAP, width);
  }
  fputs (broken->str, stdout);
}

/* Returns a column's title without its leading marks. */
static const char *
get_title (const char *head)
{
  return head + (*head && strchr ("<>~", *head));
}

static int
sum_up (const Table *table)
{
  int sum = 0;
  for (guint i = 0; i < table->n_fixed; i++)
    sum += table->widths[i] + GAP;
  return sum;
}

/* Returns the widest column that can shrink, among the marked ones if only these may. */
static int
find_widest (const Table *table, gboolean marked)
{
  int widest = -1;
  for (guint i = 0; i < table->n_fixed; i++)
    if (table->widths[i] > MIN_WIDTH &&
        (marked ? table->header[i][0] == '<' : table->header[i][0] != '>') &&
        (widest < 0 || table->widths[i] > table->widths[widest]))
      widest = (int) i;
  return widest;
}

/* Takes columns from the widest texts until the fixed columns fit. */
static void
shrink (Table *table, int room)
{
  for (table->sum = sum_up (table); table->sum - GAP > room; table->sum--) {
    int widest = find_widest (table, TRUE);
    widest = widest < 0 ? find_widest (table, FALSE) : widest;
    if (widest < 0)
      return;
    table->widths[widest]--;
  }
}

/* Escapes the cells, because column widths count printed characters. */
static void
measure (Table *table, GPtrArray *rows)
{
  guint columns = table->n_fixed + (table->breaks ? 1 : 0);
  for (guint i = 0; i < columns; i++)
    table->widths[i] = lig_columns_width (get_title (table->header[i]));
  for (guint row = 0; row < rows->len; row++)
    for (guint i = 0; i < columns; i++) {
      char **cell = &((char **) rows->pdata[row])[i], *line = lig_printable (*cell);
      g_free (*cell);
      *cell = line;
      table->widths[i] = MAX (table->widths[i], lig_columns_width (line));
    }
  table->sum = sum_up (table);
  int last = table->breaks ? table->widths[table->n_fixed] : 0;
  if (!table->breaks || table->sum + last > table->width) {
    table->below = table->breaks && table->sum + MIN (last, ROOM) > table->width;
    shrink (table, table->breaks && !table->below ? table->sum : table->width);
  }
}

static void
append_row (const Table *table, GString *to, const char *const *cells)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; i < table->n_fixed; i++) {
    LigSide side = table->header[i][0] == '>' ? LIG_SIDE_RIGHT : LIG_SIDE_LEFT;
    lig_columns_append (line, cells[i], table->widths[i], side);
    g_string_append_printf (line, "%*s", GAP, "");
  }
  const char *last = table->breaks ? cells[table->n_fixed] : "";
  if (*last && !table->below) {
    lig_columns_wrap (line, last, table->sum, table->sum, table->width);
    g_string_append (to, line->str);
    return;
  }
  g_string_append_printf (to, "%s\n", g_strchomp (line->str));
  if (*last) {
    g_string_append_printf (to, "%*s", INDENT, "");
    lig_columns_wrap (to, last, INDENT, INDENT, table->width);
  }
}

void
lig_cli_print_fitted (const char *const *header, GPtrArray *rows, int width)
{
  guint columns = g_strv_length ((GStrv) header);
  gboolean breaks = header[columns - 1][0] == '~';
  g_autofree int *widths = g_new0 (int, columns);
  g_autofree const char **titles = g_new0 (const char *, columns);
  g_autoptr (GString) text = g_string_new (lig_cli_colour () ? "\033[1m" : "");
  Table table = {.header = header,
                 .n_fixed = columns - (breaks ? 1 : 0),
                 .breaks = breaks,
                 .widths = widths,
                 .width = width};
  measure (&table, rows);
  for (guint i = 0; i < columns; i++)
    titles[i] = get_title (header[i]);
  append_row (&table, text, titles);
  g_string_append (text, lig_cli_colour () ? "\033[0m" : "");
  for (guint row = 0; row < rows->len; row++)
    append_row (&table, text, (const char *const *) rows->pdata[row]);
  fputs (text->str, stdout);
}

/* Prints a line of a table without spaces at its end. */
static void
print_row (const char *const *header, const int *widths, const char *const *cells)
{
  g_autoptr (GString) line = g_string_new (NULL);
  for (guint i = 0; header[i]; i++) {
    const char *cell = cells == header && *cells[i] == '>' ? cells[i] + 1 : cells[i];
    int padding = MAX (widths[i] - lig_columns_width (cell), 0);
    if (*header[i] == '>')
      g_string_append_printf (line, "%*s%s", padding, "", cell);
    else
      g_string_append_printf (line, "%s%*s", cell, padding, "");
    g_string_append (line, "  ");
  }
  puts (g_strchomp (line->str));
}

/* Escapes the cells first, because column widths count printed characters. */
static void
escape_cells (GPtrArray *rows)
{
  for (guint row = 0; row < rows->len; row++)
    for (char **cell = rows->pdata[row]; *cell; cell++) {
      char *line = lig_printable (*cell);
      g_free (*cell);
      *cell = line;
    }
}

void
lig_cli_print_table (const char *const *header, GPtrArray *rows)
{
  escape_cells (rows);
  lig_cli_live_clear ();
  guint columns = g_strv_length ((GStrv) header);
  g_autofree int *widths = g_new0 (int, columns);
  for (guint i = 0; i < columns; i++) {
    widths[i] = lig_columns_width (header[i]) - (header[i][0] == '>');
    for (guint row = 0; row < rows->len; row++)
      widths[i] = MAX (widths[i], lig_columns_width (((char **) rows->pdata[row])[i]));
    /* A longer cell pushes the rest of its own line only. */
    widths[i] = MIN (widths[i], LIG_CLI_WIDEST);
  }
  if (lig_cli_colour ())
    fputs ("\033[1m", stdout);
  print_row (header, widths, header);
  if (lig_cli_colour ())
    fputs ("\033[0m", stdout);
  for (guint row = 0; row < rows->len; row++)
    print_row (header, widths, (const char *const *) rows->pdata[row]);
}
