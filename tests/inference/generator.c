/* SPDX-License-Identifier: MIT */
/* Tests generation: greedy tokens with a cache are those of the recomputed window; a
 * text depends on its prompt and its seed, not on other texts; texts longer than the window, models
 * that need whole windows, stops, lengths and waiting texts. */
#include <ligature/device.h>
#include <ligature/error.h>
#include <ligature/generator.h>
#include <ligature/sequence.h>
#include <ligature/state.h>

#include <string.h>

static const char causal[] =
  "embedding(32, vocabulary=40, init-std=1) ! position-embedding(32, init-std=0.5) ! "
  "block(2) { transformer-layer(4) } ! layer-norm ! linear(40, init-std=0.5) ! cross-entropy";
static const char whole[] = "embedding(8, vocabulary=40, init-std=1) ! reshape([-1, 64]) ! "
                            "linear(32, init-std=0.3) ! gelu ! linear(40, init-std=0.5) ! "
                            "cross-entropy";
static const char both[] = "embedding(8, vocabulary=40, init-std=1) ! linear(24) ! "
                           "attention(2, mask=none) ! linear(40, init-std=1) ! cross-entropy";

typedef struct {
  LigSequence *sequence;
  LigDevice *device;
  LigState *state;
} Model;

static Model
open_model (const char *expression, gint64 length)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  Model self = {.sequence = lig_sequence_from_expression (expression, &error)};
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, (gint64) 4, length);
  lig_sequence_set_input (self.sequence, &shape, LIG_INT32);
  self.device = lig_device_open ("cpu", &error);
  self.state = lig_state_new (self.sequence, self.device, NULL, 3, &error);
  g_assert_no_error (error);
  return self;
}

static void
clear_model (Model *self)
{
  g_object_unref (self->state);
  g_object_unref (self->device);
  g_object_unref (self->sequence);
}

/* Whether the generators run ahead of their caller. */
static int ahead = 0;

static LigGenerator *
new_generator (const Model *model, gboolean recompute, guint rows)
{
  g_autoptr (GError) error = NULL;
  LigGeneratorOptions options = LIG_GENERATOR_OPTIONS_INIT;
  options.recompute = recompute;
  options.rows = rows;
  options.ahead = ahead;
  LigGenerator *self = lig_generator_new (model->sequence, model->state, &options, &error);
  g_assert_no_error (error);
  return self;
}

static LigGeneratorFigures
get_figures (LigGenerator *self)
{
  LigGeneratorFigures figures;
  lig_generator_get_figures (self, &figures);
  return figures;
}

/* Generates all texts that were added; `tokens` has an array for each id, from 1. */
static void
run (LigGenerator *self, GArray **tokens, LigGeneratedEnd *ends)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
  do {
    gboolean stepped = lig_generator_step (self, generated, &error);
    g_assert_no_error (error);
    g_assert_true (stepped);
    for (guint i = 0; i < generated->len; i++) {
      const LigGenerated *one = &g_array_index (generated, LigGenerated, i);
      g_array_append_val (tokens[one->id - 1], one->sampled.chosen.token);
      ends[one->id - 1] = one->ended;
    }
  } while (generated->len > 0);
}

enum { MAX_TEXTS = 16 };

typedef struct {
  GArray *tokens[MAX_TEXTS];
  LigGeneratedEnd ends[MAX_TEXTS];
} Texts;

static void
init_texts (Texts *self)
{
  for (int i = 0; i < MAX_TEXTS; i++) {
    self->tokens[i] = g_array_new (FALSE, FALSE, sizeof (gint32));
    self->ends[i] = LIG_GENERATED_MORE;
  }
}

static void
clear_texts (Texts *self)
{
  for (int i = 0; i < MAX_TEXTS; i++)
    g_array_unref (self->tokens[i]);
}

static void
add (LigGenerator *self, gint32 first, gsize n, guint64 seed, double temperature, gint64 max)
{
  g_autoptr (GError) error = NULL;
  gint32 tokens[64];
  guint64 id;
  LigSampling sampling = LIG_SAMPLING_INIT;
  sampling.temperature = temperature;
  sampling.seed = seed;
  sampling.max_tokens = max;
  for (gsize i = 0; i < n; i++)
    tokens[i] = (first + 7 * (gint32) i) % 40;
  g_assert_true (lig_generator_add (self, tokens, n, &sampling, &id, &error));
  g_assert_no_error (error);
}

static void
assert_same (const GArray *a, const GArray *b)
{
  g_assert_cmpmem (a->data, a->len * sizeof (gint32), b->data, b->len * sizeof (gint32));
}

