/* SPDX-License-Identifier: MIT */
/* Tests plans with a cache on the CPU. */
#include "tests/inference/cached-texts.h"

/* A shortened text continues as if the rest had never been. */
static void
test_back (void)
{
  compute_type = LIG_FP32;
  tolerance = 1e-4;
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
  g_autoptr (LigTensor) part = widen (lig_program_read_output (program, &error));
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

/* Attention with a window keeps its window and a chunk, and a text is shortened by a chunk at most
 * once later keys have replaced its first ones. */
static void
test_ring (void)
{
  compute_type = LIG_FP32;
  g_autoptr (GError) error = NULL;
  Model model = open_model (models[1]);
  Cached cached = {.rows = 1};
  gint32 tokens[LENGTH];
  draw_tokens (tokens);
  g_autoptr (LigTensor) whole = compute_whole (&model, tokens);
  LigProgram *program = get_program (&cached, &model, 16);
  /* 2 key heads of 8 features: 64 positions of 5 slots. */
  gint64 bytes = lig_cache_count_bytes (lig_program_get_plan (program));
  g_assert_cmpint (bytes, ==, 5 * 64 * 2 * 2 * 8 * 4);
  for (int at = 0; at < 128; at += 16) {
    LigCacheStep one = {2, tokens + at};
    g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
  }
  g_assert_false (lig_cache_set_length (cached.cache, 2, 103, &error));
  assert_message (&error, "no longer has the positions before 104");
  g_assert_cmpint (lig_cache_get_length (cached.cache, 2), ==, 128);
  g_assert_true (lig_cache_set_length (cached.cache, 2, 112, &error));
  /* A shortened text has still forgotten as much. */
  g_assert_false (lig_cache_set_length (cached.cache, 2, 103, &error));
  assert_message (&error, "no longer has the positions before 104");
  g_assert_true (lig_cache_set_length (cached.cache, 2, 104, &error));
  LigCacheStep next = {2, tokens + 104};
  g_assert_true (lig_cache_extend (cached.cache, program, &next, 1, &error));
  g_autoptr (LigTensor) part = widen (lig_program_read_output (program, &error));
  assert_close ((const float *) whole->data + 104 * 50, part->data, 16 * 50);
  g_assert_true (lig_cache_set_length (cached.cache, 2, 0, &error));
  LigCacheStep again = {2, tokens};
  g_assert_true (lig_cache_extend (cached.cache, program, &again, 1, &error));
  g_assert_true (lig_cache_set_length (cached.cache, 2, 1, &error));
  clear_cached (&cached);
  clear_model (&model);
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
  for (int i = 0; i < LENGTH / 16; i++)
    g_assert_true (lig_cache_extend (cached.cache, program, &one, 1, &error));
  g_assert_false (lig_cache_extend (cached.cache, program, &one, 1, &error));
  assert_message (&error, "would have length 176, the cache has length 160");
  g_assert_false (lig_cache_set_length (cached.cache, 1, 161, &error));
  assert_message (&error, "length 161, expected 0 to 160, the length of its text");
  g_assert_cmpint (lig_cache_get_length (cached.cache, 1), ==, 160);
  clear_cached (&cached);
  clear_model (&model);
}

/* Models that cannot extend a text are rejected with the op and the reason. */
static void
test_rejections (void)
{
  static const struct {
    const char *expression, *message;
    gint64 memory;
  } cases[] = {
    {"embedding(8, vocabulary=50) ! linear(24) ! attention(2, mask=none) ! linear(50)",
     "attention at 2: mask is none, so that a new token changes those before it", 0},
    {"embedding(8, vocabulary=50) ! reshape([-1, 8]) ! linear(50)",
     "reshape at 1: it mixes positions", 0},
    {"embedding(8, vocabulary=50) ! position-embedding(12) ! linear(50)",
     "its length is 12, that of the cache 160", 0},
    {"embedding(8, vocabulary=50) ! multi-head-attention(2, mask=none) ! make-extra-output(m) ! "
     "load-branch ! embedding(8, vocabulary=50) ! "
     "multi-head-attention(2, mask=none, memory=m) ! linear(50)",
     "it reads a memory; give the cache a size for it, LigCacheShape.memory", 0},
    {"embedding(8, vocabulary=50) ! multi-head-attention(2, mask=none, memory=caller) ! linear(50)",
     "its memory comes from the caller", 12},
    {"embedding(8, vocabulary=50) ! make-extra-output(m) ! "
     "multi-head-attention(2, mask=none, memory=m) ! linear(50)",
     "the text and the memory of cross attention depend on it", 12},
    {"embedding(8, vocabulary=50) ! make-extra-output(m) ! load-branch ! "
     "embedding(8, vocabulary=50) ! multi-head-attention(2, mask=none, memory=m, window=3) ! "
     "linear(50)",
     "a cache needs mask=none without window or alibi", 12},
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
    options.cache = (LigCacheShape){.rows = 1, .step = 4, .length = LENGTH, .slots = 2};
    options.cache.memory = cases[i].memory;
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    assert_message (&error, cases[i].message);
    options.training = TRUE;
    g_assert_null (lig_plan_compile (sequence, device, &options, &error));
    assert_message (&error, "set training to FALSE");
  }
}

/* The numbers of a cache are checked before anything is allocated. */
static void
test_shapes (void)
{
  static const struct {
    LigCacheShape shape;
    const char *message;
  } cases[] = {
    {{.rows = -1, .step = 4, .length = 24, .slots = 2, .chunk = 0},
     "rows of the cache is -1, expected 1 to 4096"},
    {{.rows = 1, .step = 0, .length = 24, .slots = 2, .chunk = 0},
     "step of the cache is 0, expected 1 to"},
    {{.rows = 1, .step = 25, .length = 24, .slots = 2, .chunk = 0},
     "step of the cache is 25, its length 24"},
    {{.rows = 1, .step = 9, .length = 24, .slots = 2, .chunk = 8},
     "step of the cache is 9, its chunk 8"},
    {{.rows = 1, .step = 4, .length = G_MAXINT64, .slots = 2, .chunk = 0},
     "length of the cache is 9223372036854775807, expected 1 to"},
    {{.rows = 1, .step = 4, .length = 24, .slots = G_MAXINT64, .chunk = 0},
     "slots of the cache is 9223372036854775807, expected 1 to"},
    {{.rows = 1, .step = 4, .length = 24, .slots = 2, .chunk = -8},
     "chunk of the cache is -8, expected 0 to"},
    {{.rows = 1, .step = 4, .length = 24, .slots = 2, .memory = -1},
     "memory of the cache is -1, expected 0 to"},
    {{.rows = 1, .step = 4, .length = 24, .slots = 2, .memory = 3, .source = TRUE},
     "has 1 rows and step 4, expected 1 and at most the memory, 3"},
    {{.rows = 1, .step = 4, .length = 24, .slots = 2, .memory = 3},
     "the cache has a size for a memory, but no op reads one"},
  };
  Model model = open_model (models[1]);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
    options.training = FALSE;
    options.before_loss = TRUE;
    options.cache = cases[i].shape;
    g_assert_null (lig_plan_compile (model.sequence, model.device, &options, &error));
    assert_message (&error, cases[i].message);
  }
  clear_model (&model);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  add_cached_texts ("/cache", LIG_FP32, 1e-4);
  g_test_add_func ("/cache/back", test_back);
  g_test_add_func ("/cache/ring", test_ring);
  g_test_add_func ("/cache/rejected", test_rejected);
  g_test_add_func ("/cache/shapes", test_shapes);
  g_test_add_func ("/cache/rejections", test_rejections);
  return g_test_run ();
}
