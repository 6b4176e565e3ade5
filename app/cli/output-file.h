/* SPDX-License-Identifier: MIT */
/* `-o FILE` of all commands; the name `-` is standard output. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The line of -o in the option table of a command. */
#define LIG_CLI_OUTPUT_ENTRY(variable) \
  { \
    "output", 'o', 0, G_OPTION_ARG_FILENAME, variable, "The file to write; -: standard output", \
      "FILE" \
  }

/* The line of --format in the option table of a command with the formats `kinds`, "csv|json". */
#define LIG_CLI_FORMAT_ENTRY(variable, kinds) \
  { \
    "format", 0, 0, G_OPTION_ARG_STRING, variable, \
      "The format of the file [default: by the ending of its name]", kinds \
  }

/* Returns whether the name of a file stands for standard output. */
gboolean lig_cli_is_standard (const char *file);

/* Checks that -o does not write to standard output where --json also does, nor bytes that are no
 * text to a terminal. `format` is the name of a format that is no text, or NULL. Returns FALSE with
 * a G_OPTION_ERROR set. */
gboolean lig_cli_check_output (const char *file, const char *format, GError **error);

/* Checks that the file can be saved, before anything is computed: that its folder can be written,
 * since a new file replaces the old one, and that the old one has neither tensors nor a store of
 * runs. Returns FALSE with LIG_ERROR_FILE set. */
gboolean lig_cli_check_file (const char *file, GError **error);

/* Checks that tensors can be saved to the file: that its name does not end like that of another
 * format, and that it replaces nothing but a file of tensors that is no checkpoint of a training.
 * Returns FALSE with an error set. */
gboolean lig_cli_check_tensors (const char *file, GError **error);

/* Returns whether the file begins like one of tensors, whatever its name is: with the length of a
 * JSON object, which follows. */
gboolean lig_cli_begins_like_tensors (const char *path);

/* Writes the bytes to the file or to standard output. Returns FALSE with an error set. */
gboolean lig_cli_write_output (GBytes *bytes, const char *file, GError **error);

G_END_DECLS
