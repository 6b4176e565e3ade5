/* SPDX-License-Identifier: MIT */
/* The kernels whose params follow from their shapes, attention, rotary, norms of heads, positions
 * and dropped paths, on the GPU against the CPU on the same bits: twice with the same bits, and
 * every element of each output written. */
#include "tests/gpu/case.h"

#include "kernels/formulas.h"
#include <ligature/kernels.h>
#include <ligature/params.h>

#include <math.h>

enum { HEADS_ARENA = 96 << 20 };

typedef struct {
  LigDtype dtype;
  int64_t rows, columns; /* no rows: absent */
  const void *values;    /* null: random ones */
} Part;

typedef struct {
  const char *kernel;
  const void *params;
  Part parts[LIG_MAX_OPERANDS]; /* in the order of the signature */
  gboolean accumulate, misaligned;
  char *what;
} Problem;

static const LigTick tick = {.seed = 0x1234567890abcdef, .micro_step = 3, .step = 7};
static const LigDtype floats[] = {LIG_FP32, LIG_FP16, LIG_BF16};

/* --- Operands ------------------------------------------------------------------------------ */

/* Returns the next of a sequence of numbers between -1 and 1. */
static float
next_number (void)
{
  static uint64_t counter;
  uint32_t words[4];
  lig_random_words (1440, counter++, 0, 0, words);
  return (float) ((double) words[0] / 0x1p31 - 1);
}

static size_t
bytes_of (const LigOperand *operand)
{
  return (size_t) operand->size * lig_dtype_size (operand->dtype);
}

/* Returns an operand of a part in the arena; inputs and old values are filled in on the host. */
static LigOperand
place_part (const Problem *p, const Part *part, char *arena, size_t *at, gboolean filled)
{
  LigOperand operand = {NULL, part->rows * part->columns, part->columns, part->dtype};
  if (operand.size == 0)
    return operand;
  *at += p->misaligned ? lig_dtype_size (part->dtype) : 0;
  operand.data = arena + *at;
  *at = (*at + bytes_of (&operand) + 511) / 256 * 256;
  g_assert_cmpuint (*at, <, HEADS_ARENA);
  if (filled && part->values) {
    memcpy (operand.data, part->values, bytes_of (&operand));
  } else if (filled) {
    g_autofree float *numbers = g_new (float, operand.size);
    for (int64_t i = 0; i < operand.size; i++)
      numbers[i] = 2 * next_number ();
    lig_narrow (operand.dtype, numbers, operand.data, (size_t) operand.size);
  }
  return operand;
}

/* --- Running ------------------------------------------------------------------------------- */

/* The arena before the launches, after the CPU's, after the GPU's first and second. */
typedef struct {
  char *before, *cpu, *gpu, *again, *device, *workspace, *device_workspace, *scratch;
  LigTick *tick;
} Arena;

static Arena *
arena_of (const Gpu *gpu)
{
  static Arena a;
  if (a.before)
    return &a;
  a.before = gpu_host_memory (gpu, HEADS_ARENA);
  a.gpu = gpu_host_memory (gpu, HEADS_ARENA);
  a.again = gpu_host_memory (gpu, HEADS_ARENA);
  a.cpu = g_aligned_alloc (HEADS_ARENA, 1, 256);
  a.scratch = g_aligned_alloc (HEADS_ARENA, 1, 256);
  a.workspace = g_aligned_alloc (LIG_WORKSPACE_SIZE, 1, 256);
  a.device = gpu_memory (gpu, HEADS_ARENA);
  a.device_workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  a.tick = gpu_memory (gpu, sizeof *a.tick);
  gpu_copy (gpu, a.tick, &tick, sizeof tick);
  gpu_wait (gpu, "setting up");
  return &a;
}

