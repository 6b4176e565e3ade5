/* SPDX-License-Identifier: MIT */
/* Launches of attention through cuDNN: the plans of a device, and the memory of one launch. */
#include "kernels/cuda/attention/cudnn.h"

#include "kernels/attention-scratch.h"
#include "kernels/cuda/attention/padding.h"
#include "kernels/times.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The operands of a launch by name; `lse` and `y` are those of either pass. */
typedef struct {
  const LigOperand *x, *memory, *lengths, *y, *lse, *dy, *dx, *dmemory;
} Operands;

/* The sections of the launch's workspace: clamped lengths, an lse that was not requested, and the
 * plan's own workspace. */
enum { LENGTHS_SPACE = 1 << 20, LSE_SPACE = 15 << 20, PLAN_SPACE = 16 << 20 };
_Static_assert(LENGTHS_SPACE + LSE_SPACE + PLAN_SPACE <= LIG_WORKSPACE_SIZE,
               "the parts of the workspace do not fit");

/* The number of rows that lig_attention_clear() supports, whose lengths fit into their section
 * twice. */
enum { MAX_PADDED = 65535 };

static Operands
operands_of (const LigLaunch *launch, bool backward)
{
  const LigOperand *all = launch->operands, *x = all + (backward ? 1 : 0);
  Operands o = {.x = x, .memory = x + 1, .lengths = x + 2, .y = x + 4, .lse = x + 5};
  if (backward) {
    o.dy = all;
    o.dx = x + 6;
    o.dmemory = x + 7;
  }
  return o;
}

/* Returns the library: found by the process's search path, or next to cuBLASLt. */
static const LigCudnn *
library (void)
{
  size_t (*const neighbour) (void) = cublasLtGetVersion;
  const void *address;
  memcpy (&address, &neighbour, sizeof address);
  return lig_cudnn (address);
}

size_t
lig_cudnn_version (const char **why)
{
  const LigCudnn *cudnn = library ();
  *why = cudnn->why;
  return cudnn->version;
}

const char *
lig_cudnn_path (void)
{
  return library ()->path;
}

static bool
is_misaligned (const LigOperand *operand)
{
  return (uintptr_t) operand->data % 16 != 0;
}

/* Returns whether a tensor is present and has another type than x. */
static bool
differs (const LigOperand *operand, const LigCudnnCase *one)
{
  return operand && operand->data && operand->dtype != (LigDtype) one->dtype;
}

/* Returns the reason why the library does not support the operands of a whole case; null if it
 * does. */
static const char *
reject_operands (const Operands *o, const LigCudnnCase *one)
{
  int64_t rows = one->batch * one->heads * one->length;
  if (one->batch <= 0 || one->length <= 0 || one->keys <= 0)
    return "it has no rows";
  if (!o->y->data ||
      (o->dy && (!o->lse->data || !o->dx->data || !one->memory == !!o->dmemory->data)))
    return "an output is absent";
  if (!o->lse->data && rows * 4 > LSE_SPACE)
    return "the log-sum-exp is absent";
  if (one->padded && one->batch > MAX_PADDED)
    return "it has too many rows with lengths";
  if (differs (o->memory, one) || differs (o->y, one) || differs (o->dy, one) ||
      differs (o->dx, one) || differs (o->dmemory, one))
    return "all of its operands must have the same type";
  if (is_misaligned (o->x) || is_misaligned (o->memory) || is_misaligned (o->y) ||
      is_misaligned (o->lse) ||
      (o->dy && (is_misaligned (o->dy) || is_misaligned (o->dx) || is_misaligned (o->dmemory))))
    return "an operand is not aligned to 16 bytes";
  return NULL;
}

/* Returns the bytes of a part in the launch's scratch memory, which are followed by the copies. */
static int64_t
size_of (const LigCudnnSpace *space)
{
  return space->sums + space->dquery + (space->workspace > PLAN_SPACE ? space->workspace : 0);
}

