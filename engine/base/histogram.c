/* SPDX-License-Identifier: MIT */
/* Histograms over the exponents of fp32 numbers. */
#include "engine/base/histogram-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The values that one thread counts at a time; sums are added in the order of these parts. */
#define PART 65536

enum { INFINITE_EXPONENT = LIG_HISTOGRAM_BINS, PATTERNS = 512 };

void
lig_histogram_init (LigHistogram *self)
{
  *self = (LigHistogram){.min = NAN, .max = NAN, .mean = NAN, .rms = NAN};
}

/* --- Counting ------------------------------------------------------------------------------ */

static guint32
get_bits (const float *value)
{
  guint32 bits;
  memcpy (&bits, value, sizeof bits);
  return bits;
}

/* Counts sign and exponent of each value. Two tables, because successive values often have the same
 * exponent and each count would wait for the one before. */
static void
count_exponents (const float *values, gsize count, LigHistogram *to)
{
  guint32 tables[2][PATTERNS] = {{0}}, zeros[2] = {0};
  for (gsize i = 0; i < count; i++) {
    guint32 bits = get_bits (&values[i]);
    tables[i & 1][bits >> 23]++;
    zeros[bits >> 31] += bits << 1 == 0;
    to->infinite += (bits & 0x7fffffff) == 0x7f800000;
  }
  for (int sign = 0; sign < 2; sign++) {
    const guint32 *a = &tables[0][256 * sign], *b = &tables[1][256 * sign];
    for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++)
      to->counts[sign][bin] = (guint64) a[bin] + b[bin];
    to->counts[sign][0] -= zeros[sign];
    to->zeros += zeros[sign];
    to->nan += (guint64) a[INFINITE_EXPONENT] + b[INFINITE_EXPONENT];
  }
  to->nan -= to->infinite;
}

static guint64
count_finite (const LigHistogram *self)
{
  return lig_histogram_get_total (self) - self->nan - self->infinite;
}

/* Computes the figures of a part whose exponents were counted. */
static void
measure (const float *values, gsize count, LigHistogram *to)
{
  double sum = 0, squares = 0, finite = (double) count_finite (to);
  float min = INFINITY, max = -INFINITY;
  if (finite == 0)
    return;
#pragma omp simd reduction(+ : sum, squares) reduction(min : min) reduction(max : max)
  for (gsize i = 0; i < count; i++) {
    gboolean counts = fabsf (values[i]) < INFINITY;
    double value = counts ? (double) values[i] : 0;
    sum += value;
    squares += value * value;
    min = counts && values[i] < min ? values[i] : min;
    max = counts && values[i] > max ? values[i] : max;
  }
  to->mean = sum / finite;
  to->rms = sqrt (squares / finite);
  to->min = (double) min;
  to->max = (double) max;
}

void
lig_histogram_add (LigHistogram *self, const float *values, gsize count)
{
  gsize n_parts = (count + PART - 1) / PART;
  g_autofree LigHistogram *parts = g_new (LigHistogram, MAX (n_parts, 1));
#pragma omp parallel for schedule(static) if (n_parts > 1)
  for (gsize i = 0; i < n_parts; i++) {
    const float *from = values + i * PART;
    gsize size = MIN (count - i * PART, (gsize) PART);
    lig_histogram_init (&parts[i]);
    count_exponents (from, size, &parts[i]);
    measure (from, size, &parts[i]);
  }
  for (gsize i = 0; i < n_parts; i++)
    lig_histogram_merge (self, &parts[i]);
}

void
lig_histogram_merge (LigHistogram *self, const LigHistogram *other)
{
  double own = (double) count_finite (self), more = (double) count_finite (other);
  if (more > 0 && own > 0) {
    double all = own + more;
    self->mean = (self->mean * own + other->mean * more) / all;
    self->rms = sqrt ((self->rms * self->rms * own + other->rms * other->rms * more) / all);
    self->min = MIN (self->min, other->min);
    self->max = MAX (self->max, other->max);
  } else if (more > 0) {
    self->mean = other->mean;
    self->rms = other->rms;
    self->min = other->min;
    self->max = other->max;
  }
  for (int sign = 0; sign < 2; sign++)
    for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++)
      self->counts[sign][bin] += other->counts[sign][bin];
  self->zeros += other->zeros;
  self->nan += other->nan;
  self->infinite += other->infinite;
}

