/* SPDX-License-Identifier: MIT */
/* Routers, permutations of rows by expert, exchanges, scaled units and interleaved gated units on
 * the GPU against the CPU, with hostile experts and places, and NaN among the logits. */
#include "tests/gpu/experts.h"

#include "kernels/functions.h"
#include <ligature/params-experts.h>
#include <ligature/params-quantize.h>
#include <ligature/scales.h>

/* --- Routers ------------------------------------------------------------------------------- */

typedef struct {
  const char *name;
  int64_t rows, experts;
  LigDtype dtype;
  gboolean correction;
  LigRouterParams params;
} Route;

#define SELECT LIG_SCORE_SOFTMAX, LIG_FIRST_SELECT
#define SCORE LIG_SCORE_SOFTMAX, LIG_FIRST_SCORE
#define SIGMOID LIG_SCORE_SIGMOID, LIG_FIRST_SELECT
#define SQUARE LIG_SCORE_SQRT_SOFTPLUS, LIG_FIRST_SELECT

static const Route routes[] = {
  {"one", 1, 1, LIG_FP32, FALSE, {1, SELECT, 1, 1, 1, 1, 0.01f, 0.001f}},
  {"select", 33, 8, LIG_FP32, FALSE, {2, SELECT, 1, 1, 0, 1, 0.5f, 0}},
  {"score", 300, 64, LIG_BF16, FALSE, {8, SCORE, 1, 1, 1, 2.5f, 0.5f, 0.25f}},
  {"score without normalization", 300, 60, LIG_FP16, TRUE, {4, SCORE, 1, 1, 0, 1, 0, 0.5f}},
  {"sigmoid", 1000, 128, LIG_FP32, TRUE, {6, SIGMOID, 1, 1, 1, 2.5f, 0.5f, 0}},
  {"sigmoid, one expert", 77, 16, LIG_FP32, TRUE, {1, SIGMOID, 1, 1, 1, 1, 0.5f, 0.5f}},
  {"groups", 500, 256, LIG_FP32, FALSE, {8, SIGMOID, 8, 4, 1, 2.5f, 0.1f, 0.1f}},
  {"groups with corrections", 20, 96, LIG_FP32, TRUE, {8, SIGMOID, 6, 2, 1, 2.5f, 0.1f, 0.1f}},
  {"groups of softmax", 100, 160, LIG_BF16, FALSE, {6, SCORE, 8, 3, 0, 16, 0.1f, 0}},
  {"square root", 300, 257, LIG_FP32, TRUE, {7, SQUARE, 1, 1, 1, 1.5f, 0.5f, 0.5f}},
  {"square root without normalization", 64, 33, LIG_BF16, FALSE, {3, SQUARE, 1, 1, 0, 1, 0.5f, 0}},
  {"many experts", 70, 1024, LIG_FP32, FALSE, {40, SELECT, 1, 1, 1, 1, 0.5f, 0.5f}},
  {"all experts", 20, 100, LIG_FP32, FALSE, {100, SIGMOID, 1, 1, 1, 1, 0.5f, 0.5f}},
  {"many rows", 70000, 16, LIG_BF16, FALSE, {4, SELECT, 1, 1, 1, 1, 0.01f, 0.001f}},
};

/* Returns logits, or corrections, that are multiples of a step: many are equal, and those that
 * differ do so by more than roundings. */
static Part
stepped (LigDtype dtype, int64_t rows, int64_t columns, float range, float step, unsigned seed)
{
  float *values = some_numbers (rows * columns, seed);
  for (int64_t i = 0; i < rows * columns; i++)
    values[i] = roundf (values[i] * range / step) * step;
  return narrowed (dtype, rows, columns, values);
}

