/* SPDX-License-Identifier: MIT */
/* Launches of attention on one of two opened devices: stored choices make one use the built-in
 * kernels, and the other cuDNN. */
#pragma once

#include "kernels/cuda/attention/cudnn-case.h"
#include "tests/gpu/case.h"
#include <ligature/kernels.h>
#include <ligature/params-attention.h>

#include <math.h>

enum { X, MEMORY, LENGTHS, DOCUMENTS, Y, LSE, DX, DMEMORY, DY, N_TENSORS };

/* A configuration; `memory` is the number of keys of another tensor, or 0. */
typedef struct {
  LigDtype dtype;
  int mask, window, heads, kv_heads, features, length, memory;
  bool padded, any_order;
} Configuration;

enum { BATCH = 2 };

/* The tensors of a configuration, by the names above; data is null where one is absent. */
typedef struct {
  LigAttentionParams params;
  LigOperand tensors[N_TENSORS];
} Tensors;

static inline size_t
tensor_bytes (const LigOperand *tensor)
{
  return (size_t) tensor->size * lig_dtype_size (tensor->dtype);
}

static inline LigOperand
tensor_of (int64_t rows, int64_t columns, LigDtype dtype)
{
  LigOperand tensor = {NULL, rows * columns, columns, dtype};
  tensor.data = rows > 0 ? g_aligned_alloc0 (tensor_bytes (&tensor), 1, 256) : NULL;
  return tensor;
}

/* Returns the tensors on the host, with zeros. */
static inline Tensors
tensors_of (const Configuration *c)
{
  int64_t queries = (int64_t) c->heads * c->features,
          pairs = 2 * (int64_t) c->kv_heads * c->features;
  int64_t rows = BATCH * (int64_t) c->length, packed = c->memory ? queries : queries + pairs;
  int keys = c->memory ? c->memory : c->length;
  Tensors t = {.params = {.heads = c->heads,
                          .kv_heads = c->kv_heads,
                          .features = c->features,
                          .length = c->length,
                          .memory_length = keys,
                          .mask = c->mask,
                          .window = c->window,
                          .scale = 1 / sqrtf ((float) c->features)}};
  t.tensors[X] = tensor_of (rows, packed, c->dtype);
  t.tensors[DX] = tensor_of (rows, packed, c->dtype);
  t.tensors[MEMORY] = tensor_of (c->memory ? BATCH * keys : 0, pairs, c->dtype);
  t.tensors[DMEMORY] = tensor_of (c->memory ? BATCH * keys : 0, pairs, c->dtype);
  t.tensors[LENGTHS] = tensor_of (c->padded ? BATCH : 0, 1, LIG_INT32);
  t.tensors[DOCUMENTS] = tensor_of (0, 1, LIG_INT32);
  t.tensors[Y] = tensor_of (rows, queries, c->dtype);
  t.tensors[DY] = tensor_of (rows, queries, c->dtype);
  t.tensors[LSE] = tensor_of (2 * rows, c->heads, LIG_FP32);
  return t;
}

static inline void
free_tensors (Tensors *t)
{
  for (int i = 0; i < N_TENSORS; i++)
    if (t->tensors[i].data)
      g_aligned_free (t->tensors[i].data);
}

/* Sets everything past the lengths to NaN. */
static inline void
poison_tensor (LigOperand *tensor, const int32_t *lengths)
{
  const float none = NAN;
  const gsize size = lig_dtype_size (tensor->dtype);
  const int64_t rows = tensor->data ? tensor->size / tensor->columns / BATCH : 0;
  for (int64_t row = 0; row < BATCH * rows; row++)
    for (int64_t i = 0; row % rows >= lengths[row / rows] && i < tensor->columns; i++)
      lig_narrow (tensor->dtype, &none,
                  (char *) tensor->data + (gsize) (row * tensor->columns + i) * size, 1);
}

/* Fills the inputs. One row has full length, the others are shorter, padded with NaN. */
static inline void
fill_tensors (Tensors *t, GRand *random)
{
  static const int inputs[] = {X, MEMORY, DY};
  for (size_t n = 0; n < G_N_ELEMENTS (inputs); n++) {
    LigOperand *tensor = &t->tensors[inputs[n]];
    for (int64_t i = 0; tensor->data && i < tensor->size; i++) {
      float value = (float) (g_rand_double_range (random, -2, 2) * g_rand_double (random));
      lig_narrow (tensor->dtype, &value,
                  (char *) tensor->data + (size_t) i * lig_dtype_size (tensor->dtype), 1);
    }
  }
  for (int b = 0; t->tensors[LENGTHS].data && b < BATCH; b++)
    ((int32_t *) t->tensors[LENGTHS].data)[b] =
      t->params.memory_length - b * (t->params.memory_length / 3 + 1);
  static const int own[] = {X, DY}, other[] = {MEMORY};
  const gboolean cross = t->tensors[MEMORY].data != NULL;
  for (size_t n = 0; t->tensors[LENGTHS].data && n < (cross ? 1 : 2); n++)
    poison_tensor (&t->tensors[cross ? other[n] : own[n]], t->tensors[LENGTHS].data);
}

/* Fills in the operands of a pass, which are absent where a tensor is. */
static inline const LigKernel *
operands_of (const Tensors *t, bool backward, LigOperand operands[9])
{
  if (backward)
    operands[0] = t->tensors[DY];
  for (int i = X; i <= (backward ? DMEMORY : LSE); i++)
    operands[i + backward] = t->tensors[i];
  return lig_kernel_find (backward ? "attention_backward" : "attention");
}

