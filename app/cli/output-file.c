/* SPDX-License-Identifier: MIT */
/* Writes to the file of -o or to standard output. */
#include "app/cli/output-file.h"

#include "app/cli/modes.h"
#include "app/cli/pager.h"

#include <ligature/report.h>
#include <ligature/tensor-file.h>

#include <glib/gstdio.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

gboolean
lig_cli_is_standard (const char *file)
{
  return file && strcmp (file, "-") == 0;
}

/* Checks that a new file can replace the old one in its folder. */
static gboolean
check_folder (const char *file, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (file);
  int problem = g_file_test (file, G_FILE_TEST_IS_DIR) ? EISDIR
                : access (folder, W_OK | X_OK) == 0    ? 0
                                                       : errno;
  if (problem)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "%s: cannot be saved: %s", file,
                 g_strerror (problem));
  return problem == 0;
}

static gboolean
reject_loss (const char *file, const char *what, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
               "%s: cannot be saved: the existing file %s and would be lost; choose another name "
               "or move it away",
               file, what);
  return FALSE;
}

/* Reads the first bytes of a regular file, and returns their number. */
static gsize
read_start (const char *path, char *bytes, gsize size)
{
  FILE *file = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? fopen (path, "rb") : NULL;
  gsize count = file ? fread (bytes, 1, size, file) : 0;
  if (file)
    fclose (file);
  return count;
}

gboolean
lig_cli_begins_like_tensors (const char *path)
{
  char bytes[9] = "";
  return read_start (path, bytes, sizeof bytes) == sizeof bytes && bytes[8] == '{' && bytes[7] == 0;
}

static gboolean
begins_like_database (const char *path)
{
  static const char start[] = "SQLite format 3";
  char bytes[sizeof start] = "";
  return read_start (path, bytes, sizeof bytes) == sizeof bytes &&
         memcmp (bytes, start, sizeof start) == 0;
}

gboolean
lig_cli_check_file (const char *file, GError **error)
{
  if (lig_cli_is_standard (file))
    return TRUE;
  if (!check_folder (file, error))
    return FALSE;
  const char *what = lig_cli_begins_like_tensors (file) ? "has tensors"
                     : begins_like_database (file)      ? "is a database"
                                                        : NULL;
  return !what || reject_loss (file, what, error);
}

/* File name endings that other programs or commands use for other formats. */
static const char *const foreign[] = {
  ".onnx",   ".pt",  ".pth",  ".ckpt", ".bin", ".gguf", ".ggml", ".h5",   ".hdf5", ".keras",
  ".tflite", ".npy", ".npz",  ".pkl",  ".pb",  ".csv",  ".tsv",  ".json", ".lig",  ".db",
  ".txt",    ".md",  ".html", ".svg",  ".png", ".pdf",  ".zip",  ".gz",   NULL};

static gboolean
reject_ending (const char *file, const char *ending, GError **error)
{
  g_autofree char *name = g_strndup (file, strlen (file) - strlen (ending));
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "-o %s ends in %s, but safetensors are written; name it %s.safetensors", file,
               ending, name);
  return FALSE;
}

gboolean
lig_cli_check_tensors (const char *file, GError **error)
{
  if (lig_cli_is_standard (file))
    return TRUE;
  if (!check_folder (file, error))
    return FALSE;
  g_autofree char *lower = g_ascii_strdown (file, -1);
  for (const char *const *ending = foreign; *ending; ending++)
    if (g_str_has_suffix (lower, *ending))
      return reject_ending (file, *ending, error);
  GStatBuf info;
  if (g_stat (file, &info) != 0 || !S_ISREG (info.st_mode) || info.st_size == 0)
    return TRUE;
  g_autoptr (LigTensorFile) before = lig_tensor_file_load (file, NULL);
  const char *what = !before ? "is not a tensor file"
                     : lig_tensor_file_get_metadata (before, "ligature.checkpoint")
                       ? "is a training checkpoint"
                       : NULL;
  return !what || reject_loss (file, what, error);
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
    g_set_error (
      error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
      "%s is not text and cannot go to a terminal; give -o FILE, or redirect standard output",
      format);
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