static Problem
route_of (const Route *r)
{
  Problem p = {.kernel = "router", .params = &r->params, .what = (char *) r->name};
  p.parts[0] = stepped (r->dtype, r->rows, r->experts, 3, 1 / 32.0f, 11);
  if (r->correction)
    p.parts[1] = stepped (LIG_FP32, 1, r->experts, 1, 0.25f, 12);
  p.parts[2] = (Part){LIG_FP32, r->rows, r->params.top_k, NULL};
  p.parts[3] = (Part){LIG_INT32, r->rows, r->params.top_k, NULL};
  p.parts[4] = (Part){LIG_FP32, 1, r->experts, NULL};
  p.parts[5] = (Part){LIG_FP32, 1, 2, NULL};
  return p;
}

static void
test_router (gconstpointer data)
{
  const Route *r = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  static const float loss = 1.5f;
  Problem p = route_of (r);
  run_exact (gpu, &p, 1 << 3 | 1 << 4);
  for (int i = 0; i < 3; i++) { /* both gradients, that of the weights, that of the losses */
    Problem back = {.kernel = "router_backward", .params = &r->params, .what = (char *) r->name};
    if (i < 2)
      back.parts[0] =
        narrowed (LIG_FP32, r->rows, r->params.top_k, some_numbers (r->rows * r->params.top_k, 13));
    if (i != 1)
      back.parts[1] = (Part){LIG_FP32, 1, 1, &loss};
    back.parts[2] = p.parts[0];
    back.parts[3] = p.parts[3];
    back.parts[4] = p.parts[4];
    back.parts[5] = (Part){r->dtype, r->rows, r->experts, NULL};
    back.misaligned = i == 1;
    run_problem (gpu, &back);
  }
  for (int i = 2; i < 6; i++) { /* a single output */
    Problem some = route_of (r);
    for (int j = 2; j < 6; j++)
      if (j != i)
        some.parts[j] = (Part){LIG_FP32, 0, 1, NULL};
    run_exact (gpu, &some, i == 3 || i == 4 ? 1u << i : 0);
  }
  keep (NULL);
}

/* Launches router_balance on both; the corrections, which it updates in place, have the same bits.
 */
static void
compare_balance (const Gpu *gpu, int64_t experts, const float *norm)
{
  const LigKernel *kernel = lig_kernel_find ("router_balance");
  const LigRouterBalanceParams params = {0.125f};
  size_t bytes = (size_t) experts * sizeof (float);
  Part load = stepped (LIG_FP32, 1, experts, 8, 1, 14);
  Part correction = stepped (LIG_FP32, 1, experts, 1, 0.25f, 15);
  g_autofree float *here = g_memdup2 (correction.values, bytes), *there = g_malloc (bytes);
  LigOperand own[] = {{.data = (void *) load.values, .dtype = LIG_FP32, .columns = experts},
                      {.data = (void *) norm, .dtype = LIG_FP32, .size = 1, .columns = 1},
                      {.data = here, .dtype = LIG_FP32, .columns = experts}};
  LigOperand other[3];
  own[0].size = own[2].size = experts;
  for (int i = 0; i < 3; i++) {
    other[i] = own[i];
    size_t size = (size_t) own[i].size * sizeof (float);
    if (own[i].data) {
      other[i].data = gpu_memory (gpu, size);
      gpu_copy (gpu, other[i].data, own[i].data, size);
    }
  }
  LigLaunch launch = {.operands = own, .params = &params};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CPU](&launch), ==, LIG_OK);
  launch =
    (LigLaunch){.operands = other, .params = &params, .stream = gpu->stream, .device = gpu->handle};
  g_assert_cmpint (kernel->functions[LIG_BACKEND_CUDA](&launch), ==, LIG_OK);
  gpu_copy (gpu, there, other[2].data, bytes);
  gpu_wait (gpu, kernel->name);
  g_assert_cmpmem (here, bytes, there, bytes);
  g_assert_cmpint (memcmp (here, correction.values, bytes) != 0, ==,
                   experts > 1 && (!norm || isfinite (*norm)));
  for (int i = 0; i < 3; i++)
    if (other[i].data)
      gpu->calls->release (gpu->handle, other[i].data);
}

