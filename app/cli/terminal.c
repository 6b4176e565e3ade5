/* SPDX-License-Identifier: MIT */
/* Finds the width of the terminal. */
#include "app/cli/terminal.h"

#include "app/cli/pager.h"

#include <sys/ioctl.h>

int
lig_cli_width (int descriptor)
{
  const char *text = g_getenv ("COLUMNS");
  guint64 columns;
  struct winsize size;
  if (text && g_ascii_string_to_unsigned (text, 10, 1, G_MAXINT16, &columns, NULL))
    return (int) columns;
  if (ioctl (lig_cli_terminal (descriptor), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return LIG_CLI_USUAL_WIDTH;
}
