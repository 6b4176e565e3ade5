/* SPDX-License-Identifier: MIT */
/* The links between devices in `lig devices`, as text and JSON. */
#pragma once

#include <ligature/device.h>

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Adds the member `fabric`; null if the links are unknown. */
void lig_cli_add_fabric (JsonBuilder *builder, const LigFabric *fabric);

/* Prints a table of the links of the devices (of LigDevice) whose links are known; nothing if there
 * are none. */
void lig_cli_print_fabrics (GPtrArray *devices);

G_END_DECLS
