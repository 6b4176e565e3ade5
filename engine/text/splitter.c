/* SPDX-License-Identifier: MIT */
/* Splits text into pieces by a pattern. The patterns of tokenizers are written for Oniguruma with
 * the syntax of Ruby; where PCRE2 differs, they are translated or rejected. */
#include "engine/text/splitter.h"
#include "engine/base/file.h"

#include <glib/gi18n-lib.h>
#include <string.h>

/* The content of a class for \s: PCRE2 would add U+180E. The order makes a hyphen after it literal.
 */
#define SPACE "\\p{Z}\\x{85}\\t-\\r"

typedef struct {
  const char *at;
  GString *out;
  char **problem;
} Translation;

static gboolean
reject (Translation *self, const char *what)
{
  *self->problem = g_strdup_printf (_ ("its pattern has %s, which is not supported"), what);
  return FALSE;
}

static gboolean
reject_part (Translation *self, const char *part, int length)
{
  g_autofree char *quoted = g_strdup_printf ("'%.*s'", length, part);
  return reject (self, quoted);
}

/* Copies a general category, \p{L}. The libraries understand names of scripts differently. */
static gboolean
translate_property (Translation *self)
{
  const char *name = self->at + (self->at[2] == '{' ? 3 : 2);
  gsize length = strspn (name, "^ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
  gsize letters = length - (*name == '^');
  if (self->at[2] != '{' || letters < 1 || letters > 2 || name[length] != '}') {
    g_autofree char *start = lig_format_excerpt (self->at, 20);
    return reject_part (self, start, (int) strlen (start));
  }
  name += length + 1;
  g_string_append_len (self->out, self->at, name - self->at);
  self->at = name;
  return TRUE;
}

/* Copies what may follow a backslash in both syntaxes; \w, \b, \h, \v and others differ. */
static gboolean
translate_escape (Translation *self, gboolean in_class)
{
  const char *letter = self->at + 1;
  if (*letter == 'p' || *letter == 'P')
    return translate_property (self);
  if (*letter == 's')
    g_string_append_printf (self->out, in_class ? "%s" : "[%s]", SPACE);
  else if (*letter == 'S' && !in_class)
    g_string_append (self->out, "[^" SPACE "]");
  else if (*letter && (g_ascii_ispunct (*letter) || strchr ("dDrntfxA", *letter)) &&
           !(*letter == 'A' && in_class)) {
    g_string_append_len (self->out, self->at, 2);
  } else {
    glong width = *letter ? g_utf8_next_char (letter) - self->at : 1;
    return reject_part (self, self->at, (int) width);
  }
  self->at += 2;
  return TRUE;
}

/* Oniguruma's classes can be nested and intersected. */
static gboolean
translate_class (Translation *self)
{
  const char *start = self->at++;
  g_string_append_c (self->out, '[');
  if (*self->at == '^')
    g_string_append_c (self->out, *self->at++);
  if (*self->at == ']')
    return reject_part (self, start, (int) (self->at - start) + 1);
  while (*self->at != ']') {
    if (!*self->at)
      return reject (self, _ ("a class without an end"));
    if (*self->at == '[')
      return reject (self, _ ("a class in a class"));
    if (strncmp (self->at, "&&", 2) == 0)
      return reject (self, _ ("an intersection of classes"));
    if (*self->at != '\\')
      g_string_append_c (self->out, *self->at++);
    else if (!translate_escape (self, TRUE))
      return FALSE;
  }
  g_string_append_c (self->out, *self->at++);
  return TRUE;
}

/* Copies the start of a group: one that captures, or one of those that both know. */
static gboolean
translate_group (Translation *self)
{
  static const char *const starts[] = {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:"};
  gsize length = 1;
  for (guint i = 0; i < G_N_ELEMENTS (starts); i++)
    if (g_str_has_prefix (self->at, starts[i]))
      length = strlen (starts[i]);
  if (length == 1 && (self->at[1] == '?' || self->at[1] == '*')) {
    g_autofree char *start = g_utf8_substring (self->at, 0, MIN (g_utf8_strlen (self->at, -1), 4));
    return reject_part (self, start, (int) strlen (start));
  }
  g_string_append_len (self->out, self->at, (gssize) length);
  self->at += length;
  return TRUE;
}

static gboolean
translate (Translation *self)
{
  while (*self->at) {
    gboolean interval = *self->at == '}' && (self->at[1] == '+' || self->at[1] == '?');
    if (*self->at == '\\') {
      if (!translate_escape (self, FALSE))
        return FALSE;
    } else if (*self->at == '[') {
      if (!translate_class (self))
        return FALSE;
    } else if (*self->at == '(') {
      if (!translate_group (self))
        return FALSE;
    } else if (*self->at == '^' || *self->at == '$') { /* lines or texts */
      return reject_part (self, self->at, 1);
    } else if (interval || strncmp (self->at, "{,", 2) == 0) {
      return reject_part (self, self->at, 2);
    } else
      g_string_append_c (self->out, *self->at++);
  }
  return TRUE;
}

GRegex *
lig_split_compile (const char *pattern, char **problem)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) out = g_string_new (NULL);
  if (!translate (&(Translation){pattern, out, problem}))
    return NULL;
  GRegex *compiled = g_regex_new (out->str, G_REGEX_OPTIMIZE | G_REGEX_NEWLINE_LF, 0, &error);
  if (!compiled) {
    const char *reason = g_strrstr (error->message, ": ");
    *problem = g_strdup_printf (_ ("its pattern cannot be compiled: %s"),
                                reason ? reason + 2 : error->message);
    return NULL;
  }
  /* GLib compiles to machine code in the first match, which must not happen in several threads. */
  g_regex_match (compiled, "", 0, NULL);
  return compiled;
}

