/* SPDX-License-Identifier: MIT */
/* Shared memory of killed ranks. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Removes leftovers of OpenMPI in /dev/shm: segments of this user and machine that no process has
 * open. */
void lig_cli_remove_left_segments (void);

G_END_DECLS