static void
test_balance (void)
{
  static const float finite = 1.5f, nothing = NAN;
  const Gpu *gpu = gpu_or_skip ();
  for (int64_t experts = 1; experts <= 1024 && gpu; experts = experts * 3 + 1) {
    compare_balance (gpu, experts, NULL);
    compare_balance (gpu, experts, &finite);
    compare_balance (gpu, experts, &nothing);
  }
  keep (NULL);
}

/* Rows with NaN and infinities get different experts, too; other rows are not affected. */
static void
test_odd_logits (gconstpointer data)
{
  const Route *r = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Arena *a = arena_of (gpu);
  const int k = r->params.top_k;
  Problem p = route_of (r), odd = p;
  g_autofree float *values = g_new (float, r->rows * r->experts);
  lig_widen (r->dtype, p.parts[0].values, values, (size_t) (r->rows * r->experts));
  for (int64_t i = 0; i < r->rows; i += 2)
    for (int64_t e = 0; e < r->experts; e++)
      if (i % 8 == 0 || (e + i) % 3 == 0)
        values[i * r->experts + e] = i % 6 == 0 ? NAN : i % 6 == 2 ? -INFINITY : INFINITY;
  odd.parts[0] = narrowed (r->dtype, r->rows, r->experts, values);
  run_on_gpu (gpu, &p, a->gpu);
  run_on_gpu (gpu, &odd, a->again);
  const int32_t *clean = (const int32_t *) (a->gpu + place_of (&p, 3));
  const int32_t *chosen = (const int32_t *) (a->again + place_of (&odd, 3));
  for (int64_t i = 0; i < r->rows; i++) {
    g_autofree gboolean *taken = g_new0 (gboolean, r->experts);
    for (int j = 0; j < k; j++) {
      int32_t e = chosen[i * k + j];
      if (e < 0 || e >= r->experts || taken[e])
        g_test_fail_printf ("%s: row %ld has expert %d twice, or no expert", r->name, (long) i, e);
      else
        taken[e] = TRUE;
    }
    if (i % 2 && memcmp (clean + i * k, chosen + i * k, (size_t) k * sizeof *clean) != 0)
      g_test_fail_printf ("%s: row %ld has other experts because of another row", r->name,
                          (long) i);
  }
  keep (NULL);
}

/* --- Permutations -------------------------------------------------------------------------- */

typedef struct {
  int64_t tokens, top_k, columns, rows; /* the rows of the result; 0: as many as are needed */
  LigPermuteParams params;
  LigDtype dtype;
  gboolean hostile, misaligned;
} Move;

static const Move moves[] = {
  {1, 1, 1, 0, {1, 1, 0}, LIG_FP32, FALSE, FALSE},
  {17, 2, 5, 0, {3, 1, 0}, LIG_BF16, TRUE, FALSE},
  {300, 8, 64, 0, {64, 1, 0}, LIG_BF16, FALSE, FALSE},
  {300, 8, 2048, 0, {64, 16, 0}, LIG_BF16, TRUE, FALSE},
  {1000, 4, 72, 0, {8, 128, 300}, LIG_FP16, TRUE, FALSE},
  {1000, 4, 36, 0, {8, 1, 100}, LIG_FP32, FALSE, TRUE},
  {1000, 4, 33, 1500, {16, 16, 0}, LIG_BF16, TRUE, TRUE},
  {129, 33, 16, 0, {1024, 1, 0}, LIG_FP32, FALSE, FALSE},
  {70000, 6, 8, 0, {160, 8, 0}, LIG_BF16, TRUE, FALSE},
  {5000, 8, 24, 0, {5, 1, 0}, LIG_FP16, FALSE, FALSE},
};

static int64_t
rows_of (const Move *m)
{
  int64_t most = m->tokens * m->top_k + m->params.experts * (m->params.align - 1);
  return m->rows > 0 ? m->rows : most;
}

