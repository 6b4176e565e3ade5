/* SPDX-License-Identifier: MIT */
/* Which algorithm a product takes: what was stored for it; else the fastest of those that the
 * heuristic proposes, timed on random data of its own; else the heuristic's first. */
#include "kernels/cuda/algorithms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_CANDIDATES = 32, FINALISTS = 4, ROUNDS = 5, MOST_LAUNCHES = 20 };

/* Seconds that the device may be kept busy: for a first impression of all, and for the whole; and
 * how long that may take with all that the library loads meanwhile. */
#define FIRST_BUDGET 0.3
#define BUDGET 0.5
#define PATIENCE 3.0

/* With more than this, two sets of matrices are not worth their memory. */
#define MOST_MEMORY ((size_t) 512 << 20)

typedef struct {
  cublasLtMatmulAlgo_t algorithm;
  cudaGraphExec_t graph; /* so many launches of it; null: it does not run */
  float microseconds;    /* of one launch */
  float rounds[ROUNDS];
} Candidate;

typedef struct {
  LigProducts *products;
  LigProductEntry *entry;
  cudaStream_t stream;
  cudaEvent_t begin, end;
  char *memory;
  LigProductCall calls[2]; /* taken in turn, so that not all of a small product is in the cache */
  int n_calls;
  int launches;
  Candidate candidates[MOST_CANDIDATES];
  int n_candidates;
  double started, busy; /* seconds on the clock, and on the device */
} Trial;

static double
now (void)
{
  struct timespec time;
  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Split products are summed in fp32 and in a fixed order, or not at all. In place, the order may
 * vary; in the type of the result, each part would be rounded. */
static bool
is_exact (const cublasLtMatmulAlgo_t *algorithm)
{
  uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_MASK;
  int32_t parts = 0;
  size_t written;
  cublasLtMatmulAlgoConfigGetAttribute (algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                        sizeof parts, &written);
  if (cublasLtMatmulAlgoConfigGetAttribute (algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME,
                                            &scheme, sizeof scheme,
                                            &written) != CUBLAS_STATUS_SUCCESS)
    return false;
  return scheme == CUBLASLT_REDUCTION_SCHEME_NONE ||
         scheme == CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE || parts == 1;
}

static bool
prefer (cublasLtMatmulPreference_t preference,
        cublasLtMatmulPreferenceAttributes_t which,
        const void *value,
        size_t size)
{
  return cublasLtMatmulPreferenceSetAttribute (preference, which, value, size) ==
         CUBLAS_STATUS_SUCCESS;
}

static bool
state_preferences (cublasLtMatmulPreference_t preference, const LigProductKey *key)
{
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  uint32_t a = key->align_a, b = key->align_b, c = key->align_c, d = key->align_d;
  return cublasLtMatmulPreferenceInit (preference) == CUBLAS_STATUS_SUCCESS &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &key->workspace,
                 sizeof key->workspace) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes,
                 sizeof schemes) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c) &&
         prefer (preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &d, sizeof d);
}

/* Fills the candidates, at most `most`, in the heuristic's order. */
static int
propose (LigProducts *products, LigProductEntry *entry, Candidate *candidates, int most)
{
  cublasLtMatmulPreferenceOpaque_t preference;
  cublasLtMatmulHeuristicResult_t results[MOST_CANDIDATES];
  int found = 0, count = 0;
  memset (results, 0, sizeof results);
  if (!state_preferences (&preference, &entry->key) ||
      cublasLtMatmulAlgoGetHeuristic (products->handle, &entry->description, &entry->a, &entry->b,
                                      &entry->c, &entry->d, &preference, MOST_CANDIDATES, results,
                                      &found) != CUBLAS_STATUS_SUCCESS)
    return 0;
  for (int i = 0; i < found && count < most; i++)
    if (results[i].state == CUBLAS_STATUS_SUCCESS &&
        results[i].workspaceSize <= entry->key.workspace && is_exact (&results[i].algo)) {
      memset (&candidates[count], 0, sizeof candidates[count]);
      candidates[count++].algorithm = results[i].algo;
    }
  return count;
}

