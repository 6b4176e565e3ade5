/* SPDX-License-Identifier: MIT */
/* Plans with a cache on any device: the logits of each position of a text that is extended in
 * chunks of random sizes are those of the plan without a cache, and do not depend on other texts or
 * on the slot. */
#pragma once

#include <ligature/cache.h>
#include <ligature/compile.h>
#include <ligature/error.h>
#include <ligature/kernels.h>

#include <math.h>
#include <string.h>

/* With a window, attention keeps fewer positions than texts have. */
enum { LENGTH = 160, SLOTS = 4, CHUNK = 24 };

/* The device, the type of activations and the allowed relative difference. */
static const char *device_name = "cpu";
static int compute_type = LIG_FP32;
static double tolerance = 1e-4;

/* The size of the memory of cross attention. */
static gint64 memory_size = 0;

static const char *const models[] = {
  /* position embedding, causal attention */
  "embedding(32, vocabulary=50) ! position-embedding(160) ! block(2) { transformer-layer(4) } ! "
  "layer-norm ! linear(50)",
  /* rotary, grouped heads, q and k norms, a window */
  "embedding(32, vocabulary=50) ! linear(64) ! rotary(4, kv-heads=2) ! "
  "attention(4, kv-heads=2, window=5) ! linear(50)",
  /* 16-bit tiles of 64 keys, of which a window has the ends of two */
  "embedding(32, vocabulary=50) ! linear(256) ! rotary(2, kv-heads=1) ! "
  "attention(2, kv-heads=1, window=40) ! linear(50)",
  /* ALiBi, soft cap */
  "embedding(32, vocabulary=50) ! linear(96) ! attention(4, alibi=true, softcap=5) ! rms-norm ! "
  "linear(50)",
  /* sinks, with 16-bit tiles and a window */
  "embedding(32, vocabulary=50) ! linear(256) ! rotary(2, kv-heads=1) ! "
  "attention(2, kv-heads=1, window=40, sinks=true) ! linear(50)",
  "embedding(32, vocabulary=50) ! linear(96) ! attention(4, softcap=5, sinks=true) ! linear(50)",
  /* one key head */
  "embedding(32, vocabulary=50) ! linear(48) ! rotary(4, kv-heads=1, interleaved=true) ! "
  "attention(4, kv-heads=1) ! linear(50) ! cross-entropy",
};

typedef struct {
  LigSequence *sequence;
  LigDevice *device;
  LigState *state;
} Model;

static Model
open_model (const char *expression)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  Model self = {.sequence = lig_sequence_from_expression (expression, &error)};
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) LENGTH);
  lig_sequence_set_input (self.sequence, &shape, LIG_INT32);
  self.device = lig_device_open (device_name, &error);
  g_assert_no_error (error);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.compute = options.parameters = compute_type;
  self.state = lig_state_new (self.sequence, self.device, &options, 7, &error);
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

static void
set_cache (LigPlanOptions *options, gint64 rows, gint64 step)
{
  options->training = FALSE;
  options->before_loss = TRUE;
  options->policy = LIG_POLICY_ALL;
  options->compute = options->parameters = compute_type;
  if (rows > 0)
    options->cache = (LigCacheShape){.rows = rows,
                                     .step = step,
                                     .length = LENGTH,
                                     .slots = SLOTS,
                                     .chunk = CHUNK,
                                     .memory = memory_size};
}

static LigPlan *
compile (const Model *model, gint64 rows, gint64 step)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  set_cache (&options, rows, step);
  LigPlan *plan = lig_plan_compile (model->sequence, model->device, &options, &error);
  g_assert_no_error (error);
  return plan;
}

/* Returns the tensor as fp32. */
static LigTensor *
widen (LigTensor *from)
{
  LigTensor *to = lig_tensor_new (LIG_FP32, &from->shape, NULL);
  lig_widen (from->dtype, from->data, to->data, (gsize) from->size);
  lig_tensor_unref (from);
  return to;
}

/* Returns the logits of all positions without a cache. */
static LigTensor *
compute_whole (const Model *model, const gint32 *tokens)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  g_autoptr (LigPlan) plan = compile (model, 0, 0);
  g_autoptr (LigProgram) program = lig_program_new (plan, model->state, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) LENGTH);
  g_autoptr (LigTensor) input = lig_tensor_new (LIG_INT32, &shape, &error);
  memcpy (input->data, tokens, LENGTH * sizeof *tokens);
  g_assert_true (lig_program_set_input (program, input, &error));
  g_assert_true (lig_program_run (program, LIG_RUN_FORWARD, &error));
  LigTensor *output = lig_program_read_output (program, &error);
  g_assert_no_error (error);
  return widen (output);
}

