/* SPDX-License-Identifier: MIT */
/* What the engine asks of a device beyond its public face, and what device.c asks of the backends
 * and of the descriptions. */
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

/* Writes everything that times on the device depend on: versions, and on the CPU its instructions
 * and as many threads as a kernel would use now. */
void lig_device_libraries (LigDevice *self, char *text, gsize size);

/* Returns the device's function of a kernel; null where it has none. */
LigKernelFunc lig_device_function (LigDevice *self, const LigKernel *kernel);

/* Whether a device of that name would belong to the same backend. */
gboolean lig_device_same_backend (LigDevice *self, const char *name);

/* The names of the shipped descriptions, null after the last; and the description of a card by its
 * name, multiprocessors and memory. */
const char *lig_description_nth (guint n);
gboolean lig_description_find (const LigDeviceFacts *card, LigDeviceFacts *facts);

/* Reads a shipped description or a JSON file. */
gboolean lig_description_load (const char *description, LigDeviceFacts *facts, GError **error);