GRegex *
lig_split_compile_text (const char *text)
{
  g_autofree char *escaped = g_regex_escape_string (text, -1);
  GRegex *compiled = g_regex_new (escaped, G_REGEX_OPTIMIZE, 0, NULL);
  if (compiled)
    g_regex_match (compiled, "", 0, NULL);
  return compiled;
}

/* GLib passes PCRE2 the option not to check the encoding, so that each match takes a time that
 * depends on the match, not on the length of the text. */
gboolean
lig_split_text (GRegex *pattern,
                const char *text,
                gsize length,
                LigSplitPiece piece,
                gpointer data,
                GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (GMatchInfo) match = NULL;
  gsize done = 0;
  gboolean good = TRUE;
  gboolean found = g_regex_match_full (pattern, text, (gssize) length, 0, 0, &match, &local);
  for (; found && good; found = g_match_info_next (match, &local)) {
    int start = 0, end = 0;
    g_match_info_fetch_pos (match, 0, &start, &end);
    if ((gsize) start > done)
      good = piece (text + done, (gsize) start - done, data, error);
    if (good && end > start)
      good = piece (text + start, (gsize) (end - start), data, error);
    done = (gsize) end;
  }
  if (local) {
    /* GLib's message contains the pattern; the reason is after its last colon. */
    const char *reason = g_strrstr (local->message, ": ");
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
                 _ ("byte %zu of %zu: the pattern of the tokenizer cannot split the text: %s; "
                    "divide the text"),
                 done, length, reason ? reason + 2 : local->message);
    return FALSE;
  }
  return good && (done == length || piece (text + done, length - done, data, error));
}

gboolean
lig_split_is_space (gunichar character)
{
  GUnicodeType type = character < 0x80 ? G_UNICODE_CONTROL : g_unichar_type (character);
  return (character >= '\t' && character <= '\r') || character == ' ' || character == 0x85 ||
         type == G_UNICODE_SPACE_SEPARATOR || type == G_UNICODE_LINE_SEPARATOR ||
         type == G_UNICODE_PARAGRAPH_SEPARATOR;
}
