/* SPDX-License-Identifier: MIT */
/* Computes the logits of the next token from the last tokens of a text, without a cache. */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

typedef struct _LigWindow LigWindow;

LigWindow *lig_window_new (LigSequence *sequence,
                           LigState *state,
                           const LigPlanOptions *options,
                           gint64 length,
                           gint32 fill,
                           GError **error);
void lig_window_free (LigWindow *self);

gint64 lig_window_get_length (const LigWindow *self);

/* Return the number of tokens that the model can generate, and how many it reads: 0 if that is
 * unknown. */
gint64 lig_window_get_vocabulary (const LigWindow *self);
gint64 lig_window_get_readable (const LigWindow *self);

/* Returns why the model cannot read a text token by token, and the op; null if it could. */
const char *lig_window_get_refusal (const LigWindow *self);

/* Returns the logits that follow `n` tokens, at least one: fp32, `1 x vocabulary`. Reads the last
 * ones if there are more than the length. */
LigTensor *lig_window_compute (LigWindow *self, const gint32 *tokens, gsize n, GError **error);

G_END_DECLS
