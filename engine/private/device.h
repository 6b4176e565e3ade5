/* SPDX-License-Identifier: MIT */
/* What device.c asks of the backends and of the profiles. */
#pragma once

#include "engine/device.h"

/* Fills in what is known of this CPU without measuring. */
void lig_cpu_facts (LigDeviceFacts *facts);
gboolean lig_cpu_measure (LigDeviceFacts *facts, GError **error);

/* Reads a shipped profile or a JSON file. */
gboolean lig_profile_load (const char *profile, LigDeviceFacts *facts, GError **error);

/* Why no CUDA device can be used, in words; (transfer full). */
char *lig_cuda_missing (void);
