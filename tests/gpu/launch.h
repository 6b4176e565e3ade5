/* SPDX-License-Identifier: MIT */
/* A launch of a kernel on the GPU and on the CPU, on the same bits: operands in one arena with
 * guards between them, tolerances, comparison of the outputs and of all other memory. */
#pragma once

#include "tests/gpu/case.h"
#include "tests/gpu/operands.h"

#include <float.h>

typedef struct {
  const LigKernel *kernel;
  Problem problem;
  bool misaligned, accumulate, in_place, captured, edges;
  unsigned absent; /* one bit per operand */
  int variation;   /* of the parameters */
  int to, from;    /* in place: the output, and the input whose memory it shares */
} Case;

/* --- Memory -------------------------------------------------------------------------------- */

enum { GUARD = 512, ARENA = 160 << 20 };

/* Four copies of an arena of operands with guards between them: before the launch, after the
 * CPU's launch, and after the GPU's first and second. */
typedef struct {
  char *before, *cpu, *gpu, *again, *device;
  char *workspace, *device_workspace;
  LigTick *tick; /* on the device */
} Memory;

static inline Memory *
memory_of (const Gpu *gpu)
{
  static Memory memory;
  if (memory.before)
    return &memory;
  memory.before = gpu_host_memory (gpu, ARENA);
  memory.gpu = gpu_host_memory (gpu, ARENA);
  memory.again = gpu_host_memory (gpu, ARENA);
  memory.cpu = g_aligned_alloc0 (ARENA, 1, 256);
  memory.device = gpu_memory (gpu, ARENA);
  memory.workspace = g_aligned_alloc0 (LIG_WORKSPACE_SIZE, 1, 256);
  memory.device_workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE + GUARD);
  memory.tick = gpu_memory (gpu, sizeof *memory.tick);
  gpu_copy (gpu, memory.tick, &test_tick, sizeof test_tick);
  gpu_fill (gpu, memory.device_workspace + LIG_WORKSPACE_SIZE, 0x5a, GUARD);
  gpu_wait (gpu, "setting up");
  return &memory;
}

/* Copies in pieces, by all threads: the arenas are large. */
static inline void
copy_image (char *to, const char *from, size_t bytes)
{
  const size_t piece = 1 << 20;
#pragma omp parallel for schedule(static) if (bytes > piece)
  for (size_t at = 0; at < bytes; at += piece)
    memcpy (to + at, from + at, MIN (piece, bytes - at));
}

static inline bool
same_bytes (const char *a, const char *b, size_t bytes)
{
  const size_t piece = 1 << 20;
  int differ = 0;
#pragma omp parallel for schedule(static) reduction(+ : differ) if (bytes > piece)
  for (size_t at = 0; at < bytes; at += piece)
    differ += memcmp (a + at, b + at, MIN (piece, bytes - at)) != 0;
  return differ == 0;
}

typedef struct {
  Operands o;
  size_t offsets[LIG_MAX_OPERANDS], bytes;
  /* Null, or the values that were rounded before they became elements of the first output, or of
   * one of the same size. */
  const float *terms;
} Layout;

static inline Layout
lay_out (const Case *c)
{
  Layout l = {.o = operands_for (c->kernel, c->problem), .bytes = GUARD};
  for (int i = 0; i < l.o.count; i++) {
    const LigOperand *operand = &l.o.operands[i];
    if (c->in_place && i == c->to) {
      l.offsets[i] = l.offsets[c->from];
      continue;
    }
    l.offsets[i] = l.bytes + (c->misaligned ? lig_dtype_size (operand->dtype) : 0);
    l.bytes = (l.offsets[i] + operand_bytes (operand) + GUARD + 255) / 256 * 256;
  }
  return l;
}

static inline void
place (Layout *l, const Case *c, char *base)
{
  for (int i = 0; i < l->o.count; i++)
    l->o.operands[i].data = c && c->absent & 1u << i ? NULL : base + l->offsets[i];
}

/* --- Comparing ----------------------------------------------------------------------------- */

/* Reports a failure of a case; a test prints the first few. */
static int failures;

