/* SPDX-License-Identifier: MIT */
/* Lets only one thread at a time measure on a device: times measured in parallel with another
 * process or thread are wrong and would be stored. */
#pragma once

#include "engine/device/device-private.h"

G_BEGIN_DECLS

/* Waits until no other process or thread measures on the device, at most two minutes, and reports
 * the wait. Nests within a thread. The caller looks up its times again afterwards, since another
 * process may have stored them in the meantime. Only GPUs are locked. */
void lig_measuring_begin (LigDevice *device);
void lig_measuring_end (LigDevice *device);

/* Does the same for a lock by name, waiting at most `timeout` seconds. Returns FALSE if the lock
 * was not obtained: the caller continues without it, and later calls do not wait until the lock was
 * free once. Every call needs a matching unlock, whatever it returned. */
gboolean lig_measuring_lock (const char *id, double timeout);
void lig_measuring_unlock (const char *id);

G_END_DECLS
