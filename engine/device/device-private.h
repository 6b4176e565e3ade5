/* SPDX-License-Identifier: MIT */
/* Internal functions of devices and device descriptions. */
#pragma once

#include "kernels/backend.h"
#include <ligature/device.h>

/* Return the calls of the device's backend, and the handle to pass to them. A described device has
 * no calls; the CPU has no handle, and its only stream is null. */
const LigBackend *lig_device_calls (LigDevice *self);

/* Returns the bytes of scratch memory that a launch needs on the device; a described GPU needs as
 * much as a real one. */
gint64 lig_device_count_scratch (LigDevice *self, const LigKernel *kernel, const LigLaunch *launch);
LigBackendDevice *lig_device_handle (LigDevice *self);

/* Return the stream in which plans run and memory is copied, and that of a lane. */
void *lig_device_stream (LigDevice *self);
void *lig_device_lane (LigDevice *self, LigLane lane);

/* Returns an identifier of this device, unique among devices of its kind; empty if the device needs
 * none. */
const char *lig_device_get_id (LigDevice *self);

/* Returns whether a backend's call succeeded; otherwise sets an error with `what` and the backend's
 * message. */
gboolean lig_device_check (LigDevice *self, LigStatus status, const char *what, GError **error);

/* Writes everything on which times on the device depend: versions, and for the CPU its instruction
 * set and the number of threads that a kernel would use now. */
void lig_device_libraries (LigDevice *self, char *text, gsize size);

/* Returns the processes with which kernels communicate in a group; null if there is one process. */
const LigPeers *lig_device_get_peers (LigDevice *self, LigRankGroup group);

/* Ends the connections with other processes. */
void lig_device_leave (LigDevice *self);

/* Returns the kernel's function for the device; null if it has none. */
LigKernelFunc lig_device_function (LigDevice *self, const LigKernel *kernel);

/* Returns the kernel's function for memory of the host. */
LigKernelFunc lig_host_function (const LigKernel *kernel);

/* Returns whether a device of that name would belong to the same backend. */
gboolean lig_device_same_backend (LigDevice *self, const char *name);

/* Return the name of shipped description `n`, null after the last, and the description of a card by
 * its name, multiprocessors and memory. */
const char *lig_description_nth (guint n);
gboolean lig_description_find (const LigDeviceFacts *card, LigDeviceFacts *facts);

/* Reads a shipped description or a JSON file. @remark: (out) (nullable): initially null, a sentence
 * about costs that do not belong to the rates */
gboolean lig_description_load (const char *description,
                               LigDeviceFacts *facts,
                               char **remark,
                               GError **error);

/* Divides rates measured with all cores of the CPU among the ranks that the device is assumed to
 * have on it. */
void lig_device_share_rates (LigDevice *self, LigDeviceFacts *facts);

/* Checks, between steps, for errors of collectives that the device's kernels have begun; the error
 * is LIG_ERROR_DEVICE. */
gboolean lig_device_check_ranks (LigDevice *self, GError **error);