static inline void
complain (const Case *c, const char *operand, const char *what)
{
  const Problem *p = &c->problem;
  g_test_fail ();
  if (failures++ >= 12)
    return;
  g_test_message ("FAILED %s: %s: %s (%ld x %ld, outputs %ld, %s:%s%s%s%s%s%s, absent %x, "
                  "parameters %d)",
                  c->kernel->name, operand, what, (long) p->rows, (long) p->columns,
                  (long) p->outputs, lig_dtype_name (p->compute), lig_dtype_name (p->parameters),
                  c->misaligned ? ", misaligned" : "", c->accumulate ? ", accumulated" : "",
                  c->in_place ? ", in place" : "", c->captured ? ", captured" : "",
                  c->edges ? ", edge values" : "", c->absent, c->variation);
}

/* The tolerance: |a - b| <= relative |b| + absolute + of_terms times the rounded value from which b
 * was computed, where it is known, per element; ||a - b|| / ||b|| <= norm in total. Below `normal`
 * the type's numbers are `unit` apart, whatever their size, and b may have been rounded to the
 * adjacent one. */
typedef struct {
  double relative, absolute, norm, of_terms, normal, unit;
} Tolerance;

/* Returns the tolerance of a kernel: the reference's elementwise ones. A sum over n terms may have
 * root n times the absolute part; the product of a rounded sum may have the same error as that
 * sum. */
static inline Tolerance
tolerance_for (const Layout *l, int index, double largest_dx)
{
  static const Tolerance types[] = {
    [LIG_FP32] = {1.3e-6, 1e-5, 1e-5},
    [LIG_FP16] = {1e-3, 1e-5, 2e-3},
    [LIG_BF16] = {1.6e-2, 1e-5, 1.6e-2},
  };
  static const double grains[][3] = {
    [LIG_FP32] = {0x1p-24, 0x1p-126, 0x1p-149},
    [LIG_FP16] = {0x1p-11, 0x1p-14, 0x1p-24},
    [LIG_BF16] = {0x1p-8, 0x1p-126, 0x1p-133},
  };
  const char *kernel = l->o.kernel->name, *name = l->o.names[index];
  const Problem *p = &l->o.problem;
  LigDtype dtype = l->o.operands[index].dtype, compute = p->compute;
  Family family = family_of (kernel);
  bool rounds = compute != LIG_FP32 && family != OPTIMIZER;
  bool of_rounded =
    rounds && is_parameter_gradient (name) && family != NORM && operand_index (&l->o, "dx") >= 0;
  Tolerance t = types[dtype == LIG_FP32 && of_rounded ? compute : dtype];
  t.of_terms = grains[dtype][0];
  t.normal = grains[dtype][1];
  t.unit = grains[dtype][2];
  if (family == MATMUL) {
    int64_t terms = strstr (kernel, "backward_weight")  ? p->rows
                    : strstr (kernel, "backward_input") ? p->outputs
                                                        : p->columns;
    t.relative = MAX (t.relative, 1e-5);
    t.absolute *= 2 * sqrt ((double) terms);
    /* gelu's derivative is a factor, not a term. That of cuBLASLt has an error of about 2^-16 of
     * its maximum even where it vanishes, so that its relative error is unbounded. */
    if (strstr (kernel, "input_gelu"))
      t.of_terms = rounds ? 0x1p-14 : 0;
    if (strstr (kernel, "gelu") && rounds) {
      t.absolute = MAX (t.absolute, t.relative / 4);
      t.relative *= 1.5;
    }
  }
  if (is_parameter_gradient (name)) {
    t.absolute *= 2 * sqrt ((double) MAX (p->rows, 1));
    t.relative = MAX (t.relative, 1e-5);
    /* In a sum of rounded values one may have been rounded in the other direction. */
    if (of_rounded)
      t.absolute += t.relative * largest_dx;
  }
  if (family == NORM && p->columns < 8) /* the reciprocal standard deviation may be large */
    t.absolute *= 50;
  if (family == NORM || family == OPTIMIZER)
    t.relative = MAX (t.relative, 4e-6);
  if (family == ENTROPY && g_str_equal (name, "dx"))
    t.absolute /= (double) p->columns;
  return t;
}

typedef struct {
  double difference, length, largest;
  int64_t first; /* the first element that differs too much; -1 if none does */
  double got, want;
} Distance;

static inline bool
agree (double got, double want, double terms, Tolerance t)
{
  if (isnan (want) || isnan (got))
    return isnan (want) && isnan (got);
  if (isinf (want) || isinf (got))
    return got == want;
  double allowed = t.relative * fabs (want) + t.absolute + t.of_terms * terms;
  return fabs (got - want) <= allowed + (fabs (want) < t.normal ? t.unit : 0);
}

