/* SPDX-License-Identifier: MIT */
/* The interface between the table of matmuls, the choice of their algorithms, and the helper
 * kernels of that choice. */
#pragma once

#include "kernels/cuda/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fills memory on the device with normally distributed numbers of a floating type (fallback.cu). */
cudaError_t lig_cuda_fill_random (
  void *data, LigDtype dtype, int64_t count, uint64_t seed, cudaStream_t stream);

/* Compares results on the device (fallback.cu). `found` is device memory, zeroed before; it gets
 * the bits of two fp32 numbers: the largest difference of corresponding elements and the largest
 * expected element, both as magnitudes. */
cudaError_t lig_compare (const void *data,
                         const void *expected,
                         LigDtype dtype,
                         int64_t count,
                         uint32_t found[2],
                         cudaStream_t stream);

/* Compares results bitwise on the device (fallback.cu). `found` is device memory, zeroed before; it
 * becomes nonzero if any bits differ. */
cudaError_t lig_compare_bits (
  const void *data, const void *expected, size_t bytes, uint32_t *found, cudaStream_t stream);

#ifdef __cplusplus
}
#else

#include <cublasLt.h>

/* Everything that the choice of an algorithm depends on, in cuBLASLt's column-major terms, so that
 * its A is `right` and its B is `left`. All other properties of a matmul are set per launch. Keys
 * are compared bytewise, so a key is zeroed first and has no padding. */
typedef struct {
  int64_t m, n, k, lda, ldb, ldc, ldd, ld_aux;
  uint64_t workspace;
  int32_t epilogue, vector_length;
  uint8_t transposed_a, transposed_b, beta, tf32;
  uint8_t input, output, vector; /* LigDtype of A and B, of all other matrices, of the vector */
  uint8_t align_a, align_b, align_c, align_d, align_vector, align_aux;
  uint8_t left_sums; /* computed only by the built-in matmul */
  uint8_t input_a;   /* LigDtype of A if it differs from B's, as it may in fp8; else 0 */
  uint8_t scales;    /* for fp8: bit 7, bits 2 and 3 for A, 0 and 1 for B, bit 4 if fast; else 0 */
} LigMatmulKey;
_Static_assert(sizeof (LigMatmulKey) == 96, "the key of a matmul has gaps");

typedef struct {
  LigMatmulKey key;
  cublasLtMatmulDescOpaque_t description;
  cublasLtMatrixLayoutOpaque_t a, b, c, d;
  cublasLtMatmulAlgo_t algorithm;
  float microseconds; /* 0: not measured */
  bool decided;       /* `supported` and `algorithm` are known */
  bool supported;
  bool autotuned;                  /* the algorithm is the fastest, not just the first */
  bool reported;                   /* the lack of memory for a search was reported */
  int8_t answers[LIG_N_QUESTIONS]; /* the answers of lig_matmul_answer() */
} LigMatmulEntry;

struct LigMatmuls {
  LigBackendDevice *device;
  cublasLtHandle_t handle;
  char machine[320]; /* library and device, the prefix of every key of a stored choice */
  LigMatmulEntry **entries;
  size_t capacity, count; /* a power of two, at most half full */
};

/* The memory and the factor of one launch of a matmul. */
typedef struct {
  const void *a, *b, *c, *a_scales, *b_scales, *d_scale;
  void *d, *vector, *aux, *workspace;
  float alpha;
  cudaStream_t stream;
} LigMatmulCall;

/* Launches a matmul with an algorithm. */
cublasStatus_t lig_matmul_call (LigMatmuls *matmuls,
                                LigMatmulEntry *entry,
                                const cublasLtMatmulAlgo_t *algorithm,
                                const LigMatmulCall *call);

/* Sets placeholder addresses of the vector and the aux matrix in the descriptor with the alignment
 * that the key states, because heuristics read them. */
void lig_matmul_assume_alignment (LigMatmulEntry *entry);

/* Writes the key of a stored choice, as text that begins with `what`. */
void lig_matmul_words (
  const LigMatmuls *matmuls, const LigMatmulKey *key, const char *what, char *text, size_t size);

/* Chooses the algorithm of an entry: in a warm-up run by a stored choice or by timing, else by the
 * heuristic. */
void lig_algorithm_choose (LigMatmuls *matmuls, LigMatmulEntry *entry, const LigLaunch *launch);

/* Reports, once per matmul, that there is no memory for a search: the matmul uses the heuristic's
 * first algorithm, or a search without variations, and no built-in matmul. */
void lig_algorithm_report_no_memory (const LigMatmuls *matmuls, LigMatmulEntry *entry);
#endif
