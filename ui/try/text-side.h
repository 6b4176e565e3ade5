/* SPDX-License-Identifier: MIT */
/* The part of the page that continues texts: a prompt, the continuations, the sampling. */
#pragma once

#include "ui/session/trying.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_TEXT (lig_try_text_get_type ())
G_DECLARE_FINAL_TYPE (LigTryText, lig_try_text, LIG, TRY_TEXT, AdwBin)

/* Its actions are `try.generate`, `try.stop` and `try.continue`. Signal: `changed` when the command
 * has changed. */
GtkWidget *lig_try_text_new (void);

/* Uses another process; null: it ended, and texts that are being written end. The texts stay. */
void lig_try_text_set_trying (LigTryText *self, LigTrying *trying);

/* Appends the options of the command: prompt and sampling. */
void lig_try_text_append_options (LigTryText *self, GString *to);

G_END_DECLS