static inline Distance
measure (
  const LigOperand *operand, const char *got, const char *want, const float *terms, Tolerance t)
{
  enum { PIECE = 4096 };
  size_t element = lig_dtype_size (operand->dtype);
  double difference = 0, length = 0, largest = 0;
  int64_t first = INT64_MAX;
#pragma omp parallel for schedule(static) reduction(+ : difference, length) \
  reduction(max : largest) reduction(min : first) if (operand->size > 65536)
  for (int64_t at = 0; at < operand->size; at += PIECE) {
    float a[PIECE], b[PIECE];
    int64_t count = MIN (PIECE, operand->size - at);
    lig_widen (operand->dtype, got + (size_t) at * element, a, (size_t) count);
    lig_widen (operand->dtype, want + (size_t) at * element, b, (size_t) count);
    for (int64_t i = 0; i < count; i++) {
      double x = (double) a[i], y = (double) b[i];
      if (!agree (x, y, terms ? (double) terms[at + i] : 0, t))
        first = MIN (first, at + i);
      if (!isfinite (x) || !isfinite (y))
        continue;
      difference += (x - y) * (x - y);
      length += y * y;
      largest = MAX (largest, fabs (y));
    }
  }
  Distance d = {sqrt (difference), sqrt (length), largest, first, 0, 0};
  if (first == INT64_MAX) {
    d.first = -1;
    return d;
  }
  float pair[2];
  lig_widen (operand->dtype, got + (size_t) first * element, &pair[0], 1);
  lig_widen (operand->dtype, want + (size_t) first * element, &pair[1], 1);
  d.got = (double) pair[0];
  d.want = (double) pair[1];
  return d;
}

static inline void
check_output (const Case *c, const Layout *l, int i, const Memory *m, double largest_dx)
{
  const LigOperand *operand = &l->o.operands[i];
  Tolerance t = tolerance_for (l, i, largest_dx);
  if (c->edges && operand->size < c->problem.rows * c->problem.columns)
    return; /* Sums of infinities are not comparable. */
  Distance d =
    measure (operand, m->gpu + l->offsets[i], m->cpu + l->offsets[i],
             l->o.operands[i].size == l->o.operands[l->o.inputs].size ? l->terms : NULL, t);
  double allowed = t.norm * d.length + t.absolute * sqrt ((double) operand->size);
  if (d.first >= 0) {
    g_autofree char *what = g_strdup_printf ("%.9g, expected %.9g, at %ld of %ld", d.got, d.want,
                                             (long) d.first, (long) operand->size);
    complain (c, l->o.names[i], what);
  } else if (!c->edges && !(d.difference <= allowed)) {
    g_autofree char *what =
      g_strdup_printf ("off by %g of %g, allowed %g", d.difference, d.length, allowed);
    complain (c, l->o.names[i], what);
  }
}

/* Checks that inputs, absent operands and guards are unchanged. */
static inline void
check_untouched (const Case *c, const Layout *l, const Memory *m)
{
  size_t at = 0;
  for (int i = 0; i <= l->o.count; i++) {
    bool last = i == l->o.count;
    bool output = !last && i >= l->o.inputs && !(c->absent & 1u << i);
    bool input_too = !last && i == c->from && c->in_place;
    if (!last && !output && !input_too)
      continue;
    if (!last && c->in_place && i == c->to)
      continue; /* an output was computed in place of it */
    size_t end = last ? l->bytes : l->offsets[i];
    if (!same_bytes (m->gpu + at, m->before + at, end - at))
      complain (c, last ? "after all operands" : l->o.names[i],
                "memory in front of it was written to");
    if (!last)
      at = end + operand_bytes (&l->o.operands[i]);
  }
}

/* --- Running ------------------------------------------------------------------------------- */

/* Returns a value of any kind: finite extremes, subnormals, infinities, NaN, zeros of both
 * signs, ordinary numbers. */
