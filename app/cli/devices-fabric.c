/* SPDX-License-Identifier: MIT */
/* The links between devices in `lig devices`. */
#include "app/cli/devices-fabric.h"

#include "app/cli/table.h"
#include <ligature/json-members.h>
#include <ligature/units.h>

#include <stdio.h>

void
lig_cli_add_fabric (JsonBuilder *builder, const LigFabric *fabric)
{
  if (fabric->devices > 0)
    lig_fabric_write (fabric, builder);
  else
    lig_json_add_text (builder, "fabric", NULL);
}

/* Writes the bandwidth and the latency of a link into two cells. */
static void
describe_link (const LigFabricLink *link, char **cells)
{
  g_autofree char *bandwidth = lig_units_count (link->bandwidth);
  cells[0] = g_strconcat (bandwidth, "B/s", NULL);
  cells[1] = lig_units_time (link->latency);
}

static char **
describe_fabric (LigDevice *device)
{
  const LigFabric *fabric = &lig_device_get_facts (device)->fabric;
  char **cells = g_new0 (char *, 9);
  cells[0] = g_strdup (lig_device_get_name (device));
  cells[1] = g_strdup_printf ("%d", fabric->devices);
  cells[2] = lig_units_time (fabric->start);
  describe_link (&fabric->inside, &cells[3]);
  describe_link (&fabric->between, &cells[5]);
  cells[7] = g_strdup_printf ("%d", fabric->multiprocessors);
  return cells;
}

void
lig_cli_print_fabrics (GPtrArray *devices)
{
  static const char *const header[] = {"links of",       ">devices", ">launch",
                                       ">within a node", ">latency", ">between nodes",
                                       ">latency",       ">SMs",     NULL};
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  for (guint i = 0; i < devices->len; i++)
    if (lig_device_get_facts (devices->pdata[i])->fabric.devices > 0)
      g_ptr_array_add (rows, describe_fabric (devices->pdata[i]));
  if (rows->len == 0)
    return;
  printf ("\n");
  lig_cli_print_table (header, rows);
  printf ("\n");
  lig_cli_print_wrapped (
    "links: devices per node; launch overhead of a collective; bandwidth per device and direction "
    "and latency of a message, within a node and between nodes; SMs that a collective occupies",
    lig_cli_text_width ());
}
