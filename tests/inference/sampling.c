/* SPDX-License-Identifier: MIT */
/* Tests the draws: 100,000 of them against the probabilities that the definitions give, each filter
 * against a direct calculation by sorting, and that a draw depends on seed and position only. */
#include <ligature/error.h>
#include <ligature/sampling.h>

#include <math.h>
#include <string.h>

enum { TOKENS = 12, DRAWS = 100000 };

static const float logits[TOKENS] = {1.5f, -0.25f, 3, 3, 0, -2, 2.25f, 1, 0.5f, -1, 2.75f, -4};

/* Sets the probability of each token by the definitions, with sorting. */
static void
expect (const LigSampling *sampling, const guint8 *seen, double *chances)
{
  double values[TOKENS], sorted[TOKENS], sum = 0, kept = 0, top;
  for (int i = 0; i < TOKENS; i++) {
    values[i] = (double) logits[i];
    if (seen && seen[i])
      values[i] =
        values[i] > 0 ? values[i] / sampling->repetition : values[i] * sampling->repetition;
    values[i] /= sampling->temperature;
    sorted[i] = values[i];
  }
  for (int i = 0; i < TOKENS; i++)
    for (int j = i + 1; j < TOKENS; j++)
      if (sorted[j] > sorted[i]) {
        double swapped = sorted[i];
        sorted[i] = sorted[j];
        sorted[j] = swapped;
      }
  top = sorted[0];
  double lowest =
    sampling->top_k > 0 ? sorted[MIN (sampling->top_k, TOKENS) - 1] : sorted[TOKENS - 1];
  for (int i = 0; i < TOKENS; i++)
    sum += sorted[i] >= lowest ? exp (sorted[i] - top) : 0;
  for (int i = 0; i < TOKENS && sorted[i] >= lowest; i++) {
    kept += exp (sorted[i] - top) / sum;
    if (kept >= sampling->top_p) {
      lowest = sorted[i];
      break;
    }
  }
  lowest = MAX (lowest, top + log (MAX (sampling->min_p, 1e-300)));
  sum = 0;
  for (int i = 0; i < TOKENS; i++)
    sum += chances[i] = values[i] >= lowest ? exp (values[i] - top) : 0;
  for (int i = 0; i < TOKENS; i++)
    chances[i] /= sum;
}

/* Draws at consecutive positions. Chi-square with n - 1 degrees of freedom exceeds this bound with
 * a probability of about 1e-6. */
static void
assert_distribution (const LigSampling *sampling, const guint8 *seen)
{
  double chances[TOKENS], statistic = 0;
  gint64 counts[TOKENS] = {0};
  int freedom = -1;
  LigSampled sampled;
  expect (sampling, seen, chances);
  for (int i = 0; i < DRAWS; i++) {
    lig_sampling_draw (sampling, logits, TOKENS, seen, (guint64) i, &sampled);
    counts[sampled.chosen.token]++;
  }
  for (int i = 0; i < TOKENS; i++) {
    double wanted = chances[i] * DRAWS;
    if (chances[i] == 0) {
      g_assert_cmpint (counts[i], ==, 0);
      continue;
    }
    freedom++;
    statistic += ((double) counts[i] - wanted) * ((double) counts[i] - wanted) / wanted;
  }
  g_assert_cmpfloat (statistic, <, freedom + 5 * sqrt (2.0 * MAX (freedom, 1)) + 15);
}

static void
test_distributions (void)
{
  static const struct {
    double temperature, top_p, min_p, repetition;
    gint64 top_k;
  } cases[] = {
    {1, 1, 0, 1, 0},   {0.5, 1, 0, 1, 0}, {2, 1, 0, 1, 0},   {1, 1, 0, 1, 3},
    {1, 0.5, 0, 1, 0}, {1, 0.9, 0, 1, 5}, {1, 1, 0.3, 1, 0}, {0.7, 0.8, 0.1, 1.3, 6},
    {1, 1, 0, 2, 0},   {1, 0, 0, 1, 0},   {1, 1, 1, 1, 0},   {1, 1, 0, 1, 1},
  };
  static const guint8 seen[TOKENS] = {1, 1, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0};
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    LigSampling sampling = LIG_SAMPLING_INIT;
    sampling.temperature = cases[i].temperature;
    sampling.top_p = cases[i].top_p;
    sampling.min_p = cases[i].min_p;
    sampling.repetition = cases[i].repetition;
    sampling.top_k = cases[i].top_k;
    sampling.seed = 100 + i;
    assert_distribution (&sampling, cases[i].repetition != 1 ? seen : NULL);
  }
}

/* Temperature 0 takes the most probable token, the first among equal ones; its probability and the
 * alternatives are the model's own. */
