/* SPDX-License-Identifier: MIT */
/* Writes cells of CSV. */
#include "engine/base/number.h"
#include <ligature/csv.h>

#include <math.h>
#include <string.h>

static gboolean
is_number (const char *text)
{
  char *end;
  g_ascii_strtod (text, &end);
  return *text && !*end && strspn (text, "+-.0123456789eE") == strlen (text);
}

void
lig_csv_append_text (GString *to, const char *text)
{
  gboolean formula = *text && strchr ("=+-@\t\r", *text) && !is_number (text);
  gboolean quoted = strpbrk (text, ",\"\r\n") != NULL;
  g_string_append (to, quoted ? "\"" : "");
  g_string_append (to, formula ? "'" : "");
  for (const char *at = text; *at; at++) {
    if (*at == '"')
      g_string_append_c (to, '"');
    g_string_append_c (to, *at);
  }
  g_string_append (to, quoted ? "\"" : "");
}

void
lig_csv_append_number (GString *to, double value)
{
  if (isnan (value))
    g_string_append (to, "nan");
  else if (isinf (value))
    g_string_append (to, value > 0 ? "inf" : "-inf");
  else
    lig_number_append (to, value, FALSE);
}
