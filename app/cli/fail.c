/* SPDX-License-Identifier: MIT */
#include "app/cli/fail.h"

#include "app/cli/given.h"
#include "app/cli/modes.h"
#include "app/cli/print.h"
#include "app/cli/say.h"
#include "app/cli/task.h"

#include <ligature/error.h>
#include <ligature/printable.h>

#include <string.h>

/* The maximum length of an error message, in characters; a word of the command line may be
 * longer. */
#define LONGEST_SENTENCE 1000

/* Returns the message; of a very long one it cuts the middle out, at character boundaries. */
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
  if (!lig_cli_json ())
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
  lig_cli_warn ("%s", message);
  lig_cli_print_failure (code, message, path);
}

/* Replaces the first occurrence; returns NULL if there is none. */
static char *
replace (const char *text, const char *part, const char *by)
{
  const char *at = strstr (text, part);
  return at ? g_strdup_printf ("%.*s%s%s", (int) (at - text), text, by, at + strlen (part)) : NULL;
}

/* Returns the option that gave a setting: --compare-recipes replaces the recipe of the file. */
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
