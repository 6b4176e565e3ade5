/* SPDX-License-Identifier: MIT */
/* Computes the logits of the next token from the last tokens of a text, without a cache. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct _LigRecomputed LigRecomputed;
typedef struct _LigSequence LigSequence;
typedef struct _LigState LigState;
typedef struct _LigPlanOptions LigPlanOptions;

LigRecomputed *lig_recomputed_new (LigSequence *sequence,
                                   LigState *state,
                                   const LigPlanOptions *options,
                                   gint64 length,
                                   gint32 fill,
                                   GError **error);
void lig_recomputed_free (LigRecomputed *self);

/* Returns the options of its plans. */
const LigPlanOptions *lig_recomputed_get_options (const LigRecomputed *self);

gint64 lig_recomputed_get_length (const LigRecomputed *self);

/* Return the number of tokens that the model can generate, and how many it reads: 0 if that is
 * unknown. */
gint64 lig_recomputed_get_vocabulary (const LigRecomputed *self);
gint64 lig_recomputed_get_readable (const LigRecomputed *self);

/* Returns why the model cannot read a text token by token, and the op; null if it could. */
const char *lig_recomputed_get_rejection (const LigRecomputed *self);

/* Returns the logits that follow `n` tokens, at least one: fp32, `1 x vocabulary`. Reads the last
 * ones if there are more than the length. */
LigTensor *
lig_recomputed_compute (LigRecomputed *self, const gint32 *tokens, gsize n, GError **error);

G_END_DECLS
