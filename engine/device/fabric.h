/* SPDX-License-Identifier: MIT */
/* Fabrics in device descriptions. */
#pragma once

#include <ligature/fabric.h>

#include <json-glib/json-glib.h>

/* Reads the member `fabric` of a device description; without it the fabric is unknown. */
gboolean lig_fabric_read (JsonObject *description, LigFabric *fabric, GError **error);
