/* SPDX-License-Identifier: MIT */
/* `-o FILE` of all commands; the name `-` is standard output. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The option -o. */
#define LIG_CLI_OUTPUT_ENTRY(variable) \
  { \
    "output", 'o', 0, G_OPTION_ARG_FILENAME, variable, "The file to write; -: standard output", \
      "FILE" \
  }

/* The option --format of a command with the formats `kinds`, "csv|json". */
#define LIG_CLI_FORMAT_ENTRY(variable, kinds) \
  { \
    "format", 0, 0, G_OPTION_ARG_STRING, variable, \
      "The format of the file [default: by the ending of its name]", kinds \
  }

/* Returns whether the file name means standard output. */
gboolean lig_cli_is_standard (const char *file);

/* Checks that -o and --json do not both write to standard output, and that no binary data goes to a
 * terminal. `format` is the name of a binary format, or NULL. Returns FALSE with a G_OPTION_ERROR
 * set. */
gboolean lig_cli_check_output (const char *file, const char *format, GError **error);

/* Checks that the file can be saved, before anything is computed: its folder must be writable,
 * since a new file replaces the old one, and the old one must contain neither tensors nor a store
 * of runs. Returns FALSE with LIG_ERROR_FILE set. */
gboolean lig_cli_check_file (const char *file, GError **error);

/* Checks that tensors can be saved to the file: its name must not have the ending of another
 * format, and an existing file must be a tensor file and not a training checkpoint. Returns FALSE
 * with an error set. */
gboolean lig_cli_check_tensors (const char *file, GError **error);

/* Returns whether the file begins like a tensor file, whatever its name: with the length of a JSON
 * object, and that object. */
gboolean lig_cli_begins_like_tensors (const char *path);

/* Writes the bytes to the file or to standard output. Returns FALSE with an error set. */
gboolean lig_cli_write_output (GBytes *bytes, const char *file, GError **error);

G_END_DECLS