static inline void
fill_edges (const Operands *o, int index)
{
  const LigOperand *operand = &o->operands[index];
  const char *name = o->names[index];
  float largest = operand->dtype == LIG_FP32   ? FLT_MAX
                  : operand->dtype == LIG_FP16 ? 65504.f
                                               : 0x1.fep127f;
  float smallest = operand->dtype == LIG_FP32   ? 0x1p-149f
                   : operand->dtype == LIG_FP16 ? 0x1p-24f
                                                : 0x1p-133f;
  const float special[] = {largest, -largest, smallest, -smallest, INFINITY, -INFINITY,
                           NAN,     -0.f,     0,        1,         -1,       100,
                           -100,    12.5f,    -12.5f,   3,         -3};
  const float ordinary[] = {1, -0.5f, 0.25f, 2, -1};
  bool is_special = g_str_equal (name, "x") || g_str_equal (name, "a") || g_str_equal (name, "y");
  bool gated = family_of (o->kernel->name) == GATED && is_special;
  int64_t half = operand->columns / 2;
  for (int64_t i = 0; i < operand->size; i++) {
    int64_t row = i / operand->columns, column = i % operand->columns;
    bool here = is_special && (!gated || (column < half) == (row % 2 == 0));
    float value = here ? special[(i + row) % (int64_t) G_N_ELEMENTS (special)]
                       : ordinary[i % (int64_t) G_N_ELEMENTS (ordinary)];
    lig_narrow (operand->dtype, &value,
                (char *) operand->data + (size_t) i * lig_dtype_size (operand->dtype), 1);
  }
}

static inline void
fill (const Case *c, Layout *l, Memory *m)
{
  memset (m->before, 0xff, l->bytes);
  place (l, NULL, m->before);
  for (int i = 0; i < l->o.count; i++) {
    bool old = i >= l->o.inputs &&
               (is_updated (&l->o, i) || (c->accumulate && is_parameter_gradient (l->o.names[i])));
    if (i < l->o.inputs && c->edges)
      fill_edges (&l->o, i);
    else if (i < l->o.inputs || old)
      fill_operand (&l->o, i);
  }
  fill_derived (&l->o);
}

static inline void
launch_on_gpu (const Gpu *gpu, const Case *c, Layout *l, Memory *m, char *image, bool again)
{
  LigLaunch launch = {.operands = l->o.operands,
                      .params = params_for (c->kernel->name, c->variation),
                      .tick = m->tick,
                      .workspace = m->device_workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .accumulate = c->accumulate,
                      .autotune = c->kernel->work < 0 && !again};
  void *captured = NULL;
  bool capture = again && c->captured;
  gpu_copy (gpu, m->device, m->before, l->bytes);
  gpu_fill (gpu, m->device_workspace, again ? 0 : 0xff, LIG_WORKSPACE_SIZE);
  place (l, c, m->device);
  if (capture)
    gpu_check (gpu, gpu->calls->capture (gpu->handle, gpu->stream), "capturing");
  LigStatus status = c->kernel->functions[LIG_BACKEND_CUDA](&launch);
  if (status == LIG_DEVICE_LOST)
    g_error ("%s: %s", c->kernel->name, launch.where);
  if (capture) {
    gpu_check (gpu, gpu->calls->capture_end (gpu->handle, gpu->stream, &captured), c->kernel->name);
    gpu_check (gpu, gpu->calls->replay (gpu->handle, captured, gpu->stream), c->kernel->name);
  }
  gpu_copy (gpu, image, m->device, l->bytes);
  gpu_wait (gpu, c->kernel->name);
  if (captured)
    gpu->calls->graph_free (gpu->handle, captured);
  if (status != LIG_OK)
    complain (c, "status", launch.where ? launch.where : "rejected, and does not say where");
}

/* Launches on the CPU; false if it does not support the case. */
static inline bool
run_on_cpu (const Case *c, Layout *l, Memory *m)
{
  LigLaunch launch = {.operands = l->o.operands,
                      .params = params_for (c->kernel->name, c->variation),
                      .tick = &test_tick,
                      .workspace = m->workspace,
                      .accumulate = c->accumulate};
  copy_image (m->cpu, m->before, l->bytes);
  place (l, c, m->cpu);
  return c->kernel->functions[LIG_BACKEND_CPU](&launch) == LIG_OK;
}

static inline double
largest_of (const Layout *l, const Case *c, const char *name, const char *image)
{
  int i = operand_index (&l->o, name);
  if (i < 0 || c->absent & 1u << i)
    return 64;
  return measure (&l->o.operands[i], image + l->offsets[i], image + l->offsets[i], NULL,
                  (Tolerance){0})
    .largest;
}