/* Returns experts; every fifth token has the same one first. If hostile, some are none. */
static Part
experts_of (const Move *m)
{
  static const int32_t none[] = {-1, INT32_MAX, INT32_MIN, 1 << 20};
  int64_t count = m->tokens * m->top_k;
  int32_t *experts = g_new (int32_t, count);
  keep (experts);
  float *numbers = some_numbers (count, 21);
  for (int64_t i = 0; i < count; i++) {
    int64_t expert = (int64_t) ((numbers[i] + 1) / 2 * (float) m->params.experts);
    experts[i] = (int32_t) MIN (expert, m->params.experts - 1);
    if (i / m->top_k % 5 == 0 && i % m->top_k == 0)
      experts[i] = m->params.experts / 2;
    if (m->hostile && i % 11 == 3)
      experts[i] = i % 2 ? m->params.experts : none[i / 11 % 4];
  }
  return (Part){LIG_INT32, m->tokens, m->top_k, experts};
}

static Problem
permute_of (const Move *m, gboolean weights)
{
  Problem p = {.kernel = "permute", .params = &m->params, .misaligned = m->misaligned};
  p.what = what_of ("tokens, columns", m->tokens, m->columns);
  p.parts[0] =
    narrowed (m->dtype, m->tokens, m->columns, some_numbers (m->tokens * m->columns, 22));
  p.parts[1] = experts_of (m);
  if (weights)
    p.parts[2] = narrowed (LIG_FP32, m->tokens, m->top_k, some_numbers (m->tokens * m->top_k, 23));
  p.parts[3] = (Part){m->dtype, rows_of (m), m->columns, NULL};
  p.parts[4] = (Part){LIG_INT32, 1, m->params.experts + 1, NULL};
  p.parts[5] = (Part){LIG_INT32, m->tokens, m->top_k, NULL};
  p.parts[6] = (Part){LIG_FP32, 1, rows_of (m), NULL};
  p.parts[7] = (Part){LIG_FP32, 1, 1, NULL};
  return p;
}

/* Returns the places of the permutation, of which some are out of range if it is hostile. */
static Part
places_of (const Move *m, const Problem *permute)
{
  int64_t count = m->tokens * m->top_k;
  int32_t *places = g_memdup2 (permute->parts[5].values, (gsize) count * sizeof *places);
  keep (places);
  for (int64_t i = 0; i < count && m->hostile; i++)
    if (i % 13 == 5)
      places[i] = i % 2 ? (int32_t) rows_of (m) : i % 4 ? INT32_MIN : INT32_MAX;
  return (Part){LIG_INT32, m->tokens, m->top_k, places};
}

/* The gradients of both directions, and the inverse, with and without optional operands. */
static void
run_inverses (const Gpu *gpu, const Move *m, Part places)
{
  int64_t rows = rows_of (m), size = rows * m->columns, count = m->tokens * m->top_k;
  Part sorted = narrowed (m->dtype, rows, m->columns, some_numbers (size, 31));
  Part tokens =
    narrowed (m->dtype, m->tokens, m->columns, some_numbers (m->tokens * m->columns, 32));
  Part weights = narrowed (LIG_FP32, m->tokens, m->top_k, some_numbers (count, 33));
  Part scales = narrowed (LIG_FP32, 1, rows, some_numbers (rows, 34));
  Part to_tokens = {m->dtype, m->tokens, m->columns, NULL};
  Part to_sorted = {m->dtype, rows, m->columns, NULL};
  Part to_weights = {LIG_FP32, m->tokens, m->top_k, NULL}, absent = {LIG_FP32, 0, 1, NULL};
  char *what = what_of ("tokens, columns", m->tokens, m->columns);
  Problem all[] = {
    {.kernel = "permute_backward", .parts = {sorted, scales, places, to_tokens, to_weights}},
    {.kernel = "permute_backward", .parts = {sorted, absent, places, to_tokens, absent}},
    {.kernel = "permute_backward", .parts = {absent, scales, places, absent, to_weights}},
    {.kernel = "unpermute", .parts = {sorted, places, weights, to_tokens}},
    {.kernel = "unpermute", .parts = {sorted, places, absent, to_tokens}},
    {.kernel = "unpermute_backward",
     .parts = {tokens, sorted, places, weights, to_sorted, to_weights}},
    {.kernel = "unpermute_backward", .parts = {tokens, absent, places, absent, to_sorted, absent}},
    {.kernel = "unpermute_backward",
     .parts = {tokens, sorted, places, weights, absent, to_weights}},
  };
  for (guint i = 0; i < G_N_ELEMENTS (all); i++) {
    all[i].what = what;
    all[i].misaligned = m->misaligned;
    run_problem (gpu, &all[i]);
  }
}

