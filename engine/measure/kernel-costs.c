/* SPDX-License-Identifier: MIT */
/* Measures kernels at several sizes as they run in plans: captured in a graph, on random data that
 * rotates through more memory than the last-level cache holds, matmuls with their autotuned
 * algorithm. */
#include "engine/measure/kernel-costs.h"
#include "engine/device/costs.h"
#include "engine/device/device-private.h"
#include "engine/measure/choices.h"
#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"
#include <ligature/kernels.h>
#include <ligature/params-attention.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

enum { MAX_SETS = 8, SAMPLES = 7, MAX_SAMPLES = 25, MAX_REPEATS = 64, MAX_PORTS = 9 };

#define SAMPLE_SPAN 300e-6 /* shortest sample in seconds */

/* A matmul that would take longer is not measured. */
#define LONGEST_MATMUL 2.5e-3

typedef struct {
  LigDevice *device;
  const LigBackend *calls;
  LigDeviceFacts *facts;
  LigStopwatch watch;
  char *memory, *workspace;
  LigTick *tick;
  gsize bytes; /* size of `memory` */
} Bench;

/* A launch whose operands get their memory from each set of buffers. */
typedef struct {
  const LigKernel *kernel;
  int count;
  LigOperand operands[MAX_PORTS]; /* size 0: absent */
  gsize scratch;                  /* bytes after the operands */
  const LigAttentionParams *params;
  const LigKernel *before; /* null, or runs once before, on the operands from the second on */
} Probe;

/* --- Timing --------------------------------------------------------------------------------- */

static gsize
operand_bytes (const LigOperand *operand)
{
  return ((gsize) operand->size * lig_dtype_size (operand->dtype) + 255) / 256 * 256;
}

static gsize
sum_bytes (const Probe *probe)
{
  gsize bytes = (probe->scratch + 255) / 256 * 256;
  for (int i = 0; i < probe->count; i++)
    bytes += operand_bytes (&probe->operands[i]);
  return bytes;
}

/* A probe that is ready to be timed: a graph of launches on several sets of buffers in turn. */
typedef struct {
  const Probe *probe;
  char *memory;
  guint sets, repeats;
  void *graph;
} Trial;

/* Launches the probe, or the kernel that must run before it. */
static gboolean
launch_kernel (Bench *bench,
               const Trial *trial,
               guint set,
               const LigKernel *kernel,
               gboolean autotune,
               GError **error)
{
  const Probe *probe = trial->probe;
  LigOperand operands[MAX_PORTS];
  char *at = trial->memory + set * sum_bytes (probe);
  for (int i = 0; i < probe->count; i++) {
    operands[i] = probe->operands[i];
    operands[i].data = operands[i].size > 0 ? at : NULL;
    at += operand_bytes (&operands[i]);
  }
  LigLaunch one = {
    .operands = kernel == probe->before ? operands + 1 : operands,
    .params = probe->params,
    .workspace = bench->workspace,
    .scratch = probe->scratch > 0 ? at : NULL,
    .stream = lig_device_stream (bench->device),
    .tick = bench->tick,
    .device = lig_device_handle (bench->device),
    .autotune = autotune,
  };
  if (lig_device_function (bench->device, kernel) (&one) == LIG_OK)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("measuring %s failed: %s"), kernel->name,
               one.where ? one.where : _ ("it cannot run here"));
  return FALSE;
}

static gboolean
launch (Bench *bench, const Trial *trial, guint set, gboolean autotune, GError **error)
{
  return launch_kernel (bench, trial, set, trial->probe->kernel, autotune, error);
}

