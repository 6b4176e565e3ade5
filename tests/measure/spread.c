/* SPDX-License-Identifier: MIT */
/* Quartiles of known samples, and comparisons of samples whose true medians are known. */
#include <ligature/spread.h>

#include <math.h>
#include <string.h>

static void
test_quartiles (void)
{
  static const double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7};
  static const double broken[] = {NAN, 2, INFINITY, 1, 3, -INFINITY};
  LigSpread spread;
  lig_spread_measure (odd, 5, &spread);
  g_assert_cmpuint (spread.count, ==, 5);
  g_assert_cmpfloat (spread.lower, ==, 2);
  g_assert_cmpfloat (spread.median, ==, 3);
  g_assert_cmpfloat (spread.upper, ==, 4);
  g_assert_cmpfloat_with_epsilon (lig_spread_get_width (&spread), 2. / 3, 1e-12);
  g_assert_cmpfloat (odd[0], ==, 5);
  lig_spread_measure (even, 4, &spread);
  g_assert_cmpfloat (spread.lower, ==, 1.75);
  g_assert_cmpfloat (spread.median, ==, 2.5);
  g_assert_cmpfloat (spread.upper, ==, 3.25);
  g_assert_true (isnan (lig_spread_get_width (&spread)));
  lig_spread_measure (one, 1, &spread);
  g_assert_cmpfloat (spread.lower, ==, 7);
  g_assert_cmpfloat (spread.upper, ==, 7);
  lig_spread_measure (NULL, 0, &spread);
  g_assert_cmpuint (spread.count, ==, 0);
  g_assert_cmpfloat (spread.median, ==, 0);
  lig_spread_measure (broken, G_N_ELEMENTS (broken), &spread);
  g_assert_cmpuint (spread.count, ==, 3);
  g_assert_cmpfloat (spread.median, ==, 2);
}

