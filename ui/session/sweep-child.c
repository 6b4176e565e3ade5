/* SPDX-License-Identifier: MIT */
#include "ui/session/sweep-child.h"

#include <ligature/device.h>
#include <ligature/sequence.h>
#include <ligature/store-sweeps.h>

LigLayout
lig_sweep_child_get_layout (LigSweep *sweep)
{
  return lig_child_run_read_layout (lig_sweep_get_parallel (sweep), lig_sweep_get_ranks (sweep));
}

/* An interrupted run is continued if possible, else a new one starts. */
static LigChildRun *
start (LigSweep *sweep, guint point, LigChildOrder *order, GError **error)
{
  g_autofree char *checkpoint = lig_sweep_find_checkpoint (sweep, point);
  order->checkpoint = checkpoint;
  LigChildRun *self = checkpoint ? lig_child_run_new (order, NULL) : NULL;
  order->checkpoint = NULL;
  return self ? self : lig_child_run_new (order, error);
}

LigChildRun *
lig_sweep_child_new (LigSweep *sweep, guint point, LigStore *store, GError **error)
{
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sweep_get_training (sweep, point, &settings, error);
  LigChildOrder order = {
    .sequence = sequence,
    .settings = &settings,
    .device = lig_sweep_get_device (sweep),
    .store = lig_store_get_path (store),
    .init = lig_sweep_get_init (sweep),
    .layout = lig_sweep_child_get_layout (sweep),
  };
  g_autoptr (LigChildRun) self = sequence ? start (sweep, point, &order, error) : NULL;
  return self && lig_store_set_sweep (store, lig_child_run_get_uuid (self),
                                      lig_sweep_get_uuid (sweep), point, error)
           ? g_steal_pointer (&self)
           : NULL;
}