/* Fills the buffers; integers with zeros, which are valid everywhere. */
static gboolean
fill (Bench *bench, const Trial *trial, GError **error)
{
  for (guint set = 0; set < trial->sets; set++) {
    char *at = trial->memory + set * sum_bytes (trial->probe);
    for (int i = 0; i < trial->probe->count; i++) {
      const LigOperand *operand = &trial->probe->operands[i];
      if (operand->size > 0 &&
          !lig_fill_random (bench->device, at, operand->size, operand->dtype, error))
        return FALSE;
      at += operand_bytes (operand);
    }
    if (trial->probe->before &&
        !launch_kernel (bench, trial, set, trial->probe->before, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
replay (Bench *bench, const Trial *trial, double *seconds, GError **error)
{
  LigBackendDevice *handle = lig_device_handle (bench->device);
  void *stream = lig_device_stream (bench->device);
  if (!lig_stopwatch_start (&bench->watch, error) ||
      !lig_device_check (bench->device, bench->calls->replay (handle, trial->graph, stream),
                         _ ("measuring"), error) ||
      !lig_stopwatch_stop (&bench->watch, seconds, error))
    return FALSE;
  *seconds /= trial->repeats;
  return TRUE;
}

static gboolean
capture (Bench *bench, Trial *trial, GError **error)
{
  LigBackendDevice *handle = lig_device_handle (bench->device);
  void *stream = lig_device_stream (bench->device);
  if (!lig_device_check (bench->device, bench->calls->capture (handle, stream), _ ("capturing"),
                         error))
    return FALSE;
  gboolean fine = TRUE;
  for (guint i = 0; i < trial->repeats && fine; i++)
    fine = launch (bench, trial, i % trial->sets, FALSE, error);
  LigStatus status = bench->calls->capture_end (handle, stream, &trial->graph);
  return fine && lig_device_check (bench->device, status, _ ("capturing"), error);
}

/* Chooses the algorithm, and captures launches for at least SAMPLE_SPAN. */
static gboolean
prepare (Bench *bench, Trial *trial, gsize space, GError **error)
{
  gsize bytes = sum_bytes (trial->probe), cache = (gsize) MAX (bench->facts->l2, 32 << 20);
  double once;
  trial->sets = (guint) CLAMP (MIN (2 * cache, space - bytes) / MAX (bytes, 1) + 1, 1, MAX_SETS);
  lig_tuning_report (trial->probe->kernel->name);
  if (!fill (bench, trial, error) || !launch (bench, trial, 0, TRUE, error) ||
      !lig_stopwatch_start (&bench->watch, error) || !launch (bench, trial, 0, FALSE, error) ||
      !lig_stopwatch_stop (&bench->watch, &once, error))
    return FALSE;
  trial->repeats = (guint) CLAMP (SAMPLE_SPAN / MAX (once, 1e-7) + 1, trial->sets, MAX_REPEATS);
  return capture (bench, trial, error) && replay (bench, trial, &once, error);
}

/* Measures the seconds of one launch of the probe: the median of several samples. With a second
 * probe, measures how much longer the first takes; samples alternate, so that both have the same
 * clocks. */
static gboolean
time_probe (Bench *bench, const Probe *probe, const Probe *other, double *seconds, GError **error)
{
  gsize space = other ? bench->bytes / 2 : bench->bytes;
  Trial trials[] = {{.probe = probe, .memory = bench->memory},
                    {.probe = other, .memory = bench->memory + space}};
  int count = other ? 2 : 1;
  double samples[MAX_SAMPLES], times[2] = {0};
  gboolean fine = TRUE;
  for (int i = 0; i < count && fine; i++)
    fine = prepare (bench, &trials[i], space, error);
  int n = other ? MAX_SAMPLES : SAMPLES;
  for (int i = 0; i < n && fine; i++) {
    for (int k = 0; k < count && fine; k++)
      fine = replay (bench, &trials[k], &times[k], error);
    samples[i] = times[0] - times[1];
  }
  for (int i = 0; i < count; i++)
    if (trials[i].graph)
      bench->calls->graph_free (lig_device_handle (bench->device), trials[i].graph);
  if (fine)
    *seconds = lig_median (samples, (guint) n);
  return fine;
}

/* --- Operands ------------------------------------------------------------------------------- */

static LigOperand
matrix (gint64 rows, gint64 columns, LigDtype dtype)
{
  return (LigOperand){NULL, rows * columns, columns, dtype};
}

static const LigOperand absent = {0};

/* The operands of the probes that are not matmuls, one letter each: m matrix, v vector over its
 * columns, s statistic per row, i integer per row, t table of 256 rows, 1 scalar. */
static const struct {
  const char *operands;
  gint64 columns;
  LigDtype type;
} layouts[] = {
  [LIG_COST_NORM] = {"mvvmss", 768, LIG_BF16},
  [LIG_COST_NORM_GRADIENT] = {"mmvssmvv", 768, LIG_BF16},
  [LIG_COST_SUMS] = {"mv", 2048, LIG_BF16},
  [LIG_COST_ACTIVATION_SUMS] = {"mmmv", 2048, LIG_BF16},
  [LIG_COST_VECTOR] = {"mvm", 2048, LIG_BF16},
  [LIG_COST_LOSS] = {"mi1s1", 1024, LIG_FP32},
  [LIG_COST_LOSS_GRADIENT] = {"1mis1m", 1024, LIG_FP32},
  [LIG_COST_GATHERED_SUMS] = {"mit", LIG_COST_GATHERED_ROW / 4, LIG_FP32},
  [LIG_COST_ELEMENTS] = {"mm", 2048, LIG_BF16},
};

static LigOperand
lay_out_operand (LigCost cost, char letter, gint64 rows)
{
  gint64 columns = layouts[cost].columns;
  switch (letter) {
  case 'm':
    return matrix (rows, columns, layouts[cost].type);
  case 'v':
    return matrix (1, columns, layouts[cost].type);
  case 's':
    return matrix (rows, 1, LIG_FP32);
  case 'i':
    return matrix (rows, 1, LIG_INT32);
  case 't':
    return matrix (256, columns, layouts[cost].type);
  default:
    return matrix (1, 1, LIG_FP32);
  }
}

/* Fills in the operands of a kernel that moves about `bytes` bytes. */
static void
lay_out_rows (Probe *probe, LigCost cost, gint64 bytes)
{
  const char *letters = layouts[cost].operands;
  gint64 row = layouts[cost].columns * (gint64) lig_dtype_size (layouts[cost].type), matrices = 0;
  probe->count = (int) strlen (letters);
  for (int i = 0; i < probe->count; i++)
    matrices += letters[i] == 'm';
  for (int i = 0; i < probe->count; i++)
    probe->operands[i] = lay_out_operand (cost, letters[i], MAX (bytes / row / matrices, 1));
}

/* A matmul of x [rows, depth] with a weight [columns, depth]. */
typedef struct {
  gint64 rows, columns, depth;
} Size;

/* Fills in the operands of a bare matmul, or of one with epilogues and a vector of that type. */
static void
lay_out_matmul (Probe *probe, LigCost cost, const Size *size, LigDtype type, LigDtype vector_type)
{
  LigOperand x = matrix (size->rows, size->depth, type);
  LigOperand weight = matrix (size->columns, size->depth, type);
  LigOperand back = matrix (size->depth, size->columns, type);
  LigOperand y = matrix (size->rows, size->columns, type);
  LigOperand vector = matrix (1, size->columns, vector_type);
  const LigOperand lists[][6] = {
    [LIG_COST_MATMUL_BIAS] = {x, weight, vector, y},
    [LIG_COST_MATMUL_GELU] = {x, weight, vector, y, y},
    [LIG_COST_MATMUL_ADD] = {x, weight, vector, y, y},
    [LIG_COST_MATMUL_GELU_GRADIENT] = {x, back, y, y, absent},
    [LIG_COST_MATMUL_GELU_SUMS] = {x, back, y, y, vector},
    [LIG_COST_MATMUL_SUMS] = {y, x, matrix (size->columns, size->depth, type), vector},
    [LIG_N_COSTS] = {x, weight, y},
  };
  static const int counts[] = {
    [LIG_COST_MATMUL_BIAS] = 4,
    [LIG_COST_MATMUL_GELU] = 5,
    [LIG_COST_MATMUL_ADD] = 5,
    [LIG_COST_MATMUL_GELU_GRADIENT] = 5,
    [LIG_COST_MATMUL_GELU_SUMS] = 5,
    [LIG_COST_MATMUL_SUMS] = 4,
    [LIG_N_COSTS] = 3,
  };
  probe->count = counts[cost];
  memcpy (probe->operands, lists[cost], (gsize) probe->count * sizeof (LigOperand));
}

/* Returns a size whose result has 2^`bits` elements, at most twice as many rows as columns. */
static Size
size_of (int bits, gint64 depth)
{
  return (Size){(gint64) 1 << (bits + 1) / 2, (gint64) 1 << bits / 2, depth};
}

/* --- Costs ---------------------------------------------------------------------------------- */

static gboolean
measure_rows (Bench *bench, LigCost cost, GError **error)
{
  Probe probe = {.kernel = lig_cost_get_probe (cost)};
  for (int i = 0; i < LIG_COST_SIZES; i++) {
    double seconds, read, written;
    lay_out_rows (&probe, cost, (gint64) 1 << (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * i));
    if (!time_probe (bench, &probe, NULL, &seconds, error))
      return FALSE;
    lig_kernel_bytes (probe.kernel, probe.operands, &read, &written);
    bench->facts->costs.kernels[cost * LIG_COST_SIZES + i] =
      MAX (seconds - (read + written) / bench->facts->copy, 0);
  }
  return TRUE;
}

/* The depth at which epilogues are measured; those of fp32 take longer. */
enum { ADDITION_DEPTH = 1024 };

/* Measures the difference between a matmul with epilogues, with an fp32 vector if `mixed`, and the
 * bare matmul. */
static gboolean
measure_additions (Bench *bench, LigCost cost, gboolean mixed, double *to, GError **error)
{
  static const struct {
    int work;
    const char *kernel;
  } bare[] = {{LIG_MATMUL_OVER_COLUMNS, "linear"},
              {LIG_MATMUL_COLUMNS_BY_ROWS, "linear_backward_input"},
              {LIG_MATMUL_OVER_ROWS, "linear_backward_weight"}};
  gboolean wide = cost >= LIG_COST_WIDE_BIAS;
  LigCost kind = wide ? cost - (LIG_COST_WIDE_BIAS - LIG_COST_MATMUL_BIAS) : cost;
  Probe probe = {.kernel = lig_cost_get_probe (cost)}, alone;
  for (int i = 0; i < LIG_COST_SIZES; i++) {
    double seconds;
    /* The result, or the incoming gradient, has elements of two or four bytes. */
    int shift = wide ? 2 : 1;
    Size size = size_of (LIG_COST_FIRST_SIZE - shift + LIG_COST_SIZE_STEP * i,
                         wide ? ADDITION_DEPTH / 4 : ADDITION_DEPTH);
    lay_out_matmul (&probe, kind, &size, wide ? LIG_FP32 : LIG_BF16,
                    wide || mixed ? LIG_FP32 : LIG_BF16);
    alone = probe;
    alone.operands[2] = probe.operands[kind == LIG_COST_MATMUL_SUMS ? 2 : 3];
    alone.count = 3;
    for (guint j = 0; j < G_N_ELEMENTS (bare); j++)
      if (bare[j].work == probe.kernel->work)
        alone.kernel = lig_kernel_find (bare[j].kernel);
    if (!time_probe (bench, &probe, &alone, &seconds, error))
      return FALSE;
    to[i] = MAX (seconds, 0);
  }
  return TRUE;
}

/* Measures matmuls of all sizes and depths. One that would take too long counts as fast per
 * operation as a shallower one. */
static gboolean
measure_matmuls (Bench *bench, LigDtype type, double *all, GError **error)
{
  Probe probe = {.kernel = lig_kernel_find ("linear")};
  for (int i = 0; i < LIG_COST_AREAS; i++)
    for (int j = 0; j < LIG_COST_DEPTHS; j++) {
      Size size = size_of (LIG_COST_FIRST_AREA + LIG_COST_AREA_STEP * i,
                           (gint64) 1 << (LIG_COST_FIRST_DEPTH + LIG_COST_DEPTH_STEP * j));
      double *seconds = &all[i * LIG_COST_DEPTHS + j];
      double min =
        2 * (double) (size.rows * size.columns * size.depth) / bench->facts->matmul[type];
      lay_out_matmul (&probe, LIG_N_COSTS, &size, type, type);
      if (j > 0 && (min > LONGEST_MATMUL || sum_bytes (&probe) > bench->bytes))
        *seconds = seconds[-1] * exp2 (LIG_COST_DEPTH_STEP);
      else if (!time_probe (bench, &probe, NULL, seconds, error))
        return FALSE;
    }
  return TRUE;
}

/* Fills in the operands of attention over sequences of that length. ALiBi, for which cuDNN is not
 * used, selects the built-in kernel. */
static void
lay_out_attention (Bench *bench, Probe *probe, LigAttentionCost cost, LigAttentionParams *params)
{
  gboolean backward = cost == LIG_ATTENTION_BACKWARD || cost == LIG_ATTENTION_BUILT_IN_BACKWARD;
  gint64 columns = (gint64) params->heads * params->features;
  LigOperand y = matrix (LIG_ATTENTION_ROWS, columns, LIG_BF16);
  LigOperand x = matrix (LIG_ATTENTION_ROWS, 3 * columns, LIG_BF16);
  LigOperand lse =
    matrix (2 * LIG_ATTENTION_ROWS * params->heads / params->length, params->length, LIG_FP32);
  const LigOperand all[MAX_PORTS] = {y, x, absent, absent, absent, y, lse, x, absent};
  params->alibi = cost >= LIG_ATTENTION_BUILT_IN_FORWARD;
  *probe = (Probe){.kernel = lig_kernel_find (backward ? "attention_backward" : "attention"),
                   .count = backward ? 9 : 6,
                   .params = params,
                   .before = backward ? lig_kernel_find ("attention") : NULL};
  memcpy (probe->operands, backward ? all : all + 1, (gsize) probe->count * sizeof (LigOperand));
  LigLaunch asks = {.operands = probe->operands, .params = params};
  probe->scratch = (gsize) lig_device_count_scratch (bench->device, probe->kernel, &asks);
}

/* Measures attention at two head dims and several sequence lengths, each over the same number of
 * tokens. Measures nothing if the memory does not suffice for all of them. */
static gboolean
measure_attention (Bench *bench, GError **error)
{
  double times[LIG_N_ATTENTION_COSTS * LIG_ATTENTION_SIZES];
  for (int i = 0; i < (int) G_N_ELEMENTS (times); i++) {
    int size = i % LIG_ATTENTION_SIZES, row = size % LIG_ATTENTION_LENGTHS;
    gint32 length = 1 << (LIG_ATTENTION_FIRST_LENGTH + LIG_ATTENTION_LENGTH_STEP * row);
    LigAttentionParams params = {.heads = LIG_ATTENTION_HEADS,
                                 .kv_heads = LIG_ATTENTION_HEADS,
                                 .features = LIG_ATTENTION_FEATURES
                                             << (size / LIG_ATTENTION_LENGTHS),
                                 .length = length,
                                 .memory_length = length,
                                 .mask = LIG_MASK_CAUSAL};
    Probe probe;
    params.scale = 1 / sqrtf ((float) params.features);
    lay_out_attention (bench, &probe, (LigAttentionCost) (i / LIG_ATTENTION_SIZES), &params);
    if (sum_bytes (&probe) > bench->bytes)
      return TRUE;
    if (!time_probe (bench, &probe, NULL, &times[i], error))
      return FALSE;
  }
  memcpy (bench->facts->costs.attention, times, sizeof times);
  return TRUE;
}

/* A smaller problem never takes longer than a larger one, because a kernel could pad it. */
static void
smooth (Bench *bench)
{
  LigDeviceCosts *costs = &bench->facts->costs;
  double *tables[] = {costs->matmuls, costs->wide_matmuls};
  enum { MATMULS = LIG_COST_AREAS * LIG_COST_DEPTHS };
  for (guint k = 0; k < G_N_ELEMENTS (tables); k++)
    for (int i = MATMULS - 1; i >= 0; i--) {
      if (i % LIG_COST_DEPTHS < LIG_COST_DEPTHS - 1)
        tables[k][i] = MIN (tables[k][i], tables[k][i + 1]);
      if (i + LIG_COST_DEPTHS < MATMULS)
        tables[k][i] = MIN (tables[k][i], tables[k][i + LIG_COST_DEPTHS]);
    }
  for (int i = LIG_N_COSTS * LIG_COST_SIZES - 1; i >= 0; i--) {
    int size = i % LIG_COST_SIZES;
    double bytes = i / LIG_COST_SIZES < LIG_COST_MATMUL_BIAS
                     ? exp2 (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * (size + 1)) -
                         exp2 (LIG_COST_FIRST_SIZE + LIG_COST_SIZE_STEP * size)
                     : 0;
    if (size < LIG_COST_SIZES - 1)
      costs->kernels[i] =
        MIN (costs->kernels[i], costs->kernels[i + 1] + bytes / bench->facts->copy);
  }
}

static gboolean
measure (Bench *bench, GError **error)
{
  LigDeviceCosts *costs = &bench->facts->costs;
  if (!measure_matmuls (bench, LIG_BF16, costs->matmuls, error) ||
      !measure_matmuls (bench, LIG_FP32, costs->wide_matmuls, error))
    return FALSE;
  for (LigCost i = 0; i < LIG_N_COSTS; i++)
    if (i < LIG_COST_MATMUL_BIAS
          ? !measure_rows (bench, i, error)
          : !measure_additions (bench, i, FALSE, costs->kernels + i * LIG_COST_SIZES, error))
      return FALSE;
  for (int i = 0; i < LIG_MIXED_COSTS; i++)
    if (!measure_additions (bench, LIG_COST_MATMUL_BIAS + i, TRUE,
                            costs->mixed + i * LIG_COST_SIZES, error))
      return FALSE;
  smooth (bench);
  return measure_attention (bench, error);
}

static gboolean
allocate (Bench *bench, GError **error)
{
  const LigTick tick = {.seed = 1, .step = 1};
  bench->memory = lig_device_allocate (bench->device, bench->bytes, error);
  bench->workspace =
    bench->memory ? lig_device_allocate (bench->device, LIG_WORKSPACE_SIZE, error) : NULL;
  bench->tick = bench->workspace ? lig_device_allocate (bench->device, sizeof tick, error) : NULL;
  return bench->tick && lig_device_upload (bench->device, bench->tick, &tick, sizeof tick, error);
}

gboolean
lig_measure_costs (LigDevice *device, LigDeviceFacts *facts, GError **error)
{
  Bench bench = {.device = device,
                 .calls = lig_device_calls (device),
                 .facts = facts,
                 .bytes = (gsize) 1536 << 20};
  facts->costs = (LigDeviceCosts){0};
  if (!bench.calls->capture || facts->matmul[LIG_BF16] <= 0 || facts->matmul[LIG_FP32] <= 0)
    return TRUE;
  lig_choices_begin (device, NULL);
  gboolean fine = allocate (&bench, error) && lig_stopwatch_init (&bench.watch, device, error) &&
                  measure (&bench, error);
  lig_choices_end (device);
  lig_stopwatch_clear (&bench.watch);
  lig_device_release (device, bench.tick);
  lig_device_release (device, bench.workspace);
  lig_device_release (device, bench.memory);
  facts->costs.known = fine;
  return fine;
}
