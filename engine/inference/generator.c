/* SPDX-License-Identifier: MIT */
/* Generates text. Without a cache the model reads the last tokens of a text again for each new one,
 * one text at a time, so that the bits of a text do not depend on the others. */
#include "engine/inference/window.h"
#include "engine/sequence/table.h"
#include <ligature/generator.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* A text in progress. */
typedef struct {
  guint64 id;
  GArray *tokens; /* gint32 */
  gsize prompt;   /* the number of its first tokens that are the prompt */
  guint8 *seen;   /* for each token of the vocabulary; null if there is no repetition penalty */
  LigSampling sampling;
  gint32 *stops;
} Text;

struct _LigGenerator {
  LigWindow *window;
  GPtrArray *texts; /* Text */
  guint64 last_id;
  LigGeneratorFigures figures;
};

G_DEFINE_BOXED_TYPE (LigGenerator, lig_generator, g_atomic_rc_box_acquire, lig_generator_free)

static void
free_text (gpointer data)
{
  Text *text = data;
  g_array_unref (text->tokens);
  g_free (text->seen);
  g_free (text->stops);
  g_free (text);
}

static void
clear (gpointer box)
{
  LigGenerator *self = box;
  g_clear_pointer (&self->window, lig_window_free);
  g_clear_pointer (&self->texts, g_ptr_array_unref);
}

void
lig_generator_free (LigGenerator *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

LigGenerator *
lig_generator_new (LigSequence *sequence,
                   LigState *state,
                   const LigGeneratorOptions *options,
                   GError **error)
{
  LigGeneratorOptions whole = LIG_GENERATOR_OPTIONS_INIT;
  if (options && !lig_table_check_size (
                   "LigGeneratorOptions", "it by LIG_GENERATOR_OPTIONS_INIT", options->size,
                   G_STRUCT_OFFSET (LigGeneratorOptions, length), LIG_ERROR_VALUE, error))
    return NULL;
  if (options)
    memcpy (&whole, options, MIN (options->size, sizeof whole));
  g_autoptr (LigGenerator) self = g_atomic_rc_box_new0 (LigGenerator);
  self->texts = g_ptr_array_new_with_free_func (free_text);
  self->window = lig_window_new (sequence, state, whole.plan, whole.length, whole.fill, error);
  if (!self->window)
    return NULL;
  self->figures.refusal = lig_window_get_refusal (self->window);
  return g_steal_pointer (&self);
}

gint64
lig_generator_get_vocabulary (LigGenerator *self)
{
  return lig_window_get_vocabulary (self->window);
}

gint64
lig_generator_get_length (LigGenerator *self)
{
  return lig_window_get_length (self->window);
}

LigGeneratorFigures
lig_generator_get_figures (LigGenerator *self)
{
  return self->figures;
}

/* --- Texts --------------------------------------------------------------------------------- */

static gboolean
check_tokens (LigGenerator *self, const gint32 *tokens, gsize n, GError **error)
{
  gint64 readable = lig_window_get_readable (self->window);
  if (n == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("the prompt has no tokens; give at least one"));
    return FALSE;
  }
  for (gsize i = 0; i < n; i++)
    if (tokens[i] < 0 || (readable > 0 && tokens[i] >= readable)) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                   _ ("token %zu of the prompt is %d, the model reads 0 to %" PRId64), i, tokens[i],
                   readable > 0 ? readable - 1 : G_MAXINT32);
      return FALSE;
    }
  return TRUE;
}

/* Records that the text has the token. */
static void
note_token (LigGenerator *self, Text *text, gint32 token)
{
  if (text->seen && token < lig_window_get_vocabulary (self->window))
    text->seen[token] = 1;
}

gboolean
lig_generator_add (LigGenerator *self,
                   const gint32 *tokens,
                   gsize n,
                   const LigSampling *sampling,
                   guint64 *id,
                   GError **error)
{
  LigSampling whole = LIG_SAMPLING_INIT;
  if (sampling &&
      !lig_table_check_size ("LigSampling", "it by LIG_SAMPLING_INIT", sampling->size,
                             G_STRUCT_OFFSET (LigSampling, top_k), LIG_ERROR_VALUE, error))
    return FALSE;
  if (sampling)
    memcpy (&whole, sampling, MIN (sampling->size, sizeof whole));
  if (!lig_sampling_check (&whole, error) || !check_tokens (self, tokens, n, error))
    return FALSE;
  Text *text = g_new0 (Text, 1);
  text->id = *id = ++self->last_id;
  text->prompt = n;
  text->tokens = g_array_sized_new (FALSE, FALSE, sizeof (gint32), (guint) n + 256);
  g_array_append_vals (text->tokens, tokens, (guint) n);
  text->sampling = whole;
  text->stops = g_memdup2 (whole.stops, whole.n_stops * sizeof *whole.stops);
  text->sampling.stops = text->stops;
  if (whole.repetition != 1)
    text->seen = g_new0 (guint8, lig_window_get_vocabulary (self->window));
  for (gsize i = 0; i < n; i++)
    note_token (self, text, tokens[i]);
  g_ptr_array_add (self->texts, text);
  self->figures.prompt_tokens += (gint64) n;
  return TRUE;
}

void
lig_generator_cancel (LigGenerator *self, guint64 id)
{
  for (guint i = 0; i < self->texts->len; i++)
    if (((const Text *) self->texts->pdata[i])->id == id) {
      g_ptr_array_remove_index (self->texts, i);
      return;
    }
}

/* --- Steps --------------------------------------------------------------------------------- */

static LigGeneratedEnd
find_end (const Text *text, gint32 token)
{
  for (guint i = 0; i < text->sampling.n_stops; i++)
    if (text->stops[i] == token)
      return LIG_GENERATED_STOP;
  gint64 count = (gint64) (text->tokens->len - text->prompt);
  return text->sampling.max_tokens > 0 && count >= text->sampling.max_tokens ? LIG_GENERATED_LENGTH
                                                                             : LIG_GENERATED_MORE;
}

/* Adds the next token to a text. */
static gboolean
extend (LigGenerator *self, Text *text, LigGenerated *generated, GError **error)
{
  gint64 start = g_get_monotonic_time ();
  gboolean first = text->tokens->len == text->prompt;
  g_autoptr (LigTensor) logits = lig_window_compute (
    self->window, (const gint32 *) (gpointer) text->tokens->data, text->tokens->len, error);
  if (!logits)
    return FALSE;
  generated->id = text->id;
  lig_sampling_draw (&text->sampling, logits->data,
                     (gsize) lig_window_get_vocabulary (self->window), text->seen,
                     text->tokens->len, &generated->sampled);
  gint32 token = generated->sampled.chosen.token;
  g_array_append_val (text->tokens, token);
  note_token (self, text, token);
  generated->ended = find_end (text, token);
  double seconds = (double) (g_get_monotonic_time () - start) * 1e-6;
  self->figures.tokens++;
  *(first ? &self->figures.prompt_seconds : &self->figures.seconds) += seconds;
  return TRUE;
}

gboolean
lig_generator_step (LigGenerator *self, GArray *generated, GError **error)
{
  g_array_set_size (generated, 0);
  for (guint i = 0; i < self->texts->len;) {
    LigGenerated one = {0};
    if (!extend (self, self->texts->pdata[i], &one, error))
      return FALSE;
    g_array_append_val (generated, one);
    if (one.ended == LIG_GENERATED_MORE)
      i++;
    else
      g_ptr_array_remove_index (self->texts, i);
  }
  return TRUE;
}
