/* SPDX-License-Identifier: MIT */
/* Generates text with a model that ends in logits over a vocabulary. The keys and values of earlier
 * tokens are kept in a cache (<ligature/cache.h>) where the model's ops allow it; otherwise the
 * window is recomputed for each token. A text that fills the cache continues from its second half.
 * Several texts are generated at once; a text depends only on its prompt, its sampling and the
 * model, not on the others. A generator may be used by one thread at a time. */
#pragma once

#include <ligature/sampling.h>

G_BEGIN_DECLS

typedef struct _LigSequence LigSequence;
typedef struct _LigState LigState;
typedef struct _LigPlanOptions LigPlanOptions;

typedef struct _LigGenerator LigGenerator;

#define LIG_TYPE_GENERATOR (lig_generator_get_type ())
LIG_API GType lig_generator_get_type (void);

/**
 * LigGeneratorOptions:
 * @size: the size of the struct that the program was compiled with, set by
 *   %LIG_GENERATOR_OPTIONS_INIT
 * @plan: (nullable): options of its plans; passes and batch are set by the generator
 * @length: the number of tokens that the model reads at once; 0: those of the sequence's input
 * @fill: for a model that reads only whole windows, the token that comes before a short text
 * @rows: the number of texts that are extended at once, from 1 to 64; 0: 8, which on a CPU are
 *   extended one after the other if the model is small. Others wait. A text is the same for any
 *   number of other texts, but may differ in its last bits for another @rows
 * @recompute: whether to recompute the window for each token instead of keeping keys and values in
 * a cache, for comparison
 * @ahead: whether the device computes the next tokens before the caller has got these: 1: yes; -1:
 *   no; 0: on a GPU. The tokens are the same; a text that ends at a stop has cost one more
 */
typedef struct {
  gsize size;
  const LigPlanOptions *plan;
  gint64 length;
  gint32 fill;
  guint rows;
  gboolean recompute;
  int ahead;
} LigGeneratorOptions;

#define LIG_GENERATOR_OPTIONS_INIT \
  { \
    .size = sizeof (LigGeneratorOptions) \
  }

typedef enum {
  LIG_GENERATED_MORE,      /* the text continues */
  LIG_GENERATED_STOP,      /* the token is one of the sampling's stops */
  LIG_GENERATED_LENGTH,    /* the text has the maximum number of new tokens */
  LIG_GENERATED_CANCELLED, /* by lig_generator_cancel() */
} LigGeneratedEnd;

/**
 * LigGenerated:
 * @id: the text
 * @sampled: its new token
 * @ended: whether the text ends with it
 *
 * A new token of a text.
 */
typedef struct {
  guint64 id;
  LigSampled sampled;
  LigGeneratedEnd ended;
} LigGenerated;

/**
 * LigGeneratorFigures:
 * @prompt_tokens: the number of prompt tokens that were read
 * @tokens: the number of tokens that were generated
 * @prompt_seconds: the sum of the times until the first token of each text
 * @seconds: the time of the other tokens
 * @cache_bytes: the size of the cache; 0 without one
 * @rejection: (nullable): why the keys and values of earlier tokens are not kept in a cache, so
 * that the whole window is computed for each token
 */
typedef struct {
  gint64 prompt_tokens, tokens;
  double prompt_seconds, seconds;
  gint64 cache_bytes;
  const char *rejection;
} LigGeneratorFigures;

/**
 * lig_generator_new:
 * @sequence: a sequence whose input is int32 `batch x T`; a loss at its end is omitted
 * @state: its parameters
 * @options: (nullable): %LIG_GENERATOR_OPTIONS_INIT by default
 * @error: set to %LIG_ERROR_SHAPE or _DTYPE if the input is not tokens, or the output has neither a
 *   row for each token nor one for each text; to %LIG_ERROR_CHANNEL if the sequence takes other
 *   inputs from the caller; to an error of the compilation
 *
 * Returns: (transfer full): a generator, or %NULL with @error set
 */
LIG_API LigGenerator *lig_generator_new (LigSequence *sequence,
                                         LigState *state,
                                         const LigGeneratorOptions *options,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_generator_free:
 * @self: (nullable) (transfer full): a generator
 *
 * Frees it with its programs.
 */
LIG_API void lig_generator_free (LigGenerator *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigGenerator, lig_generator_free)

/**
 * lig_generator_get_vocabulary:
 * @self: a generator
 *
 * Returns: the number of tokens that the model can generate
 */
LIG_API gint64 lig_generator_get_vocabulary (LigGenerator *self);

/**
 * lig_generator_get_length:
 * @self: a generator
 *
 * Returns: the number of tokens that the model reads at once; a longer text forgets its first ones
 */
LIG_API gint64 lig_generator_get_length (LigGenerator *self);

/**
 * lig_generator_add:
 * @self: a generator
 * @tokens: (array length=n): the prompt, at least one token
 * @n: its length
 * @sampling: (nullable): how tokens are drawn, copied; %LIG_SAMPLING_INIT by default
 * @id: (out): identifies the text
 *
 * Begins a text.
 *
 * Returns: %FALSE with %LIG_ERROR_VALUE set: the sampling, an empty prompt, or a token that is
 *   negative or beyond the vocabulary, with its position
 */
LIG_API gboolean lig_generator_add (LigGenerator *self,
                                    const gint32 *tokens,
                                    gsize n,
                                    const LigSampling *sampling,
                                    guint64 *id,
                                    GError **error);

/**
 * lig_generator_step:
 * @self: a generator
 * @generated: (element-type LigGenerated): an array of #LigGenerated, which is emptied; then gets
 *   the next token of each text
 *
 * Generates a token of each text that has not ended. With no text, @generated is empty.
 *
 * Returns: %FALSE with an error of the device set
 */
LIG_API gboolean lig_generator_step (LigGenerator *self, GArray *generated, GError **error);

/**
 * lig_generator_cancel:
 * @self: a generator
 * @id: a text
 *
 * Ends a text. Does nothing if it has ended.
 */
LIG_API void lig_generator_cancel (LigGenerator *self, guint64 id);

/**
 * lig_generator_get_figures:
 * @self: a generator
 * @figures: (out caller-allocates): its counts and times so far
 */
LIG_API void lig_generator_get_figures (LigGenerator *self, LigGeneratorFigures *figures);

G_END_DECLS
