/* SPDX-License-Identifier: MIT */
/* Compares cuDNN with a built-in kernel of attention on random numbers. */
#include "kernels/cuda/attention/race.h"

#include "kernels/cuda/common/contest.h"
#include "kernels/cuda/matmul/algorithms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERANDS = 9, MAX_OUTPUTS = 2 };

/* The indices of outputs after x of the backward pass, and after x of the forward pass. */
enum { DX = 6, DMEMORY = 7, Y = 4, LSE = 5, LENGTHS = 2, DOCUMENTS = 3 };

typedef struct {
  LigLaunch launch;
  LigOperand operands[MAX_OPERANDS];
  int n_operands, x; /* the index of x */
  char *memory;
  char *expected[MAX_OUTPUTS]; /* the built-in kernel's outputs */
  LigOperand *outputs[MAX_OUTPUTS];
  uint32_t *found;
  LigKernelFunc own, cudnn;
} Trial;

static size_t
bytes_of (const LigOperand *operand)
{
  if (!operand->data)
    return 0;
  size_t bytes = (size_t) operand->size * lig_dtype_size (operand->dtype);
  return (bytes + 255) / 256 * 256;
}

/* Fills the inputs: random numbers, and lengths from half of the keys to all of them. */
static bool
fill (Trial *trial, const LigCudnnCase *one)
{
  for (int i = 0; i < trial->x + Y; i++) {
    LigOperand *operand = &trial->operands[i];
    if (operand->data && i < trial->x + LENGTHS &&
        lig_cuda_fill_random (operand->data, operand->dtype, operand->size, 40 + (uint64_t) i,
                              trial->launch.stream) != cudaSuccess)
      return false;
  }
  if (!one->padded)
    return true;
  int64_t batch = lig_cudnn_case_whole (one).batch;
  int32_t *lengths = malloc ((size_t) batch * sizeof *lengths);
  if (!lengths)
    return false;
  for (int64_t b = 0; b < batch; b++)
    lengths[b] = (int32_t) (one->keys - one->keys * b / (2 * batch));
  bool good = cudaMemcpy (trial->operands[trial->x + LENGTHS].data, lengths,
                          (size_t) batch * sizeof *lengths, cudaMemcpyHostToDevice) == cudaSuccess;
  free (lengths);
  return good;
}

/* Allocates copies of all operands and of the outputs to compare. */
static bool
allocate (Trial *trial, const LigLaunch *launch, const LigCudnnCase *one)
{
  size_t bytes = 256, at = 256;
  trial->x = one->backward ? 1 : 0;
  trial->n_operands = trial->x + (one->backward ? DMEMORY : LSE) + 1;
  trial->launch = *launch;
  trial->launch.operands = trial->operands;
  trial->launch.autotune = false;
  memcpy (trial->operands, launch->operands, (size_t) trial->n_operands * sizeof (LigOperand));
  trial->outputs[0] = &trial->operands[trial->x + (one->backward ? DX : Y)];
  trial->outputs[1] = &trial->operands[trial->x + (one->backward ? DMEMORY : LSE)];
  for (int i = 0; i < trial->n_operands; i++)
    bytes += bytes_of (&trial->operands[i]);
  for (int i = 0; i < MAX_OUTPUTS; i++)
    bytes += bytes_of (trial->outputs[i]);
  if (cudaMalloc ((void **) &trial->memory, bytes) != cudaSuccess)
    return false;
  trial->found = (uint32_t *) trial->memory;
  for (int i = 0; i < MAX_OUTPUTS; i++) {
    trial->expected[i] = trial->memory + at;
    at += bytes_of (trial->outputs[i]);
  }
  for (int i = 0; i < trial->n_operands; i++)
    if (trial->operands[i].data) {
      size_t size = bytes_of (&trial->operands[i]);
      trial->operands[i].data = trial->memory + at;
      at += size;
    }
  return true;
}

/* Launches a function and waits for it. */
static bool
run (Trial *trial, LigKernelFunc function)
{
  return function (&trial->launch) == LIG_OK &&
         cudaStreamSynchronize (trial->launch.stream) == cudaSuccess;
}

/* Computes y and lse, which a backward pass reads. */
static bool
run_forward (Trial *trial, const LigCudnnCase *one)
{
  LigLaunch forward = trial->launch;
  forward.operands = trial->operands + 1;
  return !one->backward || (LIG_CUDA (attention) (&forward) == LIG_OK &&
                            cudaStreamSynchronize (forward.stream) == cudaSuccess);
}

/* Returns the tolerance, relative to the largest element: more than rounding of the weights causes,
 * less than a wrong mask causes. */
static float
tolerance (LigDtype dtype)
{
  return dtype == LIG_BF16 ? 1.0f / 32 : dtype == LIG_FP16 ? 1.0f / 256 : 1.0f / 1024;
}

