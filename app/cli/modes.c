/* SPDX-License-Identifier: MIT */
#include "app/cli/modes.h"

#include "app/cli/pager.h"

#include <string.h>
#include <unistd.h>

static gboolean json_requested, is_quiet;

void
lig_cli_request_json (void)
{
  json_requested = TRUE;
}

gboolean
lig_cli_json (void)
{
  return json_requested;
}

void
lig_cli_set_quiet (gboolean quiet)
{
  is_quiet = quiet;
}

gboolean
lig_cli_quiet (void)
{
  return is_quiet;
}

static const char *colour;

void
lig_cli_set_colour (const char *mode)
{
  colour = mode;
}

gboolean
lig_cli_colour (void)
{
  const char *term = g_getenv ("TERM"), *none = g_getenv ("NO_COLOR");
  if (colour && strcmp (colour, "auto") != 0)
    return strcmp (colour, "always") == 0;
  return isatty (lig_cli_terminal (STDOUT_FILENO)) && !(none && *none) && term &&
         strcmp (term, "dumb") != 0;
}
