/* SPDX-License-Identifier: MIT */
/* BLAS, which multiplies matrices of fp32. */
#pragma once

#include <cblas.h>

/* The functions of OpenBLAS that are called. */
typedef struct {
  __typeof__ (cblas_sgemm) *sgemm;
  __typeof__ (openblas_get_num_threads) *get_num_threads;
} LigBlas;

/* Returns the library's functions, null if it cannot be opened. The first call opens it, as it
 * takes longer to load than all else together, and most programs multiply nothing. From any thread.
 */
const LigBlas *lig_cpu_blas (void);
