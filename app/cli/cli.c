/* SPDX-License-Identifier: MIT */
/* Options, errors, colours, tables and units for all commands. */
#include "app/cli/command.h"
#include "app/cli/live.h"
#include "app/cli/task.h"
#include "app/cli/terminal.h"

#include "app/cli/pager.h"

#include <ligature/columns.h>
#include <ligature/error.h>
#include <ligature/printable.h>
#include <ligature/report.h>
#include <ligature/units.h>

#include <json-glib/json-glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static gboolean json_requested, in_lines, is_quiet;

void
lig_cli_request_json (void)
{
  json_requested = TRUE;
}

gboolean
lig_cli_json (void)
{
  return json_requested;
}

void
lig_cli_request_lines (void)
{
  in_lines = TRUE;
}

void
lig_cli_set_quiet (gboolean quiet)
{
  is_quiet = quiet;
}

gboolean
lig_cli_quiet (void)
{
  return is_quiet;
}

static const char *colour;

void
lig_cli_set_colour (const char *mode)
{
  colour = mode;
}

gboolean
lig_cli_colour (void)
{
  const char *term = g_getenv ("TERM"), *none = g_getenv ("NO_COLOR");
  if (colour && strcmp (colour, "auto") != 0)
    return strcmp (colour, "always") == 0;
  return isatty (lig_cli_terminal (STDOUT_FILENO)) && !(none && *none) && term &&
         strcmp (term, "dumb") != 0;
}

static void
print_message (const char *message)
{
  g_autofree char *line = lig_printable (message);
  lig_cli_live_clear ();
  g_printerr ("lig: %s\n", line);
}

/* The longest sentence of an error, in characters; a word of the command line may be longer. */
#define LONGEST_SENTENCE 1000

/* Returns the sentence without the middle of a very long one; it is valid UTF-8. */
static char *
shorten (const char *sentence)
{
  g_autofree char *text =
    g_utf8_validate (sentence, -1, NULL) ? g_strdup (sentence) : lig_printable (sentence);
  glong length = g_utf8_strlen (text, -1), half = LONGEST_SENTENCE / 2;
  if (length <= LONGEST_SENTENCE)
    return g_steal_pointer (&text);
  g_autofree char *start = g_utf8_substring (text, 0, half);
  return g_strconcat (start, "…", g_utf8_offset_to_pointer (text, length - half), NULL);
}

void
lig_cli_print_failure (const char *code, const char *message, const char *path)
{
  if (!json_requested)
    return;
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "error");
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "code");
  json_builder_add_string_value (builder, code);
  json_builder_set_member_name (builder, "message");
  json_builder_add_string_value (builder, message);
  json_builder_set_member_name (builder, "path");
  json_builder_add_string_value (builder, path);
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("error", json_builder_get_root (builder));
}

static void
tell (const char *code, const char *sentence, const char *path)
{
  g_autofree char *message = shorten (sentence);
  /* The work that failed has ended. */
  lig_cli_task_end ();
  print_message (message);
  lig_cli_print_failure (code, message, path);
}

/* Replaces the first occurrence; returns NULL if there is none. */
static char *
replace (const char *text, const char *part, const char *by)
{
  const char *at = strstr (text, part);
  return at ? g_strdup_printf ("%.*s%s%s", (int) (at - text), text, by, at + strlen (part)) : NULL;
}

/* Returns the option that gave a setting: the recipes of a comparison replace that of the file. */
static const char *
find_option (const char *setting)
{
  static const char compared[] = "compare-recipes";
  if (lig_cli_was_given (setting))
    return setting;
  return g_str_equal (setting, "recipe") && lig_cli_was_given (compared) ? compared : NULL;
}

char *
lig_cli_phrase (const GError *error)
{
  const char *setting = lig_error_get_setting (error);
  if (!setting)
    return g_strdup (error->message);
  g_autofree char *option = g_strdup_printf ("give --%s", setting);
  g_autofree char *plain = g_strdup_printf ("set %s", setting);
  g_autofree char *shape = g_strdup_printf ("set the %s's shape", setting);
  char *text = replace (error->message, plain, option);
  text = text ? text : replace (error->message, shape, option);
  if (text)
    return text;
  const char *given = find_option (setting);
  return given ? g_strdup_printf ("%s (--%s)", error->message, given)
               : g_strdup_printf ("%s (%s of the file)", error->message, setting);
}