/* Prompts of different lengths, until the window is full. */
static void
test_greedy (void)
{
  Model model = open_model (causal, 32);
  Texts cached, recomputed;
  init_texts (&cached);
  init_texts (&recomputed);
  g_autoptr (LigGenerator) fast = new_generator (&model, FALSE, 0);
  g_autoptr (LigGenerator) slow = new_generator (&model, TRUE, 0);
  g_assert_cmpint (get_figures (fast).cache_bytes, ==, 2 * 9 * 32 * 2 * 32 * 4);
  g_assert_cmpint (get_figures (slow).cache_bytes, ==, 0);
  for (int i = 0; i < 4; i++) {
    add (fast, i, 1 + 5 * (gsize) i, 0, 0, 14);
    add (slow, i, 1 + 5 * (gsize) i, 0, 0, 14);
  }
  run (fast, cached.tokens, cached.ends);
  run (slow, recomputed.tokens, recomputed.ends);
  for (int i = 0; i < 4; i++) {
    g_assert_cmpuint (cached.tokens[i]->len, ==, 14);
    g_assert_cmpint (cached.ends[i], ==, LIG_GENERATED_LENGTH);
    assert_same (cached.tokens[i], recomputed.tokens[i]);
  }
  g_assert_cmpint (get_figures (fast).tokens, ==, 56);
  g_assert_cmpint (get_figures (fast).prompt_tokens, ==, 34);
  clear_texts (&cached);
  clear_texts (&recomputed);
  clear_model (&model);
}

/* One text, first by itself, then among 11 others that wait for slots, and in another order. */
static void
test_company (gconstpointer expression)
{
  Model model = open_model (expression, expression == causal ? 32 : 8);
  Texts alone, among;
  init_texts (&alone);
  init_texts (&among);
  g_autoptr (LigGenerator) single = new_generator (&model, FALSE, 3);
  g_autoptr (LigGenerator) busy = new_generator (&model, FALSE, 3);
  add (single, 5, 4, 9, 1, 40);
  run (single, alone.tokens, alone.ends);
  for (int i = 0; i < 11; i++)
    add (busy, i, 1 + (gsize) i % 5, 100 + (guint64) i, 1.5, 3 + 2 * i);
  add (busy, 5, 4, 9, 1, 40);
  run (busy, among.tokens, among.ends);
  g_assert_cmpuint (alone.tokens[0]->len, ==, 40);
  assert_same (alone.tokens[0], among.tokens[11]);
  for (int i = 0; i < 11; i++)
    g_assert_cmpuint (among.tokens[i]->len, ==, 3 + 2 * (guint) i);
  clear_texts (&alone);
  clear_texts (&among);
  clear_model (&model);
}

/* Stops end a text with that token; a cancelled text gets no more. */
static void
test_ends (void)
{
  g_autoptr (GError) error = NULL;
  Model model = open_model (causal, 32);
  Texts texts;
  init_texts (&texts);
  g_autoptr (LigGenerator) self = new_generator (&model, FALSE, 0);
  add (self, 5, 4, 9, 1, 20);
  run (self, texts.tokens, texts.ends);
  gint32 stop = g_array_index (texts.tokens[0], gint32, 7), prompt[4] = {5, 12, 19, 26};
  guint first = 0;
  while (g_array_index (texts.tokens[0], gint32, first) != stop)
    first++;
  LigSampling sampling = LIG_SAMPLING_INIT;
  guint64 id, cancelled;
  sampling.seed = 9;
  sampling.stops = &stop;
  sampling.n_stops = 1;
  g_assert_true (lig_generator_add (self, prompt, 4, &sampling, &id, &error));
  g_assert_true (lig_generator_add (self, prompt, 4, &sampling, &cancelled, &error));
  lig_generator_cancel (self, cancelled);
  run (self, texts.tokens, texts.ends);
  g_assert_cmpuint (texts.tokens[id - 1]->len, ==, first + 1);
  g_assert_cmpint (texts.ends[id - 1], ==, LIG_GENERATED_STOP);
  g_assert_cmpuint (texts.tokens[cancelled - 1]->len, ==, 0);
  clear_texts (&texts);
  clear_model (&model);
}

/* Adds texts that end by themselves, at stops and by cancelling, with penalties and windows that
 * are passed, more than the generator extends at once. */
static void
add_mixture (LigGenerator *self)
{
  g_autoptr (GError) error = NULL;
  for (int i = 0; i < MAX_TEXTS; i++) {
    LigSampling sampling = LIG_SAMPLING_INIT;
    gint32 prompt[3] = {i, 39 - i, 7}, stops[2] = {3 * i % 40, (5 * i + 1) % 40};
    guint64 id;
    sampling.temperature = i % 4 == 0 ? 0 : 1.2;
    sampling.seed = (guint64) i;
    sampling.repetition = i % 5 == 1 ? 1.5 : 1;
    sampling.max_tokens = 20 + 3 * i;
    sampling.stops = stops;
    sampling.n_stops = i % 3 == 0 ? 2 : 0;
    g_assert_true (lig_generator_add (self, prompt, 1 + (gsize) i % 3, &sampling, &id, &error));
    g_assert_no_error (error);
  }
}