static void
test_permute (gconstpointer data)
{
  const Move *m = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Problem p = permute_of (m, TRUE), plain = permute_of (m, FALSE), places = permute_of (m, TRUE);
  Problem copies = permute_of (m, TRUE);
  run_exact (gpu, &p, 31 << 3);
  run_exact (gpu, &plain, 31 << 3);
  /* Only the places, for which the rows of the result need not be stored; and only the rows. */
  places.parts[6].rows = 0;
  places.parts[4].rows = 0;
  run_exact (gpu, &places, 31 << 3);
  copies.parts[4].rows = copies.parts[5].rows = copies.parts[6].rows = copies.parts[7].rows = 0;
  run_exact (gpu, &copies, 31 << 3);
  run_inverses (gpu, m, places_of (m, &p));
  keep (NULL);
}

static void
test_row_offsets (void)
{
  static const int64_t counts[] = {1, 5, 31, 32, 33, 1023, 1024, 1025, 3000};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (counts); i++)
    for (int align = 1; align <= 128; align *= 16) {
      LigRowOffsetsParams params = {align};
      int32_t *sizes = g_new (int32_t, counts[i]);
      keep (sizes);
      for (int64_t j = 0; j < counts[i]; j++)
        sizes[j] = j % 17 == 3                         ? -5
                   : j == 9                            ? INT32_MIN
                   : counts[i] == 1025 && j % 500 == 1 ? INT32_MAX
                                                       : (int32_t) (j * 7919 % 1000);
      Problem p = {.kernel = "row_offsets", .params = align > 1 ? &params : NULL};
      p.what = what_of ("sizes, align", counts[i], align);
      p.parts[0] = (Part){LIG_INT32, 1, counts[i], sizes};
      p.parts[1] = (Part){LIG_INT32, 1, counts[i] + 1, NULL};
      run_exact (gpu, &p, 1 << 1);
      keep (NULL);
    }
}

/* --- The exchange between ranks ----------------------------------------------------------------
 */

typedef struct {
  LigExchangeParams params;
  int64_t experts, rows;
  gboolean hostile; /* offsets and sizes out of range */
} Swap;

static const Swap swaps[] = {
  {{1, 5, 0, 0}, 1, 5, FALSE},        {{2, 7, 0, 0}, 4, 33, FALSE},
  {{8, 300, 0, 0}, 64, 2000, FALSE},  {{64, 2048, 0, 0}, 64, 65536, FALSE},
  {{4, 1, 0, 0}, 1024, 3000, FALSE},  {{1024, 40, 0, 0}, 1024, 20000, FALSE},
  {{16, 1000, 0, 0}, 128, 9000, TRUE}};

/* Returns the offsets of an uneven load, which skip the first and the last rows. */
static Part
offsets_of (const Swap *s)
{
  int32_t *offsets = g_new (int32_t, s->experts + 1);
  keep (offsets);
  for (int64_t e = 0; e <= s->experts; e++) {
    double part = (double) e / (double) s->experts;
    offsets[e] = (int32_t) (1 + part * part * (double) (s->rows - 3));
  }
  if (s->hostile) {
    offsets[0] = INT32_MIN;
    offsets[s->experts] = INT32_MAX;
  }
  return (Part){LIG_INT32, 1, s->experts + 1, offsets};
}

