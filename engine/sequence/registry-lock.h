/* SPDX-License-Identifier: MIT */
/* The lock of the registries of ops, fusions and kernels. */
#pragma once

#include <ligature/error.h>

/* Held while a compilation reads the registries; a thread may hold them recursively. */
void lig_registry_hold (void);
void lig_registry_release (void);

/* Held during a registration: no other thread compiles in the meantime. False, with the error set,
 * in a thread that compiles: it would deadlock. `what`: `an op`. */
gboolean lig_registry_open (const char *what, int code, GError **error);
void lig_registry_close (void);
