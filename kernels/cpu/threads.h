/* SPDX-License-Identifier: MIT */
/* The number of threads for parallel work, and the memory that BLAS needs for them. */
#pragma once

#include <stdbool.h>

/* Limits the calling thread's parallel work to as many threads as OMP_DYNAMIC and OMP_THREAD_LIMIT
 * allow: BLAS waits for as many as OpenMP promises, forever if there are fewer. Returns false if
 * there is no memory for the buffers that BLAS allocates for them and never frees; BLAS would retry
 * the allocation forever. Repeated calls are almost free. */
bool lig_cpu_prepare_threads (void);
