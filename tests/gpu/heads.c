/* SPDX-License-Identifier: MIT */
/* The kernels whose params depend on their shapes, attention, rotary embeddings, norms of heads,
 * position embeddings and drop path, on the GPU against the CPU. */
#include "tests/gpu/shaped.h"
#include <ligature/params-attention.h>
#include <ligature/params-norm.h>
#include <ligature/params-positions.h>
#include <ligature/params-random.h>
#include <ligature/params-sinks.h>

/* --- Attention ----------------------------------------------------------------------------- */

typedef struct {
  LigDtype dtype;
  int batch, heads, kv_heads, features, length, keys;
  LigAttentionMask mask;
  int window, lengths, documents; /* lengths 2: the first is 0; documents 2: unordered */
  float softcap, dropout;
  gboolean alibi, misaligned;
} Shape;

static const Shape shapes[] = {
  /* On tensor cores: both head dims, shared keys, odd and padded sizes. */
  {LIG_BF16, 2, 3, 3, 64, 256, 256, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 4, 2, 128, 300, 300, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 1, 2, 1, 128, 1025, 1025, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 1, 2, 2, 64, 1000, 1000, LIG_MASK_NONE, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 3, 2, 2, 80, 129, 129, LIG_MASK_CAUSAL, 0, 1, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 4, 1, 1, 16, 1, 1, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 6, 2, 96, 17, 17, LIG_MASK_NONE, 0, 0, 0, 0, 0, FALSE, FALSE},
  /* Cross-attention, windows, lengths, documents. */
  {LIG_FP16, 2, 4, 2, 64, 70, 250, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 3, 2, 2, 64, 250, 70, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 0, 2, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 2, 1, 128, 140, 333, LIG_MASK_NONE, 0, 1, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 2, 2, 64, 500, 500, LIG_MASK_CAUSAL, 100, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 2, 2, 1, 64, 300, 300, LIG_MASK_NONE, 33, 1, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 3, 2, 2, 128, 200, 200, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 77, 2, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 2, 2, 64, 700, 700, LIG_MASK_CAUSAL, 0, 0, 1, 0, 0, FALSE, FALSE},
  {LIG_BF16, 2, 2, 1, 128, 300, 300, LIG_MASK_NONE, 0, 1, 2, 0, 0, FALSE, FALSE},
  /* Every type, alignment and parameter. */
  {LIG_FP32, 2, 4, 2, 64, 257, 257, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP32, 1, 2, 2, 33, 130, 130, LIG_MASK_NONE, 9, 1, 2, 0, 0, FALSE, FALSE},
  {LIG_FP32, 2, 2, 1, 128, 60, 190, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 0, 2, 0, 0, 0, FALSE, FALSE},
  {LIG_FP32, 1, 1, 1, 256, 77, 77, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP32, 2, 3, 1, 40, 150, 150, LIG_MASK_CAUSAL, 0, 1, 1, 2, 0.3f, TRUE, FALSE},
  {LIG_BF16, 2, 3, 3, 64, 150, 150, LIG_MASK_NONE, 20, 0, 0, 5, 0.1f, TRUE, FALSE},
  {LIG_FP16, 2, 2, 2, 64, 150, 150, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0.5f, FALSE, FALSE},
  {LIG_FP16, 1, 5, 5, 72, 99, 65, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 0, 0, 0, 0, 0, TRUE, TRUE},
};

static int32_t *
some_lengths (const Shape *s)
{
  int32_t *lengths = g_new (int32_t, s->batch);
  for (int i = 0; i < s->batch; i++)
    lengths[i] = s->lengths == 2 && i == 0 ? 0 : 1 + s->keys * (i + 1) / (s->batch + 1);
  return lengths;
}

/* Returns random values of a part, and NaN past the lengths of its rows (transfer full). */
static void *
some_poisoned (const Part *part, int batch, const int32_t *lengths)
{
  g_autofree float *numbers = g_new (float, part->rows * part->columns);
  int64_t length = part->rows / batch;
  for (int64_t i = 0; i < part->rows * part->columns; i++) {
    int64_t row = i / part->columns;
    numbers[i] = row % length < lengths[row / length] ? 2 * next_number () : NAN;
  }
  void *values = g_malloc ((gsize) (part->rows * part->columns) * lig_dtype_size (part->dtype));
  lig_narrow (part->dtype, numbers, values, (size_t) (part->rows * part->columns));
  return values;
}

