/* SPDX-License-Identifier: MIT */
/* Generates tokens with a cache: programs for prompts in chunks of a few sizes,
 * and one that extends several texts by a token each. */
#pragma once

#include "engine/inference/sampler.h"

G_BEGIN_DECLS

typedef struct _LigCached LigCached;
typedef struct _LigSequence LigSequence;
typedef struct _LigState LigState;
typedef struct _LigPlanOptions LigPlanOptions;

/* `options` has all fields. `slots` texts of at most `length` tokens, of which each run extends
 * `rows`: all, or one. The error is LIG_ERROR_VALUE or LIG_ERROR_CHANNEL for a model that cannot
 * extend texts. */
LigCached *lig_cached_new (LigSequence *sequence,
                           LigState *state,
                           const LigPlanOptions *options,
                           gint64 length,
                           guint slots,
                           guint rows,
                           gint64 vocabulary,
                           GError **error);
void lig_cached_free (LigCached *self);

gint64 lig_cached_get_bytes (const LigCached *self);

/* Returns a free slot, which it takes; -1: none. */
int lig_cached_take_slot (LigCached *self);
void lig_cached_free_slot (LigCached *self, int slot);

/* Begins the text of a slot again with `n` tokens, at least one and at most the length, and draws
 * the next one, in the first of LIG_SAMPLER_PLACES. */
gboolean lig_cached_begin (LigCached *self,
                           int slot,
                           const gint32 *tokens,
                           gint64 n,
                           const LigDraw *draw,
                           LigSampled *sampled,
                           GError **error);

/* Returns whether the text of a slot can have another token. */
gboolean lig_cached_has_room (LigCached *self, int slot);

/* Returns whether a run should extend only one text. The host computes the rows of unused slots
 * too: of a small model these take longer than more runs, of a large one reading the weights does.
 */
gboolean lig_cached_suits_one (LigState *state);

/* Returns whether the device works while the host does something else. */
gboolean lig_cached_is_apart (LigState *state);

/* Begins to extend the text of each slot by a token, and to draw the next ones in a place.
 * @tokens: (nullable): null: those that were drawn last, for the same slots */
gboolean lig_cached_extend (LigCached *self,
                            guint place,
                            const guint *slots,
                            const gint32 *tokens,
                            guint n,
                            const LigDraw *draws,
                            GError **error);

/* Waits for the tokens that are being drawn in a place. */
gboolean
lig_cached_collect (LigCached *self, guint place, guint n, LigSampled *sampled, GError **error);

G_END_DECLS
