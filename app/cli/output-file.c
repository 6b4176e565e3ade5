/* SPDX-License-Identifier: MIT */
/* Writes to the file of -o or to standard output. */
#include "app/cli/output-file.h"

#include "app/cli/command.h"
#include "app/cli/pager.h"

#include <ligature/report.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

gboolean
lig_cli_is_standard (const char *file)
{
  return file && strcmp (file, "-") == 0;
}

gboolean
lig_cli_check_file (const char *file, GError **error)
{
  if (lig_cli_is_standard (file))
    return TRUE;
  g_autofree char *folder = g_path_get_dirname (file);
  int problem = g_file_test (file, G_FILE_TEST_IS_DIR) ? EISDIR
                : access (folder, W_OK | X_OK) == 0    ? 0
                                                       : errno;
  if (problem)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "%s: cannot be saved: %s", file,
                 g_strerror (problem));
  return problem == 0;
}

gboolean
lig_cli_check_output (const char *file, const char *format, GError **error)
{
  if (!lig_cli_is_standard (file))
    return TRUE;
  if (lig_cli_json ())
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "--json and -o - both write to standard output; give only one of them");
  else if (format && isatty (lig_cli_terminal (STDOUT_FILENO)))
    g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                 "%s is no text for a terminal; give -o FILE, or redirect standard output", format);
  else
    return TRUE;
  return FALSE;
}

gboolean
lig_cli_write_output (GBytes *bytes, const char *file, GError **error)
{
  gsize size;
  const void *data = g_bytes_get_data (bytes, &size);
  if (!lig_cli_is_standard (file))
    return lig_report_save (bytes, file, error);
  if (fwrite (data, 1, size, stdout) == size && fflush (stdout) == 0)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "standard output: cannot be written: %s",
               g_strerror (errno));
  return FALSE;
}