static void
assert_text (LigSpread sample, LigSpread reference, LigDifferenceKind kind, const char *expected)
{
  LigDifference difference;
  g_assert_cmpint (lig_spread_compare (&sample, &reference, &difference), ==, kind);
  g_assert_cmpint (difference.kind, ==, kind);
  g_autofree char *text = lig_difference_to_text (&difference);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_known (void)
{
  const LigSpread still = {15, 100, 99.9, 100.1}, wide = {15, 61, 52, 75},
                  wild = {15, 53.4, 47, 66};
  const LigSpread few = {4, 100, 99, 101}, none = {0}, zero = {15, 0, 0, 0};
  assert_text ((LigSpread){15, 88, 87.9, 88.1}, still, LIG_DIFFERENCE_LESS, "12 % less time");
  assert_text ((LigSpread){15, 107.5, 107.4, 107.6}, still, LIG_DIFFERENCE_MORE, "7.5 % more time");
  assert_text ((LigSpread){15, 230, 229, 231}, still, LIG_DIFFERENCE_MORE, "2.3 times the time");
  /* The quartiles of both are far apart, so a seventh less is not a difference. */
  assert_text (wild, wide, LIG_DIFFERENCE_NONE, "no difference (noise 23 %)");
  /* Without any spread, half a percent is the noise. */
  assert_text ((LigSpread){15, 100.4, 100.4, 100.4}, still, LIG_DIFFERENCE_NONE,
               "no difference (noise 0.5 %)");
  assert_text (few, still, LIG_DIFFERENCE_UNKNOWN, "not compared: fewer than five values");
  g_assert_cmpint (lig_spread_compare (&still, &few, NULL), ==, LIG_DIFFERENCE_UNKNOWN);
  g_assert_cmpint (lig_spread_compare (&none, &still, NULL), ==, LIG_DIFFERENCE_UNKNOWN);
  g_assert_cmpint (lig_spread_compare (&still, &zero, NULL), ==, LIG_DIFFERENCE_UNKNOWN);
  g_assert_cmpint (lig_spread_compare (&still, &still, NULL), ==, LIG_DIFFERENCE_NONE);
}

static void
test_figures (void)
{
  const LigSpread sample = {15, 88, 87, 89}, reference = {15, 100, 98, 102};
  LigDifference one, other;
  lig_spread_compare (&sample, &reference, &one);
  lig_spread_compare (&reference, &sample, &other);
  g_assert_cmpfloat (one.change, ==, -12);
  g_assert_cmpfloat (one.ratio, ==, 0.88);
  /* 1.96 * 1.2533 / 1.349 * sqrt ((2² + 4²) / 15) */
  g_assert_cmpfloat_with_epsilon (one.noise, 2.1026, 1e-3);
  g_assert_cmpfloat_with_epsilon (one.noise_share, 0.021026, 1e-5);
  g_assert_cmpint (other.kind, ==, LIG_DIFFERENCE_MORE);
  g_assert_cmpfloat (other.change, ==, 12);
  g_assert_cmpfloat (other.noise, ==, one.noise);
  /* More than 25 values do not make the comparison finer. */
  const LigSpread many = {25, 100, 98, 102}, more = {10000, 100, 98, 102};
  lig_spread_compare (&many, &many, &one);
  lig_spread_compare (&more, &more, &other);
  g_assert_cmpfloat (one.noise, ==, other.noise);
  g_autofree char *narrow = lig_spread_to_text (&(LigSpread){15, 1e-3, 1e-3, 1.0001e-3});
  g_autofree char *usual = lig_spread_to_text (&(LigSpread){15, 145e-6, 142e-6, 150e-6});
  g_autofree char *broad = lig_spread_to_text (&(LigSpread){15, 1e-3, 980e-6, 1.1e-3});
  g_assert_cmpstr (narrow, ==, "1.00 ms");
  g_assert_cmpstr (usual, ==, "142–150 µs");
  g_assert_cmpstr (broad, ==, "980 µs–1.10 ms");
  for (LigDifferenceKind kind = LIG_DIFFERENCE_UNKNOWN; kind <= LIG_DIFFERENCE_MORE; kind++)
    g_assert_cmpuint (strlen (lig_difference_kind_name (kind)), >, 3);
}

/* Fills in times like those of a busy machine: one of eight takes up to twice as long. */
static void
invent (GRand *random, double time, double jitter, double *values, guint count)
{
  for (guint i = 0; i < count; i++) {
    double sum = 0;
    for (int j = 0; j < 12; j++)
      sum += g_rand_double (random) - 0.5; /* of variance 1 */
    values[i] = time * (1 + jitter * sum);
    if (g_rand_int_range (random, 0, 8) == 0)
      values[i] *= g_rand_double_range (random, 1, 2);
  }
}

/* Counts how often two samples of @count values differ by more than the noise. */
static guint
count_differences (double ratio, double jitter, guint count)
{
  double a[64], b[64];
  guint different = 0;
  g_autoptr (GRand) random = g_rand_new_with_seed (5);
  for (int trial = 0; trial < 1000; trial++) {
    LigSpread sample, reference;
    invent (random, 1e-3 * ratio, jitter, a, count);
    invent (random, 1e-3, jitter, b, count);
    lig_spread_measure (a, count, &sample);
    lig_spread_measure (b, count, &reference);
    LigDifferenceKind kind = lig_spread_compare (&sample, &reference, NULL);
    different += kind == LIG_DIFFERENCE_LESS || kind == LIG_DIFFERENCE_MORE;
  }
  g_test_message ("%u of 1000 with ratio %g, jitter %g, %u values", different, ratio, jitter,
                  count);
  return different;
}

/* Equal distributions are rarely reported as different, and different ones nearly always. */
static void
test_rates (void)
{
  static const guint counts[] = {5, 15, 60};
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    g_assert_cmpuint (count_differences (1, 0.05, counts[i]), <, counts[i] == 5 ? 200 : 80);
  g_assert_cmpuint (count_differences (0.9, 0.02, 15), >, 900);
  g_assert_cmpuint (count_differences (0.9, 0.03, 60), >, 900);
  g_assert_cmpuint (count_differences (0.99, 0.05, 15), <, 150);
}

/* Accuracies differ if their rows can show it; few rows hide a small
 * difference. */
static void
test_accuracies (void)
{
  static const struct {
    double sample, reference;
    gint64 sample_rows, reference_rows;
    LigDifferenceKind kind;
  } cases[] = {
    {146 / 150., 147 / 150., 150, 150, LIG_DIFFERENCE_NONE},
    {1, 149 / 150., 150, 150, LIG_DIFFERENCE_NONE},
    {1, 1, 10, 10, LIG_DIFFERENCE_NONE},
    {0.8, 0.98, 150, 150, LIG_DIFFERENCE_LESS},
    {0.98, 0.8, 150, 150, LIG_DIFFERENCE_MORE},
    {0.973, 0.98, 15000, 15000, LIG_DIFFERENCE_LESS},
    {0.973, 0.98, 15000, 150, LIG_DIFFERENCE_NONE},
    {0.5, 0.98, 0, 150, LIG_DIFFERENCE_UNKNOWN},
    {NAN, 0.98, 150, 150, LIG_DIFFERENCE_UNKNOWN},
  };
  LigDifference difference;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    g_assert_cmpint (lig_accuracy_compare (cases[i].sample, cases[i].sample_rows,
                                           cases[i].reference, cases[i].reference_rows, NULL),
                     ==, cases[i].kind);
  /* By hand: 8 of 12 and 3 of 12, 1.96 · √(8/12 · 4/12 / 12 + 3/12 · 9/12 / 12). */
  lig_accuracy_compare (0.7, 10, 0.2, 10, &difference);
  g_assert_cmpfloat_with_epsilon (difference.change, 0.5, 1e-12);
  g_assert_cmpfloat_with_epsilon (difference.noise, 0.362168, 1e-6);
  g_autofree char *one = lig_accuracy_excuse (1), *many = lig_accuracy_excuse (150);
  g_assert_cmpstr (one, ==, "no difference that 1 row could show");
  g_assert_cmpstr (many, ==, "no difference that 150 rows could show");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/spread/quartiles", test_quartiles);
  g_test_add_func ("/spread/accuracies", test_accuracies);
  g_test_add_func ("/spread/known", test_known);
  g_test_add_func ("/spread/figures", test_figures);
  g_test_add_func ("/spread/rates", test_rates);
  return g_test_run ();
}
