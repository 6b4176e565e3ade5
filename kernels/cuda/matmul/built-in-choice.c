/* SPDX-License-Identifier: MIT */
/* The choice between the built-in matmul and the library's: a stored choice if there is one, else
 * the faster of the two on random numbers, provided that their results agree.
 * LIGATURE_SEARCH=built-in uses the built-in matmul regardless of speed. */
#include "kernels/cuda/common/contest.h"
#include "kernels/cuda/matmul/algorithms.h"
#include "kernels/cuda/matmul/built-in.h"
#include "kernels/cuda/matmul/few-rows.h"
#include "kernels/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  LigLaunch launch;
  LigMatmul matmul;
  LigMatmulWay other;
  char *memory;
  LigMatrix expected; /* the result of the alternative */
  char *sums;         /* and its sums, those stored in `vector` first */
  uint32_t *found;
} Trial;

/* Returns the bytes of a matrix of that many rows, in units of 256. */
static size_t
bytes_of (const LigMatrix *matrix, int64_t rows, int64_t columns)
{
  if (!matrix->data)
    return 0;
  int64_t last = (rows - 1) * matrix->stride + columns;
  return ((size_t) last * lig_dtype_size (matrix->dtype) + 255) / 256 * 256;
}

/* Lays out all matrices of the trial in its memory, one after the other; returns the bytes. */
static size_t
place (Trial *trial, const LigMatmul *matmul, char *memory)
{
  LigMatmul *p = &trial->matmul;
  bool l = matmul->left_transposed, r = matmul->right_transposed;
  int64_t m = matmul->rows, n = matmul->columns, k = matmul->depth;
  const struct {
    LigMatrix *matrix;
    int64_t rows, columns;
  } all[] = {{&p->left, l ? k : m, l ? m : k},
             {&p->right, r ? n : k, r ? k : n},
             {&p->extra, m, n},
             {&p->aux, m, n},
             {&p->result, m, n},
             {&p->vector, 1, n},
             {&p->left_sums, 1, k},
             {&trial->expected, m, n}};
  size_t at = 256;
  *p = *matmul;
  trial->expected = matmul->result;
  trial->found = (uint32_t *) memory;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t bytes = bytes_of (all[i].matrix, all[i].rows, all[i].columns);
    if (bytes)
      all[i].matrix->data = memory + at;
    at += bytes;
  }
  trial->sums = memory + at;
  return at + bytes_of (&p->vector, 1, n) + bytes_of (&p->left_sums, 1, k);
}

/* Fills a part of the trial's memory with random numbers. */
static bool
fill (Trial *trial, const LigMatrix *matrix, int64_t rows, int64_t columns, uint64_t seed)
{
  int64_t count = (int64_t) (bytes_of (matrix, rows, columns) / lig_dtype_size (matrix->dtype));
  return !matrix->data || lig_cuda_fill_random (matrix->data, matrix->dtype, count, seed,
                                                trial->launch.stream) == cudaSuccess;
}

static bool
fill_all (Trial *trial)
{
  const LigMatmul *p = &trial->matmul;
  bool l = p->left_transposed, r = p->right_transposed;
  return fill (trial, &p->left, l ? p->depth : p->rows, l ? p->rows : p->depth, 60) &&
         fill (trial, &p->right, r ? p->columns : p->depth, r ? p->depth : p->columns, 61) &&
         fill (trial, &p->extra, p->rows, p->columns, 62) &&
         fill (trial, &p->aux, p->rows, p->columns, 63) &&
         fill (trial, &p->vector, 1, p->columns, 64);
}

/* The callbacks of lig_contest(). */
static bool
launch_own (void *data)
{
  Trial *trial = data;
  return lig_built_in_matmul (&trial->launch, &trial->matmul) == LIG_OK;
}

static bool
launch_other (void *data)
{
  Trial *trial = data;
  return trial->other (&trial->launch, &trial->matmul) == LIG_OK;
}

/* Returns whether numbers agree with the expected ones up to rounding. */
static bool
is_close (Trial *trial, const LigMatrix *matrix, const void *expected, int64_t count)
{
  float found[2] = {INFINITY, 0}; /* largest difference, largest element */
  float tolerance = matrix->dtype == LIG_FP16 ? 1.0f / 512 : 1.0f / 64;
  cudaStream_t stream = trial->launch.stream;
  cudaMemsetAsync (trial->found, 0, sizeof found, stream);
  lig_compare (matrix->data, expected, matrix->dtype, count, trial->found, stream);
  return cudaMemcpyAsync (found, trial->found, sizeof found, cudaMemcpyDeviceToHost, stream) ==
           cudaSuccess &&
         cudaStreamSynchronize (stream) == cudaSuccess && found[0] <= tolerance * found[1];
}