/* Returns whether the launch has the memory for a part. */
static bool
has_space (const LigLaunch *launch, const LigCudnnCase *one, const LigCudnnSpace *space)
{
  const LigAttentionParams *params = launch->params;
  int64_t batch = lig_cudnn_case_whole (one).batch;
  int64_t given =
    one->backward ? lig_attention_scratch (batch, params, launch->nondeterministic) : 0;
  int64_t taken = size_of (space);
  return taken <= given && ((taken == 0 && !one->padded) || launch->scratch);
}

static LigAttentionEntry *
find (LigBackendDevice *device, const LigCudnnCase *one)
{
  LigAttention *attention = device->attention;
  for (int i = 0; attention && i < attention->n_entries; i++)
    if (memcmp (&attention->entries[i]->one, one, sizeof *one) == 0)
      return attention->entries[i];
  if (!attention)
    device->attention = attention = calloc (1, sizeof *attention);
  LigAttentionEntry *entry = calloc (1, sizeof *entry);
  LigAttentionEntry **entries =
    attention ? realloc (attention->entries,
                         (size_t) (attention->n_entries + 1) * sizeof *attention->entries)
              : NULL;
  if (entries)
    attention->entries = entries;
  if (!entry || !entries) {
    free (entry);
    return NULL;
  }
  entry->one = *one;
  return entries[attention->n_entries++] = entry;
}

LigAttentionEntry *
lig_attention_entry (const LigLaunch *launch, bool backward, const char **why)
{
  const LigCudnn *cudnn = library ();
  LigCudnnCase one;
  *why = "it has no parameters";
  if (!launch->params || !lig_cudnn_case (&one, launch->operands, launch->params, backward,
                                          !launch->nondeterministic, why))
    return NULL;
  *why = cudnn->why;
  if (!cudnn->version)
    return NULL;
  Operands o = operands_of (launch, backward);
  LigCudnnCase whole = lig_cudnn_case_whole (&one);
  *why = reject_operands (&o, &whole);
  if (!*why && one.ordered && launch->device->capability >= 100)
    *why = "its deterministic engines are verified only up to sm_90";
  if (*why)
    return NULL;
  LigCudnnSpace space = lig_cudnn_case_space (&one);
  LigAttentionParams part = *(const LigAttentionParams *) launch->params;
  part.heads = one.heads;
  part.kv_heads = one.kv_heads;
  if (one.ordered)
    space.workspace = LIG_ATTENTION_PLAN + lig_attention_dscores (one.batch, &part) +
                      lig_attention_shared (one.batch, &part);
  *why = "deterministic gradients need more memory than is provided";
  if (!has_space (launch, &one, &space))
    return NULL;
  *why = "no memory on the host";
  return find (launch->device, &one);
}

bool
lig_attention_build (const LigLaunch *launch, LigAttentionEntry *entry)
{
  LigAttention *attention = launch->device->attention;
  const LigCudnn *cudnn = library ();
  if (entry->tried)
    return entry->plan != NULL;
  entry->tried = true;
  if (!attention->handle) {
    int status = cudnn->create_handle (&attention->handle);
    if (status != LIG_CUDNN_SUCCESS) {
      attention->handle = NULL;
      snprintf (entry->why, sizeof entry->why, "cuDNN does not start: %.200s",
                cudnn->describe (status));
      return false;
    }
  }
  entry->plan =
    lig_cudnn_plan_new (cudnn, attention->handle, NULL, &entry->one, entry->why, sizeof entry->why);
  if (entry->plan && !has_space (launch, &entry->one, &entry->plan->space)) {
    snprintf (entry->why, sizeof entry->why, "its plan needs %lld bytes, more than is provided",
              (long long) entry->plan->space.workspace);
    lig_cudnn_plan_free (entry->plan);
    entry->plan = NULL;
  }
  lig_times_mark ("cuDNN");
  return entry->plan != NULL;
}