/* The programs of one model for each size of chunks. */
typedef struct {
  LigCache *cache;
  LigProgram *programs[CHUNK + 1];
  gint64 rows;
} Cached;

static LigProgram *
get_program (Cached *self, const Model *model, gint64 step)
{
  g_autoptr (GError) error = NULL;
  if (self->programs[step])
    return self->programs[step];
  g_autoptr (LigPlan) plan = compile (model, self->rows, step);
  if (!self->cache)
    self->cache = lig_cache_new (plan, &error);
  g_assert_no_error (error);
  self->programs[step] = lig_program_new_cached (plan, model->state, self->cache, &error);
  g_assert_no_error (error);
  return self->programs[step];
}

static void
clear_cached (Cached *self)
{
  for (int i = 0; i <= CHUNK; i++)
    g_clear_pointer (&self->programs[i], lig_program_unref);
  g_clear_pointer (&self->cache, lig_cache_unref);
}

static void
draw_tokens (gint32 *tokens)
{
  for (int i = 0; i < LENGTH; i++)
    tokens[i] = g_test_rand_int_range (0, 50);
}

static void
assert_close (const float *a, const float *b, gsize count)
{
  for (gsize i = 0; i < count; i++)
    g_assert_cmpfloat_with_epsilon ((double) a[i], (double) b[i],
                                    tolerance * MAX (1, fabs ((double) a[i])));
}

/* A test: a model, its type, and the allowed relative difference. */
typedef struct {
  const char *expression;
  int compute;
  double tolerance;
} Case;

static const char *
use_case (gconstpointer data)
{
  const Case *self = data;
  compute_type = self->compute;
  tolerance = self->tolerance;
  return self->expression;
}

/* Extends the text in a slot, in chunks of random sizes, and compares each position's logits. */
static void
test_chunks (gconstpointer data)
{
  const char *expression = use_case (data);
  g_autoptr (GError) error = NULL;
  Model model = open_model (expression);
  Cached cached = {.rows = 1};
  for (int round = 0; round < 3; round++) {
    gint32 tokens[LENGTH];
    draw_tokens (tokens);
    g_autoptr (LigTensor) whole = compute_whole (&model, tokens);
    guint slot = (guint) g_test_rand_int_range (0, SLOTS);
    if (cached.cache)
      g_assert_true (lig_cache_set_length (cached.cache, slot, 0, &error));
    for (int at = 0; at < LENGTH;) {
      int drawn = g_test_rand_int_range (1, CHUNK + 1), step = MIN (drawn, LENGTH - at);
      LigProgram *program = get_program (&cached, &model, step);
      LigCacheStep one = {slot, tokens + at};
      gboolean extended = lig_cache_extend (cached.cache, program, &one, 1, &error);
      g_assert_no_error (error);
      g_assert_true (extended);
      g_autoptr (LigTensor) part = widen (lig_program_read_output (program, &error));
      assert_close ((const float *) whole->data + at * 50, part->data, (gsize) step * 50);
      at += step;
    }
    g_assert_cmpint (lig_cache_get_length (cached.cache, slot), ==, LENGTH);
  }
  clear_cached (&cached);
  clear_model (&model);
}

/* A text gets the same bits among others, in another row and in another slot. */
static void
test_mates (gconstpointer data)
{
  const char *expression = use_case (data);
  g_autoptr (GError) error = NULL;
  Model model = open_model (expression);
  Cached cached = {.rows = 4};
  gint32 tokens[LENGTH], others[3][LENGTH];
  float alone[LENGTH][50];
  draw_tokens (tokens);
  for (int i = 0; i < 3; i++)
    draw_tokens (others[i]);
  LigProgram *program = get_program (&cached, &model, 1);
  for (int at = 0; at < LENGTH; at++) {
    LigCacheStep one = {0, tokens + at};
    g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
    g_autoptr (LigTensor) row = lig_program_read_output_rows (program, 0, 1, &error);
    memcpy (alone[at], row->data, lig_tensor_bytes (row));
  }
  for (guint slot = 0; slot < SLOTS; slot++)
    g_assert_true (lig_cache_set_length (cached.cache, slot, 0, &error));
  /* The others begin earlier, so that all have different lengths. */
  for (int i = 0; i < 3; i++)
    for (int at = 0; at <= i; at++) {
      LigCacheStep one = {(guint) i, others[i] + at};
      g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
    }
  for (int at = 0; at + 3 < LENGTH; at++) {
    LigCacheStep steps[4] = {
      {0, others[0] + at + 1}, {1, others[1] + at + 2}, {3, tokens + at}, {2, others[2] + at + 3}};
    g_assert_true (lig_cache_extend (cached.cache, program, steps, 4, &error));
    g_autoptr (LigTensor) row = lig_program_read_output_rows (program, 2, 1, &error);
    g_assert_cmpmem (alone[at], lig_tensor_bytes (row), row->data, lig_tensor_bytes (row));
  }
  clear_cached (&cached);
  clear_model (&model);
}