/* Returns the sizes that arrive from each rank, some of them 0. */
static Part
sizes_of (const Swap *s)
{
  int32_t *sizes = g_new (int32_t, s->experts);
  int64_t each = MAX (s->params.limit * s->params.ranks / s->experts, 1);
  keep (sizes);
  for (int64_t i = 0; i < s->experts; i++) {
    sizes[i] = i % 3 == 1 ? 0 : (int32_t) (i * 7919 % (each + 1));
    if (s->hostile && i % 31 == 4)
      sizes[i] = i % 2 ? INT32_MIN : INT32_MAX;
  }
  return (Part){LIG_INT32, s->params.ranks, s->experts / s->params.ranks, sizes};
}

static void
test_exchange (gconstpointer data)
{
  const Swap *s = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  LigExchangeParams scatter = s->params;
  int64_t ranks = s->params.ranks, room = ranks * s->params.limit;
  char *what = what_of ("ranks, rows", ranks, s->rows);
  Problem sent = {.kernel = "exchange_sent", .params = &s->params, .what = what};
  sent.parts[0] = offsets_of (s);
  sent.parts[1] = (Part){LIG_INT32, 1, s->rows, NULL};
  sent.parts[2] = (Part){LIG_INT32, 1, s->experts, NULL};
  sent.parts[3] = (Part){LIG_FP32, 1, ranks, NULL};
  Problem received = {.kernel = "exchange_received", .params = &s->params, .what = what};
  received.parts[0] = sizes_of (s);
  received.parts[1] = (Part){LIG_INT32, 1, room, NULL};
  received.parts[2] = (Part){LIG_INT32, 1, s->experts / ranks + 1, NULL};
  run_exact (gpu, &sent, 7 << 1);
  run_exact (gpu, &received, 3 << 1);
  scatter.scatter = 1;
  const Part places = sent.parts[1];
  Part rows = narrowed (LIG_FP32, 1, s->rows, some_numbers (s->rows, 41));
  Part pieces = narrowed (LIG_FP32, 1, room, some_numbers (room, 42));
  Problem moved = {.kernel = "exchange_numbers", .params = &scatter, .what = what};
  moved.parts[0] = rows;
  moved.parts[1] = places;
  moved.parts[2] = (Part){LIG_FP32, 1, room, NULL};
  run_exact (gpu, &moved, 1 << 2);
  moved.params = &s->params;
  moved.parts[0] = pieces;
  moved.parts[2] = (Part){LIG_FP32, 1, s->rows, NULL};
  run_exact (gpu, &moved, 1 << 2);
  keep (NULL);
}

/* --- Units --------------------------------------------------------------------------------- */

static const int64_t unit_shapes[][2] = {{1, 1},     {5, 1},    {257, 33},   {64, 64},  {1000, 32},
                                         {33, 1408}, {7, 8192}, {300, 4099}, {3, 20000}};

/* The lengths of blocks; those that do not divide the columns are omitted. */
static const int64_t blocks[] = {0, 1, 4, 11, 32};

static void
run_scaled (const Gpu *gpu, const char *kernel, int parts, const int64_t *shape, LigDtype dtype)
{
  g_autofree char *backward = g_strconcat (kernel, "_backward", NULL);
  int64_t rows = shape[0], columns = shape[1];
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++) {
    if (blocks[i] > 0 && (parts == 1 || columns % blocks[i]))
      continue;
    LigGatedParams params = {1.5f, 1.25f, 0.5f, 2, 3, 0};
    params.interleave = (int32_t) blocks[i];
    char *what = what_of ("columns, interleave", columns, blocks[i]);
    Part x = {dtype, rows, parts * columns, NULL}, y = {dtype, rows, columns, NULL};
    Part scales = {LIG_FP32, 1, rows, NULL}, absent = {LIG_FP32, 0, 1, NULL};
    Problem all[] = {
      {.kernel = kernel, .parts = {x, scales, y}},
      {.kernel = backward, .parts = {y, x, scales, x, scales}},
      {.kernel = backward, .parts = {y, x, scales, x, absent}},
      {.kernel = backward, .parts = {y, x, scales, absent, scales}},
      {.kernel = backward, .parts = {y, x, scales, x, scales}, .misaligned = TRUE},
    };
    for (guint j = 0; j < G_N_ELEMENTS (all); j++) {
      all[j].what = what;
      all[j].params = i == 0 && j == 3 ? NULL : &params;
      run_problem (gpu, &all[j]);
    }
    keep (NULL);
  }
}