bool
lig_cudnn_attention_can (const LigLaunch *launch, bool backward, const char **why)
{
  enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  LigAttentionEntry *entry = lig_attention_entry (launch, backward, why);
  if (!entry)
    return false;
  if (!entry->tried && (cudaStreamIsCapturing (launch->stream, &capture) != cudaSuccess ||
                        capture != cudaStreamCaptureStatusNone)) {
    *why = "it was not autotuned";
    return false;
  }
  *why = entry->why;
  return lig_attention_build (launch, entry);
}

/* The tensors of one launch, by their ids. */
typedef struct {
  int64_t ids[LIG_CUDNN_DQUERY_32 + LIG_CUDNN_MAX_VALUES];
  void *pointers[LIG_CUDNN_DQUERY_32 + LIG_CUDNN_MAX_VALUES];
  int count;
} Pack;

static void
put (Pack *pack, int64_t id, void *pointer)
{
  pack->ids[pack->count] = id;
  pack->pointers[pack->count++] = pointer;
}

/* Adds queries, keys and values of a part, or their gradients. */
static void
put_packed (Pack *pack,
            const LigCudnnPlaces *at,
            const LigOperand *x,
            const LigOperand *memory,
            const LigCudnnTensorId ids[3])
{
  char *queries = x->data, *keys = memory->data ? memory->data : x->data;
  put (pack, (int64_t) ids[0], queries + at->query);
  put (pack, (int64_t) ids[1], keys + at->key);
  put (pack, (int64_t) ids[2], keys + at->value);
}

/* The operands with lengths that a pass reads, or copies of them. */
typedef struct {
  LigOperand x, memory, dy;
} Inputs;

/* Adds all tensors of a part of a launch. Returns the plan's workspace. */
static void *
fill_pack (Pack *pack,
           LigLaunch *launch,
           LigAttentionEntry *entry,
           const LigCudnnPlaces *at,
           const Inputs *from)
{
  static const LigCudnnTensorId inputs[3] = {LIG_CUDNN_QUERY, LIG_CUDNN_KEY, LIG_CUDNN_VALUE};
  static const LigCudnnTensorId gradients[3] = {LIG_CUDNN_DQUERY, LIG_CUDNN_DKEY, LIG_CUDNN_DVALUE};
  const LigCudnnCase *one = &entry->one;
  const LigCudnnSpace *space = &entry->plan->space;
  LigCudnnScheme *graph = &entry->plan->graph;
  Operands o = operands_of (launch, one->backward);
  char *workspace = launch->workspace, *scratch = launch->scratch;
  char *lse = o.lse->data ? o.lse->data : workspace + LENGTHS_SPACE;
  put_packed (pack, at, &from->x, &from->memory, inputs);
  put (pack, LIG_CUDNN_RESULT, (char *) o.y->data + at->result);
  put (pack, LIG_CUDNN_LSE, lse + at->lse);
  if (one->padded) {
    put (pack, LIG_CUDNN_QUERY_LENGTHS, workspace);
    put (pack, LIG_CUDNN_KEY_LENGTHS, workspace + LENGTHS_SPACE / 2);
  }
  if (one->backward) {
    put (pack, LIG_CUDNN_DRESULT, (char *) from->dy.data + at->result);
    put_packed (pack, at, o.dx, o.dmemory, gradients);
    put (pack, LIG_CUDNN_SUMS, scratch);
    if (!one->ordered)
      put (pack, LIG_CUDNN_DQUERY_32, scratch + space->sums);
  }
  for (int i = 0; i < graph->n_values; i++)
    put (pack, graph->values[i].id, &graph->values[i].number);
  return space->workspace <= PLAN_SPACE ? workspace + LENGTHS_SPACE + LSE_SPACE
                                        : scratch + space->sums + space->dquery;
}

