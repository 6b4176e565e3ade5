/* SPDX-License-Identifier: MIT */
/* Generates text, with a cache or, one text at a time, by recomputing the window. Either way
 * the bits of a text do not depend on the others. */
#include "engine/inference/cached.h"
#include "engine/inference/recomputed.h"
#include "engine/sequence/table-size.h"
#include <ligature/generator.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* The number of texts that are extended at once. */
enum { USUAL_ROWS = 8, MAX_ROWS = 64 };

/* A text in progress. */
typedef struct {
  guint64 id;
  GArray *tokens; /* gint32 */
  gsize prompt;   /* the number of its first tokens that are the prompt */
  guint8 *seen;   /* for each token of the vocabulary; null without a repetition penalty */
  LigSampling sampling;
  gint32 *stops;
  int slot;       /* in the cache; -1: it waits for one */
  gboolean begun; /* whether the slot has its tokens */
} Text;

/* Tokens that are being drawn: those of these texts, some of which may have ended since. */
typedef struct {
  guint place, n;
  guint64 ids[MAX_ROWS];
} Flight;

struct _LigGenerator {
  LigRecomputed *window; /* the model without a cache */
  LigCached *cached;     /* null: the window is recomputed */
  GPtrArray *texts;      /* Text */
  Flight flight;         /* n 0: none */
  gboolean ahead;        /* whether a run may begin before the tokens of the last one are known */
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
  g_clear_pointer (&self->window, lig_recomputed_free);
  g_clear_pointer (&self->cached, lig_cached_free);
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
  self->window = lig_recomputed_new (sequence, state, whole.plan, whole.length, whole.fill, error);
  if (!self->window)
    return NULL;
  self->figures.rejection = lig_recomputed_get_rejection (self->window);
  if (self->figures.rejection || whole.recompute)
    return g_steal_pointer (&self);
  guint slots = whole.rows > 0 ? MIN (whole.rows, MAX_ROWS) : USUAL_ROWS;
  self->cached = lig_cached_new (sequence, state, lig_recomputed_get_options (self->window),
                                 lig_recomputed_get_length (self->window), slots,
                                 whole.rows == 0 && lig_cached_suits_one (state) ? 1 : slots,
                                 lig_recomputed_get_vocabulary (self->window), error);
  if (!self->cached)
    return NULL;
  gint64 readable = lig_recomputed_get_readable (self->window);
  /* Otherwise the host checks that the model can read its tokens. */
  if (readable == 0 || lig_recomputed_get_vocabulary (self->window) <= readable)
    self->ahead = whole.ahead == 0 ? lig_cached_is_apart (state) : whole.ahead > 0;
  self->figures.cache_bytes = lig_cached_get_bytes (self->cached);
  return g_steal_pointer (&self);
}

gint64
lig_generator_get_vocabulary (LigGenerator *self)
{
  return lig_recomputed_get_vocabulary (self->window);
}

gint64
lig_generator_get_length (LigGenerator *self)
{
  return lig_recomputed_get_length (self->window);
}

void
lig_generator_get_figures (LigGenerator *self, LigGeneratorFigures *figures)
{
  *figures = self->figures;
}

/* --- Texts --------------------------------------------------------------------------------- */

static gboolean
check_tokens (LigGenerator *self, const gint32 *tokens, gsize n, GError **error)
{
  gint64 readable = lig_recomputed_get_readable (self->window);
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
  if (text->seen && token < lig_recomputed_get_vocabulary (self->window))
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
  text->slot = -1;
  text->prompt = n;
  text->tokens = g_array_sized_new (FALSE, FALSE, sizeof (gint32), (guint) n + 256);
  g_array_append_vals (text->tokens, tokens, (guint) n);
  text->sampling = whole;
  text->stops = g_memdup2 (whole.stops, whole.n_stops * sizeof *whole.stops);
  text->sampling.stops = text->stops;
  if (whole.repetition != 1)
    text->seen = g_new0 (guint8, lig_recomputed_get_vocabulary (self->window));
  for (gsize i = 0; i < n; i++)
    note_token (self, text, tokens[i]);
  g_ptr_array_add (self->texts, text);
  self->figures.prompt_tokens += (gint64) n;
  return TRUE;
}