static int32_t *
some_documents (const Shape *s)
{
  int32_t *documents = g_new (int32_t, s->batch * s->length);
  for (int i = 0; i < s->batch * s->length; i++) {
    float number = next_number ();
    int32_t last = i % s->length ? documents[i - 1] : 5;
    if (s->documents == 2)
      documents[i] = (int32_t) (number * 3);
    else
      documents[i] = last + (number > 0.97f);
  }
  return documents;
}

static LigAttentionParams
attention_params (const Shape *s)
{
  /* Two blocks of queries and of keys of longer rows. */
  gboolean blocks = s->dropout >= 0.3f;
  return (LigAttentionParams){.heads = s->heads,
                              .kv_heads = s->kv_heads,
                              .features = s->features,
                              .length = s->length,
                              .memory_length = s->keys,
                              .mask = (int32_t) s->mask,
                              .window = s->window,
                              .scale = 1 / sqrtf ((float) s->features),
                              .softcap = s->softcap,
                              .dropout = s->dropout,
                              .alibi = s->alibi,
                              .path_hash = 77,
                              .first_head = s->dropout > 0 ? s->heads : 0,
                              .all_heads = s->dropout > 0 ? 3 * s->heads : 0,
                              .whole = blocks ? 1000 : 0,
                              .query_half = blocks ? 70 : 0,
                              .query_shift = {blocks ? 31 : 0, blocks ? 402 : 0},
                              .key_half = blocks ? 64 : 0,
                              .key_shift = {blocks ? 9 : 0, blocks ? 500 : 0}};
}

static void
test_attention (gconstpointer data)
{
  const Shape *s = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  gboolean cross = s->keys != s->length;
  LigAttentionParams params = attention_params (s);
  g_autofree int32_t *lengths = some_lengths (s), *documents = some_documents (s);
  int64_t queries = (int64_t) s->heads * s->features, keys = (int64_t) s->kv_heads * s->features;
  int64_t rows = (int64_t) s->batch * s->length, columns = queries + (cross ? 0 : 2 * keys);
  Part x = {s->dtype, rows, columns, NULL}, y = {s->dtype, rows, queries, NULL};
  Part memory = {s->dtype, cross ? (int64_t) s->batch * s->keys : 0, 2 * keys, NULL};
  Part ends = {LIG_INT32, s->lengths ? 1 : 0, s->batch, lengths};
  Part packed = {LIG_INT32, s->documents ? s->batch : 0, s->length, documents};
  Part lse = {LIG_FP32, 2 * (int64_t) s->batch * s->heads, s->length, NULL};
  Part dy = y, *own[] = {&x, &dy}, *other[] = {&memory};
  for (int i = 0; s->lengths && i < (cross ? 1 : 2); i++) {
    Part *part = cross ? other[i] : own[i];
    part->values = some_poisoned (part, s->batch, lengths);
    keep ((gpointer) part->values);
  }
  /* Dropout uses the global index of a weight over all ranks. */
  int rank = s->dropout > 0 ? 2 : 0;
  Problem forward = {"attention", &params,       {x, memory, ends, packed, y, lse},
                     FALSE,       s->misaligned, "forward"};
  run_part (gpu, &forward, rank);
  const Part *f = forward.parts;
  Problem backward = {
    "attention_backward", &params,   {dy, f[0], f[1], ends, packed, f[4], f[5], x, memory}, FALSE,
    s->misaligned,        "backward"};
  run_part (gpu, &backward, rank);
  keep (NULL);
}

/* --- The others ---------------------------------------------------------------------------- */

static void
test_rotary (void)
{
  static const struct {
    int heads, kv_heads, features, length, rotated;
  } sizes[] = {{12, 12, 64, 33, 64}, {8, 2, 128, 100, 128}, {3, 1, 20, 7, 10},
               {2, 2, 80, 9, 32},    {4, 0, 96, 5, 48},     {1, 1, 64, 1500, 64}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 12; v++) {
      LigRotaryParams params = {.heads = sizes[i].heads,
                                .kv_heads = sizes[i].kv_heads,
                                .features = sizes[i].features,
                                .length = sizes[i].length,
                                .rotated = sizes[i].rotated,
                                .interleaved = v % 2,
                                .scaling = (v + (int) i) % 4,
                                .truncate = v % 3 == 0,
                                .magnitude = v % 3 ? 1.2f : 0,
                                .original = 32,
                                .base = 10000,
                                .factor = 8,
                                .low = 1,
                                .high = 4,
                                .ranks = v % 4 == 3 ? 3 : 1,
                                .rank = v % 4 == 3 ? i % 3 : 0};
      int64_t columns = (sizes[i].heads + 2 * sizes[i].kv_heads) * sizes[i].features;
      Part x = {floats[v / 2 % 3], 2 * sizes[i].length, columns, NULL};
      Problem p = {v % 4 < 2 ? "rotary" : "rotary_backward", &params, {x, x}, FALSE, v > 9, "rows"};
      run_problem (gpu, &p);
      keep (NULL);
    }
}