/* Saves the sums of the alternative and overwrites them with NaN. */
static void
keep_sums (Trial *trial, const LigMatrix *sums, char *to, int64_t count)
{
  size_t bytes = bytes_of (sums, 1, count);
  cudaMemcpyAsync (to, sums->data, bytes, cudaMemcpyDeviceToDevice, trial->launch.stream);
  cudaMemsetAsync (sums->data, 0xff, bytes, trial->launch.stream);
}

/* Returns whether both compute the same up to rounding. */
static bool
agrees (Trial *trial)
{
  const LigMatmul *p = &trial->matmul;
  cudaStream_t stream = trial->launch.stream;
  size_t bytes = bytes_of (&p->result, p->rows, p->columns);
  bool summed = p->sums != LIG_NO_SUMS && p->vector.data, left = p->left_sums.data != NULL;
  char *left_sums = trial->sums + bytes_of (&p->vector, 1, p->columns);
  cudaMemsetAsync (p->result.data, 0, bytes, stream);
  if (!launch_other (trial))
    return false;
  cudaMemcpyAsync (trial->expected.data, p->result.data, bytes, cudaMemcpyDeviceToDevice, stream);
  if (summed)
    keep_sums (trial, &p->vector, trial->sums, p->columns);
  if (left)
    keep_sums (trial, &p->left_sums, left_sums, p->depth);
  /* Elements that the built-in matmul skips would be NaN; the padding between rows is equal. */
  cudaMemset2DAsync (p->result.data, (size_t) p->result.stride * 2, 0xff, (size_t) p->columns * 2,
                     (size_t) p->rows, stream);
  return launch_own (trial) &&
         is_close (trial, &p->result, trial->expected.data,
                   (p->rows - 1) * p->result.stride + p->columns) &&
         (!summed || is_close (trial, &p->vector, trial->sums, p->columns)) &&
         (!left || is_close (trial, &p->left_sums, left_sums, p->depth));
}

/* Returns the question whether the built-in matmul is faster. */
static LigMatmulQuestion
question_of (const LigLaunch *launch, const LigMatmul *matmul)
{
  return lig_few_rows_serves (launch, matmul) ? LIG_FEW_ROWS_MATMUL : LIG_BUILT_IN_MATMUL;
}

/* Compares both; false, with nothing decided, if there is no memory for it. */
static bool
compare (LigLaunch *launch, const LigMatmul *matmul, LigMatmulWay other)
{
  Trial trial;
  float medians[2] = {0, 0}; /* of the built-in matmul, of the alternative */
  memset (&trial, 0, sizeof trial);
  trial.launch = *launch;
  trial.launch.autotune = false;
  trial.launch.accumulate = false;
  trial.other = other;
  if (cudaMalloc ((void **) &trial.memory, place (&trial, matmul, NULL)) != cudaSuccess) {
    cudaGetLastError ();
    return false;
  }
  place (&trial, matmul, trial.memory);
  bool good =
    fill_all (&trial) && agrees (&trial) &&
    lig_contest (launch->device, launch->stream, launch_own, launch_other, &trial, medians);
  cudaFree (trial.memory);
  /* A failure of the device, unlike a rejection, does not predict the next attempt. */
  if (cudaGetLastError () != cudaSuccess)
    return true;
  bool wins = good && medians[0] < medians[1];
  lig_matmul_keep_answer (launch, matmul, question_of (launch, matmul), wins,
                          (double) medians[wins ? 0 : 1]);
  return true;
}

/* Returns whether a repeated launch on the same operands gives another result, because it adds to
 * its own previous output. */
static bool
changes_operands (const LigLaunch *launch, const LigMatmul *matmul)
{
  bool sums = matmul->sums != LIG_NO_SUMS || matmul->left_sums.data;
  return (launch->accumulate && sums) || matmul->extra.data == matmul->result.data ||
         matmul->aux.data == matmul->result.data;
}

bool
lig_built_in_matmul_wins (LigLaunch *launch, const LigMatmul *matmul, LigMatmulWay other)
{
  LigChoices choices = launch->device->choices;
  LigMatmulQuestion question = question_of (launch, matmul);
  int answer = lig_matmul_answer (launch, matmul, question);
  const char *search = getenv ("LIGATURE_SEARCH");
  if (search && strcmp (search, "built-in") == 0)
    return true;
  if (answer >= 0 || !launch->autotune || (search && strcmp (search, "none") == 0))
    return answer > 0;
  /* The library chooses its algorithm first, with the unchanged operands. */
  if (changes_operands (launch, matmul) || other (launch, matmul) != LIG_OK ||
      cudaStreamSynchronize (launch->stream) != cudaSuccess)
    return false;
  if (choices.begin)
    choices.begin (choices.guard);
  bool compared =
    lig_matmul_answer (launch, matmul, question) >= 0 || compare (launch, matmul, other);
  if (choices.end)
    choices.end (choices.guard);
  if (!compared)
    lig_matmul_report_no_memory (launch, matmul);
  lig_times_mark ("searching");
  return lig_matmul_answer (launch, matmul, question) > 0;
}
