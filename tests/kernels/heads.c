/* SPDX-License-Identifier: MIT */
/* Rotary embeddings, the norms of heads, position embeddings and dropped samples on the CPU:
 * against formulas in double precision, in place, and the same bits with any number of threads. */
#include "tests/kernels/case.h"

#include "kernels/formulas.h"
#include <ligature/params-norm.h>
#include <ligature/params-positions.h>
#include <ligature/params-random.h>

static const LigTick tick = {.seed = 99, .micro_step = 5};

static void
run_drawn (const char *name, const LigOperand *operands, const void *params)
{
  LigStatus status;
  LigLaunch launch = try_run (name, operands, params, &tick, false, &status);
  if (status != LIG_OK)
    g_error ("%s: %s", name, launch.where);
}

/* --- Rotary -------------------------------------------------------------------------------- */

/* The frequency as in Hugging Face's code, with the rounding that the kernel documents. */
static double
frequency_of (const LigRotaryParams *p, int pair)
{
  double frequency = 1 / pow ((double) p->base, 2.0 * pair / p->rotated),
         factor = (double) p->factor;
  double wavelength = 2 * G_PI / frequency, low = (double) p->low, high = (double) p->high;
  if (p->scaling == LIG_ROTARY_LINEAR)
    frequency /= factor;
  if (p->scaling == LIG_ROTARY_LLAMA3) {
    double smooth = (p->original / wavelength - low) / (high - low);
    if (wavelength > p->original / low)
      frequency /= factor;
    else if (wavelength >= p->original / high)
      frequency = (1 - smooth) * frequency / factor + smooth * frequency;
  }
  if (p->scaling == LIG_ROTARY_YARN) {
    /* The features between which frequencies are interpolated, by the formulas of the paper. */
    double ends[2], turns[2] = {high, low};
    for (int i = 0; i < 2; i++)
      ends[i] = p->rotated * log (p->original / (turns[i] * 2 * G_PI)) / (2 * log (p->base));
    if (p->truncate) {
      ends[0] = floor (ends[0]);
      ends[1] = ceil (ends[1]);
    }
    double from = fmax (ends[0], 0), to = fmin (ends[1], p->rotated - 1);
    double extrapolated = 1 - fmin (fmax ((pair - from) / (to - from), 0), 1);
    frequency = frequency / factor * (1 - extrapolated) + frequency * extrapolated;
  }
  return (double) (float) frequency;
}

/* Rotates by the angles, times `direction`. */
static double *
rotate (LigOperand x, const LigRotaryParams *p, double direction)
{
  double *from = wide (x), *to = doubles_copy (from, x.size);
  int64_t rows = x.size / x.columns;
  double magnitude = p->magnitude > 0 ? (double) p->magnitude : 1;
  for (int64_t row = 0; row < rows; row++)
    for (int head = 0; head < p->heads + p->kv_heads; head++)
      for (int pair = 0; pair < p->rotated / 2; pair++) {
        int64_t at = row * x.columns + head * p->features;
        int64_t a = at + (p->interleaved ? 2 * pair : pair);
        int64_t b = p->interleaved ? a + 1 : a + p->rotated / 2;
        float position = (float) (row % p->length);
        double angle = (double) (position * (float) frequency_of (p, pair));
        double c = cos (angle), s = direction * sin (angle);
        to[a] = magnitude * (from[a] * c - from[b] * s);
        to[b] = magnitude * (from[b] * c + from[a] * s);
      }
  return to;
}

static void
check_rotary (LigDtype dtype, LigRotaryParams p)
{
  case_begin ();
  int64_t columns = (p.heads + 2 * p.kv_heads) * p.features;
  LigOperand x = random_tensor (dtype, 3 * p.length, columns);
  LigOperand y = blank (dtype, 3 * p.length, columns), dx = copy (y), place = copy (x);
  run ("rotary", (LigOperand[]){x, y}, &p, false);
  check (y, rotate (x, &p, 1), "rotary");
  run ("rotary_backward", (LigOperand[]){x, dx}, &p, false);
  check (dx, rotate (x, &p, -1), "rotary_backward");
  run ("rotary", (LigOperand[]){place, place}, &p, false);
  check_same_bits (place, y);
  case_end ();
}