static void
test_scaled (gconstpointer data)
{
  const int parts = strstr (data, "srelu") || strstr (data, "rows") ? 1 : 2;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (unit_shapes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (floats); j++)
      if (!quick () || i == 2)
        run_scaled (gpu, data, parts, unit_shapes[i], floats[j]);
}

/* Interleaved gated units. */
static void
test_interleaved (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  g_autofree char *backward = g_strconcat (data, "_backward", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (unit_shapes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (floats) * G_N_ELEMENTS (blocks); j++) {
      int64_t rows = unit_shapes[i][0], columns = unit_shapes[i][1];
      int64_t block = blocks[j / G_N_ELEMENTS (floats)];
      LigDtype dtype = floats[j % G_N_ELEMENTS (floats)];
      if (block == 0 || columns % block)
        continue;
      LigGatedParams params = {1.5f, 1.25f, 0.5f, 2, 3, 0};
      params.interleave = (int32_t) block;
      Part x = {dtype, rows, 2 * columns, NULL}, y = {dtype, rows, columns, NULL};
      Problem all[] = {{.kernel = data, .parts = {x, y}},
                       {.kernel = backward, .parts = {y, x, x}},
                       {.kernel = backward, .parts = {y, x, x}, .misaligned = TRUE}};
      for (guint k = 0; k < G_N_ELEMENTS (all); k++) {
        all[k].what = what_of ("columns, interleave", columns, block);
        all[k].params = &params;
        run_problem (gpu, &all[k]);
      }
      keep (NULL);
    }
}

/* Returns x [rows, 2 columns] with its halves in blocks. */
static Part
interleaved (Part x, int64_t block)
{
  int64_t columns = x.columns / 2;
  size_t element = lig_dtype_size (x.dtype);
  char *to = g_malloc ((gsize) (x.rows * x.columns) * element);
  keep (to);
  for (int64_t row = 0; row < x.rows; row++)
    for (int64_t c = 0; c < columns; c++)
      for (int64_t half = 0; half < 2; half++) {
        int64_t from = row * x.columns + half * columns + c;
        int64_t at = row * x.columns + c + c / block * block + half * block;
        memcpy (to + (size_t) at * element, (const char *) x.values + (size_t) from * element,
                element);
      }
  return (Part){x.dtype, x.rows, x.columns, to};
}

/* Quantized copies of interleaved gated units have the bits of those that are not. */
static void
test_quantized (void)
{
  static const int64_t lengths[] = {1, 4, 8, 32, 128};
  const Gpu *gpu = gpu_that_quantizes_or_skip ();
  if (!gpu)
    return;
  Arena *a = arena_of (gpu);
  for (guint i = 0; i < G_N_ELEMENTS (lengths) * G_N_ELEMENTS (floats); i++) {
    int64_t rows = 272, columns = 384, block = lengths[i / G_N_ELEMENTS (floats)];
    LigDtype dtype = floats[i % G_N_ELEMENTS (floats)];
    LigProducerParams params = {.quantize = {.format = LIG_FP8_E4M3, .row = LIG_SCALES_ROW},
                                .function = LIG_FUNCTION_situ_glu,
                                .gated = {7, 1.702f, 1, 4, 25, 0}};
    LigProducerParams other = params;
    other.gated.interleave = (int32_t) block;
    Problem p = {.kernel = "gated_quantize", .params = &params};
    p.what = what_of ("quantized", columns, block);
    p.parts[0] = narrowed (dtype, rows, 2 * columns, some_numbers (rows * 2 * columns, 41));
    p.parts[2] = (Part){dtype, rows, columns, NULL};
    p.parts[3] = (Part){LIG_FP8_E4M3, rows, columns, NULL};
    p.parts[4] = (Part){LIG_FP32, rows, 1, NULL};
    Problem q = p;
    q.params = &other;
    q.parts[0] = interleaved (p.parts[0], block);
    run_on_gpu (gpu, &p, a->gpu);
    run_on_gpu (gpu, &q, a->again);
    size_t first = place_of (&p, 2), end = place_of (&p, 4) + (size_t) rows * sizeof (float);
    if (memcmp (a->gpu + first, a->again + first, end - first) != 0)
      g_test_fail_printf ("gated_quantize: %s, %s: interleaving changes bits", p.what,
                          lig_dtype_name (dtype));
    keep (NULL);
  }
}

/* Kernels that do not support interleaving say so, and so do all if it does not divide the columns.
 */
static void
test_rejected (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  static const char *const names[] = {"swiglu", "bias_swiglu", "scaled_swiglu"};
  float *memory = gpu_memory (gpu, 1 << 16);
  LigGatedParams params = {7, 1.702f, 1, 4, 25, 4};
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    int64_t columns = i == 1 ? 16 : 20;
    LigOperand x = {memory, 2 * columns, 2 * columns, LIG_FP32}, operands[4] = {x, x, x, x};
    params.interleave = i == 1 ? 4 : 3;
    if (i == 2)
      operands[1] = (LigOperand){memory + 4096, 1, 1, LIG_FP32};
    LigLaunch launch = {
      .operands = operands, .params = &params, .stream = gpu->stream, .device = gpu->handle};
    LigStatus status = lig_kernel_find (names[i])->functions[LIG_BACKEND_CUDA](&launch);
    g_assert_cmpint (status, ==, LIG_UNSUPPORTED);
    g_test_message ("%s", launch.where);
  }
  gpu->calls->release (gpu->handle, memory);
}