static void
test_halves (void)
{
  static const struct {
    int batch, length, columns, part, ranks, causal;
  } sizes[] = {{2, 64, 96, 32, 1, 1},
               {3, 6, 40, 16, 2, 1},
               {1, 256, 192, 128, 4, 1},
               {2, 10, 7, 3, 3, 0},
               {4, 32, 64, 64, 2, 0}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 6; v++) {
      LigDtype dtype = floats[v % 3];
      int64_t length = sizes[i].length, rows = sizes[i].batch * length, ranks = sizes[i].ranks;
      int64_t columns = sizes[i].columns, part = sizes[i].part;
      int32_t rank = v % sizes[i].ranks;
      LigHalvesParams halves = {length, part};
      LigArrangeParams p = {length, sizes[i].ranks, rank, sizes[i].causal};
      int64_t early = length / 2 * (p.causal ? rank + 1 : 2 * ranks);
      int64_t late = length / 2 * (p.causal ? 2 * ranks - rank : 2 * ranks);
      Part x = {dtype, rows, columns, NULL}, half = {dtype, rows / 2, part, NULL};
      Part rest = {dtype, columns > part ? rows : 0, columns - part, NULL};
      Part all = {dtype, ranks * rows, columns, NULL};
      Part first = {dtype, sizes[i].batch * early, columns, NULL};
      Part second = {dtype, sizes[i].batch * late, columns, NULL};
      Problem problems[] = {
        {"split_halves", &halves, {x, half, half, rest}, FALSE, v > 2, "split"},
        {"join_halves", &halves, {half, half, rest, x}, FALSE, v > 2, "join"},
        {"arrange_halves", &p, {all, first, second}, FALSE, v > 2, "arrange"},
        {"arrange_halves_backward", &p, {first, second, all}, FALSE, v > 2, "arrange back"},
      };
      for (guint j = 0; j < G_N_ELEMENTS (problems); j++)
        run_problem (gpu, &problems[j]);
      keep (NULL);
    }
}

static void
test_slices (void)
{
  static const struct {
    int batch, length, columns, first, count, column, width;
  } sizes[] = {{2, 64, 96, 0, 64, 32, 64},      {3, 6, 40, 3, 3, 0, 16},
               {1, 256, 192, 128, 128, 0, 192}, {2, 10, 7, 5, 5, 3, 3},
               {4, 1, 64, 0, 1, 32, 32},        {64, 1, 1000, 0, 1, 500, 500}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 12; v++) {
      LigDtype dtype = floats[v % 3], other = v / 3 % 2 ? LIG_FP32 : dtype;
      LigSliceParams p = {sizes[i].length, sizes[i].first, sizes[i].count, sizes[i].column};
      int64_t rows = (int64_t) sizes[i].batch * sizes[i].length;
      Part x = {dtype, rows, sizes[i].columns, NULL}, wide = {other, rows, sizes[i].columns, NULL};
      Part none = {other, 0, sizes[i].columns, NULL};
      Part slice = {dtype, (int64_t) sizes[i].batch * sizes[i].count, sizes[i].width, NULL};
      Problem problems[] = {
        {"slice", &p, {x, slice}, FALSE, v > 5, "slice"},
        {"add_slice", &p, {wide, slice, wide}, FALSE, v > 5, "add"},
        {"add_slice", &p, {none, slice, wide}, FALSE, v > 5, "add to nothing"},
        {"add_slice", &p, {wide, slice, x}, FALSE, v > 5, "add and round"},
      };
      for (guint j = 0; j < G_N_ELEMENTS (problems); j++)
        run_problem (gpu, &problems[j]);
      keep (NULL);
    }
}

