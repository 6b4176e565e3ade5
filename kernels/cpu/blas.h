/* SPDX-License-Identifier: MIT */
/* BLAS, for fp32 matmuls. */
#pragma once

#include <cblas.h>

/* The OpenBLAS functions in use. */
typedef struct {
  __typeof__ (cblas_sgemm) *sgemm;
  __typeof__ (openblas_get_num_threads) *get_num_threads;
} LigBlas;

/* Returns the library's functions, or null if it cannot be opened. The first call opens it, because
 * loading it takes longer than everything else together, and most programs multiply nothing. May be
 * called from any thread. */
const LigBlas *lig_cpu_blas (void);