/* --- Cross attention ----------------------------------------------------------------------- */

/* An encoder of the input, and a decoder of tokens from the caller. */
static const char *const translators[] = {
  "embedding(32, vocabulary=50) ! position-embedding(160) ! transformer-layer(4, mask=none) ! "
  "layer-norm ! make-extra-output(memory) ! load-branch ! embedding(32, vocabulary=50) ! "
  "position-embedding(160) ! "
  "block(2) { transformer-layer(4, layer-type=decoder, memory=../memory) } ! linear(50) ! "
  "cross-entropy",
  /* rotary positions on both sides, fewer key heads, a window of the text */
  "embedding(32, vocabulary=50) ! multi-head-attention(4, kv-heads=2, rotary=true, mask=none) ! "
  "make-extra-output(memory) ! load-branch ! embedding(32, vocabulary=50) ! "
  "multi-head-attention(4, rotary=true, window=9) ! "
  "multi-head-attention(4, kv-heads=2, mask=none, memory=memory) ! linear(50)",
};

/* Returns the logits of a text without a cache; a text and its source have the same length. */
static LigTensor *
translate_whole (const Model *model, const gint32 *source, const gint32 *tokens)
{
  g_autoptr (GError) error = NULL;
  LigShape shape;
  g_autoptr (LigPlan) plan = compile (model, 0, 0);
  g_autoptr (LigProgram) program = lig_program_new (plan, model->state, &error);
  g_assert_no_error (error);
  lig_shape_init (&shape, 2, (gint64) 1, (gint64) LENGTH);
  g_autoptr (LigTensor) input = lig_tensor_new (LIG_INT32, &shape, &error);
  g_autoptr (LigTensor) text = lig_tensor_new (LIG_INT32, &shape, &error);
  memcpy (input->data, source, LENGTH * sizeof *source);
  memcpy (text->data, tokens, LENGTH * sizeof *tokens);
  g_assert_true (lig_program_set_input (program, input, &error));
  g_assert_true (lig_program_set_extra_input (program, 0, text, &error));
  g_assert_true (lig_program_run (program, LIG_RUN_FORWARD, &error));
  LigTensor *output = lig_program_read_output (program, &error);
  g_assert_no_error (error);
  return widen (output);
}

/* Returns a program that reads sources of a number of tokens. */
static LigProgram *
new_reader (const Cached *cached, const Model *model, gint64 count)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  set_cache (&options, 1, count);
  options.cache.source = TRUE;
  g_autoptr (LigPlan) plan = lig_plan_compile (model->sequence, model->device, &options, &error);
  g_assert_no_error (error);
  LigProgram *program = lig_program_new_cached (plan, model->state, cached->cache, &error);
  g_assert_no_error (error);
  return program;
}

static int
count_steps (LigProgram *program, const char *kernel)
{
  guint count;
  int found = 0;
  const LigPlanStep *steps = lig_plan_get_steps (lig_program_get_plan (program), &count);
  for (guint i = 0; i < count; i++)
    found += steps[i].kernel && strcmp (steps[i].kernel->name, kernel) == 0;
  return found;
}

