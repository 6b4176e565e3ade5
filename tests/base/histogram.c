/* SPDX-License-Identifier: MIT */
/* Histograms of values: bins, figures, their bytes and texts. */
#include "engine/base/histogram-private.h"

#include <math.h>
#include <string.h>

/* The same as lig_histogram_add(), value by value, from frexp() instead of bits. */
static void
count_slowly (LigHistogram *to, const float *values, gsize count)
{
  double sum = 0, squares = 0;
  gsize finite = 0;
  lig_histogram_init (to);
  for (gsize i = 0; i < count; i++) {
    double value = (double) values[i];
    int exponent;
    if (isnan (value)) {
      to->nan++;
      continue;
    }
    if (isinf (value)) {
      to->infinite++;
      continue;
    }
    sum += value;
    squares += value * value;
    to->min = finite > 0 ? fmin (to->min, value) : value;
    to->max = finite > 0 ? fmax (to->max, value) : value;
    finite++;
    if (value == 0) {
      to->zeros++;
      continue;
    }
    frexp (value, &exponent); /* |value| is from 2^(exponent - 1) to below 2^exponent */
    to->counts[value < 0][MAX (exponent - 1 + LIG_HISTOGRAM_BIAS, 0)]++;
  }
  to->mean = finite > 0 ? sum / (double) finite : NAN;
  to->rms = finite > 0 ? sqrt (squares / (double) finite) : NAN;
}

static void
assert_close (double a, double b)
{
  if (isnan (a) || isnan (b))
    g_assert_true (isnan (a) && isnan (b));
  else
    g_assert_cmpfloat_with_epsilon (a, b, 1e-12 * MAX (fabs (a), 1e-30));
}

static void
assert_equal (const LigHistogram *a, const LigHistogram *b)
{
  g_assert_cmpmem (a->counts, sizeof a->counts, b->counts, sizeof b->counts);
  g_assert_cmpuint (a->zeros, ==, b->zeros);
  g_assert_cmpuint (a->nan, ==, b->nan);
  g_assert_cmpuint (a->infinite, ==, b->infinite);
  assert_close (a->min, b->min);
  assert_close (a->max, b->max);
  assert_close (a->mean, b->mean);
  assert_close (a->rms, b->rms);
}

static void
check (const float *values, gsize count)
{
  LigHistogram found, expected;
  lig_histogram_init (&found);
  lig_histogram_add (&found, values, count);
  count_slowly (&expected, values, count);
  assert_equal (&found, &expected);
  g_assert_cmpuint (lig_histogram_get_total (&found), ==, count);
}

static void
test_bins (void)
{
  const float special[] = {0,        -0.0f,          1,           -1,         1.9999999f,
                           2,        0x1p-126f,      0x1p-127f,   0x1p-149f,  -1e-40f,
                           0x1p127f, -3.4028235e38f, 0.5f,        NAN,        INFINITY,
                           -NAN,     -INFINITY,      0.49999997f, 0x1.8p-30f, -0x1p-20f};
  LigHistogram found;
  check (special, G_N_ELEMENTS (special));
  lig_histogram_init (&found);
  lig_histogram_add (&found, special, G_N_ELEMENTS (special));
  g_assert_cmpuint (found.zeros, ==, 2);
  g_assert_cmpuint (found.nan, ==, 2);
  g_assert_cmpuint (found.infinite, ==, 2);
  g_assert_cmpuint (found.counts[0][LIG_HISTOGRAM_BIAS], ==, 2);     /* 1 and 1.9999999 */
  g_assert_cmpuint (found.counts[1][LIG_HISTOGRAM_BIAS], ==, 1);     /* -1 */
  g_assert_cmpuint (found.counts[0][LIG_HISTOGRAM_BIAS + 1], ==, 1); /* 2 */
  g_assert_cmpuint (found.counts[0][0], ==, 2);                      /* below 2^-126 */
  g_assert_cmpuint (found.counts[1][0], ==, 1);
  g_assert_cmpuint (found.counts[1][LIG_HISTOGRAM_BINS - 1], ==, 1);
}

/* Without finite values the figures are missing; zeros have figures, but not a bin. */
static void
test_empty (void)
{
  const float odd[] = {NAN, INFINITY}, zeros[] = {0, -0.0f, 0};
  LigHistogram found;
  int first, last;
  check (NULL, 0);
  check (odd, G_N_ELEMENTS (odd));
  check (zeros, G_N_ELEMENTS (zeros));
  lig_histogram_init (&found);
  lig_histogram_add (&found, zeros, G_N_ELEMENTS (zeros));
  g_assert_false (lig_histogram_find_bins (&found, &first, &last));
  g_assert_cmpfloat (found.mean, ==, 0);
  lig_histogram_merge (&found, &found);
  g_assert_cmpuint (found.zeros, ==, 6);
}

