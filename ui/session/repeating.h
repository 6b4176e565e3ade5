/* SPDX-License-Identifier: MIT */
/* A run that the window repeats: it is read from the store, trained or profiled again, and
 * compared. */
#pragma once

#include "ui/session/training.h"
#include <ligature/repeat.h>

G_BEGIN_DECLS

#define LIG_TYPE_REPEATING (lig_repeating_get_type ())
G_DECLARE_FINAL_TYPE (LigRepeating, lig_repeating, LIG, REPEATING, GObject)

/**
 * LigRepeating::changed:
 *
 * Emitted when its progress changed, and once after it has ended.
 */

/* Repeats a run of the session's store. The session keeps the result. */
LigRepeating *lig_repeating_start (LigSession *session, const char *run);

/* Returns: (transfer none) (nullable): the newest repetition of this run, or the one that created
 * it.
 */
LigRepeating *lig_repeating_find (LigSession *session, const char *run);

gboolean lig_repeating_is_active (LigRepeating *self);

/* Returns: (nullable): the result, null before the end and after an error. */
const LigRepetition *lig_repeating_get_result (LigRepeating *self);

/* Returns: (nullable): the reason why there is no result. */
const char *lig_repeating_get_error (LigRepeating *self);

/* Returns: (nullable): the uuid of the new run, once it has started. */
const char *lig_repeating_get_run (LigRepeating *self);

/* Returns the progress from 0 to 1; negative if unknown. */
double lig_repeating_get_share (LigRepeating *self);

void lig_repeating_stop (LigRepeating *self);

G_END_DECLS
