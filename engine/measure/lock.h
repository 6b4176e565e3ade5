/* SPDX-License-Identifier: MIT */
/* One at a time on a device: what is measured there while another process, or another thread,
 * measures too would be remembered wrong. */
#pragma once

#include "engine/device/device-private.h"

G_BEGIN_DECLS

/* Waits until nobody else measures on the device, at most two minutes, and says so. Nests within a
 * thread. Times that others measured meanwhile may be remembered by then: look again. Only GPUs are
 * guarded. */
void lig_measuring_begin (LigDevice *device);
void lig_measuring_end (LigDevice *device);

/* The same by the name of a lock and for so many seconds; FALSE where it was not got in time: what
 * follows goes on without, and does not wait again before the lock was free once. Either way an
 * unlock belongs to it. */
gboolean lig_measuring_lock (const char *id, double patience);
void lig_measuring_unlock (const char *id);

G_END_DECLS