int
lig_cli_exit_code (const GError *error)
{
  return error->domain == G_OPTION_ERROR                           ? LIG_EXIT_USAGE
         : g_error_matches (error, LIG_ERROR, LIG_ERROR_CANCELLED) ? LIG_EXIT_INTERRUPTED
                                                                   : LIG_EXIT_FAILED;
}

const char *
lig_cli_code_name (const GError *error)
{
  return error->domain == G_OPTION_ERROR ? "usage" : lig_error_code_name (error);
}

int
lig_cli_fail (GError *error)
{
  int code = lig_cli_exit_code (error);
  g_autofree char *message = lig_cli_phrase (error);
  tell (lig_cli_code_name (error), message, lig_error_get_path (error));
  g_error_free (error);
  return code;
}

int
lig_cli_usage (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  tell ("usage", message, NULL);
  return LIG_EXIT_USAGE;
}

void
lig_cli_say (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!is_quiet)
    print_message (message);
}

void
lig_cli_warn (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  print_message (message);
}

/* On a terminal the line of the present task names the measurement; elsewhere one sentence says
 * that it takes time. */
void
lig_cli_measuring (const char *what, double seconds, double share)
{
  static gboolean said;
  g_autofree char *detail = g_strconcat ("measuring ", what, NULL);
  if (share >= 0)
    lig_cli_task_advance (share, detail, "the result is kept");
  else
    lig_cli_task_detail (detail, "the result is kept");
  if (seconds < 1 || said || !lig_cli_logged ())
    return;
  said = TRUE;
  lig_cli_say ("measuring the fastest choice on this device; the result is kept for the next time");
}

void
lig_cli_listen (const char *text)
{
  lig_cli_say ("%s", text);
}

void
lig_cli_print (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *line = lig_printable (text);
  lig_cli_live_clear ();
  printf ("%s\n", line);
}

void
lig_cli_print_document (const char *schema, JsonNode *node)
{
  g_return_if_fail (schema);
  lig_cli_print_json (node);
}

void
lig_cli_print_elements (const char *schema, guint count, LigCliElement *make, gpointer data)
{
  g_return_if_fail (schema && make);
  gboolean any = FALSE;
  lig_cli_live_clear ();
  for (guint i = 0; i < count; i++) {
    JsonNode *element = make (i, data);
    if (!element)
      continue;
    g_autoptr (JsonNode) array = json_node_new (JSON_NODE_ARRAY);
    json_node_take_array (array, json_array_new ());
    json_array_add_element (json_node_get_array (array), element);
    lig_json_add_units (array);
    g_autofree char *raw = lig_json_to_text (array);
    g_autofree char *text = g_utf8_make_valid (raw, -1);
    /* An array of one element is its line between those of the brackets. */
    printf ("%s%.*s", any ? ",\n" : "[\n", (int) strlen (text) - 4, text + 2);
    any = TRUE;
  }
  printf (any ? "\n]\n" : "[]\n");
}

static char *
to_line (JsonNode *node)
{
  GString *text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

void
lig_cli_print_json (JsonNode *node)
{
  lig_json_add_units (node);
  g_autofree char *raw = in_lines ? to_line (node) : lig_json_to_text (node);
  /* The name of a file may be any bytes, JSON is UTF-8. */
  g_autofree char *text = g_utf8_make_valid (raw, -1);
  lig_cli_live_clear ();
  printf ("%s\n", text);
  if (in_lines)
    fflush (stdout);
  json_node_unref (node);
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

/* Escapes the cells first, as column widths count the printed characters. */
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
    /* A longer cell pushes the rest of its own line, not of all lines. */
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

char *
lig_cli_format_time (double seconds)
{
  if (seconds >= 3600 && seconds < 1e12)
    return g_strdup_printf ("%.0f h %02d min", floor (seconds / 3600),
                            (int) (fmod (seconds, 3600) / 60));
  if (seconds >= 60 && seconds < 3600)
    return g_strdup_printf ("%d:%02d", (int) seconds / 60, (int) seconds % 60);
  return lig_units_time (seconds);
}

char *
lig_cli_format_left (double seconds)
{
  return seconds < 59.5 ? g_strdup_printf ("%.0f s", ceil (seconds))
                        : lig_cli_format_time (seconds);
}

char *
lig_cli_format_range (double from, double to)
{
  g_autofree char *lower = lig_cli_format_time (from), *upper = lig_cli_format_time (to);
  const char *unit = strchr (lower, ' '), *other = strchr (upper, ' ');
  if (unit && g_strcmp0 (unit, other) == 0)
    lower[unit - lower] = '\0';
  return g_strdup_printf ("%s to %s", lower, upper);
}
