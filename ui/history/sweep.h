/* SPDX-License-Identifier: MIT */
/* Sweeps and repetitions on the History page. */
#pragma once

#include "ui/history/history-page.h"

G_BEGIN_DECLS

/* Asks for a new sweep of the window's sequence, and shows it once it starts. */
void lig_history_ask_sweep (LigHistoryPage *self);

/* Shows a sweep instead of the list; the second returns to the list. */
void lig_history_show_sweep (LigHistoryPage *self, const char *sweep);
gboolean lig_history_leave_sweep (LigHistoryPage *self);

/* Repeats the only selected run. */
void lig_history_repeat (LigHistoryPage *self);

G_END_DECLS
