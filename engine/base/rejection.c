/* SPDX-License-Identifier: MIT */
/* Sets the errors that reject a table of an op, kernel or fusion. */
#include "engine/base/rejection.h"

gboolean
lig_reject (
  GError **error, LigError code, const char *thing, const char *name, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, LIG_ERROR, code, "%s %.60s: %s", thing, name, text);
  return FALSE;
}