static void
rotary (void)
{
  for (int dtype = 0; dtype < 3; dtype++)
    for (int interleaved = 0; interleaved < 2; interleaved++)
      for (int scaling = 0; scaling < 5; scaling++)
        for (int part = 0; part < 3; part++) {
          static const int rotated[] = {20, 10, 0};
          LigRotaryParams p = {.heads = 4,
                               .kv_heads = part,
                               .features = 20,
                               .length = 33,
                               .rotated = rotated[part],
                               .interleaved = interleaved,
                               .scaling = scaling < 4 ? scaling : LIG_ROTARY_YARN,
                               .truncate = scaling == 4,
                               .magnitude = scaling == 4 ? 1.3f : 0,
                               .original = 64,
                               .base = 500,
                               .factor = 4,
                               .low = 1,
                               .high = 4};
          check_rotary (floating[dtype], p);
        }
  check_rotary (LIG_FP32, (LigRotaryParams){.heads = 1,
                                            .kv_heads = 1,
                                            .features = 128,
                                            .length = 1000,
                                            .rotated = 128,
                                            .base = 10000,
                                            .factor = 1});
}

/* YaRN with the parameters of GPT-OSS: the angles by which position 1 is rotated are the
 * frequencies that transformers 5.24 computes (_compute_yarn_parameters). */
static void
yarn (void)
{
  static const struct {
    int pair;
    double plain, truncated;
  } known[] = {{0, 1, 1},
               {1, 0.689044297, 0.689044297},
               {8, 0.0508132726, 0.0508132726},
               {9, 0.0317056961, 0.0316207521},
               {10, 0.0193349998, 0.0194509663},
               {13, 0.00386035908, 0.00406955462},
               {17, 0.000129318694, 0.000227947836},
               {18, 3.83088118e-05, 3.83088118e-05},
               {31, 3.0235114e-07, 3.0235114e-07}};
  for (int truncate = 0; truncate < 2; truncate++) {
    case_begin ();
    LigRotaryParams p = {.heads = 1,
                         .features = 64,
                         .length = 2,
                         .rotated = 64,
                         .scaling = LIG_ROTARY_YARN,
                         .truncate = truncate,
                         .magnitude = 1.5f,
                         .original = 4096,
                         .base = 150000,
                         .factor = 32,
                         .low = 1,
                         .high = 32};
    LigOperand x = blank (LIG_FP32, 2, 64), y = blank (LIG_FP32, 2, 64);
    float *from = x.data, *to = y.data;
    for (int i = 0; i < 128; i++)
      from[i] = i % 64 < 32;
    run ("rotary", (LigOperand[]){x, y}, &p, false);
    for (size_t i = 0; i < G_N_ELEMENTS (known); i++) {
      double cosine = (double) to[64 + known[i].pair], sine = (double) to[96 + known[i].pair];
      double want = truncate ? known[i].truncated : known[i].plain;
      g_assert_cmpfloat (fabs (atan2 (sine, cosine) - want), <, 1e-6 * want);
      g_assert_cmpfloat (fabs (hypot (sine, cosine) - 1.5), <, 1e-6);
    }
    case_end ();
  }
}

/* --- Norms of heads ------------------------------------------------------------------------ */

typedef struct {
  LigQkNormParams params;
  LigOperand x, dy, gains[2], biases[2];
  double *xs, *dys, *gain_values[2], *bias_values[2];
} Heads;

typedef struct {
  double *y, *mean, *rstd, *dx, *dgains[2], *dbiases[2];
} HeadsReference;

static HeadsReference
normalize (const Heads *h, const double *xs)
{
  const LigQkNormParams *p = &h->params;
  int64_t rows = h->x.size / h->x.columns, normed = p->heads + p->kv_heads, n = p->features;
  HeadsReference r = {doubles_copy (xs, h->x.size), doubles (rows * normed),
                      doubles (rows * normed),      doubles_copy (h->dys, h->x.size),
                      {doubles (n), doubles (n)},   {doubles (n), doubles (n)}};
  for (int64_t i = 0; i < rows * normed; i++) {
    int kind = i % normed >= p->heads;
    int64_t at = i / normed * h->x.columns + i % normed * n;
    const double *x = xs + at, *dy = h->dys + at, *gain = h->gain_values[kind];
    double mean = 0, sum = 0, u = 0, uh = 0, share = p->kind == LIG_QK_L2 ? 1 : 1 / (double) n;
    for (int64_t d = 0; d < n && p->kind == LIG_QK_LAYER_NORM; d++)
      mean += x[d] / (double) n;
    for (int64_t d = 0; d < n; d++)
      sum += (x[d] - mean) * (x[d] - mean) * share;
    double rstd = 1 / sqrt (sum + (double) p->eps);
    for (int64_t d = 0; d < n; d++) {
      double g = gain ? gain[d] : 1, hat = (x[d] - mean) * rstd;
      r.y[at + d] = hat * g + (h->bias_values[kind] ? h->bias_values[kind][d] : 0);
      u += p->kind == LIG_QK_LAYER_NORM ? g * dy[d] * share : 0;
      uh += g * dy[d] * hat * share;
      r.dgains[kind][d] += dy[d] * hat;
      r.dbiases[kind][d] += dy[d];
    }
    for (int64_t d = 0; d < n; d++)
      r.dx[at + d] = rstd * ((gain ? gain[d] : 1) * dy[d] - u - (x[d] - mean) * rstd * uh);
    r.mean[i] = mean;
    r.rstd[i] = rstd;
  }
  return r;
}