/* Three texts with sources of their own are extended at once, in slots that other texts had. */
static void
test_sources (gconstpointer data)
{
  enum { TEXTS = 3, STEP = 5 };
  g_autoptr (GError) error = NULL;
  memory_size = LENGTH;
  Model model = open_model (use_case (data));
  Cached cached = {.rows = SLOTS};
  gint32 sources[TEXTS][LENGTH], tokens[TEXTS][LENGTH];
  LigTensor *whole[TEXTS];
  LigProgram *program = get_program (&cached, &model, STEP);
  g_autoptr (LigProgram) reader = new_reader (&cached, &model, LENGTH);
  /* Each has only the steps of its side. */
  g_assert_cmpint (count_steps (program, "attention"), ==, 0);
  g_assert_cmpint (count_steps (program, "attention_cached"), >=, 2);
  g_assert_cmpint (count_steps (reader, "attention"), ==, 1);
  g_assert_cmpint (count_steps (reader, "attention_cached"), ==, 0);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < TEXTS; i++) {
      draw_tokens (sources[i]);
      draw_tokens (tokens[i]);
      whole[i] = translate_whole (&model, sources[i], tokens[i]);
      gboolean read =
        lig_cache_set_source (cached.cache, reader, (guint) (3 - i), sources[i], &error);
      g_assert_no_error (error);
      g_assert_true (read);
    }
    for (int at = 0; at < LENGTH; at += STEP) {
      LigCacheStep steps[TEXTS];
      for (int i = 0; i < TEXTS; i++)
        steps[i] = (LigCacheStep){(guint) (3 - i), tokens[i] + at};
      g_assert_true (lig_cache_extend (cached.cache, program, steps, TEXTS, &error));
      g_autoptr (LigTensor) part = widen (lig_program_read_output (program, &error));
      for (int i = 0; i < TEXTS; i++)
        assert_close ((const float *) whole[i]->data + at * 50,
                      (const float *) part->data + i * STEP * 50, STEP * 50);
    }
    for (int i = 0; i < TEXTS; i++)
      lig_tensor_unref (whole[i]);
  }
  memory_size = 0;
  clear_cached (&cached);
  clear_model (&model);
}

/* The keys of a source of another length replace those of a longer one. */
static void
test_short_source (gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  memory_size = LENGTH;
  Model model = open_model (use_case (data));
  Cached first = {.rows = 1}, second = {.rows = 1};
  gint32 longer[LENGTH], source[LENGTH], tokens[LENGTH];
  draw_tokens (longer);
  draw_tokens (source);
  draw_tokens (tokens);
  LigProgram *programs[] = {get_program (&first, &model, 4), get_program (&second, &model, 4)};
  g_autoptr (LigProgram) whole = new_reader (&first, &model, LENGTH);
  g_autoptr (LigProgram) part = new_reader (&first, &model, 7);
  g_autoptr (LigProgram) other = new_reader (&second, &model, 7);
  LigCacheStep one = {2, tokens};
  g_assert_true (lig_cache_set_source (first.cache, whole, 2, longer, &error));
  g_assert_true (lig_cache_extend (first.cache, programs[0], &one, 1, &error));
  g_assert_true (lig_cache_set_source (first.cache, part, 2, source, &error));
  g_assert_true (lig_cache_set_source (second.cache, other, 2, source, &error));
  g_assert_cmpint (lig_cache_get_length (first.cache, 2), ==, 0);
  g_assert_true (lig_cache_extend (first.cache, programs[0], &one, 1, &error));
  g_assert_true (lig_cache_extend (second.cache, programs[1], &one, 1, &error));
  g_autoptr (LigTensor) a = lig_program_read_output (programs[0], &error);
  g_autoptr (LigTensor) b = lig_program_read_output (programs[1], &error);
  g_assert_cmpmem (a->data, lig_tensor_bytes (a), b->data, lig_tensor_bytes (b));
  memory_size = 0;
  clear_cached (&first);
  clear_cached (&second);
  clear_model (&model);
}

/* Adds the tests of each model. */
static void
add_cached_texts (const char *prefix, LigDtype compute, double allowed)
{
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    Case one = {models[i], compute, allowed};
    g_autofree char *chunks = g_strdup_printf ("%s/chunks/%u", prefix, i);
    g_autofree char *mates = g_strdup_printf ("%s/mates/%u", prefix, i);
    g_test_add_data_func_full (chunks, g_memdup2 (&one, sizeof one), test_chunks, g_free);
    g_test_add_data_func_full (mates, g_memdup2 (&one, sizeof one), test_mates, g_free);
  }
  for (guint i = 0; i < G_N_ELEMENTS (translators); i++) {
    Case one = {translators[i], compute, allowed};
    g_autofree char *sources = g_strdup_printf ("%s/sources/%u", prefix, i);
    g_autofree char *lengths = g_strdup_printf ("%s/source-lengths/%u", prefix, i);
    g_test_add_data_func_full (sources, g_memdup2 (&one, sizeof one), test_sources, g_free);
    g_test_add_data_func_full (lengths, g_memdup2 (&one, sizeof one), test_short_source, g_free);
  }
}
