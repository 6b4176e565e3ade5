/* SPDX-License-Identifier: MIT */
/* Caches the choices that kernels make by measuring. */
#pragma once

#include "engine/device/device-private.h"

G_BEGIN_DECLS

typedef struct _LigTuning LigTuning;

/* Makes kernels of the device look up their choices in this process and in the tuning, and store
 * those that they measure there, until lig_choices_end(). Without a tuning (null), choices are kept
 * only for this process. The caller keeps the tuning alive until lig_choices_end() returns. */
void lig_choices_begin (LigDevice *device, const LigTuning *tuning);
void lig_choices_end (LigDevice *device);

/* Returns the total seconds that this thread has spent searching, including waits for other
 * searches on the device. */
double lig_choices_seconds (void);

/* Sets the variable that is atomically TRUE while this thread searches, FALSE otherwise; it lives
 * as long as the thread, or until null is set. */
void lig_choices_watch (int *watch);

/* Copies a choice from the tuning if this process has none. */
void lig_choices_recall (const LigTuning *tuning, const char *key);

/* Returns the first choice of this process, `key`, tab, choice, whose key has that prefix and
 * suffix; null if there is none (transfer full). */
char *lig_choices_find (const char *begin, const char *end);

/* Returns the choices that kernels made or looked up in this process, one per line: key, tab,
 * choice (transfer full). */
char *lig_algorithms_list (void);

/* Presets the choices of this process from a text in the format of lig_algorithms_list(); ignores
 * malformed lines. */
void lig_algorithms_preset (const char *text);

G_END_DECLS
