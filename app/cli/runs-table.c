/* SPDX-License-Identifier: MIT */
#include "app/cli/runs-table.h"

#include "app/cli/pager.h"
#include "app/cli/print.h"
#include "app/cli/terminal.h"

#include <math.h>
#include <unistd.h>

static char *
format_moment (gint64 when, const char *format)
{
  g_autoptr (GDateTime) moment = g_date_time_new_from_unix_local (when / G_USEC_PER_SEC);
  return moment ? g_date_time_format (moment, format) : g_strdup ("-");
}

char *
lig_runs_format_started (gint64 when)
{
  return format_moment (when, "%Y-%m-%d %H:%M:%S");
}

char *
lig_runs_format_zoned (gint64 when)
{
  return format_moment (when, "%Y-%m-%d %H:%M:%S %Z");
}

char *
lig_runs_format_minute (gint64 when)
{
  return format_moment (when, "%Y-%m-%d %H:%M");
}

char *
lig_runs_format_number (double value)
{
  return isnan (value) ? g_strdup ("-") : g_strdup_printf ("%.6g", value);
}

GPtrArray *
lig_runs_new_table (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
}

guint
lig_runs_get_width (void)
{
  if (!isatty (lig_cli_terminal (STDOUT_FILENO)) && !g_getenv ("COLUMNS"))
    return 0;
  return CLAMP ((guint) lig_cli_width (STDOUT_FILENO), LIG_CLI_NARROWEST, LIG_CLI_WIDEST);
}

void
lig_runs_print_title (const char *title)
{
  lig_cli_print ("%s", "");
  lig_cli_print ("%s", title);
}
