/* SPDX-License-Identifier: MIT */
/* Writes numbers as text that reads back as the same number. */
#include "engine/base/number.h"

#include <string.h>

void
lig_number_append (GString *text, double number, gboolean single)
{
  char buffer[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  for (int digits = single ? 6 : 15; digits <= (single ? 9 : 17); digits++) {
    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (buffer, sizeof buffer, format, number);
    double back = g_ascii_strtod (buffer, NULL);
    if (single ? (float) back == (float) number : back == number)
      break;
  }
  /* 1e-05 becomes 1e-5, and 1e+20 becomes 1e20. */
  char *exponent = strchr (buffer, 'e');
  g_string_append_len (text, buffer, exponent ? exponent - buffer : (gssize) strlen (buffer));
  if (exponent) {
    g_string_append (text, exponent[1] == '-' ? "e-" : "e");
    g_string_append (text, exponent + 1 + strspn (exponent + 1, "+-0"));
  }
  /* Without a point, -0 would be read back as the integer 0. */
  if (strcmp (buffer, "-0") == 0)
    g_string_append (text, ".0");
}