/* Bytes up to the next boundary, with room for an address that is aligned badly on purpose. */
static size_t
room_for (int64_t elements, LigDtype dtype)
{
  return ((size_t) elements * lig_dtype_size (dtype) + 16 + 255) / 256 * 256;
}

/* A part of the memory, of random numbers if it is to be read, aligned as the real one. */
static void *
part (Trial *trial, char **at, int64_t elements, uint8_t dtype, uint8_t align, bool random)
{
  char *data = *at + (align < 16 ? align : 0);
  *at += room_for (elements, (LigDtype) dtype);
  if (random)
    lig_fill_random (data, (LigDtype) dtype, elements, (uint64_t) (*at - trial->memory),
                     trial->stream);
  return data;
}

/* Elements of each matrix, absent ones 0: A, B, C, D, the vector, aux. */
static void
sizes_of (const LigProductKey *key, int64_t sizes[6])
{
  sizes[0] = key->lda * (key->transposed_a ? key->m : key->k);
  sizes[1] = key->ldb * (key->transposed_b ? key->k : key->n);
  sizes[3] = key->ldd * key->n;
  sizes[2] = key->beta ? (key->ldc ? key->ldc * key->n : key->m) : 0;
  sizes[4] = key->vector_length;
  sizes[5] = key->ld_aux * key->n;
}

static bool
allocate (Trial *trial)
{
  const LigProductKey *key = &trial->entry->key;
  int64_t sizes[6];
  size_t bytes = 0;
  int l2 = 0;
  sizes_of (key, sizes);
  for (int i = 0; i < 6; i++)
    bytes += room_for (sizes[i], (LigDtype) (i < 2    ? key->input
                                             : i == 4 ? key->vector
                                                      : key->output));
  cudaDeviceGetAttribute (&l2, cudaDevAttrL2CacheSize, trial->products->device->number);
  trial->n_calls = bytes < (size_t) l2 && 2 * bytes <= MOST_MEMORY ? 2 : 1;
  size_t whole = (size_t) key->workspace + (size_t) trial->n_calls * bytes;
  if (cudaMalloc ((void **) &trial->memory, whole) != cudaSuccess)
    return false;
  char *at = trial->memory + key->workspace;
  for (int i = 0; i < trial->n_calls; i++) {
    LigProductCall *call = &trial->calls[i];
    call->workspace = trial->memory;
    call->alpha = 1;
    call->stream = trial->stream;
    call->a = part (trial, &at, sizes[0], key->input, key->align_a, true);
    call->b = part (trial, &at, sizes[1], key->input, key->align_b, true);
    call->c = part (trial, &at, sizes[2], key->output, key->align_c, key->beta);
    call->d = part (trial, &at, sizes[3], key->output, key->align_d, false);
    call->vector = part (trial, &at, sizes[4], key->vector, key->align_vector, true);
    call->aux = part (trial, &at, sizes[5], key->output, key->align_aux, true);
    if (!key->beta)
      call->c = call->d;
  }
  return cudaStreamSynchronize (trial->stream) == cudaSuccess;
}

static bool
call (Trial *trial, const Candidate *candidate, int which)
{
  return lig_product_call (trial->products, trial->entry, &candidate->algorithm,
                           &trial->calls[which % trial->n_calls]) == CUBLAS_STATUS_SUCCESS;
}

/* Between `begin` and `end`, in microseconds; negative if nothing can be timed any more. */
static float
elapsed (Trial *trial)
{
  float milliseconds = -1;
  if (cudaEventSynchronize (trial->end) != cudaSuccess ||
      cudaEventElapsedTime (&milliseconds, trial->begin, trial->end) != cudaSuccess)
    return -1;
  return milliseconds * 1000;
}

/* The first candidate that runs says how many launches make a sound measurement: 200 us, so that
 * what it takes to start a graph does not count. */
static bool
count_launches (Trial *trial, const Candidate *candidate)
{
  cudaEventRecord (trial->begin, trial->stream);
  if (!call (trial, candidate, 1))
    return false;
  cudaEventRecord (trial->end, trial->stream);
  float once = elapsed (trial);
  if (once < 0)
    return false;
  int launches = once > 0 ? (int) (200 / once) : MOST_LAUNCHES;
  trial->launches = once > 1000 ? 2 : launches < 3 ? 3 : launches;
  if (trial->launches > MOST_LAUNCHES)
    trial->launches = MOST_LAUNCHES;
  return true;
}

