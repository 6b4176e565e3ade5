/* SPDX-License-Identifier: MIT */
/* Sequences in files and on standard input. */
#include "engine/base/file.h"
#include "engine/sequence/data-path.h"
#include "engine/sequence/literal.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STANDARD_INPUT "standard input"

/* Reads the whole stream, but stops soon after LIG_MAX_TEXT bytes, because a device never ends. */
static GString *
read_stream (FILE *stream, const char *name, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  char piece[65536];
  gsize count;
  while (text->len <= LIG_MAX_TEXT && (count = fread (piece, 1, sizeof piece, stream)) > 0)
    g_string_append_len (text, piece, (gssize) count);
  if (ferror (stream)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("%s: cannot be read: %s"), name,
                 g_strerror (errno));
    return NULL;
  }
  if (!lig_literal_check_text (text->str, text->len, error)) {
    g_prefix_error (error, "%s: ", name);
    return NULL;
  }
  return g_steal_pointer (&text);
}

static GString *
read_file (const char *path, GError **error)
{
  /* Opening a named pipe would block until a writer opens it, possibly forever; reading a pipe
   * without a writer returns the end at once. A pipe that a shell put at this path already has its
   * writer. */
  int number = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  FILE *file = number >= 0 && fcntl (number, F_SETFL, 0) == 0 ? fdopen (number, "rb") : NULL;
  if (!file) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("cannot open '%s': %s"), path,
                 g_strerror (errno));
    if (number >= 0)
      close (number);
    return NULL;
  }
  GString *text = read_stream (file, path, error);
  fclose (file);
  return text;
}

/* Returns the text after its byte order mark. */
static const char *
skip_mark (const char *text)
{
  return g_str_has_prefix (text, "\xef\xbb\xbf") ? text + 3 : text;
}

static const char *
skip_space (const char *text)
{
  return text + strspn (text, " \t\r\n");
}

static LigSequence *
read_json (const char *text, gsize length, const char *file, GStrv *warnings, GError **error)
{
  const char *start = skip_mark (text);
  if (!*skip_space (start)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s%sthe text is empty, expected a sequence"), file ? file : "",
                 file ? ": " : "");
    return NULL;
  }
  const char *first = skip_space (start);
  if (file && *first != '{') {
    g_autofree char *got = g_strndup (first, (gsize) (g_utf8_next_char (first) - first));
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("%s: not a .lig file: expected '{', got '%s'"), file, got);
    return NULL;
  }
  return lig_sequence_read (start, length - (gsize) (start - text), file, warnings, error);
}

LigSequence *
lig_sequence_from_json (const char *text, gssize length, GStrv *warnings, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  if (warnings)
    *warnings = NULL;
  gsize bytes = length < 0 ? strlen (text) : (gsize) length;
  if (!lig_literal_check_text (text, bytes, error))
    return NULL;
  /* A copy ends with a zero byte, which the text may lack. */
  g_autofree char *copy = g_strndup (text, bytes);
  return read_json (copy, bytes, NULL, warnings, error);
}

LigSequence *
lig_sequence_load (const char *path, GStrv *warnings, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);
  gboolean standard = strcmp (path, "-") == 0;
  if (warnings)
    *warnings = NULL;
  g_autoptr (GString) text =
    standard ? read_stream (stdin, STANDARD_INPUT, error) : read_file (path, error);
  if (!text)
    return NULL;
  LigSequence *sequence =
    read_json (text->str, text->len, standard ? STANDARD_INPUT : path, warnings, error);
  if (sequence && !standard)
    lig_data_path_resolve (sequence, path);
  return sequence;
}

static LigSequence *
open_standard_input (GStrv *warnings, GError **error)
{
  g_autoptr (GString) text = read_stream (stdin, STANDARD_INPUT, error);
  if (!text)
    return NULL;
  const char *start = skip_mark (text->str);
  if (*skip_space (start) == '{')
    return read_json (text->str, text->len, STANDARD_INPUT, warnings, error);
  LigSequence *sequence = lig_sequence_from_expression (start, error);
  if (!sequence)
    g_prefix_error (error, "%s: ", STANDARD_INPUT);
  return sequence;
}

LigSequence *
lig_sequence_open (const char *text, GStrv *warnings, GError **error)
{
  g_return_val_if_fail (text != NULL, NULL);
  if (warnings)
    *warnings = NULL;
  if (strcmp (text, "-") == 0)
    return open_standard_input (warnings, error);
  if (g_str_has_suffix (text, ".lig"))
    return lig_sequence_load (text, warnings, error);
  /* A channel's name like ../r contains a slash, but does not make an expression a file name. */
  gboolean call = strchr (text, '(') && !g_file_test (text, G_FILE_TEST_EXISTS);
  /* No expression of one word contains a dot. */
  gboolean named = strchr (text, '.') && !strpbrk (text, "!(=, ");
  if (named || (strchr (text, '/') && !call))
    return lig_sequence_load (text, warnings, error);
  return lig_sequence_from_expression (text, error);
}

gboolean
lig_sequence_save (LigSequence *self, const char *path, GError **error)
{
  g_return_val_if_fail (LIG_IS_SEQUENCE (self) && path != NULL, FALSE);
  g_autoptr (LigSequence) written = lig_sequence_copy (self);
  lig_data_path_relate (written, path);
  g_autofree char *text = lig_sequence_to_json (written);
  return lig_write_file (path, text, strlen (text), error);
}
