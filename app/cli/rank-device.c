/* SPDX-License-Identifier: MIT */
/* The device of a rank: on a machine with accelerators, each rank has its own. */
#include "app/cli/rank-device.h"

#include "app/cli/rank.h"
#include "app/cli/train-options.h"

#include <string.h>

/* Returns the names of this machine's accelerators. */
static GStrv
list_accelerators (void)
{
  g_auto (GStrv) names = lig_device_list ();
  g_autoptr (GStrvBuilder) found = g_strv_builder_new ();
  for (char **name = names; *name; name++)
    if (lig_device_name_has (*name, LIG_DEVICE_ACCELERATOR) &&
        !lig_device_name_has (*name, LIG_DEVICE_DESCRIBED))
      g_strv_builder_add (found, *name);
  return g_strv_builder_end (found);
}

/* Returns the place of the name in the list; `cuda` and no name are the first. */
static guint
find_first (const char *name, const char *const *accelerators)
{
  guint first = 0;
  if (!name || !strchr (name, ':'))
    return 0;
  while (accelerators[first] && strcmp (accelerators[first], name) != 0)
    first++;
  return first;
}

/* Returns (transfer full) (nullable) the device of this rank: the ranks of a machine take the
 * accelerators from the named one on. */
static char *
choose (const char *name, LigRanks *ranks, GError **error)
{
  g_auto (GStrv) accelerators = list_accelerators ();
  guint count = g_strv_length (accelerators);
  guint at = find_first (name, (const char *const *) accelerators);
  if (at >= count)
    return g_strdup (name);
  int local = lig_ranks_get_local_rank (ranks);
  if (at + (guint) local < count)
    return g_strdup (accelerators[at + (guint) local]);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
               "ranks: rank %d is number %d on %s, which has %u from %s on; start fewer ranks, or "
               "give --device cpu",
               lig_ranks_get_rank (ranks), local + 1,
               lig_ranks_get_host (ranks, lig_ranks_get_rank (ranks)), count - at,
               accelerators[at]);
  return NULL;
}

LigDevice *
lig_cli_open_rank_device (const char *name, GError **error)
{
  LigRanks *ranks = lig_cli_rank_get ();
  gboolean own = ranks && (!name || (lig_device_name_has (name, LIG_DEVICE_ACCELERATOR) &&
                                     !lig_device_name_has (name, LIG_DEVICE_DESCRIBED)));
  GError *problem = NULL;
  g_autofree char *chosen = own ? choose (name, ranks, &problem) : g_strdup (name);
  if (problem) {
    g_propagate_error (error, problem);
    return NULL;
  }
  g_autoptr (LigDevice) device = lig_cli_open_training_device (chosen, error);
  return device && lig_device_join (device, ranks, error) ? g_steal_pointer (&device) : NULL;
}
