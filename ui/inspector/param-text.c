/* SPDX-License-Identifier: MIT */
/* Values of parameters as text. Numbers are written as users type them, `1e-5`. */
#include "ui/inspector/param-text.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* --- To text ------------------------------------------------------------------------------- */

/* Formats a float with the fewest digits that read back as the same value: `1e-5`, not `1e-05`. */
static char *
write_float (float value)
{
  char digits[G_ASCII_DTOSTR_BUF_SIZE];
  for (int precision = 1; precision <= 9; precision++) {
    g_autofree char *format = g_strdup_printf ("%%.%dg", precision);
    g_ascii_formatd (digits, sizeof digits, format, (double) value);
    if ((float) g_ascii_strtod (digits, NULL) == value)
      break;
  }
  char *exponent = strchr (digits, 'e');
  if (!exponent)
    return g_strdup (digits);
  *exponent = '\0';
  return g_strdup_printf ("%se%d", digits, (int) g_ascii_strtoll (exponent + 1, NULL, 10));
}

static char *
write_shape (const LigShape *shape)
{
  GString *text = g_string_new (NULL);
  for (int i = 0; shape && i < shape->n_axes; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? " × " : "",
                            (gint64) shape->axes[i]);
  return g_string_free (text, FALSE);
}

char *
lig_param_to_text (const LigParam *param, const GValue *value)
{
  switch (param->kind) {
  case LIG_PARAM_FLOAT:
    return write_float ((float) g_value_get_double (value));
  case LIG_PARAM_INT: {
    gint64 number = g_value_get_int64 (value);
    gboolean absent = (double) number < param->minimum && (double) number == param->initial;
    return absent ? g_strdup ("") : g_strdup_printf ("%" G_GINT64_FORMAT, number);
  }
  case LIG_PARAM_SHAPE:
    return write_shape (g_value_get_boxed (value));
  case LIG_PARAM_INPUT:
  case LIG_PARAM_OUTPUT:
  case LIG_PARAM_PATH:
  case LIG_PARAM_CHOICE: {
    const char *text = g_value_get_string (value);
    return g_strdup (text ? text : "");
  }
  default:
    return g_strdup (g_value_get_boolean (value) ? "true" : "false");
  }
}

/* --- From text ----------------------------------------------------------------------------- */

/* Removes spaces between digits, and reads a single comma as a decimal point. */
static char *
clean_number (const char *text)
{
  GString *clean = g_string_new (NULL);
  for (; *text; text = g_utf8_next_char (text)) {
    gunichar letter = g_utf8_get_char (text);
    if (letter == 0x2212)
      g_string_append_c (clean, '-');
    else if (letter == ',')
      g_string_append_c (clean, '.');
    else if (!g_unichar_isspace (letter))
      g_string_append_unichar (clean, letter);
  }
  return g_string_free (clean, FALSE);
}

static gboolean
parse_number (const LigParam *param, const char *text, GValue *value)
{
  g_autofree char *clean = clean_number (text);
  char *end = clean;
  errno = 0;
  gint64 whole = g_ascii_strtoll (clean, &end, 10);
  if (end != clean && !*end && errno == 0) {
    g_value_init (value, G_TYPE_INT64);
    g_value_set_int64 (value, whole);
    return TRUE;
  }
  double number = g_ascii_strtod (clean, &end);
  if (end == clean || *end || !isfinite (number))
    return FALSE;
  g_value_init (value, G_TYPE_DOUBLE);
  g_value_set_double (value, number);
  return TRUE;
}

/* Reads lengths separated by `x`, `×`, `*`, commas or spaces, with or without brackets. */
static gboolean
parse_shape (const char *text, GValue *value)
{
  LigShape shape = {.n_axes = 0};
  g_autoptr (GRegex) between = g_regex_new ("[\\sx×*,\\[\\]()]+", G_REGEX_CASELESS, 0, NULL);
  g_auto (GStrv) parts = g_regex_split (between, text, 0);
  for (guint i = 0; parts[i]; i++) {
    g_autofree char *clean = clean_number (parts[i]);
    char *end = clean;
    if (!*clean)
      continue;
    errno = 0;
    gint64 length = g_ascii_strtoll (clean, &end, 10);
    if (*end || errno != 0 || shape.n_axes == LIG_MAX_AXES)
      return FALSE;
    shape.axes[shape.n_axes++] = length;
  }
  if (shape.n_axes == 0)
    return FALSE;
  g_value_init (value, LIG_TYPE_SHAPE);
  g_value_set_boxed (value, &shape);
  return TRUE;
}

