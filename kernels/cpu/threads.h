/* SPDX-License-Identifier: MIT */
/* Settings of the process that matrix products need before BLAS is called. */
#pragma once

#include <stdbool.h>

/* Settles how many threads the calling thread has for parallel work, within what OMP_DYNAMIC and
 * OMP_THREAD_LIMIT leave: BLAS waits for as many as OpenMP promises, for ever where it gives fewer.
 * False where there is no memory for the buffers that BLAS takes for them and never gives back; it
 * would ask again and again. Costs next to nothing when repeated. */
bool lig_cpu_settle_threads (void);