guint64
lig_histogram_get_total (const LigHistogram *self)
{
  guint64 total = self->zeros + self->nan + self->infinite;
  for (int sign = 0; sign < 2; sign++)
    for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++)
      total += self->counts[sign][bin];
  return total;
}

gboolean
lig_histogram_find_bins (const LigHistogram *self, int *first, int *last)
{
  *first = LIG_HISTOGRAM_BINS;
  *last = -1;
  for (int bin = 0; bin < LIG_HISTOGRAM_BINS; bin++)
    if (self->counts[0][bin] + self->counts[1][bin] > 0) {
      *first = MIN (*first, bin);
      *last = bin;
    }
  return *last >= 0;
}

/* --- Bytes --------------------------------------------------------------------------------- */

static void
append_number (GByteArray *to, guint64 number)
{
  do {
    guint8 byte = (guint8) ((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
    g_byte_array_append (to, &byte, 1);
    number >>= 7;
  } while (number > 0);
}

GBytes *
lig_histogram_to_bytes (const LigHistogram *self)
{
  GByteArray *bytes = g_byte_array_new ();
  for (int sign = 0; sign < 2; sign++) {
    const guint64 *counts = self->counts[sign];
    int first = 0, end = LIG_HISTOGRAM_BINS;
    while (end > 0 && counts[end - 1] == 0)
      end--;
    while (first < end && counts[first] == 0)
      first++;
    append_number (bytes, (guint64) first);
    append_number (bytes, (guint64) (end - first));
    for (int bin = first; bin < end; bin++)
      append_number (bytes, counts[bin]);
  }
  return g_byte_array_free_to_bytes (bytes);
}

/* Reads a number up to a maximum, and moves @data past it. */
static gboolean
read_number (const guint8 **data, const guint8 *end, guint64 max, guint64 *number)
{
  *number = 0;
  for (int shift = 0; *data < end && shift < 63; shift += 7) {
    guint8 byte = *(*data)++;
    *number |= (guint64) (byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return *number <= max;
  }
  return FALSE;
}

gboolean
lig_histogram_take_bytes (LigHistogram *self, const guint8 *data, gsize size, GError **error)
{
  const guint8 *end = data + size;
  gboolean fine = TRUE;
  memset (self->counts, 0, sizeof self->counts);
  for (int sign = 0; fine && sign < 2; sign++) {
    guint64 first, n = 0;
    fine = read_number (&data, end, LIG_HISTOGRAM_BINS, &first) &&
           read_number (&data, end, LIG_HISTOGRAM_BINS - first, &n);
    for (guint64 i = 0; fine && i < n; i++)
      fine = read_number (&data, end, G_MAXINT64 >> 10, &self->counts[sign][first + i]);
  }
  if (fine && data == end)
    return TRUE;
  memset (self->counts, 0, sizeof self->counts);
  g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT,
                       _ ("the bins of a histogram are damaged"));
  return FALSE;
}

/* --- Text ---------------------------------------------------------------------------------- */

char *
lig_histogram_to_sparkline (const LigHistogram *self, int first, int last)
{
  static const char *const levels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  GString *text = g_string_new (NULL);
  guint64 max = 0;
  for (int bin = first; bin <= last; bin++)
    max = MAX (max, self->counts[0][bin] + self->counts[1][bin]);
  for (int bin = first; bin <= last; bin++) {
    guint64 count = self->counts[0][bin] + self->counts[1][bin];
    int level = (int) ((double) G_N_ELEMENTS (levels) * (double) count / (double) MAX (max, 1));
    g_string_append (text, count == 0 ? " " : levels[MIN (level, (int) G_N_ELEMENTS (levels) - 1)]);
  }
  return g_string_free (text, FALSE);
}

/* --- Series -------------------------------------------------------------------------------- */

LigHistogramSeries *
lig_histogram_series_new (const char *parameter, gboolean gradient)
{
  LigHistogramSeries *self = g_new0 (LigHistogramSeries, 1);
  self->parameter = g_strdup (parameter);
  self->gradient = gradient;
  self->steps = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->histograms = g_array_new (FALSE, FALSE, sizeof (LigHistogram));
  return self;
}

void
lig_histogram_series_free (LigHistogramSeries *self)
{
  if (!self)
    return;
  g_free (self->parameter);
  g_array_unref (self->steps);
  g_array_unref (self->histograms);
  g_free (self);
}
