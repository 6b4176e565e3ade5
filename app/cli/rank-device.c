/* SPDX-License-Identifier: MIT */
/* The device of a rank: on a machine with accelerators, each rank has its own. */
#include "app/cli/rank-device.h"

#include "app/cli/rank.h"
#include "app/cli/train-options.h"

/* Returns (transfer full) (nullable) the device of this rank: the ranks of a machine use
 * consecutive accelerators, beginning with the named one. */
static char *
choose (const char *name, LigRanks *ranks, GError **error)
{
  g_auto (GStrv) accelerators = lig_device_list_accelerators (name);
  int count = (int) g_strv_length (accelerators), local = lig_ranks_get_local_rank (ranks);
  if (count == 0)
    return g_strdup (name);
  if (local < count)
    return g_strdup (accelerators[local]);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
               "ranks: rank %d is number %d on %s, which has %d from %s on; start fewer ranks, or "
               "give --device cpu",
               lig_ranks_get_rank (ranks), local + 1,
               lig_ranks_get_host (ranks, lig_ranks_get_rank (ranks)), count, accelerators[0]);
  return NULL;
}

LigDevice *
lig_cli_open_sharded_device (const char *name, const char *parallel, GError **error)
{
  LigLayout layout;
  LigRanks *ranks = lig_cli_rank_get ();
  if (!lig_layout_parse (&layout, parallel, lig_ranks_get_count (ranks), error))
    return NULL;
  g_autofree char *text = lig_layout_to_string (&layout);
  if (ranks && (!lig_ranks_agree (ranks, "--parallel", text, error) ||
                !lig_ranks_shard (ranks, &layout, error)))
    return NULL;
  return lig_cli_open_rank_device (name, error);
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
