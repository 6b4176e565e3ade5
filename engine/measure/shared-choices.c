/* SPDX-License-Identifier: MIT */
/* Ranks with equal devices use rank 0's choices: each would measure different times, and would take
 * as long as rank 0, which has the store. */
#include "engine/measure/shared-choices.h"

#include "engine/measure/choices.h"
#include <ligature/ranks.h>

#include <string.h>

/* Returns the algorithms that rank 0 has chosen for its device; (transfer full). */
static char *
list_algorithms (LigDevice *device, const LigTuning *tuning)
{
  const char *name = lig_device_get_facts (device)->name;
  g_autofree char *stored =
    tuning && tuning->list && *name ? tuning->list (tuning->data, name) : NULL;
  g_autofree char *own = lig_algorithms_list ();
  return g_strconcat (stored ? stored : "", own, NULL);
}

gboolean
lig_choices_share (LigDevice *device, const LigTuning *tuning, char **groups, GError **error)
{
  LigRanks *ranks = lig_device_get_ranks (device);
  if (!ranks)
    return TRUE;
  gboolean first = lig_ranks_get_rank (ranks) == 0;
  const LigDeviceFacts *own = lig_device_get_facts (device);
  g_autofree LigDeviceFacts *facts = g_memdup2 (own, sizeof *own);
  g_autofree char *algorithms = first ? list_algorithms (device, tuning) : NULL;
  if (!lig_ranks_broadcast_text (ranks, groups, error) ||
      !lig_ranks_broadcast (ranks, facts, sizeof *facts, error) ||
      !lig_ranks_broadcast_text (ranks, &algorithms, error))
    return FALSE;
  if (!first && strcmp (facts->name, own->name) == 0 &&
      strcmp (facts->libraries, own->libraries) == 0) {
    lig_device_set_facts (device, facts);
    lig_algorithms_preset (algorithms ? algorithms : "");
  }
  return TRUE;
}
