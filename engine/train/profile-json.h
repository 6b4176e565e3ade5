/* SPDX-License-Identifier: MIT */
/* Parts of profiles as JSON, for documents and for the settings that a profile records. */
#pragma once

#include <ligature/profile.h>

G_BEGIN_DECLS

/* Returns (transfer full) the state of a device: an object with clocks, power and the other fields,
 * null for each that the device does not report. */
JsonNode *lig_profile_health_to_json (const LigDeviceHealth *health);

/* Returns (transfer full) an object with the load and the names of the disturbances; unknown
 * figures are null. */
JsonNode *lig_profile_conditions_to_json (const LigConditions *conditions);

/* Reads the conditions that a profile recorded in its settings, JSON, and judges them without the
 * spread of a step. Returns FALSE if the settings contain none, like those of other programs and of
 * older versions. */
gboolean lig_profile_read_conditions (const char *settings, LigConditions *conditions);

/* Returns (transfer full) the list of lig_profile_list_attention() as a JSON array. */
JsonNode *lig_profile_attention_to_json (void);

G_END_DECLS
