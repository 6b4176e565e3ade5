/* SPDX-License-Identifier: MIT */
#include "app/cli/say.h"

#include "app/cli/live.h"
#include "app/cli/modes.h"

#include <ligature/printable.h>

#include <stdio.h>

static void
print_message (const char *message)
{
  g_autofree char *line = lig_printable (message);
  lig_cli_live_clear ();
  /* Keeps the order of lines if both streams have the same target. */
  fflush (stdout);
  g_printerr ("lig: %s\n", line);
}

void
lig_cli_say (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  if (!lig_cli_quiet ())
    print_message (message);
}

void
lig_cli_warn (const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  print_message (message);
}

void
lig_cli_listen (const char *text)
{
  lig_cli_say ("%s", text);
}
