/* SPDX-License-Identifier: MIT */
/* kernels [--quick] [--json] [PATTERN]: the share of a copy's bandwidth that the memory-bound GPU
 * kernels reach in the same run, and the required share; then the launch time at small shapes, in a
 * graph of twenty. All are timed in turns, by events, on random data that does not fit in the
 * cache; medians. A missed share makes the exit code 1, but not with --quick. With a PATTERN,
 * `*quantize`, only kernels whose names match it are timed. */
#include "tests/bench/quantizing.h"
#include "tests/gpu/case.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const char *kernel;
  int64_t rows, columns, outputs;
  LigDtype compute, parameters;
  double required; /* required share of the copy's bandwidth; 0: none */
  const Quantizer *quantizer;
} Entry;

#define ROWS_OF(kernel, required) \
  { \
    kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, required, NULL \
  }

#define QUANTIZING(kernel) \
  {kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[0]}, \
    {kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.88, &quantizers[1]}, \
    {kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[2]}, \
    {kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[3]}, \
  { \
    kernel, 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[4] \
  }

/* One width per shape. */
#define NORM_BACKWARD(rows, columns, dtype) \
  {"layer_norm_backward", rows, columns, 1, dtype, dtype, 0, NULL}, \
    {"rms_norm_backward", rows, columns, 1, dtype, dtype, 0, NULL}, \
    {"layer_norm_backward_add", rows, columns, 1, dtype, dtype, 0, NULL}, \
  { \
    "rms_norm_backward_add", rows, columns, 1, dtype, dtype, 0, NULL \
  }

