/* SPDX-License-Identifier: MIT */
/* CPU streams: each is a thread that runs kernels one after another, in parallel with the thread
 * that launches them. */
#pragma once

#include "kernels/backend.h"

typedef struct LigHostQueue LigHostQueue;

/* Starts a thread; null without memory or threads. Freeing the queue waits for its kernels. */
LigHostQueue *lig_host_queue_new (void);
void lig_host_queue_free (LigHostQueue *self);

/* Appends a call; blocks while too many are pending. */
void lig_host_queue_append (LigHostQueue *self, LigKernelFunc function, LigLaunch *launch);

/* Returns the number of calls appended so far. */
uint64_t lig_host_queue_place (LigHostQueue *self);

/* Waits until that many calls have finished. Returns the status of the first one that failed since
 * the last wait. */
LigStatus lig_host_queue_wait (LigHostQueue *self, uint64_t place);
