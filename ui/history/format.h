/* SPDX-License-Identifier: MIT */
/* How the history writes times, numbers and states. All strings are (transfer full) unless said
 * otherwise. */
#pragma once

#include "ui/session/session.h"

G_BEGIN_DECLS

/* `2 hours ago`; a date where it is more than a week ago. */
char *lig_history_ago (gint64 when);

/* `2026-03-12 14:05:33`, local time. */
char *lig_history_moment (gint64 when);

/* `3 min 20 s`. */
char *lig_history_duration (gint64 microseconds);

/* Of a run: until now while it is running. */
char *lig_history_run_duration (const LigRunRow *row);

/* A dash where there is none. */
char *lig_history_number (double value);
char *lig_history_count (gint64 value);

/* (transfer none): the word for a status or kind of the store, and the icon that goes with it. */
const char *lig_history_status_word (const char *status);
const char *lig_history_status_icon (const char *status);
const char *lig_history_kind_word (const char *kind);

/* The whole training or profile; `lig runs show …` where it cannot be made again. */
char *lig_history_command (const LigRunRow *row, LigSession *session);

G_END_DECLS
