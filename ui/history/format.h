/* SPDX-License-Identifier: MIT */
/* Times, numbers and states as the history shows them. All strings are (transfer full) unless
 * marked otherwise. */
#pragma once

#include "ui/session/session.h"
#include <ligature/store-groups.h>
#include <ligature/store-rows.h>

G_BEGIN_DECLS

/* Formats a time as `2026-03-12 14:05:33`, local time. */
char *lig_history_moment (gint64 when);

/* Formats a duration as `3 min 20 s`. */
char *lig_history_duration (gint64 microseconds);

/* Formats a run's duration, until now while it is running. */
char *lig_history_run_duration (const LigRunRow *row);

/* Returns a readable device name, `NVIDIA H200 (cuda:0)`; only the device string if the run did not
 * record the model. */
char *lig_history_device (const LigRunRow *row);

/* Formats a number; a dash for NaN. */
char *lig_history_number (double value);
char *lig_history_count (gint64 value);

/* Returns: (transfer full): `0.1234 ± 0.0021`; only the mean for a single value, a dash for
 * none. */
char *lig_history_mean (const LigRunMean *mean);

/* Return: (transfer none): the word for a status or kind of the store, and its icon. */
const char *lig_history_status_word (const char *status);
const char *lig_history_status_icon (const char *status);
const char *lig_history_kind_word (const char *kind);

/* Returns the command for the whole training run or profile; `lig runs show …` if it cannot be
 * repeated. */
char *lig_history_command (const LigRunRow *row, LigSession *session);

G_END_DECLS
