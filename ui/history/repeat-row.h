/* SPDX-License-Identifier: MIT */
/* The repetition of a run: its progress with a button to stop it, then its result. */
#pragma once

#include "ui/session/repeating.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_REPEAT_ROW (lig_repeat_row_get_type ())
G_DECLARE_FINAL_TYPE (LigRepeatRow, lig_repeat_row, LIG, REPEAT_ROW, AdwBin)

/* Shows the session's repetition of the run, or the one that created the run; hidden without
 * one. */
void lig_repeat_row_show (LigRepeatRow *self, LigSession *session, const char *run);

G_END_DECLS