static const Entry entries[] = {
  ROWS_OF ("layer_norm", 0.90),
  ROWS_OF ("rms_norm", 0.90),
  ROWS_OF ("layer_norm_backward", 0.85),
  ROWS_OF ("rms_norm_backward", 0.85),
  ROWS_OF ("layer_norm_backward_add", 0.85),
  ROWS_OF ("rms_norm_backward_add", 0.85),
  ROWS_OF ("add_layer_norm", 0.85),
  ROWS_OF ("add_rms_norm", 0.85),
  ROWS_OF ("bias_gelu", 0.88),
  ROWS_OF ("bias_gelu_backward", 0.88),
  ROWS_OF ("swiglu", 0.88),
  ROWS_OF ("swiglu_backward", 0.88),
  ROWS_OF ("bias_swiglu", 0.88),
  ROWS_OF ("bias_swiglu_backward", 0.88),
  ROWS_OF ("dropout", 0),
  ROWS_OF ("add", 0),
  {"convert", 16384, 8192, 1, LIG_BF16, LIG_FP32, 0, NULL},
  {"convert", 16384, 8192, 1, LIG_FP32, LIG_BF16, 0, NULL},
  ROWS_OF ("bias_backward", 0),
  ROWS_OF ("adamw", 0.88),
  {"adamw", 16384, 8192, 1, LIG_FP32, LIG_FP32, 0.88, NULL},
  ROWS_OF ("gradient_norm", 0),
  {"cross_entropy", 8192, 50304, 1, LIG_BF16, LIG_BF16, 0.85, NULL},
  {"cross_entropy_backward", 8192, 50304, 1, LIG_BF16, LIG_BF16, 0.85, NULL},
  {"embedding", 65536, 1024, 50304, LIG_BF16, LIG_BF16, 0, NULL},
  {"embedding", 65536, 1024, 256, LIG_BF16, LIG_BF16, 0, NULL},
  {"embedding_backward", 65536, 1024, 50304, LIG_BF16, LIG_BF16, 0, NULL},
  {"embedding_backward", 65536, 1024, 256, LIG_BF16, LIG_BF16, 0, NULL},
  QUANTIZING ("quantize"),
  QUANTIZING ("activation_quantize"),
  QUANTIZING ("activation_backward_quantize"),
  {"activation_quantize", 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[5]},
  {"activation_quantize", 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[6]},
  {"activation_backward_quantize", 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[5]},
  {"activation_backward_quantize", 16384, 8192, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[6]},
  QUANTIZING ("gated_quantize"),
  QUANTIZING ("gated_backward_quantize"),
  QUANTIZING ("norm_quantize"),
  {"norm_backward_quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[0]},
  {"norm_backward_quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[2]},
  {"norm_backward_quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[3]},
  {"norm_backward_quantize", 16384, 4096, 1, LIG_BF16, LIG_BF16, 0.80, &quantizers[0]},
  NORM_BACKWARD (524288, 128, LIG_BF16),
  NORM_BACKWARD (262144, 256, LIG_BF16),
  NORM_BACKWARD (131072, 512, LIG_BF16),
  NORM_BACKWARD (65536, 768, LIG_BF16),
  NORM_BACKWARD (65536, 1024, LIG_BF16),
  NORM_BACKWARD (16384, 4096, LIG_BF16),
  NORM_BACKWARD (4096, 16384, LIG_BF16),
  NORM_BACKWARD (65536, 1024, LIG_FP16),
  NORM_BACKWARD (65536, 768, LIG_FP32),
  NORM_BACKWARD (16384, 4096, LIG_FP32),
  {"quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0, &quantizers[0]},
  {"quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0, &quantizers[2]},
  {"quantize", 65536, 768, 1, LIG_BF16, LIG_BF16, 0, &quantizers[3]},
};

static const char *const small_kernels[] = {"layer_norm",
                                            "layer_norm_backward",
                                            "rms_norm",
                                            "rms_norm_backward",
                                            "bias_gelu",
                                            "gelu",
                                            "bias_gelu_backward",
                                            "swiglu",
                                            "swiglu_backward",
                                            "add",
                                            "dropout",
                                            "bias_backward",
                                            "cross_entropy",
                                            "adamw",
                                            "gradient_norm"};
static const int64_t small_shapes[][2] = {{256, 256}, {2048, 1024}, {8192, 768}, {256, 1024}};

enum { MAX_SETS = 24, MAX_ROUNDS = 15, GRAPH_LAUNCHES = 20, N_SMALL = 60 };

/* A measurement. */
typedef struct {
  Entry entry;
  const LigKernel *kernel; /* null: the copy */
  Operands sets[MAX_SETS];
  int n_sets, launches;
  double bytes; /* bytes of memory traffic */
  void *captured;
  double seconds[MAX_ROUNDS], median;
  const char *skipped; /* reason for the failure */
} Timed;

typedef struct {
  const Gpu *gpu;
  char *pool; /* random bf16 values on the device, whose bits are also usable fp32 values */
  char *positive_pool; /* fp32 */
  char *workspace;
  LigTick *tick;
  void *begin, *end;
  int rounds;
} Bench;

enum { POOL_BYTES = POOL * (int) sizeof (uint16_t) };

/* --- Memory -------------------------------------------------------------------------------- */

static Bench
bench_new (const Gpu *gpu, int rounds)
{
  Bench b = {.gpu = gpu, .rounds = rounds};
  g_autofree float *positive = g_new (float, POOL);
  lig_widen (LIG_FP32, random_pool (LIG_FP32), positive, POOL);
  for (int i = 0; i < POOL; i++)
    positive[i] = fabsf (positive[i]) + 1e-3f;
  b.pool = gpu_memory (gpu, POOL_BYTES);
  b.positive_pool = gpu_memory (gpu, POOL_BYTES);
  b.workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  b.tick = gpu_memory (gpu, sizeof *b.tick);
  gpu_copy (gpu, b.pool, random_pool (LIG_BF16), POOL_BYTES);
  gpu_copy (gpu, b.positive_pool, positive, POOL_BYTES);
  gpu_copy (gpu, b.tick, &test_tick, sizeof test_tick);
  gpu_check (gpu, gpu->calls->event_new (gpu->handle, &b.begin), "event");
  gpu_check (gpu, gpu->calls->event_new (gpu->handle, &b.end), "event");
  gpu_wait (gpu, "setting up");
  return b;
}

/* Fills in one operand on the device. */
static void
fill_on_device (const Bench *b, const Operands *o, int index)
{
  const LigOperand *operand = &o->operands[index];
  const char *name = o->names[index];
  size_t bytes = operand_bytes (operand);
  bool small = bytes <= 1 << 20 || operand->dtype == LIG_INT32;
  bool positive = g_str_equal (name, "variance") || g_str_equal (name, "rstd");
  if (small) {
    Operands host = *o;
    g_autofree char *values = g_malloc (bytes);
    host.operands[index].data = values;
    if (g_str_equal (name, "count"))
      fill_number (&host.operands[index], (double) o->problem.rows);
    else
      fill_operand (&host, index);
    /* No row is ignored, so all rows are computed. */
    for (int64_t i = 0; i < operand->size && operand->dtype == LIG_INT32; i++)
      ((int32_t *) (void *) values)[i] = MAX (((int32_t *) (void *) values)[i], 0);
    for (int64_t i = 0; i < operand->size && positive; i++)
      ((float *) (void *) values)[i] = fabsf (((float *) (void *) values)[i]) + 1e-3f;
    gpu_copy (b->gpu, operand->data, values, bytes);
    gpu_wait (b->gpu, "filling");
    return;
  }
  for (size_t at = 0; at < bytes; at += POOL_BYTES)
    gpu_copy (b->gpu, (char *) operand->data + at, positive ? b->positive_pool : b->pool,
              MIN ((size_t) POOL_BYTES, bytes - at));
}

static bool
is_left_out (const Operands *o, int index)
{
  return g_str_equal (o->names[index], "master") && o->problem.parameters == LIG_FP32;
}

/* Returns the minimum bytes read and written: of a table only the rows that are looked up. */
static double
min_bytes (const Operands *o)
{
  double bytes = 0;
  for (int i = 0; i < o->count; i++) {
    double size = (double) operand_bytes (&o->operands[i]);
    if (is_left_out (o, i))
      continue;
    if (g_str_equal (o->kernel->name, "embedding") && g_str_equal (o->names[i], "weight"))
      size = MIN (size, (double) (o->problem.rows * o->problem.columns) *
                          (double) lig_dtype_size (o->operands[i].dtype));
    bytes += is_updated (o, i) ? 2 * size : size;
  }
  return bytes;
}

static bool
allocate_set (const Bench *b, Operands *o)
{
  for (int i = 0; i < o->count; i++) {
    LigOperand *operand = &o->operands[i];
    if (is_left_out (o, i) || operand->size == 0)
      continue;
    if (b->gpu->calls->allocate (b->gpu->handle, operand_bytes (operand), &operand->data) != LIG_OK)
      return false;
    if (i < o->inputs || is_updated (o, i))
      fill_on_device (b, o, i);
  }
  return true;
}

static void
release_set (const Bench *b, Operands *o)
{
  for (int i = 0; i < o->count; i++)
    if (o->operands[i].data)
      b->gpu->calls->release (b->gpu->handle, o->operands[i].data);
}

static Operands
entry_operands (const Entry *entry, const LigKernel *kernel)
{
  Problem problem = {entry->rows, entry->columns, entry->outputs, entry->compute,
                     entry->parameters};
  return entry->quantizer
           ? quantizing_operands (kernel, entry->quantizer, entry->rows, entry->columns)
           : operands_for (kernel, problem);
}

/* Allocates enough sets of operands to exceed the cache. */
static void
prepare (const Bench *b, Timed *t, const Entry *entry, bool rotated)
{
  const LigDeviceFacts *facts = lig_device_get_facts (b->gpu->device);
  t->entry = *entry;
  t->kernel = lig_kernel_find (entry->kernel);
  t->sets[0] = entry_operands (entry, t->kernel);
  t->bytes =
    entry->quantizer ? quantizing_bytes (&t->sets[0], entry->quantizer) : min_bytes (&t->sets[0]);
  double wanted = 3 * (double) facts->l2 / t->bytes;
  t->n_sets = rotated ? (int) CLAMP (wanted + 2, 2, MAX_SETS) : 1;
  t->launches = (int) CLAMP (3e-3 / (t->bytes / 4e12 + 3e-6), 2, 100);
  for (int i = 0; i < t->n_sets; i++) {
    t->sets[i] = entry_operands (entry, t->kernel);
    if (allocate_set (b, &t->sets[i]))
      continue;
    release_set (b, &t->sets[i]);
    t->n_sets = i;
    if (i == 0)
      t->skipped = "no memory";
  }
}

static void
prepare_copy (const Bench *b, Timed *t, bool quick_one)
{
  size_t half = quick_one ? (size_t) 1 << 28 : (size_t) 1 << 30;
  t->entry.kernel = "copy";
  t->entry.rows = (int64_t) (half >> 14);
  t->entry.columns = 8192;
  t->entry.compute = t->entry.parameters = LIG_BF16;
  t->bytes = 2 * (double) half;
  t->n_sets = 2;
  t->launches = 4;
  for (int i = 0; i < t->n_sets; i++)
    for (int j = 0; j < 2; j++) {
      LigOperand *operand = &t->sets[i].operands[j];
      *operand = (LigOperand){gpu_memory (b->gpu, half), (int64_t) (half / 2), 8192, LIG_BF16};
      for (size_t at = 0; at < half; at += POOL_BYTES)
        gpu_copy (b->gpu, (char *) operand->data + at, b->pool,
                  MIN ((size_t) POOL_BYTES, half - at));
    }
}

/* --- Timing -------------------------------------------------------------------------------- */

static void
launch (const Bench *b, Timed *t, int number)
{
  const Operands *o = &t->sets[number % t->n_sets];
  if (!t->kernel) {
    gpu_copy (b->gpu, o->operands[1].data, o->operands[0].data, operand_bytes (&o->operands[0]));
    return;
  }
  LigProducerParams quantizing = {0};
  if (t->entry.quantizer)
    quantizing = quantizing_params (t->kernel, t->entry.quantizer);
  LigLaunch one = {.operands = o->operands,
                   .params = t->entry.quantizer ? &quantizing : params_for (t->kernel->name, 0),
                   .tick = b->tick,
                   .workspace = b->workspace,
                   .stream = b->gpu->stream,
                   .device = b->gpu->handle};
  LigStatus status = t->kernel->functions[LIG_BACKEND_CUDA](&one);
  if (status != LIG_OK && !t->skipped)
    t->skipped = one.where ? one.where : "rejected";
}

static double
time_once (const Bench *b, Timed *t)
{
  const Gpu *gpu = b->gpu;
  double seconds = 0;
  static int number;
  gpu_check (gpu, gpu->calls->record (gpu->handle, b->begin, gpu->stream), "event");
  if (t->captured)
    gpu_check (gpu, gpu->calls->replay (gpu->handle, t->captured, gpu->stream), t->entry.kernel);
  for (int i = 0; i < t->launches && !t->captured && !t->skipped; i++)
    launch (b, t, number++);
  gpu_check (gpu, gpu->calls->record (gpu->handle, b->end, gpu->stream), "event");
  gpu_wait (gpu, t->entry.kernel);
  gpu_check (gpu, gpu->calls->elapsed (gpu->handle, b->begin, b->end, &seconds), "event");
  return seconds / (t->captured ? GRAPH_LAUNCHES : t->launches);
}

static int
by_value (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* The first round warms up and is not counted. */
static void
time_all (const Bench *b, Timed *timed, int count)
{
  for (int round = -1; round < b->rounds; round++)
    for (int i = 0; i < count; i++) {
      if (timed[i].skipped)
        continue;
      double seconds = time_once (b, &timed[i]);
      if (round >= 0)
        timed[i].seconds[round] = seconds;
    }
  for (int i = 0; i < count; i++) {
    qsort (timed[i].seconds, (size_t) b->rounds, sizeof (double), by_value);
    timed[i].median = timed[i].seconds[b->rounds / 2];
  }
}

/* Captures twenty launches as one graph. */
static void
capture (const Bench *b, Timed *t)
{
  const Gpu *gpu = b->gpu;
  launch (b, t, 0);
  gpu_wait (gpu, t->entry.kernel);
  if (t->skipped)
    return;
  gpu_check (gpu, gpu->calls->capture (gpu->handle, gpu->stream), t->entry.kernel);
  for (int i = 0; i < GRAPH_LAUNCHES; i++)
    launch (b, t, i);
  gpu_check (gpu, gpu->calls->capture_end (gpu->handle, gpu->stream, &t->captured),
             t->entry.kernel);
}

/* --- Reporting ----------------------------------------------------------------------------- */

/* Prints a measurement; without the copy's rate only its time, because cached data has a different
 * rate. */
static void
tell (const Timed *t, double copy, bool json, bool first)
{
  const Entry *e = &t->entry;
  double rate = t->bytes / t->median, share = copy > 0 ? rate / copy : 0;
  if (json) {
    printf ("%s{\"kernel\":\"%s\",\"rows\":%ld,\"columns\":%ld,\"outputs\":%ld,"
            "\"dtype\":\"%s:%s\",\"quantizer\":\"%s\"",
            first ? "" : ",\n", e->kernel, (long) e->rows, (long) e->columns, (long) e->outputs,
            lig_dtype_name (e->compute), lig_dtype_name (e->parameters),
            e->quantizer ? e->quantizer->name : "");
    if (t->skipped)
      printf (",\"skipped\":true}");
    else if (copy == 0)
      printf (",\"us\":%.3f}", t->median * 1e6);
    else
      printf (",\"us\":%.3f,\"gb_s\":%.1f,\"share\":%.4f,\"required\":%.2f}", t->median * 1e6,
              rate * 1e-9, share, e->required);
    return;
  }
  printf ("%-28s %6ld x %-6ld %4s:%-4s ", e->kernel, (long) e->rows, (long) e->columns,
          lig_dtype_name (e->compute), lig_dtype_name (e->parameters));
  g_autofree char *variant = e->outputs > 1 ? g_strdup_printf ("of %ld", (long) e->outputs)
                             : e->quantizer ? g_strdup (e->quantizer->name)
                                            : g_strdup ("");
  printf ("%-12s ", variant);
  if (t->skipped)
    printf ("skipped: %s\n", t->skipped);
  else if (copy == 0)
    printf ("%9.2f us\n", t->median * 1e6);
  else if (e->required > 0)
    printf ("%9.2f us %7.0f GB/s %6.1f %%  required %.0f %%  %s\n", t->median * 1e6, rate * 1e-9,
            100 * share, 100 * e->required, share >= e->required ? "ok" : "MISSED");
  else
    printf ("%9.2f us %7.0f GB/s %6.1f %%\n", t->median * 1e6, rate * 1e-9, 100 * share);
}

/* The two passes of cross-entropy must reach the share together. */
static int
tell_large (Timed *timed, int count, bool json, bool few)
{
  double copy = timed[0].bytes / timed[0].median;
  int missed = 0;
  Timed both = {.entry = {"cross_entropy, both", 0, 0, 1, LIG_BF16, LIG_BF16, 0.85}};
  for (int i = 0; i < count; i++) {
    Timed *t = &timed[i];
    if (g_str_has_prefix (t->entry.kernel, "cross_entropy")) {
      both.entry.rows = t->entry.rows;
      both.entry.columns = t->entry.columns;
      both.bytes += t->bytes;
      both.median += t->median;
      both.skipped = both.skipped ? both.skipped : t->skipped;
      t->entry.required = 0;
    }
    tell (t, copy, json, i == 0);
    missed += !t->skipped && t->bytes / t->median < t->entry.required * copy;
  }
  if (both.median == 0)
    return few ? 0 : missed;
  tell (&both, copy, json, false);
  missed += !both.skipped && both.bytes / both.median < both.entry.required * copy;
  return few ? 0 : missed;
}

static void
bench_small (const Bench *b, const char *pattern, bool json)
{
  static Timed timed[N_SMALL];
  int count = 0;
  for (size_t k = 0; k < G_N_ELEMENTS (small_kernels); k++)
    for (size_t s = 0; s < G_N_ELEMENTS (small_shapes); s++) {
      if (!g_pattern_match_simple (pattern, small_kernels[k]))
        continue;
      Entry entry = {
        small_kernels[k], small_shapes[s][0], small_shapes[s][1], 1, LIG_BF16, LIG_BF16, 0, NULL};
      Timed *t = &timed[count++];
      prepare (b, t, &entry, false);
      capture (b, t);
    }
  time_all (b, timed, count);
  for (int i = 0; i < count; i++)
    tell (&timed[i], 0, json, i == 0);
}

/* Uses the module of the build folder, unless the environment names another. */
static void
find_module (const char *program)
{
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *modules = g_build_filename (folder, "..", "..", "kernels", "cuda", NULL);
  g_setenv ("LIGATURE_MODULES", modules, FALSE);
}

static bool
has_option (int argc, char **argv, const char *name)
{
  for (int i = 1; i < argc; i++)
    if (g_str_equal (argv[i], name))
      return true;
  return false;
}

int
main (int argc, char **argv)
{
  static Timed timed[G_N_ELEMENTS (entries) + 1];
  const char *reason;
  bool few = has_option (argc, argv, "--quick"), json = has_option (argc, argv, "--json");
  find_module (argv[0]);
  const Gpu *gpu = gpu_open (&reason);
  if (!gpu) {
    printf (json ? "{\"skipped\":\"%s\"}\n" : "skipped: %s\n", reason);
    return 0;
  }
  Bench b = bench_new (gpu, few ? 5 : MAX_ROUNDS);
  int count = 1;
  prepare_copy (&b, &timed[0], few);
  const char *pattern = argc > 1 && argv[argc - 1][0] != '-' ? argv[argc - 1] : "*";
  for (size_t i = 0; i < G_N_ELEMENTS (entries); i++) {
    Entry entry = entries[i];
    if (!g_pattern_match_simple (pattern, entry.kernel))
      continue;
    entry.rows /= few ? 16 : 1;
    prepare (&b, &timed[count++], &entry, true);
  }
  gpu_wait (gpu, "filling");
  time_all (&b, timed, count);
  const char *name = lig_device_get_facts (gpu->device)->name;
  printf (json ? "{\"device\":\"%s\",\"kernels\":[\n" : "%s, medians of rounds in turns\n", name);
  int missed = tell_large (timed, count, json, few);
  for (int i = 1; i < count; i++)
    for (int j = 0; j < timed[i].n_sets; j++)
      release_set (&b, &timed[i].sets[j]);
  printf (json ? "],\n\"small\":[\n" : "\nSmall shapes, in a graph of %d launches: per launch\n",
          GRAPH_LAUNCHES);
  bench_small (&b, pattern, json);
  printf (json ? "]}\n" : "");
  return missed > 0;
}
