/* SPDX-License-Identifier: MIT */
/* Tests plans with a cache: the logits of each position of a text that is extended in chunks of
 * random sizes are those of the plan without a cache, and do not depend on other texts or on the
 * slot. */
#include <ligature/cache.h>
#include <ligature/compile.h>
#include <ligature/error.h>

#include <math.h>
#include <string.h>

enum { LENGTH = 24, SLOTS = 5 };

static const char *const models[] = {
  /* position embedding, causal attention */
  "embedding(32, vocabulary=50) ! position-embedding(24) ! block(2) { transformer-layer(4) } ! "
  "layer-norm ! linear(50)",
  /* rotary, grouped heads, q and k norms, a window */
  "embedding(32, vocabulary=50) ! linear(64) ! rotary(4, kv-heads=2) ! "
  "attention(4, kv-heads=2, window=5) ! linear(50)",
  /* ALiBi, soft cap */
  "embedding(32, vocabulary=50) ! linear(96) ! attention(4, alibi=true, softcap=5) ! rms-norm ! "
  "linear(50)",
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
  self.device = lig_device_open ("cpu", &error);
  g_assert_no_error (error);
  self.state = lig_state_new (self.sequence, self.device, NULL, 7, &error);
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

static LigPlan *
compile (const Model *model, gint64 rows, gint64 step)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.training = FALSE;
  options.before_loss = TRUE;
  options.policy = LIG_POLICY_ALL;
  if (rows > 0)
    options.cache = (LigCacheShape){rows, step, LENGTH, SLOTS};
  LigPlan *plan = lig_plan_compile (model->sequence, model->device, &options, &error);
  g_assert_no_error (error);
  return plan;
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
  return output;
}

/* The programs of one model for each size of chunks. */
typedef struct {
  LigCache *cache;
  LigProgram *programs[LENGTH + 1];
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
  for (int i = 0; i <= LENGTH; i++)
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
                                    1e-4 * MAX (1, fabs ((double) a[i])));
}

/* Extends the text in a slot, in chunks of random sizes, and compares each position's logits. */
static void
test_chunks (gconstpointer expression)
{
  g_autoptr (GError) error = NULL;
  Model model = open_model (expression);
  Cached cached = {.rows = 1};
  for (int round = 0; round < 3; round++) {
    gint32 tokens[LENGTH];
    draw_tokens (tokens);
    g_autoptr (LigTensor) whole = compute_whole (&model, tokens);
    guint slot = (guint) g_test_rand_int_range (0, SLOTS - 1);
    if (cached.cache)
      g_assert_true (lig_cache_set_length (cached.cache, slot, 0, &error));
    for (int at = 0; at < LENGTH;) {
      int step = MIN (g_test_rand_int_range (1, 8), LENGTH - at);
      LigProgram *program = get_program (&cached, &model, step);
      LigCacheStep one = {slot, tokens + at};
      g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
      g_assert_no_error (error);
      g_autoptr (LigTensor) part = lig_program_read_output (program, &error);
      assert_close ((const float *) whole->data + at * 50, part->data, (gsize) step * 50);
      at += step;
    }
    g_assert_cmpint (lig_cache_get_length (cached.cache, slot), ==, LENGTH);
  }
  clear_cached (&cached);
  clear_model (&model);
}

/* A text gets the same bits beside others, in another row and in another slot. */
static void
test_mates (gconstpointer expression)
{
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
    memcpy (alone[at], row->data, sizeof alone[at]);
  }
  for (guint slot = 0; slot < SLOTS - 1; slot++)
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
    g_assert_cmpmem (alone[at], sizeof alone[at], row->data, sizeof alone[at]);
  }
  clear_cached (&cached);
  clear_model (&model);
}