/* As a graph, because the host launches small products more slowly than the device runs them. */
static void
capture (Trial *trial, Candidate *candidate)
{
  cudaGraph_t graph = NULL;
  bool good = true;
  if (cudaStreamBeginCapture (trial->stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    return;
  for (int i = 0; i < trial->launches && good; i++)
    good = call (trial, candidate, i);
  if (cudaStreamEndCapture (trial->stream, &graph) == cudaSuccess && good && graph &&
      cudaGraphInstantiate (&candidate->graph, graph, 0) != cudaSuccess)
    candidate->graph = NULL;
  if (graph)
    cudaGraphDestroy (graph);
}

/* Microseconds of one launch. Where all launches together are short, they run twice, so that the
 * device is still busy with the first when the timed ones arrive. */
static float
measure (Trial *trial, const Candidate *candidate)
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

/* A first impression of each candidate, until the time is up: the heuristic put the best first. */
static void
try_each (Trial *trial)
{
  for (int i = 0; i < trial->n_candidates; i++) {
    Candidate *candidate = &trial->candidates[i];
    if (i >= FINALISTS && (trial->busy > FIRST_BUDGET || now () - trial->started > PATIENCE))
      break;
    /* Alone first: what the library does at a first launch cannot be captured. */
    if (!call (trial, candidate, 0) || cudaStreamSynchronize (trial->stream) != cudaSuccess)
      continue;
    if (trial->launches == 0 && !count_launches (trial, candidate)) {
      trial->launches = 0;
      continue;
    }
    capture (trial, candidate);
    if (!candidate->graph)
      continue;
    candidate->microseconds = measure (trial, candidate);
    if (candidate->microseconds < 0) {
      cudaGraphExecDestroy (candidate->graph);
      candidate->graph = NULL;
    }
  }
}

static int
by_time (const void *a, const void *b)
{
  const Candidate *x = a, *y = b;
  if (!x->graph || !y->graph)
    return (x->graph == NULL) - (y->graph == NULL);
  return (x->microseconds > y->microseconds) - (x->microseconds < y->microseconds);
}

static int
by_value (const void *a, const void *b)
{
  const float *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The best run again in turn, so that a change of the clock meets all of them; medians decide. */
static const Candidate *
decide (Trial *trial)
{
  int finalists = 0, rounds = 0;
  qsort (trial->candidates, (size_t) trial->n_candidates, sizeof *trial->candidates, by_time);
  while (finalists < trial->n_candidates && finalists < FINALISTS &&
         trial->candidates[finalists].graph)
    finalists++;
  if (finalists == 0)
    return NULL;
  for (; rounds < ROUNDS && (rounds == 0 || trial->busy < BUDGET); rounds++)
    for (int i = 0; i < finalists; i++) {
      float time = measure (trial, &trial->candidates[i]);
      if (time < 0)
        return NULL;
      trial->candidates[i].rounds[rounds] = time;
    }
  Candidate *best = NULL;
  for (int i = 0; i < finalists; i++) {
    Candidate *candidate = &trial->candidates[i];
    qsort (candidate->rounds, (size_t) rounds, sizeof *candidate->rounds, by_value);
    candidate->microseconds = candidate->rounds[rounds / 2];
    if (!best || candidate->microseconds < best->microseconds)
      best = candidate;
  }
  return best;
}

static void
clean_up (Trial *trial)
{
  for (int i = 0; i < trial->n_candidates; i++)
    if (trial->candidates[i].graph)
      cudaGraphExecDestroy (trial->candidates[i].graph);
  if (trial->begin)
    cudaEventDestroy (trial->begin);
  if (trial->end)
    cudaEventDestroy (trial->end);
  if (trial->stream)
    cudaStreamDestroy (trial->stream);
  cudaFree (trial->memory);
  /* What failed here was a measurement: no launch is to answer for it. */
  cudaGetLastError ();
}

/* True if the entry's algorithm is now the fastest. Nothing of the launch is touched. */
static bool
race (Trial *trial, const LigLaunch *launch)
{
  const Candidate *best = NULL;
  cudaStreamSynchronize (launch->stream);
  if (cudaStreamCreateWithFlags (&trial->stream, cudaStreamNonBlocking) == cudaSuccess &&
      cudaEventCreate (&trial->begin) == cudaSuccess &&
      cudaEventCreate (&trial->end) == cudaSuccess && allocate (trial)) {
    trial->started = now ();
    try_each (trial);
    best = decide (trial);
  }
  if (best) {
    trial->entry->algorithm = best->algorithm;
    trial->entry->microseconds = best->microseconds;
  }
  clean_up (trial);
  return best != NULL;
}

/* A stored choice: the algorithm's bytes in hexadecimal, then its microseconds. */
static void
remember (const LigProducts *products, const LigProductEntry *entry)
{
  const LigChoices *choices = &products->device->choices;
  unsigned char bytes[sizeof entry->algorithm];
  char words[1024], choice[2 * sizeof bytes + 32];
  if (!choices->put)
    return;
  memcpy (bytes, &entry->algorithm, sizeof bytes);
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf (choice + 2 * i, 3, "%02x", bytes[i]);
  /* In nanoseconds, because a decimal point depends on the locale. */
  snprintf (choice + 2 * sizeof bytes, 32, " %lld", (long long) (entry->microseconds * 1000));
  lig_product_words (products, &entry->key, "product", words, sizeof words);
  choices->put (choices->data, words, (double) entry->microseconds, choice);
}

static int
digit (char c)
{
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes a stored choice if it is whole and the library finds that it serves this product. */
static bool
recall (const LigProducts *products, LigProductEntry *entry)
{
  const LigChoices *choices = &products->device->choices;
  cublasLtMatmulHeuristicResult_t result;
  cublasLtMatmulAlgo_t algorithm;
  unsigned char bytes[sizeof algorithm];
  char words[1024], choice[2 * sizeof bytes + 32] = "";
  lig_product_words (products, &entry->key, "product", words, sizeof words);
  if (!choices->get || !choices->get (choices->data, words, choice, sizeof choice))
    return false;
  for (size_t i = 0; i < sizeof bytes; i++) {
    int high = digit (choice[2 * i]), low = high < 0 ? -1 : digit (choice[2 * i + 1]);
    if (low < 0)
      return false;
    bytes[i] = (unsigned char) (16 * high + low);
  }
  memcpy (&algorithm, bytes, sizeof bytes);
  memset (&result, 0, sizeof result);
  if (cublasLtMatmulAlgoCheck (products->handle, &entry->description, &entry->a, &entry->b,
                               &entry->c, &entry->d, &algorithm,
                               &result) != CUBLAS_STATUS_SUCCESS ||
      result.workspaceSize > entry->key.workspace || !is_exact (&algorithm))
    return false;
  entry->algorithm = algorithm;
  entry->microseconds = (float) strtoll (choice + 2 * sizeof bytes, NULL, 10) / 1000;
  return true;
}

static bool
is_capturing (const LigLaunch *launch)
{
  enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing (launch->stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

void
lig_algorithm_choose (LigProducts *products, LigProductEntry *entry, const LigLaunch *launch)
{
  bool rehearse = launch->rehearse && !is_capturing (launch);
  lig_product_pretend (entry);
  if (rehearse && recall (products, entry)) {
    entry->decided = entry->supported = entry->rehearsed = true;
    return;
  }
  Trial *trial = calloc (1, sizeof *trial);
  if (!trial)
    return;
  trial->products = products;
  trial->entry = entry;
  trial->n_candidates =
    propose (products, entry, trial->candidates, rehearse ? MOST_CANDIDATES : 1);
  if (trial->n_candidates > 0) {
    entry->algorithm = trial->candidates[0].algorithm;
    entry->decided = entry->supported = true;
    entry->rehearsed = rehearse && race (trial, launch);
    if (entry->rehearsed)
      remember (products, entry);
  } else if (!is_capturing (launch)) {
    /* The heuristic may not answer during a capture; then nothing is known yet. */
    entry->decided = entry->rehearsed = true;
  }
  free (trial);
}