static void
add_cases (void)
{
  static const char *const scaled[] = {"scaled_swiglu", "scaled_srelu", "scaled_clamped_swiglu",
                                       "scaled_situ_glu", "scaled_rows"};
  static const char *const gated[] = {"swiglu", "geglu", "clamped_swiglu", "situ_glu"};
  for (guint i = 0; i < G_N_ELEMENTS (routes); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/experts/router/%s", routes[i].name);
    g_autofree char *odd = g_strdup_printf ("/gpu/experts/odd-logits/%s", routes[i].name);
    g_test_add_data_func (path, &routes[i], test_router);
    g_test_add_data_func (odd, &routes[i], test_odd_logits);
  }
  for (guint i = 0; i < G_N_ELEMENTS (moves); i++) {
    g_autofree char *path =
      g_strdup_printf ("/gpu/experts/permute/%u-%ldx%ld-top-%ld-of-%d", i, (long) moves[i].tokens,
                       (long) moves[i].columns, (long) moves[i].top_k, moves[i].params.experts);
    g_test_add_data_func (path, &moves[i], test_permute);
  }
  for (guint i = 0; i < G_N_ELEMENTS (swaps); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/experts/exchange/%d-ranks-%ld",
                                             swaps[i].params.ranks, (long) swaps[i].rows);
    g_test_add_data_func (path, &swaps[i], test_exchange);
  }
  for (guint i = 0; i < G_N_ELEMENTS (scaled); i++) {
    g_autofree char *path = g_strconcat ("/gpu/experts/", scaled[i], NULL);
    g_test_add_data_func (path, scaled[i], test_scaled);
  }
  for (guint i = 0; i < G_N_ELEMENTS (gated); i++) {
    g_autofree char *path = g_strconcat ("/gpu/experts/interleaved/", gated[i], NULL);
    g_test_add_data_func (path, gated[i], test_interleaved);
  }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  add_cases ();
  g_test_add_func ("/gpu/experts/balance", test_balance);
  g_test_add_func ("/gpu/experts/row-offsets", test_row_offsets);
  g_test_add_func ("/gpu/experts/interleaved/quantized", test_quantized);
  g_test_add_func ("/gpu/experts/interleaved/rejected", test_rejected);
  return g_test_run ();
}