/* Runs the entry's plan for a part on the launch's stream. */
static int
execute (const LigCudnn *cudnn,
         LigLaunch *launch,
         LigAttentionEntry *entry,
         const LigCudnnPlaces *at,
         const Inputs *from)
{
  LigCudnnHandle handle = launch->device->attention->handle;
  LigCudnnDescriptor descriptor = NULL;
  Pack pack = {.count = 0};
  void *workspace = fill_pack (&pack, launch, entry, at, from);
  int status = cudnn->set_stream (handle, launch->stream);
  if (status == LIG_CUDNN_SUCCESS)
    status = cudnn->create (LIG_CUDNN_PACK_DESCRIPTOR, &descriptor);
  if (status == LIG_CUDNN_SUCCESS)
    status =
      cudnn->set (descriptor, LIG_CUDNN_PACK_IDS, LIG_CUDNN_TYPE_INT64, pack.count, pack.ids);
  if (status == LIG_CUDNN_SUCCESS)
    status = cudnn->set (descriptor, LIG_CUDNN_PACK_POINTERS, LIG_CUDNN_TYPE_POINTER, pack.count,
                         pack.pointers);
  if (status == LIG_CUDNN_SUCCESS)
    status =
      cudnn->set (descriptor, LIG_CUDNN_PACK_WORKSPACE, LIG_CUDNN_TYPE_POINTER, 1, &workspace);
  if (status == LIG_CUDNN_SUCCESS)
    status = cudnn->finalize (descriptor);
  if (status == LIG_CUDNN_SUCCESS)
    status = cudnn->execute (handle, entry->plan->plan, descriptor);
  if (descriptor)
    cudnn->destroy (descriptor);
  return status;
}

/* Writes the lengths of a part where its plan reads them. */
static cudaError_t
limit_lengths (LigLaunch *launch, const LigCudnnCase *one, const LigCudnnPlaces *at)
{
  const int32_t *lengths = operands_of (launch, one->backward).lengths->data;
  char *workspace = launch->workspace;
  return lig_attention_lengths (lengths + at->rows, one->batch, one->length, one->keys, one->memory,
                                (int32_t *) workspace, (int32_t *) (workspace + LENGTHS_SPACE / 2),
                                launch->stream);
}

/* Replaces an operand by a copy at `*to`, and advances that past the copy. */
static cudaError_t
copy (LigLaunch *launch, LigOperand *operand, int64_t batch, const int32_t *lengths, char **to)
{
  const void *from = operand->data;
  int64_t bytes = operand->columns * 2;
  LigPadded padded = {.data = operand->data = *to,
                      .batch = batch,
                      .groups = 1,
                      .rows = operand->size / operand->columns / batch,
                      .bytes = bytes};
  *to += lig_attention_rounded (operand->size * 2, 256);
  return lig_attention_copy (&padded, from, lengths, launch->stream);
}

/* Finds the operands that a pass reads; those with lengths are copied and zero-padded, because
 * cuDNN multiplies masked elements, which may be NaN. */
static cudaError_t
find_inputs (LigLaunch *launch, const LigAttentionEntry *entry, Inputs *inputs)
{
  const LigCudnnCase *one = &entry->one;
  Operands o = operands_of (launch, one->backward);
  int64_t batch = lig_cudnn_case_whole (one).batch;
  const int32_t *lengths = o.lengths->data;
  char *to = (char *) launch->scratch + size_of (&entry->plan->space);
  *inputs = (Inputs){.x = *o.x, .memory = *o.memory};
  if (one->backward)
    inputs->dy = *o.dy;
  if (!one->padded)
    return cudaSuccess;
  if (one->memory)
    return copy (launch, &inputs->memory, batch, lengths, &to);
  cudaError_t error = copy (launch, &inputs->x, batch, lengths, &to);
  return error == cudaSuccess && one->backward ? copy (launch, &inputs->dy, batch, lengths, &to)
                                               : error;
}

