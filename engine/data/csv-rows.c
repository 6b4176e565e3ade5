/* SPDX-License-Identifier: MIT */
/* Reads the rows of a csv file (RFC 4180, with one of three separators; blanks around a field are
 * dropped). */
#include "engine/data/csv-rows.h"

#include <string.h>

#define MAX_FIELDS (1 << 24)

gboolean
lig_csv_reject (const LigCsvPlace *place, GError **error, LigError code, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, code, "%s:%" G_GINT64_FORMAT ": %s", place->name, place->line,
               what);
  return FALSE;
}

static const char candidates[] = {',', ';', '\t'};

/* Counts the candidates in a line, and returns where it ends. */
static const char *
count_separators (const char *text, const char *end, int *counts)
{
  gboolean quoted = FALSE;
  memset (counts, 0, sizeof candidates * sizeof *counts);
  for (; text < end && (quoted || (*text != '\n' && *text != '\r')); text++) {
    quoted ^= *text == '"';
    for (gsize i = 0; i < G_N_ELEMENTS (candidates); i++)
      counts[i] += !quoted && *text == candidates[i];
  }
  return text;
}

/* Returns the separator that occurs equally often, at least once, in each of the first lines. A
 * decimal comma does not, unless each number of each line has one. Takes the most frequent of
 * several, and returns 0 if two are equally frequent. If none occurs equally often, takes the most
 * frequent one of the first line, so that an error can show the fields. */
static char
find_separator (const char *text, const char *end)
{
  enum { LINES = 1000 };
  int first[G_N_ELEMENTS (candidates)] = {0}, counts[G_N_ELEMENTS (candidates)];
  gboolean even[G_N_ELEMENTS (candidates)] = {TRUE, TRUE, TRUE}, any = FALSE, tie = FALSE;
  gsize best = 0;
  for (int line = 0; text < end && line < LINES; line++) {
    while (text < end && (*text == '\n' || *text == '\r'))
      text++;
    text = count_separators (text, end, line == 0 ? first : counts);
    for (gsize i = 0; line > 0 && i < G_N_ELEMENTS (candidates); i++)
      even[i] &= counts[i] == first[i] || (text == end && counts[i] == 0);
  }
  for (gsize i = 0; i < G_N_ELEMENTS (candidates); i++)
    any |= even[i] && first[i] > 0;
  for (gsize i = 1; i < G_N_ELEMENTS (candidates); i++) {
    gboolean taken = !any || (even[best] && first[best] > 0), other = !any || even[i];
    tie = other && taken && first[i] == first[best] && first[i] > 0 ? TRUE : tie;
    if (other && (!taken || first[i] > first[best])) {
      best = i;
      tie = FALSE;
    }
  }
  return tie ? '\0' : candidates[best];
}

gboolean
lig_csv_rows_open (LigCsvRows *self, const char *name, GBytes *bytes, GError **error)
{
  gsize size;
  const char *content = g_bytes_get_data (bytes, &size);
  const char *binary = size > 0 ? memchr (content, 0, size) : NULL;
  if (binary) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("%s: byte %zu is 0, a csv file is text"),
                 name, (gsize) (binary - content));
    return FALSE;
  }
  lig_csv_rows_init (self, name, size > 0 ? content : "", size);
  if (self->separator != '\0')
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("%s: the separator is ambiguous, because each line has equal numbers of commas, "
                  "semicolons or tabs; write decimal points, or use only one of them"),
               name);
  return FALSE;
}