static Heads
heads_of (LigQkNorm kind, LigDtype dtype, LigDtype parameters, int64_t rows, int kv_heads)
{
  Heads h = {
    .params = {.heads = 4, .kv_heads = kv_heads, .features = 24, .kind = kind, .eps = 1e-3f}};
  int64_t columns = (4 + 2 * kv_heads) * 24;
  h.x = random_tensor (dtype, rows, columns);
  h.dy = random_tensor (dtype, rows, columns);
  h.xs = wide (h.x);
  h.dys = wide (h.dy);
  for (int i = 0; i < 2; i++) {
    h.gains[i] = h.biases[i] = absent (parameters, 1, 24);
    if (kind != LIG_QK_L2)
      h.gain_values[i] = wide (h.gains[i] = random_tensor (parameters, 1, 24));
    if (kind == LIG_QK_LAYER_NORM)
      h.bias_values[i] = wide (h.biases[i] = random_tensor (parameters, 1, 24));
  }
  return h;
}

typedef struct {
  LigOperand y, mean, rstd, dx, sums[4];
} HeadsResults;

static HeadsResults
run_heads (const Heads *h, bool in_place)
{
  int64_t rows = h->x.size / h->x.columns, normed = h->params.heads + h->params.kv_heads;
  LigOperand sum = blank (h->gains[0].dtype, 1, 24);
  HeadsResults r = {blank (h->x.dtype, rows, h->x.columns),
                    blank (LIG_FP32, rows, normed),
                    blank (LIG_FP32, rows, normed),
                    in_place ? copy (h->dy) : blank (h->x.dtype, rows, h->x.columns),
                    {sum, copy (sum), copy (sum), copy (sum)}};
  run (
    "qk_norm",
    (LigOperand[]){h->x, h->gains[0], h->biases[0], h->gains[1], h->biases[1], r.y, r.mean, r.rstd},
    &h->params, false);
  run ("qk_norm_backward",
       (LigOperand[]){in_place ? r.dx : h->dy, h->x, h->gains[0], h->gains[1], r.mean, r.rstd, r.dx,
                      r.sums[0], r.sums[1], r.sums[2], r.sums[3]},
       &h->params, false);
  return r;
}

static void
check_heads (LigQkNorm kind, LigDtype dtype, LigDtype parameters, int64_t rows, int kv_heads)
{
  case_begin ();
  Heads h = heads_of (kind, dtype, parameters, rows, kv_heads);
  HeadsResults r = run_heads (&h, false);
  HeadsReference want = normalize (&h, h.xs);
  check (r.y, want.y, "qk_norm");
  check (r.rstd, want.rstd, "rstd");
  check_within (r.mean, want.mean, 1e-6 * sqrt ((double) r.mean.size), "mean");
  check (r.dx, want.dx, "dx");
  for (int i = 0; i < 2; i++) {
    check (r.sums[2 * i], want.dgains[i], "dgain");
    check (r.sums[2 * i + 1], want.dbiases[i], "dbias");
  }
  HeadsResults again = run_heads (&h, true);
  check_same_bits (again.dx, r.dx);
  case_end ();
}

static void
qk_norm (void)
{
  for (int kind = LIG_QK_RMS; kind <= LIG_QK_LAYER_NORM; kind++)
    for (int dtype = 0; dtype < 3; dtype++) {
      check_heads (kind, floating[dtype], floating[dtype], 7, 4);
      check_heads (kind, floating[dtype], LIG_FP32, 130, 1);
    }
}

static double *
normalized (const void *data, const double *xs)
{
  return normalize (data, xs).y;
}

static void
qk_norm_differences (void)
{
  for (int kind = LIG_QK_RMS; kind <= LIG_QK_LAYER_NORM; kind++) {
    case_begin ();
    Heads h = heads_of (kind, LIG_FP32, LIG_FP32, 2, 1);
    HeadsReference at = normalize (&h, h.xs);
    check_differences (normalized, &h, h.xs, h.x.size, h.dys, h.x.size, at.dx, 1e-6);
    case_end ();
  }
}

/* --- Positions ----------------------------------------------------------------------------- */