/* Computes the bare matmul, in fp32. */
static inline bool
multiply_on_cpu (const Case *c, const Operands *o, Memory *m, float *matmul)
{
  const char *name = c->kernel->name, *plain = "linear";
  if (g_str_has_prefix (name, "linear_backward_input"))
    plain = "linear_backward_input";
  else if (g_str_has_prefix (name, "linear_backward_weight"))
    plain = "linear_backward_weight";
  LigOperand operands[] = {o->operands[0], o->operands[1], o->operands[o->inputs]};
  operands[2].data = matmul;
  operands[2].dtype = LIG_FP32;
  LigLaunch launch = {.operands = operands,
                      .params = params_for (name, c->variation),
                      .tick = &test_tick,
                      .workspace = m->workspace};
  return lig_kernel_find (plain)->functions[LIG_BACKEND_CPU](&launch) == LIG_OK;
}

/* Returns an operand's values before the launch, repeated until there are `size`; null if it is
 * absent. */
static inline float *
repeated (const Operands *o, const char *name, int64_t size)
{
  int index = operand_index (o, name);
  if (index < 0 || !o->operands[index].data)
    return NULL;
  const LigOperand *operand = &o->operands[index];
  float *values = g_new (float, size);
  for (int64_t at = 0; at < size; at += operand->size)
    lig_widen (operand->dtype, operand->data, values + at, (size_t) operand->size);
  return values;
}

/* Returns, for each element of the first output, the magnitude of the value that may be rounded
 * before the last term is added; null if no term is added. cuBLASLt may round the matmul, and
 * its sum with the first of two terms, to the type of the result, as unfused kernels do. Terms
 * may cancel almost entirely, so the error of such a rounding is not proportional to the result:
 * it is one unit roundoff, half a unit in the last place, of the rounded value. If terms
 * cancel, that value is at most as large as the largest of them, and two units in its last place
 * are not covered; so it has to be known for each element and not on average. A bias of another
 * type than a 16-bit result may be rounded to that type before, by one unit roundoff of itself. */
static inline float *
rounded_terms (const Case *c, Layout *l, Memory *m)
{
  const Operands *o = &l->o;
  int64_t size = o->operands[o->inputs].size;
  if (family_of (c->kernel->name) != MATMUL)
    return NULL;
  place (l, c, m->before);
  g_autofree float *bias = repeated (o, "bias", size), *branch = repeated (o, "branch", size);
  g_autofree float *extra = repeated (o, "extra", size), *terms = g_new (float, size);
  bool old = c->accumulate && is_parameter_gradient (o->names[o->inputs]);
  bool factor = strstr (c->kernel->name, "input_gelu");
  LigDtype result = o->operands[o->inputs].dtype;
  bool converted =
    bias && result != LIG_FP32 && o->operands[operand_index (o, "bias")].dtype != result;
  if (!(bias || branch || extra || old || factor) || !multiply_on_cpu (c, o, m, terms))
    return NULL;
  for (int64_t i = 0; i < size; i++) {
    float sum = bias && extra ? MAX (fabsf (terms[i] + bias[i]), fabsf (terms[i] + extra[i])) : 0;
    terms[i] = fabsf (terms[i]) + sum + (converted ? fabsf (bias[i]) : 0);
  }
  return g_steal_pointer (&terms);
}

static inline void
run_case (const Gpu *gpu, Case c)
{
  Memory *m = memory_of (gpu);
  Layout l = lay_out (&c);
  if (l.bytes > ARENA)
    return;
  fill (&c, &l, m);
  if (!run_on_cpu (&c, &l, m))
    return;
  launch_on_gpu (gpu, &c, &l, m, m->gpu, false);
  double largest_dx = largest_of (&l, &c, "dx", m->cpu);
  g_autofree float *terms = rounded_terms (&c, &l, m);
  l.terms = terms;
  for (int i = l.o.inputs; i < l.o.count; i++)
    if (!(c.absent & 1u << i))
      check_output (&c, &l, i, m, largest_dx);
  check_untouched (&c, &l, m);
  launch_on_gpu (gpu, &c, &l, m, m->again, true);
  if (!same_bytes (m->gpu, m->again, l.bytes))
    complain (&c, "all", c.captured ? "captured and launched differ" : "two launches differ");
}
