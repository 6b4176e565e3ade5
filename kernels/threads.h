/* SPDX-License-Identifier: MIT */
/* The OpenMP functions that concern threads, with replacements for builds without OpenMP, which
 * have one thread. */
#pragma once

#ifdef _OPENMP
#include <omp.h>
#else
static inline int
omp_get_max_threads (void)
{
  return 1;
}

static inline int
omp_get_thread_limit (void)
{
  return 1;
}

static inline int
omp_get_thread_num (void)
{
  return 0;
}

static inline void
omp_set_num_threads (int count)
{
  (void) count;
}
#endif
