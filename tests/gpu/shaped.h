/* SPDX-License-Identifier: MIT */
/* A launch of a kernel whose params or scratch memory depend on its shapes, on the GPU against the
 * CPU on the same bits: twice with the same bits, and every element of each output written. */
#pragma once

#include "tests/gpu/case.h"

#include "kernels/formulas.h"
#include <ligature/kernels.h>

#include <math.h>

/* The bytes of all operands of a problem; a test with larger ones defines it before including
 * this. */
#ifndef SHAPED_ARENA
#define SHAPED_ARENA ((size_t) 96 << 20)
#endif

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
static inline float
next_number (void)
{
  static uint64_t counter;
  uint32_t words[4];
  lig_random_words (1440, counter++, 0, 0, words);
  return (float) ((double) words[0] / 0x1p31 - 1);
}

static inline size_t
bytes_of (const LigOperand *operand)
{
  return (size_t) operand->size * lig_dtype_size (operand->dtype);
}

/* Allocates an operand in the arena; inputs and old values are filled in on the host. */
static inline LigOperand
place_part (const Problem *p, const Part *part, char *arena, size_t *at, gboolean filled)
{
  LigOperand operand = {NULL, part->rows * part->columns, part->columns, part->dtype};
  if (operand.size == 0)
    return operand;
  *at += p->misaligned ? lig_dtype_size (part->dtype) : 0;
  operand.data = arena + *at;
  *at = (*at + bytes_of (&operand) + 511) / 256 * 256;
  g_assert_cmpuint (*at, <, SHAPED_ARENA);
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

static inline Arena *
arena_of (const Gpu *gpu)
{
  static Arena a;
  if (a.before)
    return &a;
  a.before = gpu_host_memory (gpu, SHAPED_ARENA);
  a.gpu = gpu_host_memory (gpu, SHAPED_ARENA);
  a.again = gpu_host_memory (gpu, SHAPED_ARENA);
  a.cpu = g_aligned_alloc (SHAPED_ARENA, 1, 256);
  a.scratch = g_aligned_alloc (SHAPED_ARENA, 1, 256);
  a.workspace = g_aligned_alloc (LIG_WORKSPACE_SIZE, 1, 256);
  a.device = gpu_memory (gpu, SHAPED_ARENA);
  a.device_workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  a.tick = gpu_memory (gpu, sizeof *a.tick);
  gpu_copy (gpu, a.tick, &tick, sizeof tick);
  gpu_wait (gpu, "setting up");
  return &a;
}

/* Launches on the device and copies the arena back. */
static inline void
launch_on_device (const Gpu *gpu,
                  const Problem *p,
                  int part,
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
                      .part = part,
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

/* Compares an output: by the norm of all elements, and each element relative to the root of their
 * mean square. */
static inline void
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
    /* Infinities may be equal. */
    double difference = a[i] == b[i] ? 0 : (double) a[i] - (double) b[i];
    error += difference * difference;
    length += isfinite (b[i]) ? (double) b[i] * (double) b[i] : 0;
    worst = isnan (difference) ? INFINITY : MAX (worst, fabs (difference));
  }
  double root = sqrt (length / (double) operand->size);
  if (!(sqrt (error) <= tolerance * sqrt (length) + 1e-6) ||
      !(worst <= 12 * tolerance * root + 1e-6))
    g_test_fail_printf ("%s: %s: operand %d is off by %g of %g, an element by %g", p->kernel,
                        p->what, index, sqrt (error), sqrt (length), worst);
}

/* Keeps the results of a problem that later ones read; null frees all. */
static inline void
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

/* Runs a problem on both, as a part of the rows of all processes; keeps the CPU's results. */
static inline void
run_part (const Gpu *gpu, Problem *p, int part)
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
                      .part = part,
                      .accumulate = p->accumulate};
  g_assert_cmpint (lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU), <, SHAPED_ARENA);
  LigStatus status = kernel->functions[LIG_BACKEND_CPU](&launch);
  if (status != LIG_OK)
    g_test_fail_printf ("%s: %s: on the CPU: %s", p->kernel, p->what, launch.where);
  launch_on_device (gpu, p, part, operands, count, bytes, a->gpu);
  launch_on_device (gpu, p, part, operands, count, bytes, a->again);
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

static inline void
run_problem (const Gpu *gpu, Problem *p)
{
  run_part (gpu, p, 0);
}
