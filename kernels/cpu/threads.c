/* SPDX-License-Identifier: MIT */
/* The number of threads for parallel work, and the memory that BLAS needs for them. */
#include "kernels/cpu/threads.h"
#include "kernels/cpu/blas.h"

#ifndef _OPENMP

bool
lig_cpu_prepare_threads (void)
{
  return true;
}

#else

#include <omp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* The size of one of OpenBLAS's buffers, for the largest of the CPUs that it supports. */
#define BUFFER_SIZE ((size_t) 130 << 20)

/* Returns the bytes of a thread's stack. */
static size_t
stack_size (void)
{
  struct rlimit limit;
  const size_t usual = (size_t) 8 << 20;
  if (getrlimit (RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return usual;
  return limit.rlim_cur;
}

/* Returns whether there is memory for a buffer for the caller, and for a buffer and a stack for
 * each thread that does not have them yet. */
static bool
has_memory (int threads)
{
  const LigBlas *blas = lig_cpu_blas ();
  int known = blas ? blas->get_num_threads () : threads;
  size_t more = threads > known ? (size_t) (threads - known) : 0;
  size_t size = (1 + more) * BUFFER_SIZE + (size_t) (threads - 1) * stack_size ();
  void *memory =
    mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED && munmap (memory, size) == 0;
}

bool
lig_cpu_prepare_threads (void)
{
  static _Thread_local int prepared;
  if (omp_get_dynamic ())
    omp_set_dynamic (0);
  if (omp_get_max_threads () > omp_get_thread_limit ())
    omp_set_num_threads (omp_get_thread_limit ());
  int threads = omp_get_max_threads ();
  if (threads > prepared && has_memory (threads))
    prepared = threads;
  return threads <= prepared;
}

#endif