/* A shortened text continues as if the rest had never been. */
static void
test_back (void)
{
  g_autoptr (GError) error = NULL;
  Model model = open_model (models[1]);
  Cached cached = {.rows = 1};
  gint32 tokens[LENGTH];
  draw_tokens (tokens);
  g_autoptr (LigTensor) whole = compute_whole (&model, tokens);
  LigProgram *program = get_program (&cached, &model, 4);
  gint32 wrong[4] = {1, 2, 3, 4};
  LigCacheStep first = {1, tokens}, other = {1, wrong}, second = {1, tokens + 4};
  g_assert_true (lig_cache_extend (cached.cache, program, &first, 1, &error));
  g_assert_true (lig_cache_extend (cached.cache, program, &other, 1, &error));
  g_assert_true (lig_cache_set_length (cached.cache, 1, 4, &error));
  g_assert_true (lig_cache_extend (cached.cache, program, &second, 1, &error));
  g_autoptr (LigTensor) part = lig_program_read_output (program, &error);
  assert_close ((const float *) whole->data + 4 * 50, part->data, 4 * 50);
  clear_cached (&cached);
  clear_model (&model);
}

static void
assert_message (GError **error, const char *part)
{
  g_assert_nonnull (*error);
  if (!strstr ((*error)->message, part))
    g_error ("'%s' lacks '%s'", (*error)->message, part);
  g_clear_error (error);
}

static void
test_rejected (void)
{
  g_autoptr (GError) error = NULL;
  Model model = open_model (models[0]);
  Cached cached = {.rows = 2};
  gint32 tokens[LENGTH];
  draw_tokens (tokens);
  LigProgram *program = get_program (&cached, &model, 16);
  LigCacheStep one = {1, tokens}, twice[2] = {{1, tokens}, {1, tokens}}, none = {4, tokens};
  g_assert_false (lig_cache_extend (cached.cache, program, twice, 2, &error));
  assert_message (&error, "slot 1 is extended twice");
  g_assert_false (lig_cache_extend (cached.cache, program, &none, 1, &error));
  assert_message (&error, "no slot 4, expected 0 to 3");
  g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
  g_assert_false (lig_cache_extend (cached.cache, program, &one, 1, &error));
  assert_message (&error, "would have 32 tokens, the cache holds 24");
  g_assert_false (lig_cache_set_length (cached.cache, 1, 17, &error));
  assert_message (&error, "length 17, expected 0 to the 16 tokens");
  g_assert_cmpint (lig_cache_get_length (cached.cache, 1), ==, 16);
  clear_cached (&cached);
  clear_model (&model);
}

/* Models that cannot extend a text are rejected with the op and the reason. */
static void
test_refusals (void)
{
  static const struct {
    const char *expression, *message;
  } cases[] = {
    {"embedding(8, vocabulary=50) ! linear(24) ! attention(2, mask=none) ! linear(50)",
     "attention at 2: mask is none, so that a new token changes those before it"},
    {"embedding(8, vocabulary=50) ! reshape([-1, 8]) ! linear(50)",
     "reshape at 1: it mixes positions"},
    {"embedding(8, vocabulary=50) ! position-embedding(12) ! linear(50)",
     "it has 12 positions, the cache 24"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    g_autoptr (LigSequence) sequence = lig_sequence_from_expression (cases[i].expression, &error);
    g_autoptr (LigDevice) device = lig_device_open ("cpu", &error);
    LigShape shape;
    lig_shape_init (&shape, 2, (gint64) 1, (gint64) 12);
    lig_sequence_set_input (sequence, &shape, LIG_INT32);
    options.training = FALSE;
    options.cache = (LigCacheShape){1, 4, LENGTH, 2};
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    assert_message (&error, cases[i].message);
    options.training = TRUE;
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    assert_message (&error, "set training to FALSE");
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++) {
    g_autofree char *chunks = g_strdup_printf ("/cache/chunks/%u", i);
    g_autofree char *mates = g_strdup_printf ("/cache/mates/%u", i);
    g_test_add_data_func (chunks, models[i], test_chunks);
    g_test_add_data_func (mates, models[i], test_mates);
  }
  g_test_add_func ("/cache/back", test_back);
  g_test_add_func ("/cache/rejected", test_rejected);
  g_test_add_func ("/cache/refusals", test_refusals);
  return g_test_run ();
}