static inline void
compute_on_cpu (const Tensors *t, bool backward)
{
  LigOperand operands[9];
  LigTick tick = {.seed = 1};
  const LigKernel *kernel = operands_of (t, backward, operands);
  char *workspace = g_aligned_alloc (LIG_WORKSPACE_SIZE, 1, 256);
  LigLaunch launch = {
    .operands = operands, .params = &t->params, .tick = &tick, .workspace = workspace};
  int64_t bytes = lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CPU);
  char *scratch = bytes ? g_aligned_alloc ((gsize) bytes, 1, 256) : NULL;
  launch.scratch = scratch;
  if (kernel->functions[LIG_BACKEND_CPU](&launch) != LIG_OK)
    g_error ("%s on the CPU: %s", kernel->name, launch.where);
  g_aligned_free (workspace);
  if (scratch)
    g_aligned_free (scratch);
}

/* --- Devices ------------------------------------------------------------------------------- */

/* A second instance of the GPU, and the choices that it finds. */
typedef struct {
  Gpu gpu;
  const char *forced; /* the choice that is found in the store */
  char key[1024], put[512];
} Opened;

static bool
find_choice (void *data, const char *key, char *choice, size_t size)
{
  Opened *opened = data;
  if (!g_str_has_prefix (key, "attention "))
    return false;
  g_strlcpy (opened->key, key, sizeof opened->key);
  return g_strlcpy (choice, opened->forced, size) < size;
}

/* A stored choice that was applied is not stored again. */
static void
put_choice (void *data, const char *key, double microseconds, const char *choice)
{
  Opened *opened = data;
  if (g_str_has_prefix (key, "attention "))
    g_snprintf (opened->put, sizeof opened->put, "%s (%.1f us)", choice, microseconds);
}

/* Opens the GPU again, as an instance with its own plans and choices. */
static inline Opened *
open_again (const Gpu *gpu, const char *forced)
{
  char why[256] = "";
  Opened *opened = g_new0 (Opened, 1);
  opened->gpu = *gpu;
  opened->forced = forced;
  if (gpu->calls->open (0, &opened->gpu.handle, why, sizeof why) != LIG_OK)
    g_error ("opening again: %s", why);
  gpu_check (gpu, gpu->calls->stream_new (opened->gpu.handle, &opened->gpu.stream), "a stream");
  const LigChoices choices = {.get = find_choice, .put = put_choice, .data = opened};
  gpu->calls->keep_choices (opened->gpu.handle, &choices);
  return opened;
}

static inline void
close_again (Opened *opened)
{
  opened->gpu.calls->stream_free (opened->gpu.handle, opened->gpu.stream);
  opened->gpu.calls->close (opened->gpu.handle);
  g_free (opened);
}

/* Copies of the tensors on the device, and the memory of a launch. */
typedef struct {
  Tensors on;
  void *workspace, *scratch;
  LigTick *tick;
} Placed;

/* Allocates the tensors of `t`; outputs of the pass are NaN. The scratch memory is that of a
 * deterministic pass, or of a nondeterministic one if that is larger. */
static inline Placed
place (const Gpu *gpu, const Tensors *t, bool backward)
{
  LigOperand operands[9];
  Placed p = {.on = *t};
  LigTick tick = {.seed = 1};
  const LigKernel *kernel = operands_of (t, backward, operands);
  LigLaunch launch = {.operands = operands, .params = &t->params};
  int64_t bytes = lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CUDA);
  launch.nondeterministic = true;
  bytes = MAX (bytes, lig_kernel_scratch (kernel, &launch, LIG_BACKEND_CUDA));
  for (int i = 0; i < N_TENSORS; i++) {
    size_t size = tensor_bytes (&t->tensors[i]);
    bool output = backward ? i == DX || i == DMEMORY : i == Y || i == LSE;
    if (!t->tensors[i].data)
      continue;
    p.on.tensors[i].data = gpu_memory (gpu, size);
    if (output)
      gpu_fill (gpu, p.on.tensors[i].data, 0xff, size);
    else
      gpu_copy (gpu, p.on.tensors[i].data, t->tensors[i].data, size);
  }
  p.workspace = gpu_memory (gpu, LIG_WORKSPACE_SIZE);
  p.scratch = bytes ? gpu_memory (gpu, (size_t) bytes) : NULL;
  p.tick = gpu_memory (gpu, sizeof tick);
  gpu_copy (gpu, p.tick, &tick, sizeof tick);
  gpu_wait (gpu, "placing");
  return p;
}

static inline void
release (const Gpu *gpu, Placed *p)
{
  for (int i = 0; i < N_TENSORS; i++)
    if (p->on.tensors[i].data)
      gpu->calls->release (gpu->handle, p->on.tensors[i].data);
  gpu->calls->release (gpu->handle, p->workspace);
  gpu->calls->release (gpu->handle, p->tick);
  if (p->scratch)
    gpu->calls->release (gpu->handle, p->scratch);
}

static inline LigStatus
launch_on (const Gpu *gpu, const Placed *p, bool backward, bool any_order, bool autotune)
{
  LigOperand operands[9];
  const LigKernel *kernel = operands_of (&p->on, backward, operands);
  LigLaunch launch = {.operands = operands,
                      .params = &p->on.params,
                      .tick = p->tick,
                      .workspace = p->workspace,
                      .scratch = p->scratch,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .nondeterministic = any_order,
                      .autotune = autotune};
  LigStatus status = kernel->functions[LIG_BACKEND_CUDA](&launch);
  if (status != LIG_OK)
    g_test_message ("%s: %s", kernel->name, launch.where ? launch.where : "no reason");
  return status;
}