void
lig_csv_rows_init (LigCsvRows *self, const char *name, const char *text, gsize length)
{
  /* Windows programs write a byte order mark before UTF-8. */
  gsize mark = length >= 3 && memcmp (text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  *self = (LigCsvRows){
    .place.name = name,
    .start = text + mark,
    .end = text + length,
    .text = g_string_new (NULL),
    .fields = g_array_new (FALSE, FALSE, sizeof (gsize)),
  };
  self->separator = find_separator (self->start, self->end);
  lig_csv_rows_rewind (self);
}

void
lig_csv_rows_clear (LigCsvRows *self)
{
  if (self->text)
    g_string_free (self->text, TRUE);
  g_clear_pointer (&self->fields, g_array_unref);
  self->text = NULL;
}

void
lig_csv_rows_rewind (LigCsvRows *self)
{
  self->at = self->start;
  self->place.line = self->next_line = 1;
}

static gboolean
ends_field (const LigCsvRows *self)
{
  return self->at == self->end || *self->at == self->separator || *self->at == '\n' ||
         *self->at == '\r';
}

static void
skip_blanks (LigCsvRows *self)
{
  while (!ends_field (self) && (*self->at == ' ' || *self->at == '\t'))
    self->at++;
}

static void
skip_line_end (LigCsvRows *self)
{
  self->next_line++;
  if (*self->at++ == '\r' && self->at < self->end && *self->at == '\n')
    self->at++;
}

/* Reads the text between two quotes, which may contain line breaks and doubled quotes. */
static gboolean
read_quoted (LigCsvRows *self, GError **error)
{
  for (self->at++; self->at < self->end; self->at++) {
    if (*self->at == '"' && (self->at + 1 == self->end || self->at[1] != '"'))
      break;
    self->at += *self->at == '"';
    self->next_line += *self->at == '\n';
    g_string_append_c (self->text, *self->at);
  }
  if (self->at == self->end)
    return lig_csv_reject (&self->place, error, LIG_ERROR_FORMAT,
                           _ ("a quote in column %u is never closed"), self->fields->len);
  self->at++;
  skip_blanks (self);
  if (!ends_field (self))
    return lig_csv_reject (&self->place, error, LIG_ERROR_FORMAT,
                           _ ("text follows the closing quote in column %u"), self->fields->len);
  return TRUE;
}

static gboolean
read_field (LigCsvRows *self, gboolean *quoted, GError **error)
{
  gsize start = self->text->len;
  if (self->fields->len == MAX_FIELDS)
    return lig_csv_reject (&self->place, error, LIG_ERROR_FORMAT, _ ("has more than %d fields"),
                           MAX_FIELDS);
  g_array_append_val (self->fields, start);
  skip_blanks (self);
  *quoted = self->at < self->end && *self->at == '"';
  if (*quoted && !read_quoted (self, error))
    return FALSE;
  const char *first = self->at;
  while (!ends_field (self))
    self->at++;
  const char *last = self->at;
  while (last > first && (last[-1] == ' ' || last[-1] == '\t'))
    last--;
  g_string_append_len (self->text, first, last - first);
  g_string_append_c (self->text, '\0');
  return TRUE;
}

gboolean
lig_csv_rows_next (LigCsvRows *self, gboolean *found, GError **error)
{
  gboolean quoted, more;
  *found = FALSE;
  while (!*found && self->at < self->end) {
    self->place.line = self->next_line;
    g_string_truncate (self->text, 0);
    g_array_set_size (self->fields, 0);
    do {
      if (!read_field (self, &quoted, error))
        return FALSE;
      more = self->at < self->end && *self->at == self->separator;
      self->at += more;
    } while (more);
    if (self->at < self->end)
      skip_line_end (self);
    *found = self->fields->len > 1 || quoted || *self->text->str;
  }
  return TRUE;
}

guint
lig_csv_rows_count (const LigCsvRows *self)
{
  return self->fields->len;
}

const char *
lig_csv_rows_field (const LigCsvRows *self, guint column)
{
  return self->text->str + g_array_index (self->fields, gsize, column);
}

/* --- Fields -------------------------------------------------------------------------------- */

/* Parses [-]digits[.digits] of at most 15 digits. Mantissa and power of ten are exact then, so the
 * result is the same as that of strtod, which takes ten times as long. */
static gboolean
parse_short_number (const char *text, double *value)
{
  static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  gboolean negative = *text == '-', point = FALSE;
  guint digits = 0, after_point = 0;
  double mantissa = 0;
  for (text += negative; g_ascii_isdigit (*text) || (*text == '.' && !point); text++) {
    if (*text == '.') {
      point = TRUE;
      continue;
    }
    if (++digits > 15)
      return FALSE;
    after_point += point;
    mantissa = mantissa * 10 + (*text - '0');
  }
  *value = (negative ? -mantissa : mantissa) / powers[after_point];
  return *text == '\0' && digits > 0;
}

gboolean
lig_csv_parse_number (const char *text, double *value)
{
  char *end;
  if (parse_short_number (text, value))
    return TRUE;
  if (!*text || strpbrk (text, "xX"))
    return FALSE;
  *value = g_ascii_strtod (text, &end);
  return *end == '\0';
}

gboolean
lig_csv_is_missing (const char *text)
{
  static const char *const signs[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", NULL};
  return g_strv_contains (signs, text);
}