/* Writes zeros past the lengths of a whole case. */
static cudaError_t
clear (LigLaunch *launch, const LigCudnnCase *one)
{
  Operands o = operands_of (launch, one->backward);
  const int32_t *lengths = o.lengths->data;
  int64_t row = (int64_t) one->heads * one->features * 2;
  int64_t pairs = (int64_t) one->kv_heads * one->features * 4;
  bool whole = one->memory;
  LigPadded parts[2] = {{.data = o.y->data,
                         .batch = one->batch,
                         .groups = 1,
                         .rows = one->length,
                         .bytes = row,
                         .whole = whole},
                        {.data = o.lse->data,
                         .batch = one->batch,
                         .groups = one->heads,
                         .rows = one->length,
                         .bytes = 4,
                         .whole = whole}};
  if (one->backward) {
    parts[0].data = o.dx->data;
    parts[0].bytes = one->memory ? row : row + pairs;
    parts[1] = (LigPadded){.data = one->memory ? o.dmemory->data : NULL,
                           .batch = one->batch,
                           .groups = 1,
                           .rows = one->keys,
                           .bytes = pairs};
  }
  cudaError_t error = cudaSuccess;
  for (int i = 0; i < 2 && error == cudaSuccess; i++)
    if (parts[i].data)
      error = lig_attention_clear (&parts[i], lengths, launch->stream);
  return error;
}

/* Records the library's message as the launch's failure. */
static LigStatus
fail (LigLaunch *launch, const LigCudnn *cudnn, int status)
{
  LigBackendDevice *device = launch->device;
  LigStatus lost = lig_cuda_status (device, cudaGetLastError (), "attention through cuDNN");
  if (lost == LIG_OK)
    snprintf (device->message, sizeof device->message, "attention through cuDNN: %.200s",
              cudnn->describe (status));
  launch->where = device->message;
  return lost == LIG_OK ? LIG_FAILED : lost;
}

static LigStatus
run (LigLaunch *launch, bool backward)
{
  const LigCudnn *cudnn = library ();
  const char *why = NULL;
  LigAttentionEntry *entry = lig_attention_entry (launch, backward, &why);
  if (!entry || !entry->plan)
    return LIG_UNSUPPORTED;
  const LigCudnnCase *one = &entry->one;
  Inputs inputs;
  cudaError_t error = find_inputs (launch, entry, &inputs);
  for (int64_t i = 0; i < lig_cudnn_case_parts (one) && error == cudaSuccess; i++) {
    LigCudnnPlaces at = lig_cudnn_case_places (one, i);
    if (one->padded)
      error = limit_lengths (launch, one, &at);
    int status =
      error == cudaSuccess ? execute (cudnn, launch, entry, &at, &inputs) : LIG_CUDNN_SUCCESS;
    if (status != LIG_CUDNN_SUCCESS)
      return fail (launch, cudnn, status);
  }
  const LigOperand *lse = operands_of (launch, backward).lse;
  if (error == cudaSuccess && !backward && lse->data)
    error = cudaMemsetAsync ((float *) lse->data + lse->size / 2, 0,
                             (size_t) (lse->size / 2) * sizeof (float), launch->stream);
  if (error == cudaSuccess && one->padded) {
    LigCudnnCase whole = lig_cudnn_case_whole (one);
    error = clear (launch, &whole);
  }
  LigStatus status = lig_cuda_status (launch->device, error, "attention with lengths");
  if (status != LIG_OK)
    launch->where = launch->device->message;
  return status;
}

LigStatus
lig_cudnn_attention (LigLaunch *launch)
{
  return run (launch, false);
}

LigStatus
lig_cudnn_attention_backward (LigLaunch *launch)
{
  return run (launch, true);
}

void
lig_attention_free (LigAttention *attention)
{
  if (!attention)
    return;
  for (int i = 0; i < attention->n_entries; i++) {
    lig_cudnn_plan_free (attention->entries[i]->plan);
    free (attention->entries[i]);
  }
  free (attention->entries);
  if (attention->handle)
    library ()->destroy_handle (attention->handle);
  free (attention);
}