/* Removes a text and frees its slot. */
static void
end_text (LigGenerator *self, guint index)
{
  const Text *text = self->texts->pdata[index];
  if (self->cached)
    lig_cached_free_slot (self->cached, text->slot);
  g_ptr_array_remove_index (self->texts, index);
}

void
lig_generator_cancel (LigGenerator *self, guint64 id)
{
  for (guint i = 0; i < self->texts->len; i++)
    if (((const Text *) self->texts->pdata[i])->id == id) {
      end_text (self, i);
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

/* Describes the draw of the next token, or of the one after `ahead` others. */
static LigDraw
describe_draw (const Text *text, guint ahead)
{
  return (LigDraw){&text->sampling, text->seen, text->tokens->len + ahead};
}

/* Appends the token that was drawn. */
static void
append (LigGenerator *self, Text *text, const LigSampled *sampled, GArray *generated)
{
  LigGenerated one = {.id = text->id, .sampled = *sampled};
  gint32 token = sampled->chosen.token;
  g_array_append_val (text->tokens, token);
  note_token (self, text, token);
  one.ended = find_end (text, token);
  g_array_append_val (generated, one);
  self->figures.tokens++;
}

static const gint32 *
tokens_of (const Text *text)
{
  return (const gint32 *) (gpointer) text->tokens->data;
}

/* Computes the window of a text and draws the next token on the host. */
static gboolean
recompute (LigGenerator *self, const Text *text, LigSampled *sampled, GError **error)
{
  g_autoptr (LigTensor) logits =
    lig_recomputed_compute (self->window, tokens_of (text), text->tokens->len, error);
  if (logits)
    lig_sampling_draw (&text->sampling, logits->data,
                       (gsize) lig_recomputed_get_vocabulary (self->window), text->seen,
                       text->tokens->len, sampled);
  return logits != NULL;
}

/* Computes the window of a text, or begins it in its slot of the cache: with the second half of the
 * window if that is full. */
static gboolean
begin (LigGenerator *self, Text *text, GArray *generated, GError **error)
{
  LigSampled sampled;
  LigDraw draw = describe_draw (text, 0);
  gint64 start = g_get_monotonic_time ();
  gboolean first = text->tokens->len == text->prompt;
  gint64 length = lig_recomputed_get_length (self->window), n = text->tokens->len;
  gint64 kept = n < length ? n : MAX (length / 2, 1);
  if (!(self->cached ? lig_cached_begin (self->cached, text->slot, tokens_of (text) + n - kept,
                                         kept, &draw, &sampled, error)
                     : recompute (self, text, &sampled, error)))
    return FALSE;
  text->begun = TRUE;
  append (self, text, &sampled, generated);
  double seconds = (double) (g_get_monotonic_time () - start) * 1e-6;
  *(first ? &self->figures.prompt_seconds : &self->figures.seconds) += seconds;
  return TRUE;
}

/* --- Runs of the texts in the cache -------------------------------------------------------- */

/* Begins a run that extends the texts by a token each: by their last one, or, with `ahead`, by
 * those that are being drawn. */
static gboolean
launch (
  LigGenerator *self, Text *const *texts, guint n, gboolean ahead, Flight *flight, GError **error)
{
  guint slots[MAX_ROWS];
  gint32 tokens[MAX_ROWS];
  LigDraw draws[MAX_ROWS];
  Flight new = {.place = ahead ? 1 - self->flight.place : 0, .n = n};
  for (guint i = 0; i < n; i++) {
    slots[i] = (guint) texts[i]->slot;
    tokens[i] = tokens_of (texts[i])[texts[i]->tokens->len - 1];
    draws[i] = describe_draw (texts[i], ahead);
    new.ids[i] = texts[i]->id;
  }
  if (!lig_cached_extend (self->cached, new.place, slots, ahead ? NULL : tokens, n, draws, error))
    return FALSE;
  *flight = new;
  return TRUE;
}

static Text *
find_text (LigGenerator *self, guint64 id)
{
  for (guint i = 0; i < self->texts->len; i++)
    if (((const Text *) self->texts->pdata[i])->id == id)
      return self->texts->pdata[i];
  return NULL;
}

/* Returns whether the texts that would be extended are those whose tokens are being drawn, and the
 * host need not know these: no text is certain to end, is full or has a repetition penalty. */
static gboolean
can_lead (LigGenerator *self, Text *const *texts, guint n)
{
  if (!self->ahead || n != self->flight.n)
    return FALSE;
  for (guint i = 0; i < n; i++) {
    const LigSampling *sampling = &texts[i]->sampling;
    gint64 count = (gint64) (texts[i]->tokens->len - texts[i]->prompt) + 1;
    if (texts[i]->id != self->flight.ids[i] || texts[i]->seen ||
        !lig_cached_has_room (self->cached, texts[i]->slot) ||
        (sampling->max_tokens > 0 && count >= sampling->max_tokens))
      return FALSE;
  }
  return TRUE;
}

/* Waits for the tokens that are being drawn. Those of texts that have ended are dropped. */
static gboolean
collect (LigGenerator *self, GArray *generated, GError **error)
{
  const Flight *flight = &self->flight;
  LigSampled sampled[MAX_ROWS];
  if (!lig_cached_collect (self->cached, flight->place, flight->n, sampled, error))
    return FALSE;
  for (guint i = 0; i < flight->n; i++) {
    Text *text = find_text (self, flight->ids[i]);
    if (text)
      append (self, text, &sampled[i], generated);
  }
  return TRUE;
}

/* Collects the tokens that are being drawn; where possible the device begins the next run before.
 */
static gboolean
extend (LigGenerator *self, Text *const *texts, guint n, GArray *generated, GError **error)
{
  gint64 start = g_get_monotonic_time ();
  Flight next = {.n = 0};
  if (self->flight.n == 0 && !launch (self, texts, n, FALSE, &self->flight, error))
    return FALSE;
  if (can_lead (self, texts, n) && !launch (self, texts, n, TRUE, &next, error))
    return FALSE;
  if (!collect (self, generated, error))
    return FALSE;
  self->flight = next;
  self->figures.seconds += (double) (g_get_monotonic_time () - start) * 1e-6;
  return TRUE;
}

/* Begins the texts that have no tokens in the cache yet, or no room there, and extends the others:
 * first those whose tokens are being drawn already. */
static gboolean
advance (LigGenerator *self, GArray *generated, GError **error)
{
  Text *ready[MAX_ROWS], *waiting[MAX_ROWS];
  guint n = 0, n_waiting = 0;
  for (guint i = 0; i < self->texts->len; i++) {
    Text *text = self->texts->pdata[i];
    if (!self->cached) {
      if (!begin (self, text, generated, error))
        return FALSE;
    } else if (text->slot < 0 && (text->slot = lig_cached_take_slot (self->cached)) < 0)
      continue; /* it waits until another text ends */
    else if (text->begun && lig_cached_has_room (self->cached, text->slot))
      ready[n++] = text;
    else
      waiting[n_waiting++] = text;
  }
  if (self->flight.n > 0)
    return extend (self, ready, n_waiting > 0 ? 0 : n, generated, error);
  for (guint i = 0; i < n_waiting; i++)
    if (!begin (self, waiting[i], generated, error))
      return FALSE;
  return n == 0 || extend (self, ready, n, generated, error);
}

gboolean
lig_generator_step (LigGenerator *self, GArray *generated, GError **error)
{
  g_array_set_size (generated, 0);
  /* All tokens that were being drawn may be those of texts that have ended. */
  do
    if (!advance (self, generated, error))
      return FALSE;
  while (generated->len == 0 && self->texts->len > 0);
  for (guint i = 0; i < generated->len; i++) {
    const LigGenerated *one = &g_array_index (generated, LigGenerated, i);
    if (one->ended != LIG_GENERATED_MORE)
      lig_generator_cancel (self, one->id);
  }
  return TRUE;
}