/* Launches on the device and copies the arena back. */
static void
launch_on_device (const Gpu *gpu,
                  const Problem *p,
                  const LigOperand *operands,
                  int count,
                  size_t bytes,
                  char *image)
{
  Arena *a = arena_of (gpu);
  const LigKernel *kernel = lig_kernel_find (p->kernel);
  LigOperand there[LIG_MAX_OPERANDS] = {0};
  for (int i = 0; i < count; i++) {
    there[i] = operands[i];
    if (operands[i].data)
      there[i].data = a->device + ((char *) operands[i].data - a->before);
  }
  LigLaunch launch = {.operands = there,
                      .params = p->params,
                      .tick = a->tick,
                      .workspace = a->device_workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .accumulate = p->accumulate};
  int64_t scratch = lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CUDA);
  launch.scratch = scratch > 0 ? gpu_memory (gpu, (size_t) scratch) : NULL;
  gpu_fill (gpu, a->device_workspace, 0xff, LIG_WORKSPACE_SIZE);
  gpu_copy (gpu, a->device, a->before, bytes);
  LigStatus status = kernel->functions[LIG_BACKEND_CUDA](&launch);
  gpu_copy (gpu, image, a->device, bytes);
  gpu_wait (gpu, p->kernel);
  if (launch.scratch)
    gpu->calls->release (gpu->handle, launch.scratch);
  if (status != LIG_OK)
    g_test_fail_printf ("%s: %s: status %d, %s", p->kernel, p->what, (int) status,
                        launch.where ? launch.where : "no reason");
}

/* Compares an output: in the norm of all, and each element against the mean of their squares. */
static void
compare (const Problem *p, int index, const LigOperand *operand, const char *got, const char *want)
{
  static const double allowed[] = {[LIG_FP32] = 4e-5, [LIG_FP16] = 4e-3, [LIG_BF16] = 3e-2};
  double tolerance = 0, error = 0, length = 0, worst = 0;
  g_autofree float *a = g_new (float, operand->size), *b = g_new (float, operand->size);
  for (int i = 0; i < LIG_MAX_OPERANDS; i++)
    if (p->parts[i].rows > 0 && lig_dtype_is_floating (p->parts[i].dtype))
      tolerance = MAX (tolerance, allowed[p->parts[i].dtype]);
  lig_widen (operand->dtype, got, a, (size_t) operand->size);
  lig_widen (operand->dtype, want, b, (size_t) operand->size);
  for (int64_t i = 0; i < operand->size; i++) {
    double difference = (double) a[i] - (double) b[i];
    error += difference * difference;
    length += (double) b[i] * (double) b[i];
    worst = isnan (difference) ? INFINITY : MAX (worst, fabs (difference));
  }
  double root = sqrt (length / (double) operand->size);
  if (!(sqrt (error) <= tolerance * sqrt (length) + 1e-6) ||
      !(worst <= 12 * tolerance * root + 1e-6))
    g_test_fail_printf ("%s: %s: operand %d is off by %g of %g, an element by %g", p->kernel,
                        p->what, index, sqrt (error), sqrt (length), worst);
}

/* Keeps the results of a problem that later ones read; null frees all. */
static void
keep (gpointer results)
{
  static GPtrArray *kept;
  if (!kept)
    kept = g_ptr_array_new_with_free_func (g_free);
  if (results)
    g_ptr_array_add (kept, results);
  else
    g_ptr_array_set_size (kept, 0);
}

