/* SPDX-License-Identifier: MIT */
#include "app/cli/report-output.h"

#include "app/cli/command.h"
#include "app/cli/output-file.h"
#include "app/cli/values.h"
#include <ligature/report.h>

#include <string.h>

static char *
list_formats (void)
{
  const char *format;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; (format = lig_report_format_nth (i)); i++)
    g_ptr_array_add (names, (gpointer) format);
  g_ptr_array_add (names, NULL);
  return lig_cli_values_join ((const char *const *) names->pdata);
}

static const char *
find_format (const char *name)
{
  const char *format;
  for (guint i = 0; (format = lig_report_format_nth (i)); i++)
    if (g_ascii_strcasecmp (format, name) == 0)
      return format;
  g_autofree char *names = list_formats ();
  lig_cli_usage ("--format is '%s', expected %s", name, names);
  return NULL;
}

const char *
lig_cli_report_format (const char *output, const char *format)
{
  g_autoptr (GError) error = NULL;
  const char *found = NULL;
  g_autofree char *names = list_formats ();
  if (lig_cli_is_standard (output) && !format)
    lig_cli_usage ("-o - has no file name ending; choose the format with --format: %s", names);
  else if (!lig_cli_check_output (output, NULL, &error))
    lig_cli_usage ("%s", error->message);
  else if (format)
    found = find_format (format);
  else if (!(found = lig_report_choose_format (output, &error)))
    lig_cli_usage ("%s", error->message);
  return found;
}

/* Pictures and PDF are binary. */
static gboolean
is_text (GBytes *report)
{
  gsize size;
  const void *data = g_bytes_get_data (report, &size);
  return !memchr (data, 0, size);
}

static void
print_result (const char *path, const char *format, gsize bytes)
{
  g_autofree char *size = lig_units_bytes ((double) bytes);
  if (!lig_cli_json ()) {
    lig_cli_say ("wrote %s (%s, %s)", path, format, size);
    return;
  }
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "file", path);
  lig_json_add_text (builder, "format", format);
  lig_json_add_integer (builder, "bytes", (gint64) bytes);
  json_builder_end_object (builder);
  lig_cli_print_document ("report", json_builder_get_root (builder));
}

int
lig_cli_report_write (GBytes *report, const char *output, const char *format)
{
  GError *error = NULL;
  if (!lig_cli_check_output (output, is_text (report) ? NULL : format, &error) ||
      !lig_cli_write_output (report, output, &error))
    return lig_cli_fail (error);
  if (!lig_cli_is_standard (output))
    print_result (output, format, g_bytes_get_size (report));
  return LIG_EXIT_OK;
}