static void
check_positions (LigDtype dtype, LigDtype parameters, int64_t columns)
{
  case_begin ();
  int64_t batch = 3, length = 11, table = 14, rows = batch * length;
  LigPositionParams p = {.length = length};
  LigOperand x = random_tensor (dtype, rows, columns), y = blank (dtype, rows, columns);
  LigOperand weight = random_tensor (parameters, table, columns);
  LigOperand dweight = blank (parameters, table, columns);
  run ("position_embedding", (LigOperand[]){x, weight, y}, &p, false);
  run ("position_embedding_backward", (LigOperand[]){x, dweight}, &p, false);
  double *sum = wide (x), *weights = wide (weight), *xs = wide (x), *back = doubles (weight.size);
  for (int64_t i = 0; i < x.size; i++) {
    sum[i] += weights[i % (length * columns)];
    back[i % (length * columns)] += xs[i];
  }
  check (y, sum, "position_embedding");
  check (dweight, back, "position_embedding_backward");
  run ("position_embedding_backward", (LigOperand[]){x, dweight}, &p, true);
  for (int64_t i = 0; i < weight.size; i++)
    back[i] *= 2;
  check_within (dweight, back, 2 * allowed (dweight, back), "accumulated");

  /* The fused embedding has the bits of both embeddings one after the other. */
  LigOperand tokens = blank (LIG_INT32, rows, 1), rows_of = random_tensor (parameters, 5, columns);
  LigOperand looked_up = blank (dtype, rows, columns), once = copy (looked_up), twice = copy (once);
  for (int64_t i = 0; i < rows; i++)
    ((int32_t *) tokens.data)[i] = (int32_t) (i * 7 % 5);
  run ("embedding", (LigOperand[]){tokens, rows_of, looked_up}, NULL, false);
  run ("position_embedding", (LigOperand[]){looked_up, weight, twice}, &p, false);
  run ("embedding_position", (LigOperand[]){tokens, rows_of, weight, once}, &p, false);
  check_same_bits (once, twice);
  case_end ();
}

static void
positions (void)
{
  for (int dtype = 0; dtype < 3; dtype++) {
    check_positions (floating[dtype], floating[dtype], 20);
    check_positions (floating[dtype], LIG_FP32, 1030);
  }
  LigStatus status;
  case_begin ();
  LigOperand x = random_tensor (LIG_FP32, 6, 4), weight = random_tensor (LIG_FP32, 5, 4);
  try_run ("position_embedding", (LigOperand[]){x, weight, copy (x)},
           &(LigPositionParams){.length = 6}, &tick, false, &status);
  g_assert_cmpint (status, ==, LIG_FAILED);
  case_end ();
}

/* --- Dropped samples ----------------------------------------------------------------------- */

static void
drop_path (void)
{
  for (int dtype = 0; dtype < 3; dtype++) {
    case_begin ();
    LigDropPathParams p = {.probability = 0.4f, .path_hash = 0x1234567887654321u, .samples = 50};
    LigOperand x = random_tensor (floating[dtype], 50 * 3, 700);
    LigOperand y = blank (floating[dtype], 50 * 3, 700);
    run_drawn ("drop_path", (LigOperand[]){x, y}, &p);
    double *want = wide (x);
    int kept = 0;
    for (int64_t n = 0; n < 50; n++) {
      uint32_t words[4];
      lig_random_words (tick.seed, (uint64_t) n / 4, p.path_hash, tick.micro_step, words);
      bool keeps = words[n % 4] >= 0.4f * 4294967296.0;
      kept += keeps;
      for (int64_t i = 0; i < 2100; i++)
        want[n * 2100 + i] *= keeps ? 1 / (1 - (double) p.probability) : 0;
    }
    g_assert_true (kept > 15 && kept < 45);
    check (y, want, "drop_path");
    run_drawn ("drop_path", (LigOperand[]){x, x}, &p);
    check_same_bits (x, y);
    p.probability = 1;
    run_drawn ("drop_path", (LigOperand[]){y, x}, &p);
    check (x, doubles (x.size), "drop_path");
    case_end ();
  }
}

static void
threads (void)
{
  int before = omp_get_max_threads ();
  case_begin ();
  Heads h = heads_of (LIG_QK_LAYER_NORM, LIG_BF16, LIG_BF16, 300, 2);
  omp_set_num_threads (1);
  HeadsResults one = run_heads (&h, false);
  for (int count = 2; count <= 5; count++) {
    omp_set_num_threads (count);
    HeadsResults got = run_heads (&h, false);
    check_same_bits (one.y, got.y);
    check_same_bits (one.dx, got.dx);
    for (int i = 0; i < 4; i++)
      check_same_bits (one.sums[i], got.sums[i]);
  }
  omp_set_num_threads (before);
  case_end ();
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/heads/rotary", rotary);
  g_test_add_func ("/heads/yarn", yarn);
  g_test_add_func ("/heads/qk-norm", qk_norm);
  g_test_add_func ("/heads/qk-norm-differences", qk_norm_differences);
  g_test_add_func ("/heads/positions", positions);
  g_test_add_func ("/heads/drop-path", drop_path);
  g_test_add_func ("/heads/threads", threads);
  return g_test_run ();
}