/* Runs a problem on both; returns a copy of the CPU's results from the given operand on. */
static void
run_problem (const Gpu *gpu, Problem *p)
{
  Arena *a = arena_of (gpu);
  const LigKernel *kernel = lig_kernel_find (p->kernel);
  int inputs, count = lig_signature_count (kernel->signature, &inputs);
  LigOperand operands[LIG_MAX_OPERANDS] = {0}, here[LIG_MAX_OPERANDS] = {0};
  size_t bytes = 0;
  memset (a->before, 0xff, 1 << 20);
  for (int i = 0; i < count; i++) {
    size_t begin = bytes;
    operands[i] = place_part (p, &p->parts[i], a->before, &bytes, i < inputs || p->accumulate);
    if (i >= inputs && operands[i].data && !p->accumulate)
      memset (a->before + begin, 0xff, bytes - begin);
    here[i] = operands[i];
    if (here[i].data)
      here[i].data = a->cpu + ((char *) operands[i].data - a->before);
  }
  memcpy (a->cpu, a->before, bytes);
  LigLaunch launch = {.operands = here,
                      .params = p->params,
                      .tick = &tick,
                      .workspace = a->workspace,
                      .scratch = a->scratch,
                      .accumulate = p->accumulate};
  g_assert_cmpint (lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU), <, HEADS_ARENA);
  LigStatus status = kernel->functions[LIG_BACKEND_CPU](&launch);
  if (status != LIG_OK)
    g_test_fail_printf ("%s: %s: on the CPU: %s", p->kernel, p->what, launch.where);
  launch_on_device (gpu, p, operands, count, bytes, a->gpu);
  launch_on_device (gpu, p, operands, count, bytes, a->again);
  if (memcmp (a->gpu, a->again, bytes) != 0)
    g_test_fail_printf ("%s: %s: two launches differ", p->kernel, p->what);
  for (int i = inputs; i < count; i++)
    if (operands[i].data) {
      size_t at = (size_t) ((char *) operands[i].data - a->before);
      compare (p, i, &operands[i], a->gpu + at, a->cpu + at);
    }
  for (int i = 0; i < count; i++) /* the results, for a pass that reads them */
    if (operands[i].data && !p->parts[i].values) {
      p->parts[i].values = g_memdup2 (here[i].data, bytes_of (&here[i]));
      keep ((gpointer) p->parts[i].values);
    }
}

/* --- Attention ----------------------------------------------------------------------------- */

typedef struct {
  LigDtype dtype;
  int batch, heads, kv_heads, features, length, keys;
  LigAttentionMask mask;
  int window, lengths, documents; /* lengths 2: the first is 0; documents 2: in no order */
  float softcap, dropout;
  gboolean alibi, misaligned;
} Shape;

static const Shape shapes[] = {
  /* On tensor cores: both widths, shared keys, ragged and padded sizes. */
  {LIG_BF16, 2, 3, 3, 64, 256, 256, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 4, 2, 128, 300, 300, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 1, 2, 1, 128, 1025, 1025, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 1, 2, 2, 64, 1000, 1000, LIG_MASK_NONE, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 3, 2, 2, 80, 129, 129, LIG_MASK_CAUSAL, 0, 1, 0, 0, 0, FALSE, FALSE},
  {LIG_BF16, 4, 1, 1, 16, 1, 1, LIG_MASK_CAUSAL, 0, 0, 0, 0, 0, FALSE, FALSE},
  {LIG_FP16, 2, 6, 2, 96, 17, 17, LIG_MASK_NONE, 0, 0, 0, 0, 0, FALSE, FALSE},
  /* Other keys, windows, lengths, documents. */
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
                              .path_hash = 77};
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
  Part lse = {LIG_FP32, (int64_t) s->batch * s->heads, s->length, NULL};
  Problem forward = {"attention", &params,       {x, memory, ends, packed, y, lse},
                     FALSE,       s->misaligned, "forward"};
  run_problem (gpu, &forward);
  const Part *f = forward.parts;
  Problem backward = {
    "attention_backward", &params,   {y, f[0], f[1], ends, packed, f[4], f[5], x, memory}, FALSE,
    s->misaligned,        "backward"};
  run_problem (gpu, &backward);
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
                                .scaling = v % 3,
                                .original = 32,
                                .base = 10000,
                                .factor = 8,
                                .low = 1,
                                .high = 4};
      int64_t columns = (sizes[i].heads + 2 * sizes[i].kv_heads) * sizes[i].features;
      Part x = {floats[v / 2 % 3], 2 * sizes[i].length, columns, NULL};
      Problem p = {v % 4 < 2 ? "rotary" : "rotary_backward", &params, {x, x}, FALSE, v > 9, "rows"};
      run_problem (gpu, &p);
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
      LigPositionParams params = {sizes[i].length};
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
      run_problem (gpu, &p);
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
  g_test_add_func ("/gpu/heads/rotary", test_rotary);
  g_test_add_func ("/gpu/heads/qk-norm", test_qk_norm);
  g_test_add_func ("/gpu/heads/positions", test_positions);
  g_test_add_func ("/gpu/heads/drop-path", test_drop_path);
  return g_test_run ();
}
