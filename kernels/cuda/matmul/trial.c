/* SPDX-License-Identifier: MIT */
/* The timing and comparison of a matmul's algorithms: as CUDA graphs of several launches, on
 * memory that has the sizes, strides and alignments of the real operands. */
#include "kernels/cuda/matmul/trial.h"
#include "kernels/cuda/common/steady.h"
#include "kernels/quantize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_LAUNCHES = 20, MAX_FINALISTS = 5 };

/* The seconds for which the final rounds may keep the device busy. */
#define LAST_BUDGET 0.2

/* The multiples of the best time above which an algorithm is dropped. */
#define FINAL_MARGIN 1.1f
#define FIRST_MARGIN 1.5f

/* The size in bytes above which a second set of matrices is not worth its memory. */
#define MAX_MEMORY ((size_t) 512 << 20)

/* Returns the monotonic clock. */
double
lig_trial_clock (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Returns the bytes for that many elements, rounded up to the next boundary, with room for an
 * intentionally misaligned address. */
static size_t
padded_size (int64_t elements, uint8_t dtype)
{
  return ((size_t) elements * lig_dtype_size ((LigDtype) dtype) + 16 + 255) / 256 * 256;
}

/* Carves out a part of the memory, aligned like the real operand, and fills it with random numbers
 * if it is to be read. */
static void *
part (LigTrial *trial, char **at, int64_t elements, uint8_t dtype, uint8_t align, bool random)
{
  char *data = *at + (align < 16 ? align : 0);
  *at += padded_size (elements, dtype);
  if (random)
    lig_cuda_fill_random (data, (LigDtype) dtype, elements, (uint64_t) (*at - trial->memory),
                          trial->stream);
  return data;
}

/* Sets the number of elements of A, B, C, D, the vector, aux, and the scales of A and B; 0 for
 * absent ones. */
static void
sizes_of (const LigMatmulKey *key, int64_t sizes[8])
{
  sizes[0] = key->lda * (key->transposed_a ? key->m : key->k);
  sizes[1] = key->ldb * (key->transposed_b ? key->k : key->n);
  sizes[3] = key->ldd * key->n;
  sizes[2] = key->beta ? (key->ldc ? key->ldc * key->n : key->m) : 0;
  sizes[4] = key->vector_length;
  sizes[5] = key->ld_aux * key->n;
  sizes[6] =
    key->scales ? lig_scales_count ((LigScales) (key->scales >> 2 & 3), key->m, key->k) : 0;
  sizes[7] = key->scales ? lig_scales_count ((LigScales) (key->scales & 3), key->n, key->k) : 0;
}

/* Allocates one or two sets of operands; two if a single set would fit into the L2 cache. */
static bool
allocate (LigTrial *trial)
{
  const LigMatmulKey *key = &trial->entry->key;
  int64_t sizes[8];
  size_t bytes = 0;
  uint8_t input_a = key->input_a ? key->input_a : key->input;
  int l2 = 0;
  sizes_of (key, sizes);
  for (int i = 0; i < 8; i++)
    bytes += padded_size (sizes[i], i < 2    ? key->input
                                    : i == 4 ? key->vector
                                    : i > 5  ? LIG_FP32
                                             : key->output);
  cudaDeviceGetAttribute (&l2, cudaDevAttrL2CacheSize, trial->matmuls->device->number);
  trial->n_calls = bytes < (size_t) l2 && 2 * bytes <= MAX_MEMORY ? 2 : 1;
  size_t whole = (size_t) key->workspace + (size_t) trial->n_calls * bytes;
  trial->no_memory = cudaMalloc ((void **) &trial->memory, whole) == cudaErrorMemoryAllocation;
  if (!trial->memory)
    return false;
  char *at = trial->memory + key->workspace;
  for (int i = 0; i < trial->n_calls; i++) {
    LigMatmulCall *call = &trial->calls[i];
    call->workspace = trial->memory;
    call->alpha = 1;
    call->stream = trial->stream;
    call->a = part (trial, &at, sizes[0], input_a, key->align_a, true);
    call->b = part (trial, &at, sizes[1], key->input, key->align_b, true);
    call->c = part (trial, &at, sizes[2], key->output, key->align_c, key->beta);
    call->d = part (trial, &at, sizes[3], key->output, key->align_d, false);
    call->vector = part (trial, &at, sizes[4], key->vector, key->align_vector, true);
    call->aux = part (trial, &at, sizes[5], key->output, key->align_aux, true);
    call->a_scales = part (trial, &at, sizes[6], LIG_FP32, 16, true);
    call->b_scales = part (trial, &at, sizes[7], LIG_FP32, 16, true);
    call->d_scale = call->a_scales;
    if (!key->beta)
      call->c = call->d;
  }
  return cudaStreamSynchronize (trial->stream) == cudaSuccess;
}

bool
lig_trial_open (LigTrial *trial, LigMatmuls *matmuls, LigMatmulEntry *entry)
{
  trial->matmuls = matmuls;
  trial->entry = entry;
  trial->best = INFINITY;
  return cudaStreamCreateWithFlags (&trial->stream, cudaStreamNonBlocking) == cudaSuccess &&
         cudaEventCreate (&trial->begin) == cudaSuccess &&
         cudaEventCreate (&trial->end) == cudaSuccess && allocate (trial);
}

void
lig_trial_close (LigTrial *trial)
{
  for (int i = 0; i < trial->n_kept; i++)
    cudaGraphExecDestroy (trial->kept[i].graph);
  if (trial->begin)
    cudaEventDestroy (trial->begin);
  if (trial->end)
    cudaEventDestroy (trial->end);
  if (trial->stream)
    cudaStreamDestroy (trial->stream);
  cudaFree (trial->memory);
  cudaFree (trial->expected);
  /* A measurement failed here; no launch should report its error. */
  cudaGetLastError ();
}

/* Launches the matmul with an algorithm on one of the sets of operands. */
static bool
call (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm, int which)
{
  return lig_matmul_call (trial->matmuls, trial->entry, algorithm,
                          &trial->calls[which % trial->n_calls]) == CUBLAS_STATUS_SUCCESS;
}

/* Returns the microseconds between `begin` and `end`; negative if timing is not possible
 * anymore. */
static float
elapsed (LigTrial *trial)
{
  float milliseconds = -1;
  if (cudaEventSynchronize (trial->end) != cudaSuccess ||
      cudaEventElapsedTime (&milliseconds, trial->begin, trial->end) != cudaSuccess)
    return -1;
  return milliseconds * 1000;
}

/* Returns the approximate time of a single launch in microseconds; negative if it does not run. The
 * first launch is not timed, because the library may load a kernel in it. */
static float
run_alone (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm)
{
  bool runs = call (trial, algorithm, 0);
  trial->lost = cudaStreamSynchronize (trial->stream) != cudaSuccess;
  cudaGetLastError ();
  if (!runs || trial->lost)
    return -1;
  cudaEventRecord (trial->begin, trial->stream);
  runs = call (trial, algorithm, 1);
  cudaEventRecord (trial->end, trial->stream);
  float once = elapsed (trial);
  trial->lost = once < 0;
  return runs ? once : -1;
}

/* Returns the number of launches for a reliable measurement of an algorithm that takes `once`
 * microseconds: 200 us in total, so that the start of a graph does not matter. */
static int
count_launches (float once)
{
  int launches = once > 0 ? (int) (200 / once) : MAX_LAUNCHES;
  launches = once > 1000 ? 2 : launches < 3 ? 3 : launches;
  return launches < MAX_LAUNCHES ? launches : MAX_LAUNCHES;
}

/* Captures several launches as a graph, because the host launches small matmuls more slowly
 * than the device runs them. */
static void
capture (LigTrial *trial, LigTrialAlgorithm *candidate)
{
  cudaGraph_t graph = NULL;
  bool good = true;
  if (cudaStreamBeginCapture (trial->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    return;
  for (int i = 0; i < trial->launches && good; i++)
    good = call (trial, &candidate->algorithm, i);
  if (cudaStreamEndCapture (trial->stream, &graph) == cudaSuccess && good && graph &&
      cudaGraphInstantiate (&candidate->graph, graph, 0) != cudaSuccess)
    candidate->graph = NULL;
  if (graph)
    cudaGraphDestroy (graph);
}

/* Returns the microseconds of one launch. If all launches together are short, they run twice, so
 * that the device is still busy with the first batch when the timed one arrives. */
static float
measure (LigTrial *trial, const LigTrialAlgorithm *candidate)
{
  bool warm = trial->launches > 2;
  if (warm)
    cudaGraphLaunch (candidate->graph, trial->stream);
  cudaEventRecord (trial->begin, trial->stream);
  if (cudaGraphLaunch (candidate->graph, trial->stream) != cudaSuccess)
    return -1;
  cudaEventRecord (trial->end, trial->stream);
  float time = elapsed (trial);
  trial->busy += 1e-6 * (double) time * (warm ? 2 : 1);
  return time / (float) trial->launches;
}

/* Keeps a candidate, in a free slot or instead of the slowest. The first that ran stays, for
 * comparisons. */
static void
keep (LigTrial *trial, const LigTrialAlgorithm *candidate)
{
  int slowest = 1;
  if (trial->n_kept < LIG_MAX_TRIALS) {
    trial->kept[trial->n_kept++] = *candidate;
    return;
  }
  for (int i = 2; i < trial->n_kept; i++)
    if (trial->kept[i].microseconds > trial->kept[slowest].microseconds)
      slowest = i;
  if (candidate->microseconds >= trial->kept[slowest].microseconds) {
    cudaGraphExecDestroy (candidate->graph);
    return;
  }
  cudaGraphExecDestroy (trial->kept[slowest].graph);
  trial->kept[slowest] = *candidate;
}

float
lig_trial_run (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm)
{
  LigTrialAlgorithm candidate = {.algorithm = *algorithm};
  float once = trial->lost ? -1 : run_alone (trial, algorithm);
  if (once < 0)
    return INFINITY;
  /* A few microseconds of the time are launch overhead. */
  if (once > FIRST_MARGIN * trial->best + 15)
    return once;
  if (trial->launches == 0)
    trial->launches = count_launches (once);
  capture (trial, &candidate);
  if (!candidate.graph) {
    cudaGetLastError ();
    return INFINITY;
  }
  candidate.microseconds = measure (trial, &candidate);
  if (candidate.microseconds < 0) {
    cudaGraphExecDestroy (candidate.graph);
    return INFINITY;
  }
  if (candidate.microseconds < trial->best)
    trial->best = candidate.microseconds;
  keep (trial, &candidate);
  return candidate.microseconds;
}

/* One of the outputs of a matmul. */
typedef struct {
  void *data;
  int64_t count;
  uint8_t dtype;
} Output;

/* Sets the outputs of the matmul; returns their number. */
static int
outputs_of (const LigTrial *trial, Output outputs[3])
{
  const LigMatmulKey *key = &trial->entry->key;
  const LigMatmulCall *call = &trial->calls[0];
  int64_t sizes[8];
  int count = 0;
  sizes_of (key, sizes);
  outputs[count++] = (Output){call->d, sizes[3], key->output};
  if (key->epilogue == CUBLASLT_EPILOGUE_GELU_AUX ||
      key->epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS)
    outputs[count++] = (Output){call->aux, sizes[5], key->output};
  if (key->epilogue == CUBLASLT_EPILOGUE_BGRADB || key->epilogue == CUBLASLT_EPILOGUE_DGELU_BGRAD)
    outputs[count++] = (Output){call->vector, sizes[4], key->vector};
  return count;
}

/* Computes the outputs. They are zeroed first, so that elements which an algorithm skips do not
 * keep the previous result. */
static bool
compute (LigTrial *trial, const cublasLtMatmulAlgo_t *algorithm, const Output *outputs, int count)
{
  for (int i = 0; i < count; i++)
    cudaMemsetAsync (outputs[i].data, 0,
                     (size_t) outputs[i].count * lig_dtype_size ((LigDtype) outputs[i].dtype),
                     trial->stream);
  bool runs = call (trial, algorithm, 0);
  return cudaStreamSynchronize (trial->stream) == cudaSuccess && runs;
}

/* Returns the bytes of an output. */
static size_t
bytes_of (const Output *output)
{
  return (size_t) output->count * lig_dtype_size ((LigDtype) output->dtype);
}

/* Allocates memory to save outputs in, after the numbers that a comparison finds. */
static bool
allocate_expected (LigTrial *trial, const Output *outputs, int count)
{
  size_t bytes = 256;
  for (int i = 0; i < count; i++)
    bytes += padded_size (outputs[i].count, outputs[i].dtype);
  if (!trial->expected &&
      cudaMalloc ((void **) &trial->expected, bytes) == cudaErrorMemoryAllocation)
    trial->no_memory = true;
  return trial->expected != NULL;
}

/* Computes and keeps the outputs. */
static bool
compute_and_keep (LigTrial *trial,
                  const cublasLtMatmulAlgo_t *algorithm,
                  const Output *outputs,
                  int count)
{
  bool good = compute (trial, algorithm, outputs, count);
  char *at = trial->expected + 256;
  for (int i = 0; i < count && good; i++) {
    good = cudaMemcpyAsync (at, outputs[i].data, bytes_of (&outputs[i]), cudaMemcpyDeviceToDevice,
                            trial->stream) == cudaSuccess;
    at += padded_size (outputs[i].count, outputs[i].dtype);
  }
  return cudaStreamSynchronize (trial->stream) == cudaSuccess && good;
}

bool
lig_trial_expect (LigTrial *trial)
{
  Output outputs[3];
  int count = outputs_of (trial, outputs);
  return trial->n_kept > 0 && allocate_expected (trial, outputs, count) &&
         compute_and_keep (trial, &trial->kept[0].algorithm, outputs, count);
}

/* Returns whether the candidate computes the same bits twice. The expected outputs are
 * overwritten. */
static bool
repeats (LigTrial *trial, const LigTrialAlgorithm *candidate)
{
  Output outputs[3];
  int count = outputs_of (trial, outputs);
  const char *at = trial->expected + 256;
  uint32_t other = 1;
  if (!compute_and_keep (trial, &candidate->algorithm, outputs, count) ||
      !compute (trial, &candidate->algorithm, outputs, count))
    return false;
  cudaMemsetAsync (trial->expected, 0, sizeof other, trial->stream);
  for (int i = 0; i < count; i++) {
    lig_compare_bits (outputs[i].data, at, bytes_of (&outputs[i]), (uint32_t *) trial->expected,
                      trial->stream);
    at += padded_size (outputs[i].count, outputs[i].dtype);
  }
  return cudaMemcpyAsync (&other, trial->expected, sizeof other, cudaMemcpyDeviceToHost,
                          trial->stream) == cudaSuccess &&
         cudaStreamSynchronize (trial->stream) == cudaSuccess && other == 0;
}

/* Returns the tolerance between two correct results, relative to the largest element: larger than
 * the effect of another summation order and one rounding, smaller than that of a missing part of
 * the depth. */
static float
tolerance (const LigMatmulKey *key, uint8_t dtype)
{
  return dtype == LIG_BF16                                       ? 1.0f / 64
         : dtype == LIG_FP16                                     ? 1.0f / 512
         : key->tf32                                             ? 1.0f / 256
         : lig_dtype_has ((LigDtype) dtype, LIG_DTYPE_QUANTIZED) ? 1.0f / 8
                                                                 : 1.0f / 16384;
}

/* Returns whether the candidate's outputs agree with the expected ones. */
static bool
agrees (LigTrial *trial, const LigTrialAlgorithm *candidate)
{
  Output outputs[3];
  int count = outputs_of (trial, outputs);
  const char *at = trial->expected + 256;
  if (!compute (trial, &candidate->algorithm, outputs, count))
    return false;
  for (int i = 0; i < count; i++) {
    float found[2] = {INFINITY, 0}; /* largest difference, largest element */
    cudaMemsetAsync (trial->expected, 0, sizeof found, trial->stream);
    lig_compare (outputs[i].data, at, (LigDtype) outputs[i].dtype, outputs[i].count,
                 (uint32_t *) trial->expected, trial->stream);
    if (cudaMemcpyAsync (found, trial->expected, sizeof found, cudaMemcpyDeviceToHost,
                         trial->stream) != cudaSuccess ||
        cudaStreamSynchronize (trial->stream) != cudaSuccess ||
        !(found[0] <= tolerance (&trial->entry->key, outputs[i].dtype) * found[1]))
      return false;
    at += padded_size (outputs[i].count, outputs[i].dtype);
  }
  return true;
}

/* Orders candidates by time. */
static int
by_time (const void *a, const void *b)
{
  const LigTrialAlgorithm *x = a, *y = b;
  return (x->microseconds > y->microseconds) - (x->microseconds < y->microseconds);
}

/* Orders numbers. */
static int
by_value (const void *a, const void *b)
{
  const float *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Sorts the candidates to run again to the front and returns their number. Among many of nearly the
 * same speed, a single measurement would select the luckiest: hence the mean of two. */
static int
find_finalists (LigTrial *trial)
{
  cublasLtMatmulAlgo_t first = trial->kept[0].algorithm;
  int finalists = 0;
  for (int i = 0; i < trial->n_kept && trial->busy < LAST_BUDGET / 2; i++)
    if (trial->kept[i].microseconds <= FINAL_MARGIN * trial->best) {
      float again = measure (trial, &trial->kept[i]);
      if (again < 0)
        return 0;
      trial->kept[i].microseconds = (trial->kept[i].microseconds + again) / 2;
    }
  qsort (trial->kept, (size_t) trial->n_kept, sizeof *trial->kept, by_time);
  for (int i = 0; i < trial->n_kept && finalists < MAX_FINALISTS; i++) {
    LigTrialAlgorithm candidate = trial->kept[i];
    if (finalists > 0 && candidate.microseconds > FINAL_MARGIN * trial->kept[0].microseconds)
      break;
    if (trial->expected && memcmp (&candidate.algorithm, &first, sizeof first) != 0 &&
        !agrees (trial, &candidate))
      continue;
    trial->kept[i] = trial->kept[finalists];
    trial->kept[finalists++] = candidate;
  }
  return finalists;
}

/* Returns the fastest finalist whose bits are reproducible. Without memory to test that, the
 * heuristic's proposal is trusted: variations were not tried then. */
static const LigTrialAlgorithm *
find_winner (LigTrial *trial, int finalists)
{
  Output outputs[3];
  bool compared = allocate_expected (trial, outputs, outputs_of (trial, outputs));
  for (;;) {
    LigTrialAlgorithm *best = NULL;
    for (int i = 0; i < finalists; i++)
      if (trial->kept[i].microseconds < (best ? best->microseconds : INFINITY))
        best = &trial->kept[i];
    if (!best || !compared || repeats (trial, best))
      return best;
    best->microseconds = INFINITY;
  }
}

/* Sets the times of finalists, the fastest first, to those at steady clocks if the matmul is long
 * and the device is power-limited: there the energy of a matmul determines its time. False after a
 * failure. */
static bool
time_steadily (LigTrial *trial, int finalists)
{
  qsort (trial->kept, (size_t) finalists, sizeof *trial->kept, by_time);
  if (finalists < 2 || trial->kept[0].microseconds < LIG_STEADY_FROM)
    return true;
  for (int i = 0; i < finalists; i++) {
    LigTrialAlgorithm *candidate = &trial->kept[i];
    bool limited;
    float time = lig_steady_time (trial->matmuls->device, trial->stream, candidate->graph,
                                  trial->launches, candidate->microseconds, &limited);
    if (time < 0)
      return false;
    if (i == 0 && !limited)
      return true;
    candidate->microseconds = time;
  }
  return true;
}

const LigTrialAlgorithm *
lig_trial_decide (LigTrial *trial)
{
  trial->busy = 0;
  int finalists = trial->n_kept > 0 ? find_finalists (trial) : 0, rounds = 0;
  int max = trial->best < 100 ? LIG_MAX_ROUNDS : 5;
  /* The finalists alternate, so that a change of the clock affects all of them; their medians
   * decide. */
  for (; rounds < max && (rounds == 0 || trial->busy < LAST_BUDGET); rounds++)
    for (int i = 0; i < finalists; i++) {
      float time = measure (trial, &trial->kept[i]);
      if (time < 0)
        return NULL;
      trial->kept[i].rounds[rounds] = time;
    }
  for (int i = 0; i < finalists; i++) {
    LigTrialAlgorithm *candidate = &trial->kept[i];
    qsort (candidate->rounds, (size_t) rounds, sizeof *candidate->rounds, by_value);
    candidate->microseconds = candidate->rounds[rounds / 2];
  }
  return time_steadily (trial, finalists) ? find_winner (trial, finalists) : NULL;
}