static void
test_greedy (void)
{
  LigSampling sampling = LIG_SAMPLING_INIT;
  LigSampled sampled;
  double sum = 0;
  sampling.temperature = 0;
  for (int i = 0; i < TOKENS; i++)
    sum += exp ((double) logits[i]);
  lig_sampling_draw (&sampling, logits, TOKENS, NULL, 5, &sampled);
  static const gint32 best[LIG_SAMPLING_ALTERNATIVES] = {2, 3, 10, 6, 0};
  g_assert_cmpint (sampled.chosen.token, ==, 2);
  g_assert_cmpfloat_with_epsilon ((double) sampled.chosen.probability, exp (3.0) / sum, 1e-6);
  for (int i = 0; i < LIG_SAMPLING_ALTERNATIVES; i++) {
    g_assert_cmpint (sampled.alternatives[i].token, ==, best[i]);
    g_assert_cmpfloat_with_epsilon ((double) sampled.alternatives[i].probability,
                                    exp ((double) logits[best[i]]) / sum, 1e-6);
  }
}

/* A draw is the same for the same seed and position, and others differ. */
static void
test_seeds (void)
{
  LigSampling sampling = LIG_SAMPLING_INIT;
  LigSampled a, b;
  int differences = 0;
  for (guint64 position = 0; position < 200; position++) {
    sampling.seed = 1;
    lig_sampling_draw (&sampling, logits, TOKENS, NULL, position, &a);
    lig_sampling_draw (&sampling, logits, TOKENS, NULL, position, &b);
    g_assert_cmpmem (&a, sizeof a, &b, sizeof b);
    sampling.seed = 2;
    lig_sampling_draw (&sampling, logits, TOKENS, NULL, position, &b);
    differences += a.chosen.token != b.chosen.token;
  }
  g_assert_cmpint (differences, >, 50);
}

/* Infinite and missing logits never crash, and never draw a token that is impossible. */
static void
test_odd (void)
{
  float odd[4] = {-INFINITY, NAN, 0, -INFINITY}, none[3] = {-INFINITY, -INFINITY, -INFINITY};
  float all[3] = {NAN, NAN, NAN}, large[3] = {3e38f, -3e38f, 3e38f};
  LigSampling sampling = LIG_SAMPLING_INIT;
  LigSampled sampled;
  for (guint64 i = 0; i < 100; i++) {
    lig_sampling_draw (&sampling, odd, 4, NULL, i, &sampled);
    g_assert_cmpint (sampled.chosen.token, ==, 2);
    lig_sampling_draw (&sampling, none, 3, NULL, i, &sampled);
    g_assert_cmpint (sampled.chosen.token, ==, 0);
    lig_sampling_draw (&sampling, all, 3, NULL, i, &sampled);
    g_assert_cmpint (sampled.chosen.token, ==, 0);
    lig_sampling_draw (&sampling, large, 3, NULL, i, &sampled);
    g_assert_cmpint (sampled.chosen.token, !=, 1);
    lig_sampling_draw (&sampling, odd + 2, 1, NULL, i, &sampled);
    g_assert_cmpint (sampled.alternatives[1].token, ==, -1);
  }
}

static void
test_rejected (void)
{
  static const struct {
    gsize offset;
    double value;
    const char *message;
  } cases[] = {
    {G_STRUCT_OFFSET (LigSampling, temperature), -1,
     "temperature is -1, expected a number from 0 to 100"},
    {G_STRUCT_OFFSET (LigSampling, temperature), (double) NAN, "temperature is nan"},
    {G_STRUCT_OFFSET (LigSampling, top_p), 1.5, "top-p is 1.5, expected a number from 0 to 1"},
    {G_STRUCT_OFFSET (LigSampling, min_p), -0.5, "min-p is -0.5"},
    {G_STRUCT_OFFSET (LigSampling, repetition), 0, "repetition is 0, expected a number from 0.01"},
  };
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    LigSampling sampling = LIG_SAMPLING_INIT;
    memcpy (G_STRUCT_MEMBER_P (&sampling, cases[i].offset), &cases[i].value, sizeof (double));
    g_assert_false (lig_sampling_check (&sampling, &error));
    g_assert_error (error, LIG_ERROR, LIG_ERROR_VALUE);
    g_assert_nonnull (strstr (error->message, cases[i].message));
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sampling/distributions", test_distributions);
  g_test_add_func ("/sampling/greedy", test_greedy);
  g_test_add_func ("/sampling/seeds", test_seeds);
  g_test_add_func ("/sampling/odd", test_odd);
  g_test_add_func ("/sampling/rejected", test_rejected);
  return g_test_run ();
}
