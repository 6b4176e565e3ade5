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
  assert_message (&error, "would have length 32, the cache has length 24");
  g_assert_false (lig_cache_set_length (cached.cache, 1, 17, &error));
  assert_message (&error, "length 17, expected 0 to 16, the length of its text");
  g_assert_cmpint (lig_cache_get_length (cached.cache, 1), ==, 16);
  clear_cached (&cached);
  clear_model (&model);
}

/* Models that cannot extend a text are rejected with the op and the reason. */
static void
test_rejections (void)
{
  static const struct {
    const char *expression, *message;
  } cases[] = {
    {"embedding(8, vocabulary=50) ! linear(24) ! attention(2, mask=none) ! linear(50)",
     "attention at 2: mask is none, so that a new token changes those before it"},
    {"embedding(8, vocabulary=50) ! reshape([-1, 8]) ! linear(50)",
     "reshape at 1: it mixes positions"},
    {"embedding(8, vocabulary=50) ! position-embedding(12) ! linear(50)",
     "its length is 12, that of the cache 24"},
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
    options.cache = (LigCacheShape){1, 4, LENGTH, 2, FALSE};
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
  add_cached_texts ("/cache", LIG_FP32, 1e-4);
  g_test_add_func ("/cache/back", test_back);
  g_test_add_func ("/cache/rejected", test_rejected);
  g_test_add_func ("/cache/rejections", test_rejections);
  return g_test_run ();
}
