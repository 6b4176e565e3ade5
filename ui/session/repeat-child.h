/* SPDX-License-Identifier: MIT */
/* A repetition on several ranks, in separate processes: a `lig runs repeat` that this program
 * starts. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigStore LigStore;

/**
 * lig_repeat_child_run:
 * @run: the uuid of a run of several ranks
 * @stop: interrupts the processes; they also end with this program
 *
 * Repeats a training run or profile and waits for its end.
 *
 * Returns: (transfer full) (nullable): the uuid of the repetition, null with an error set
 */
char *lig_repeat_child_run (LigStore *store, const char *run, GCancellable *stop, GError **error);

G_END_DECLS