void
lig_param_from_text (const LigParam *param, const char *text, GValue *value)
{
  g_autofree char *stripped = g_strstrip (g_strdup (text));
  gboolean number = param->kind == LIG_PARAM_FLOAT || param->kind == LIG_PARAM_INT;
  gboolean channel = param->kind == LIG_PARAM_INPUT || param->kind == LIG_PARAM_OUTPUT;
  gboolean choice = param->kind == LIG_PARAM_CHOICE || param->kind == LIG_PARAM_PATH;
  if (!*stripped && (channel || choice || param->flags & LIG_PARAM_INFERRED))
    return;
  if (number && parse_number (param, stripped, value))
    return;
  if (param->kind == LIG_PARAM_SHAPE && parse_shape (stripped, value))
    return;
  g_value_init (value, G_TYPE_STRING);
  g_value_set_string (value, stripped);
}

gboolean
lig_param_value_equal (const GValue *a, const GValue *b)
{
  if (!G_IS_VALUE (a) || !G_IS_VALUE (b) || G_VALUE_TYPE (a) != G_VALUE_TYPE (b))
    return FALSE;
  if (G_VALUE_HOLDS_DOUBLE (a))
    return g_value_get_double (a) == g_value_get_double (b);
  if (G_VALUE_HOLDS_INT64 (a))
    return g_value_get_int64 (a) == g_value_get_int64 (b);
  if (G_VALUE_HOLDS_BOOLEAN (a))
    return g_value_get_boolean (a) == g_value_get_boolean (b);
  if (G_VALUE_HOLDS_STRING (a))
    return g_strcmp0 (g_value_get_string (a), g_value_get_string (b)) == 0;
  g_autofree char *first = write_shape (g_value_get_boxed (a));
  g_autofree char *second = write_shape (g_value_get_boxed (b));
  return g_str_equal (first, second);
}

/* --- Steps --------------------------------------------------------------------------------- */

/* Returns the next of 1, 2, 5, 10, 20 … up or down from a positive number. */
static double
step_decade (double value, int direction)
{
  static const double stops[] = {0.5, 1, 2, 5, 10};
  double decade = pow (10, floor (log10 (value) + 1e-9)), lead = value / decade;
  if (direction > 0) {
    for (guint i = 1; i < G_N_ELEMENTS (stops); i++)
      if (stops[i] > lead * (1 + 1e-6))
        return stops[i] * decade;
  } else {
    for (guint i = G_N_ELEMENTS (stops) - 1; i > 0; i--)
      if (stops[i - 1] < lead * (1 - 1e-6))
        return stops[i - 1] * decade;
  }
  return value;
}

/* Sizes change by the power of two that is about an eighth of them. */
static double
step_whole (double value, int direction)
{
  double size = 1;
  while (size * 16 <= fabs (value) + (direction < 0 ? -1 : 0))
    size *= 2;
  return direction > 0 ? floor (value / size) * size + size : ceil (value / size) * size - size;
}

static double
step_float (const LigParam *param, double value, int direction)
{
  gboolean share = param->maximum - param->minimum <= 1;
  if (share && (param->initial == 0 || param->initial >= 0.01))
    return round (value * 20 + direction) / 20;
  if (value == 0)
    return direction * (param->initial != 0 ? fabs (param->initial) / 10 : 1);
  return value > 0 ? step_decade (value, direction) : -step_decade (-value, -direction);
}

double
lig_param_step (const LigParam *param, double value, int direction)
{
  double next = param->kind == LIG_PARAM_INT ? step_whole (value, direction)
                                             : step_float (param, value, direction);
  return CLAMP (next, param->minimum, param->maximum);
}