/* Returns whether an output agrees with that of the built-in kernel. */
static bool
agrees (Trial *trial, int output)
{
  const LigOperand *operand = trial->outputs[output];
  cudaStream_t stream = trial->launch.stream;
  float found[2] = {INFINITY, 0}; /* largest difference, largest element */
  if (!operand->data)
    return true;
  cudaMemsetAsync (trial->found, 0, sizeof found, stream);
  lig_compare (operand->data, trial->expected[output], operand->dtype, operand->size, trial->found,
               stream);
  return cudaMemcpyAsync (found, trial->found, sizeof found, cudaMemcpyDeviceToHost, stream) ==
           cudaSuccess &&
         cudaStreamSynchronize (stream) == cudaSuccess &&
         found[0] <= tolerance (operand->dtype) * found[1];
}

/* Saves the outputs, and fills them with NaN, so that elements which a launch skips differ. */
static void
keep_outputs (Trial *trial)
{
  cudaStream_t stream = trial->launch.stream;
  for (int i = 0; i < MAX_OUTPUTS; i++) {
    size_t bytes = bytes_of (trial->outputs[i]);
    if (!bytes)
      continue;
    cudaMemcpyAsync (trial->expected[i], trial->outputs[i]->data, bytes, cudaMemcpyDeviceToDevice,
                     stream);
    cudaMemsetAsync (trial->outputs[i]->data, 0xff, bytes, stream);
  }
}

/* Returns whether the function reproduces the bits of the current outputs. */
static bool
repeats (Trial *trial, LigKernelFunc function)
{
  cudaStream_t stream = trial->launch.stream;
  uint32_t other = 1;
  keep_outputs (trial);
  if (!run (trial, function))
    return false;
  cudaMemsetAsync (trial->found, 0, sizeof other, stream);
  for (int i = 0; i < MAX_OUTPUTS; i++) {
    const LigOperand *operand = trial->outputs[i];
    if (operand->data)
      lig_compare_bits (operand->data, trial->expected[i],
                        (size_t) operand->size * lig_dtype_size (operand->dtype), trial->found,
                        stream);
  }
  return cudaMemcpyAsync (&other, trial->found, sizeof other, cudaMemcpyDeviceToHost, stream) ==
           cudaSuccess &&
         cudaStreamSynchronize (stream) == cudaSuccess && other == 0;
}

/* Runs both on the same numbers; cuDNN twice if the case requires a deterministic result. */
static bool
compare (Trial *trial,
         LigAttentionRace *race,
         const LigCudnnCase *one,
         LigKernelFunc own,
         LigKernelFunc cudnn)
{
  race->failed = "the built-in kernel";
  keep_outputs (trial);
  if (!run (trial, own))
    return false;
  keep_outputs (trial);
  race->failed = "cuDNN";
  if (!run (trial, cudnn))
    return false;
  race->failed = NULL;
  race->agree = agrees (trial, 0) && agrees (trial, 1);
  race->repeats = race->agree && ((one->backward && !one->ordered) || repeats (trial, cudnn));
  return race->repeats;
}

/* Launches one of the two; the callbacks of lig_contest(). */
static bool
launch_own (void *data)
{
  Trial *trial = data;
  return trial->own (&trial->launch) == LIG_OK;
}

static bool
launch_cudnn (void *data)
{
  Trial *trial = data;
  return trial->cudnn (&trial->launch) == LIG_OK;
}

/* Times both; false after a failure. */
static bool
time_both (Trial *trial, LigAttentionRace *race)
{
  float medians[2];
  bool good = lig_contest (trial->launch.device, trial->launch.stream, launch_own, launch_cudnn,
                           trial, medians);
  race->own = medians[0];
  race->cudnn = medians[1];
  return good;
}

void
lig_attention_race (LigAttentionRace *race,
                    const LigLaunch *launch,
                    LigAttentionEntry *entry,
                    LigKernelFunc own)
{
  const LigCudnnCase *one = &entry->one;
  LigKernelFunc cudnn = one->backward ? lig_cudnn_attention_backward : lig_cudnn_attention;
  Trial trial;
  memset (&trial, 0, sizeof trial);
  trial.own = own;
  trial.cudnn = cudnn;
  memset (race, 0, sizeof *race);
  cudaStreamSynchronize (launch->stream);
  race->no_memory = !allocate (&trial, launch, one);
  if (!race->no_memory) {
    race->failed = "the inputs";
    if (fill (&trial, one) && run_forward (&trial, one) &&
        compare (&trial, race, one, own, cudnn)) {
      race->failed = "the measurement";
      if (time_both (&trial, race))
        race->failed = NULL;
    }
  }
  cudaFree (trial.memory);
  cudaGetLastError ();
}