/* Parts in the form that attention returns, with fp32 sums before the last one. */
static void
test_merge (void)
{
  static const struct {
    int batch, heads, features, length, first;
  } sizes[] = {{2, 3, 64, 64, 0}, {1, 2, 128, 256, 128}, {3, 1, 7, 10, 5}, {2, 12, 80, 33, 0}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 18; v++) {
      LigDtype dtype = floats[v % 3];
      LigDtype from = v / 3 % 3 > 0 ? LIG_FP32 : dtype, to = v / 3 % 3 < 2 ? LIG_FP32 : dtype;
      int64_t length = sizes[i].length, count = length - sizes[i].first, batch = sizes[i].batch;
      int64_t columns = (int64_t) sizes[i].heads * sizes[i].features;
      LigMergeParams p = {sizes[i].heads, sizes[i].features, length, sizes[i].first, count};
      Part x = {from, batch * length, columns, NULL}, y = {to, batch * length, columns, NULL};
      Part part = {dtype, batch * count, columns, NULL};
      Part lse = {LIG_FP32, 2 * batch * sizes[i].heads, length, NULL};
      Part part_lse = {LIG_FP32, 2 * batch * sizes[i].heads, count, NULL};
      Problem merge = {
        "attention_merge", &p, {x, lse, part, part_lse, y, lse}, FALSE, v > 8, "merge"};
      run_problem (gpu, &merge);
      keep (NULL);
    }
}

/* Heads of whole vectors and others, of which a row has more than a threadblock has warps. */
static void
test_sinks (void)
{
  static const struct {
    int batch, heads, features, length;
  } sizes[] = {{2, 64, 64, 300}, {1, 2, 128, 256}, {3, 1, 7, 10}, {2, 12, 80, 33}, {1, 3, 300, 1}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 18; v++) {
      LigDtype dtype = floats[v % 3], other = v / 3 % 3 ? LIG_FP32 : dtype;
      LigSinksParams p = {sizes[i].heads, sizes[i].features, sizes[i].length};
      int64_t rows = (int64_t) sizes[i].batch * p.length;
      Part x = {other, rows, (int64_t) p.heads * p.features, NULL}, y = x;
      Part lse = {LIG_FP32, 2 * (int64_t) sizes[i].batch * p.heads, p.length, NULL};
      Part sinks = {v % 2 ? dtype : LIG_FP32, 1, p.heads, NULL};
      y.dtype = dtype;
      Problem forward = {"attention_sinks", &p, {x, lse, sinks, y, lse}, FALSE, v > 8, "forward"};
      run_problem (gpu, &forward);
      Problem backward = {
        "attention_sinks_backward", &p, {x, y, lse, sinks, sinks}, v % 5 == 4, v > 8, "backward"};
      run_problem (gpu, &backward);
      keep (NULL);
    }
}

static void
test_qk_norm (void)
{
  static const struct {
    int heads, kv_heads, features;
    int64_t rows;
  } sizes[] = {{12, 12, 64, 50}, {8, 2, 128, 700}, {3, 1, 20, 7}, {2, 2, 256, 9}, {2, 1, 7, 2000}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 18; v++) {
      LigDtype dtype = floats[v / 3 % 3], other = v % 2 ? LIG_FP32 : dtype;
      LigQkNormParams params = {sizes[i].heads, sizes[i].kv_heads, sizes[i].features, v % 3, 1e-4f};
      int64_t normed = sizes[i].heads + sizes[i].kv_heads, features = sizes[i].features;
      Part x = {dtype, sizes[i].rows, (normed + sizes[i].kv_heads) * features, NULL};
      Part gain = {other, v % 3 != LIG_QK_L2, features, NULL};
      Part bias = {other, v % 3 == LIG_QK_LAYER_NORM, features, NULL};
      Part statistic = {LIG_FP32, sizes[i].rows, normed, NULL};
      Problem forward = {"qk_norm", &params, {x, gain, bias, gain, bias, x, statistic, statistic},
                         FALSE,     v > 15,  "forward"};
      run_problem (gpu, &forward);
      const Part *f = forward.parts;
      Part sums = {other, 1, features, NULL};
      Problem backward = {
        "qk_norm_backward", &params, {x, f[0], f[1], f[3], f[6], f[7], x, sums, sums, sums, sums},
        v % 5 == 4,         v > 15,  "backward"};
      run_problem (gpu, &backward);
      keep (NULL);
    }
}

