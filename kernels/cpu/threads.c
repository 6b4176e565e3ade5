/* SPDX-License-Identifier: MIT */
/* Settings of the process that matrix products need before BLAS is called. */
#include "kernels/cpu/threads.h"

#ifndef _OPENMP

bool
lig_cpu_settle_threads (void)
{
  return true;
}

#else

#include <cblas.h>
#include <omp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* OpenBLAS's own, for the largest of the processors that it is built for. */
#define BUFFER_SIZE ((size_t) 130 << 20)

static size_t
stack_size (void)
{
  struct rlimit limit;
  const size_t usual = (size_t) 8 << 20;
  if (getrlimit (RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return usual;
  return limit.rlim_cur;
}

/* A buffer for this caller, and for each thread beyond those that have one, with its stack. */
static bool
has_room (int threads)
{
  int known = openblas_get_num_threads ();
  size_t more = threads > known ? (size_t) (threads - known) : 0;
  size_t size = (1 + more) * BUFFER_SIZE + (size_t) (threads - 1) * stack_size ();
  void *room =
    mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap (room, size) == 0;
}

bool
lig_cpu_settle_threads (void)
{
  static _Thread_local int settled;
  if (omp_get_dynamic ())
    omp_set_dynamic (0);
  if (omp_get_max_threads () > omp_get_thread_limit ())
    omp_set_num_threads (omp_get_thread_limit ());
  int threads = omp_get_max_threads ();
  if (threads > settled && has_room (threads))
    settled = threads;
  return threads <= settled;
}

#endif
