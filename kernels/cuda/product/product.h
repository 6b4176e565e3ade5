/* SPDX-License-Identifier: MIT */
/* Matrix products through cuBLASLt, each with the algorithm that was found to be the fastest. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of elements, `stride` elements apart; null data: absent. */
typedef struct {
  void *data;
  int64_t stride;
  LigDtype dtype;
} LigMatrix;

typedef enum { LIG_AS_IT_IS, LIG_GELU, LIG_RELU, LIG_GELU_BACKWARD } LigActivation;

/* Sums over rows that come with a product: of the result, or of a transposed left operand. */
typedef enum { LIG_NO_SUMS, LIG_SUMS_OF_RESULT, LIG_SUMS_OF_LEFT } LigSums;

/* result = activation (factor left right + extra + vector) where there are no sums; with sums,
 * `vector` is where they go. `aux` is gelu's argument: written by LIG_GELU if present, read by
 * LIG_GELU_BACKWARD, which multiplies by the slope there. An extra with stride 0 is one row, added
 * to all. */
typedef struct {
  int64_t rows, columns, depth;
  LigMatrix left, right;                  /* [rows, depth], [depth, columns] */
  bool left_transposed, right_transposed; /* stored as [depth, rows], as [columns, depth] */
  LigMatrix extra, aux, result;           /* [rows, columns]; extra may lie where result does */
  LigMatrix vector;                       /* one row */
  float factor;
  LigActivation activation;
  LigSums sums;
  bool shares_workspace; /* leaves all but the last LIG_LIBRARY_SPACE of it alone */
} LigProduct;

#define LIG_LIBRARY_SPACE ((size_t) 8 << 20)

LigProducts *lig_products_new (LigBackendDevice *device, char *why, size_t size);
void lig_products_free (LigProducts *products);

/* LIG_UNSUPPORTED, with nothing launched, where cuBLASLt has no algorithm for it. */
LigStatus lig_product (LigLaunch *launch, const LigProduct *product);

/* How long the product takes by the measurement that chose its algorithm; 0: not known. */
double lig_product_microseconds (LigLaunch *launch, const LigProduct *product);

/* Whether a product with sums is better done as one without, with the sums apart: 1, 0, or -1 where
 * nobody has found out. */
int lig_product_apart (LigLaunch *launch, const LigProduct *product);
void lig_product_keep_apart (LigLaunch *launch,
                             const LigProduct *product,
                             bool apart,
                             double microseconds);

#ifdef __cplusplus
}
#endif