static void
test_positions (void)
{
  static const struct {
    int64_t batch, length, table, columns;
  } sizes[] = {{64, 100, 128, 768}, {3, 17, 17, 33}, {1, 1, 5, 8}, {5, 7, 9, 1000}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int v = 0; v < 12; v++) {
      LigDtype dtype = floats[v % 3], other = v / 3 % 2 ? LIG_FP32 : dtype;
      LigPositionParams params = {.length = sizes[i].length};
      int64_t rows = sizes[i].batch * sizes[i].length;
      g_autofree int32_t *tokens = g_new (int32_t, rows);
      for (int64_t row = 0; row < rows; row++)
        tokens[row] = (int32_t) ((next_number () + 1) * 20);
      Part x = {dtype, rows, sizes[i].columns, NULL}, ids = {LIG_INT32, 1, rows, tokens};
      Part table = {other, sizes[i].table, sizes[i].columns, NULL};
      Part words = {other, 41, sizes[i].columns, NULL};
      Problem problems[] = {
        {"position_embedding", &params, {x, table, x}, FALSE, v > 8, "forward"},
        {"position_embedding_backward", &params, {x, table}, v % 4 == 1, v > 8, "backward"},
        {"embedding_position", &params, {ids, words, table, x}, FALSE, v > 8, "fused"}};
      for (guint n = 0; n < G_N_ELEMENTS (problems); n++) {
        run_problem (gpu, &problems[n]);
        keep (NULL);
      }
    }
}

static void
test_drop_path (void)
{
  static const int64_t each[] = {1, 33, 64, 1000, 100000};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (each); i++)
    for (int v = 0; v < 9; v++) {
      LigDropPathParams params = {v == 8 ? 1 : 0.1f * (float) v, 0xfedcba9876543210, 13};
      Part x = {floats[v % 3], 13, each[i], NULL};
      Problem p = {"drop_path", &params, {x, x}, FALSE, v == 7, "samples"};
      run_part (gpu, &p, v % 4);
      keep (NULL);
    }
}

static void
test_add_parts (void)
{
  static const int64_t sizes[] = {1, 64, 1000, 100003};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (sizes); i++)
    for (int parts = 1; parts <= 8; parts++)
      for (guint t = 0; t < G_N_ELEMENTS (floats); t++) {
        Part x = {floats[t], parts, sizes[i], NULL}, y = {floats[t], 1, sizes[i], NULL};
        Problem p = {"add_parts", NULL, {x, y}, FALSE, parts == 5, "parts"};
        run_problem (gpu, &p);
        keep (NULL);
      }
}

/* Ranks generate random numbers by the global indices of their elements, whose count need not be a
 * multiple of the four words of a counter, nor of a chunk. */
static void
test_dropout (void)
{
  static const struct {
    int64_t rows, columns, block;
    int ranks, rank, part;
  } cases[] = {{16, 64, 0, 0, 0, 1},      {7, 33, 0, 0, 0, 3},       {1, 100003, 0, 0, 0, 2},
               {16, 64, 4 * 64, 2, 1, 0}, {24, 33, 4 * 33, 4, 2, 3}, {8, 6, 2 * 6, 2, 0, 1}};
  const Gpu *gpu = gpu_or_skip ();
  for (guint i = 0; gpu && i < G_N_ELEMENTS (cases); i++)
    for (guint t = 0; t < G_N_ELEMENTS (floats); t++) {
      const LigDropoutParams params = {.probability = 0.3f,
                                       .path_hash = 0xfedcba9876543210,
                                       .block = cases[i].block,
                                       .ranks = cases[i].ranks,
                                       .rank = cases[i].rank};
      Part x = {floats[t], cases[i].rows, cases[i].columns, NULL};
      Problem p = {"dropout", &params, {x, x}, FALSE, t == 2, "elements"};
      run_part (gpu, &p, cases[i].part);
      keep (NULL);
    }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++) {
    const Shape *s = &shapes[i];
    g_autofree char *path =
      g_strdup_printf ("/gpu/heads/attention/%02u-%s-%dx%d-of-%d", i, lig_dtype_name (s->dtype),
                       s->length, s->keys, s->features);
    g_test_add_data_func (path, s, test_attention);
  }
  g_test_add_func ("/gpu/heads/dropout", test_dropout);
  g_test_add_func ("/gpu/heads/add-parts", test_add_parts);
  g_test_add_func ("/gpu/heads/rotary", test_rotary);
  g_test_add_func ("/gpu/heads/halves", test_halves);
  g_test_add_func ("/gpu/heads/slices", test_slices);
  g_test_add_func ("/gpu/heads/merge", test_merge);
  g_test_add_func ("/gpu/heads/sinks", test_sinks);
  g_test_add_func ("/gpu/heads/qk-norm", test_qk_norm);
  g_test_add_func ("/gpu/heads/positions", test_positions);
  g_test_add_func ("/gpu/heads/drop-path", test_drop_path);
  return g_test_run ();
}