static float *
make_many (gsize count)
{
  float *values = g_new (float, count);
  guint32 seed = 7;
  for (gsize i = 0; i < count; i++) {
    seed = seed * 1664525 + 1013904223;
    values[i] = ldexpf ((float) (gint32) seed * 0x1p-31f, (int) (seed >> 8) % 40 - 30);
    values[i] = i % 1009 == 0 ? 0 : i % 99991 == 5 ? NAN : values[i];
  }
  return values;
}

/* Several threads count, and the parts of a tensor are added one after the other. */
static void
test_many (void)
{
  const gsize count = 300007;
  g_autofree float *values = make_many (count);
  LigHistogram whole, parts, expected;
  lig_histogram_init (&whole);
  lig_histogram_init (&parts);
  lig_histogram_add (&whole, values, count);
  for (gsize at = 0; at < count; at += 65536)
    lig_histogram_add (&parts, values + at, MIN ((gsize) 65536, count - at));
  count_slowly (&expected, values, count);
  g_assert_cmpmem (whole.counts, sizeof whole.counts, expected.counts, sizeof expected.counts);
  g_assert_cmpuint (whole.nan, ==, expected.nan);
  g_assert_cmpfloat (whole.min, ==, expected.min);
  g_assert_cmpfloat (whole.max, ==, expected.max);
  g_assert_cmpfloat_with_epsilon (whole.mean, expected.mean, 1e-9 * expected.rms);
  g_assert_cmpfloat_with_epsilon (whole.rms, expected.rms, 1e-9 * expected.rms);
  /* The same parts in the same order: the same bits. */
  g_assert_cmpfloat (whole.mean, ==, parts.mean);
  g_assert_cmpfloat (whole.rms, ==, parts.rms);
}

static void
assert_round_trip (const LigHistogram *histogram, gsize max)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = lig_histogram_to_bytes (histogram);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  LigHistogram back = *histogram;
  memset (back.counts, 0x55, sizeof back.counts);
  g_assert_true (lig_histogram_take_bytes (&back, data, size, &error));
  g_assert_no_error (error);
  g_assert_cmpmem (back.counts, sizeof back.counts, histogram->counts, sizeof back.counts);
  g_assert_cmpuint (size, <=, max);
}

static void
test_bytes (void)
{
  LigHistogram histogram;
  g_autofree float *values = make_many (20000);
  lig_histogram_init (&histogram);
  assert_round_trip (&histogram, 4);
  lig_histogram_add (&histogram, values, 20000);
  assert_round_trip (&histogram, 300);
  histogram.counts[0][0] = G_GUINT64_CONSTANT (1) << 50;
  histogram.counts[1][LIG_HISTOGRAM_BINS - 1] = 1;
  assert_round_trip (&histogram, 1000);
}

static void
assert_rejected (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  LigHistogram histogram;
  lig_histogram_init (&histogram);
  g_assert_false (lig_histogram_take_bytes (&histogram, data, size, &error));
  g_assert_error (error, LIG_ERROR, LIG_ERROR_FORMAT);
  g_assert_cmpuint (lig_histogram_get_total (&histogram), ==, 0);
}

/* Bytes that no histogram has: cut off, too long, bins that do not exist. */
static void
test_damaged (void)
{
  static const guint8 beyond[] = {0x80, 0x02, 0, 0, 0}, wide[] = {250, 1, 9, 1, 1, 1};
  static const guint8 endless[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                   0x80, 0x80, 0x80, 0x80, 0x80};
  static const guint8 huge[] = {0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0, 0};
  LigHistogram histogram;
  g_autofree float *values = make_many (1000);
  lig_histogram_init (&histogram);
  lig_histogram_add (&histogram, values, 1000);
  g_autoptr (GBytes) bytes = lig_histogram_to_bytes (&histogram);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  for (gsize cut = 0; cut < size; cut++)
    assert_rejected (data, cut);
  g_autofree guint8 *longer = g_malloc0 (size + 1);
  memcpy (longer, data, size);
  assert_rejected (longer, size + 1);
  assert_rejected (beyond, sizeof beyond);
  assert_rejected (wide, sizeof wide);
  assert_rejected (endless, sizeof endless);
  assert_rejected (huge, sizeof huge);
}

static void
test_sparkline (void)
{
  LigHistogram histogram;
  lig_histogram_init (&histogram);
  histogram.counts[0][100] = 700;
  histogram.counts[1][100] = 100;
  histogram.counts[1][102] = 400;
  histogram.counts[0][103] = 1;
  g_autofree char *line = lig_histogram_to_sparkline (&histogram, 99, 103);
  g_assert_cmpstr (line, ==, " █ ▅▁");
  g_autofree char *none = lig_histogram_to_sparkline (&histogram, 5, 4);
  g_assert_cmpstr (none, ==, "");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/histogram/bins", test_bins);
  g_test_add_func ("/histogram/empty", test_empty);
  g_test_add_func ("/histogram/many", test_many);
  g_test_add_func ("/histogram/bytes", test_bytes);
  g_test_add_func ("/histogram/damaged", test_damaged);
  g_test_add_func ("/histogram/sparkline", test_sparkline);
  return g_test_run ();
}
