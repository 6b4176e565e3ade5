/* SPDX-License-Identifier: MIT */
/* The field of a prompt. Return generates; Shift+Return begins a new line. */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

#define LIG_TYPE_TRY_PROMPT (lig_try_prompt_get_type ())
G_DECLARE_FINAL_TYPE (LigTryPrompt, lig_try_prompt, LIG, TRY_PROMPT, AdwBin)

/* Signal: `changed`. Return activates the action `try.generate`. */
GtkWidget *lig_try_prompt_new (void);

/* Returns: (transfer full): the text. */
char *lig_try_prompt_get_text (LigTryPrompt *self);
void lig_try_prompt_set_text (LigTryPrompt *self, const char *text);

G_END_DECLS
