/* SPDX-License-Identifier: MIT */
#include "app/cli/problems.h"

#include "app/cli/fail.h"
#include "app/cli/modes.h"
#include "app/cli/print.h"
#include "app/cli/terminal.h"
#include <ligature/columns.h>
#include <ligature/error.h>
#include <ligature/json-members.h>
#include <ligature/printable.h>

#include <unistd.h>

/* Prints a line after its title. It is wrapped only on a terminal, because programs search the
 * text. */
static void
print_line (const char *title, const char *text)
{
  g_autoptr (GString) line = g_string_new (title);
  int indent = (int) line->len + 1;
  gboolean broken = isatty (STDERR_FILENO);
  int width = CLAMP (lig_cli_width (STDERR_FILENO), LIG_CLI_NARROWEST, LIG_CLI_WIDEST);
  g_string_append_c (line, ' ');
  lig_columns_wrap (line, text, indent, indent, broken ? width : G_MAXINT);
  g_printerr ("%s", line->str);
}

/* The message of a missing input suggests a shape already. */
static gboolean
is_told (const LigPlanProblem *problem, const LigProblemFix *fix)
{
  return fix->kind == LIG_PROBLEM_FIX_SET_INPUT &&
         g_strcmp0 (lig_error_get_setting (problem->error), "input") == 0;
}

static void
print_lines (const GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++) {
    const LigPlanProblem *problem = problems->pdata[i];
    g_autofree char *message = lig_cli_phrase (problem->error);
    g_autofree char *line = lig_printable (message);
    print_line ("lig:", line);
    for (guint k = 0, told = 0; k < problem->fixes->len; k++) {
      if (is_told (problem, problem->fixes->pdata[k])) {
        told++;
        continue;
      }
      g_autofree char *fix = lig_problem_fix_describe (problem->fixes->pdata[k]);
      g_autofree char *text = lig_printable (fix);
      print_line (k == told ? "     to fix it:" : "             or:", text);
    }
  }
  if (problems->len > 1)
    g_printerr ("lig: %u problem%s\n", problems->len, LIG_ENDING (problems->len));
}

static void
add_error (JsonBuilder *builder, const GError *error)
{
  g_autofree char *message = lig_cli_phrase (error);
  lig_json_add_text (builder, "code", lig_error_code_name (error));
  lig_json_add_text (builder, "message", message);
  lig_json_add_text (builder, "path", lig_error_get_path (error));
}

static void
add_fix (JsonBuilder *builder, const LigProblemFix *fix)
{
  g_autofree char *text = lig_problem_fix_describe (fix);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "kind", lig_problem_fix_kind_name (fix->kind));
  lig_json_add_text (builder, "path", fix->path);
  lig_json_add_text (builder, "name", fix->name);
  lig_json_add_text (builder, "value", fix->value);
  lig_json_add_text (builder, "text", text);
  json_builder_end_object (builder);
}

static void
print_json (const GPtrArray *problems)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "error");
  json_builder_begin_object (builder);
  add_error (builder, ((const LigPlanProblem *) problems->pdata[0])->error);
  json_builder_end_object (builder);
  lig_json_begin_array (builder, "problems");
  for (guint i = 0; i < problems->len; i++) {
    const LigPlanProblem *problem = problems->pdata[i];
    json_builder_begin_object (builder);
    add_error (builder, problem->error);
    lig_json_begin_array (builder, "fixes");
    for (guint k = 0; k < problem->fixes->len; k++)
      add_fix (builder, problem->fixes->pdata[k]);
    json_builder_end_array (builder);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);
  lig_cli_print_document ("check-problems", json_builder_get_root (builder));
}

int
lig_cli_fail_with (const GPtrArray *problems)
{
  print_lines (problems);
  if (lig_cli_json ())
    print_json (problems);
  return LIG_EXIT_FAILED;
}
