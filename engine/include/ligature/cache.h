/* SPDX-License-Identifier: MIT */
/* Caches of keys and values: a text is extended token by token without computing its earlier tokens
 * again. A cache belongs to no state: training does not touch it, and several caches can use one
 * state. Every slot holds one text; a run extends some of them. A cache and its programs may be
 * used by one thread at a time.
 *
 * A program for each number of texts and tokens that are extended at once shares one cache:
 *
 *   options.training = FALSE;
 *   options.cache = (LigCacheShape){.rows = 1, .step = 64, .length = 1024, .slots = 8};
 *   prompt plan = lig_plan_compile (sequence, device, &options, &error);
 *   options.cache.rows = 8, options.cache.step = 1;
 *   next plan = lig_plan_compile (sequence, device, &options, &error);
 *   cache = lig_cache_new (prompt plan, &error);
 *   program = lig_program_new_cached (prompt plan, state, cache, &error);
 *   lig_cache_extend (cache, program, &(LigCacheStep){.slot = 3, .tokens = prompt}, 1, &error);
 *   logits = lig_program_read_output_rows (program, 63, 1, &error);
 *
 * A sequence with cross attention has two lines: the source, from its input to the memory, and the
 * text, from a `load-branch` of the caller. With `options.cache.memory` a slot also keeps the keys
 * and values of a source, which lig_cache_set_source() computes once.
 */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

typedef struct _LigCache LigCache;

#define LIG_TYPE_CACHE (lig_cache_get_type ())
LIG_API GType lig_cache_get_type (void);

/**
 * LigCacheStep:
 * @slot: the slot of a text
 * @tokens: as many new tokens as the step of the plan
 *
 * How a run extends a text.
 */
typedef struct {
  guint slot;
  const gint32 *tokens;
} LigCacheStep;

/**
 * lig_cache_count_bytes:
 * @plan: a plan
 *
 * Returns: the size of the cache that the plan's programs need; 0 for a plan without one. For each
 *   attention op it has 2 x (kv-heads) x (head dim) numbers of the compute type for each position
 *   of each slot and of one more; with a window and LigCacheShape.chunk for the last positions only
 */
LIG_API gint64 lig_cache_count_bytes (LigPlan *plan);

/**
 * lig_cache_new:
 * @plan: a plan with the option `cache`
 * @error: set to %LIG_ERROR_VALUE for another plan, or to %LIG_ERROR_MEMORY
 *
 * Returns: (transfer full): an empty cache on the plan's device, or %NULL with @error set
 */
LIG_API LigCache *lig_cache_new (LigPlan *plan, GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_cache_ref:
 * @self: a cache
 *
 * Returns: (transfer full): the cache, with another reference
 */
LIG_API LigCache *lig_cache_ref (LigCache *self);

/**
 * lig_cache_unref:
 * @self: (transfer full): a cache
 *
 * Releases a reference; the last one frees the memory.
 */
LIG_API void lig_cache_unref (LigCache *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigCache, lig_cache_unref)

/**
 * lig_program_new_cached:
 * @plan: a plan with the option `cache`
 * @state: a state whose parameters have the plan's paths and shapes
 * @cache: (nullable): a cache of the same sequence, length and slots; %NULL for a plan without one
 *
 * Does what lig_program_new() does, for a plan with a cache.
 *
 * Returns: (transfer full): a program that references all three, or %NULL with an error of
 *   lig_program_new() set, or %LIG_ERROR_VALUE if the cache has another shape
 */
LIG_API LigProgram *lig_program_new_cached (LigPlan *plan,
                                            LigState *state,
                                            LigCache *cache,
                                            GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_cache_get_length:
 * @self: a cache
 * @slot: a slot
 *
 * Returns: the number of tokens of the text in the slot; 0 if the slot does not exist
 */
LIG_API gint64 lig_cache_get_length (LigCache *self, guint slot);

/**
 * lig_cache_set_length:
 * @self: a cache
 * @slot: a slot
 * @length: at most the number of tokens of its text
 *
 * Shortens a text; 0 frees the slot for another one. The next run continues after that token. If
 * the plan has a chunk and attention with a window, of a text that is longer than what that
 * attention keeps at most the last `chunk` tokens can be removed, or all.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE (the text is shorter, or its keys before that token were
 * replaced) or %LIG_ERROR_INDEX set
 */
LIG_API gboolean lig_cache_set_length (LigCache *self, guint slot, gint64 length, GError **error);

/**
 * lig_cache_extend:
 * @self: a cache
 * @program: a program with this cache
 * @steps: (array length=n): the texts to extend, each at most once
 * @n: their number, at most the rows of the plan
 *
 * Runs the program on the new tokens and appends their keys and values. Row i of the run is
 * `steps[i]`: with lig_program_read_output_rows() its logits are rows i x step to (i + 1) x step -
 * 1 of the output. Rows from @n on are computed, and their results are meaningless.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE (a text would become longer than the cache, both numbers
 * are named; a slot is given twice), %LIG_ERROR_INDEX (no such slot) or an error of
 * lig_program_run() set; the cache is then as before
 */
LIG_API gboolean lig_cache_extend (
  LigCache *self, LigProgram *program, const LigCacheStep *steps, guint n, GError **error);

/**
 * lig_cache_set_source:
 * @self: a cache
 * @program: a program with this cache whose plan has the option `cache.source`
 * @slot: a slot
 * @tokens: as many tokens as the step of the plan
 *
 * Of a sequence with cross attention: reads the source of the text in a slot, and keeps the keys
 * and values of its memory. The text begins again: its length is 0. The text is what the sequence
 * loads from the caller (`load-branch`), and is extended by plans without `cache.source`.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE (the program does not read sources), %LIG_ERROR_INDEX (no
 *   such slot) or an error of lig_program_run() set
 */
LIG_API gboolean lig_cache_set_source (
  LigCache *self, LigProgram *program, guint slot, const gint32 *tokens, GError **error);

G_END_DECLS