/* A device that works ahead generates the same, with any number of rows. */
static void
test_ahead (void)
{
  Model model = open_model (causal, 32);
  static const guint numbers[] = {0, 1, 3, 5};
  for (guint k = 0; k < G_N_ELEMENTS (numbers); k++) {
    Texts texts[2];
    for (int i = 0; i < 2; i++) {
      ahead = i == 0 ? -1 : 1;
      init_texts (&texts[i]);
      g_autoptr (LigGenerator) self = new_generator (&model, FALSE, numbers[k]);
      g_autoptr (GArray) generated = g_array_new (FALSE, FALSE, sizeof (LigGenerated));
      add_mixture (self);
      /* One that is cancelled while its next token is being drawn. */
      for (int step = 0; step < 4; step++) {
        g_assert_true (lig_generator_step (self, generated, NULL));
        for (guint n = 0; n < generated->len; n++) {
          const LigGenerated *one = &g_array_index (generated, LigGenerated, n);
          g_array_append_val (texts[i].tokens[one->id - 1], one->sampled.chosen.token);
        }
      }
      lig_generator_cancel (self, 1);
      run (self, texts[i].tokens, texts[i].ends);
      /* A generator that has ended continues with new texts. */
      add (self, 3, 2, 5, 1, 6);
      GArray *last[MAX_TEXTS + 1];
      LigGeneratedEnd ends[MAX_TEXTS + 1];
      last[MAX_TEXTS] = texts[i].tokens[0];
      run (self, last, ends);
      g_assert_cmpint (ends[MAX_TEXTS], ==, LIG_GENERATED_LENGTH);
    }
    ahead = 0;
    g_assert_cmpuint (texts[0].tokens[0]->len, ==, 4 + 6);
    for (int i = 0; i < MAX_TEXTS; i++) {
      assert_same (texts[0].tokens[i], texts[1].tokens[i]);
      g_assert_cmpint (texts[0].ends[i], ==, texts[1].ends[i]);
    }
    clear_texts (&texts[0]);
    clear_texts (&texts[1]);
  }
  clear_model (&model);
}

/* Models without a cache say why. */
static void
test_rejections (void)
{
  static const struct {
    const char *expression, *rejection;
  } cases[] = {{causal, NULL},
               {whole, "reshape at 1: it mixes positions"},
               {both, "attention at 2: mask is none, so that a new token changes those before it"}};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Model model = open_model (cases[i].expression, 8);
    g_autoptr (LigGenerator) self = new_generator (&model, FALSE, 0);
    g_assert_cmpstr (get_figures (self).rejection, ==, cases[i].rejection);
    g_assert_cmpint (lig_generator_get_vocabulary (self), ==, 40);
    g_assert_cmpint (lig_generator_get_length (self), ==, 8);
    clear_model (&model);
  }
}

static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  Model model = open_model (causal, 8);
  g_autoptr (LigGenerator) self = new_generator (&model, FALSE, 0);
  gint32 tokens[3] = {1, 40, 2};
  guint64 id;
  g_assert_false (lig_generator_add (self, tokens, 3, NULL, &id, &error));
  g_assert_cmpstr (error->message, ==, "token 1 of the prompt is 40, the model reads 0 to 39");
  g_clear_error (&error);
  g_assert_false (lig_generator_add (self, tokens, 0, NULL, &id, &error));
  g_assert_cmpstr (error->message, ==, "the prompt has no tokens; give at least one");
  g_clear_error (&error);
  clear_model (&model);
  Model values = open_model ("embedding(8, vocabulary=40) ! reshape([-1, 16]) ! linear(4)", 8);
  g_assert_null (lig_generator_new (values.sequence, values.state, NULL, &error));
  g_assert_cmpstr (
    error->message, ==,
    "the number of rows of logits is 4 for a window of length 8, expected one for each "
    "token, or one for all");
  clear_model (&values);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/generator/greedy", test_greedy);
  g_test_add_data_func ("/generator/company/cache", causal, test_company);
  g_test_add_data_func ("/generator/company/whole", whole, test_company);
  g_test_add_data_func ("/generator/company/both", both, test_company);
  g_test_add_func ("/generator/ends", test_ends);
  g_test_add_func ("/generator/ahead", test_ahead);
  g_test_add_func ("/generator/rejections", test_rejections);
  g_test_add_func ("/generator/rejected", test_rejected);
  return g_test_run ();
}
