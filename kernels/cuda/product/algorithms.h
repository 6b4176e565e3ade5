/* SPDX-License-Identifier: MIT */
/* What the table of products and the choice of their algorithms share. */
#pragma once

#include "kernels/cuda/product/product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Normally distributed numbers for `count` elements of a floating type (fallback.cu). */
cudaError_t lig_cuda_fill_random (
  void *data, LigDtype dtype, int64_t count, uint64_t seed, cudaStream_t stream);

/* The bits of two fp32 numbers on the device, zeros before: the largest difference of elements that
 * correspond, and the largest element that was expected, both without their signs (fallback.cu). */
cudaError_t lig_compare (const void *data,
                         const void *expected,
                         LigDtype dtype,
                         int64_t count,
                         uint32_t found[2],
                         cudaStream_t stream);

/* A number on the device, zero before: not zero afterwards where two results have other bits
 * (fallback.cu). */
cudaError_t lig_compare_bits (
  const void *data, const void *expected, size_t bytes, uint32_t *found, cudaStream_t stream);

#ifdef __cplusplus
}
#else

#include <cublasLt.h>

/* All that the choice of an algorithm depends on, in cuBLASLt's words: columns first, so that its
 * A is `right` and its B is `left`. Everything else of a product is set launch by launch. Bytes of
 * it are compared, so it is zeroed first and has no gaps. */
typedef struct {
  int64_t m, n, k, lda, ldb, ldc, ldd, ld_aux;
  uint64_t workspace;
  int32_t epilogue, vector_length;
  uint8_t transposed_a, transposed_b, beta, tf32;
  uint8_t input, output, vector; /* LigDtype of A and B, of all matrices else, of the vector */
  uint8_t align_a, align_b, align_c, align_d, align_vector, align_aux;
  uint8_t unused[3];
} LigProductKey;
_Static_assert(sizeof (LigProductKey) == 96, "the key of a product has gaps");

typedef struct {
  LigProductKey key;
  cublasLtMatmulDescOpaque_t description;
  cublasLtMatrixLayoutOpaque_t a, b, c, d;
  cublasLtMatmulAlgo_t algorithm;
  float microseconds; /* 0: not measured */
  bool decided;       /* `supported` and `algorithm` are known */
  bool supported;
  bool rehearsed; /* the algorithm is the fastest, not just the first */
  bool starved;   /* that there was no memory to find out was said */
  int8_t apart;   /* of lig_product_apart() */
} LigProductEntry;

struct LigProducts {
  LigBackendDevice *device;
  cublasLtHandle_t handle;
  char machine[320]; /* library and device, as every key of a stored choice begins */
  LigProductEntry **entries;
  size_t capacity, count; /* a power of two, at most half full */
};

/* What a product runs on. */
typedef struct {
  const void *a, *b, *c;
  void *d, *vector, *aux, *workspace;
  float alpha;
  cudaStream_t stream;
} LigProductCall;

cublasStatus_t lig_product_call (LigProducts *products,
                                 LigProductEntry *entry,
                                 const cublasLtMatmulAlgo_t *algorithm,
                                 const LigProductCall *call);

/* Lets the descriptor point to a vector and a matrix that are aligned as the key says and no
 * better, which is what heuristics look at. */
void lig_product_pretend (LigProductEntry *entry);

/* The key of a stored choice, in words that begin with `what`. */
void lig_product_words (
  const LigProducts *products, const LigProductKey *key, const char *what, char *text, size_t size);

/* Decides for an entry; when rehearsing, by what was stored or by timing, else by the heuristic. */
void lig_algorithm_choose (LigProducts *products, LigProductEntry *entry, const LigLaunch *launch);
#endif
