/* SPDX-License-Identifier: MIT */
/* The own matrix products, for compute capability 9.0: 16-bit operands, and everything that
 * LigProduct asks for after the product while other tiles are multiplied. */
#pragma once

#include "kernels/cuda/product/product.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns whether lig_own_product() serves the product on this device. */
bool lig_own_product_serves (const LigLaunch *launch, const LigProduct *product);

/* Launches the product; sums, which come from the result alone, are added up in a fixed order. */
LigStatus lig_own_product (LigLaunch *launch, const LigProduct *product);

/* Another way to compute the same product. */
typedef LigStatus (*LigProductWay) (LigLaunch *launch, const LigProduct *product);

/* Returns whether the own product is faster than the other way: by a stored choice, or, in a
 * rehearsal, by a race of both on random data, in which their results must agree (own-choice.c). */
bool lig_own_product_wins (LigLaunch *launch, const LigProduct *product, LigProductWay other);

#ifdef __cplusplus
}
#endif
