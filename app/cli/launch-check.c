/* SPDX-License-Identifier: MIT */
/* Checks the command line of commands that start ranks. */
#include "app/cli/launch.h"

#include "app/cli/fail.h"

#include <ligature/layout.h>
#include <ligature/ranks.h>

static gboolean
check_count (int wanted)
{
  int launched = lig_ranks_launched ();
  if (wanted < 1 || wanted > LIG_CLI_MAX_RANKS)
    lig_cli_usage ("--ranks is %d, expected 1 to %d", wanted, LIG_CLI_MAX_RANKS);
  else if (launched > 0 && wanted != launched)
    lig_cli_usage ("--ranks is %d, but the launcher started %d; omit --ranks", wanted, launched);
  else
    return TRUE;
  return FALSE;
}

gboolean
lig_cli_check_ranks (int wanted, const char *parallel)
{
  g_autoptr (GError) error = NULL;
  LigLayout layout;
  if (wanted != LIG_CLI_UNSET_RANKS && !check_count (wanted))
    return FALSE;
  int count = wanted != LIG_CLI_UNSET_RANKS ? wanted : MAX (lig_ranks_launched (), 1);
  if (!parallel || lig_layout_parse (&layout, parallel, count, &error))
    return TRUE;
  lig_cli_usage ("--parallel: %s", error->message);
  return FALSE;
}

gboolean
lig_cli_needs_launch (int wanted)
{
  return wanted > 1 && lig_ranks_launched () == 0;
}
