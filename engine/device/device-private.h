/* SPDX-License-Identifier: MIT */
/* What the engine asks of a device beyond its public face, and what device.c asks of the backends
 * and of the profiles. */
#pragma once

#include "kernels/backend.h"
#include <ligature/device.h>

/* The calls of the device's backend, and what they are called with. A null device has no calls, the
 * CPU no handle and only the stream null. */
const LigBackend *lig_device_calls (LigDevice *self);
LigBackendDevice *lig_device_handle (LigDevice *self);

/* The stream in which plans run and memory is copied, and one in which a branch may run beside. */
void *lig_device_stream (LigDevice *self);
void *lig_device_branch (LigDevice *self);

/* Returns what tells this very device from all others of its kind; empty where it needs no
 * telling. */
const char *lig_device_get_id (LigDevice *self);

/* Whether a backend's call worked; else the error says `what` and the backend's words. */
gboolean lig_device_check (LigDevice *self, LigStatus status, const char *what, GError **error);

/* Fills in what is known of this CPU without measuring: no rates. */
void lig_cpu_facts (LigDeviceFacts *facts);

/* Everything of this process that times on the CPU depend on: versions, instructions, and as many
 * threads as a kernel would use now. */
void lig_cpu_libraries (char *text, gsize size);

/* The names of the shipped profiles, null after the last; and the profile of a card by its name,
 * multiprocessors and memory. */
const char *lig_profile_nth (guint n);
gboolean lig_profile_find (const LigDeviceFacts *card, LigDeviceFacts *facts);

/* Reads a shipped profile or a JSON file. */
gboolean lig_profile_load (const char *profile, LigDeviceFacts *facts, GError **error);

/* The CUDA backend, loaded at the first call; null with the reason in words where there is none. */
const LigBackend *lig_cuda_backend (const char **reason);
