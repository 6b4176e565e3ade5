/* SPDX-License-Identifier: MIT */
#include "kernels/cpu/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* The OpenMP flavour, which shares its threads with the kernels, if the build names one, else the
 * system's default. */
static const char *const files[] = {
#ifdef LIG_BLAS_FOLDER
  LIG_BLAS_FOLDER "/" LIG_BLAS_FILE,
#endif
  LIG_BLAS_FILE,
};

static LigBlas blas;

static void
open_library (void)
{
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof files / sizeof *files; i++)
    library = dlopen (files[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  blas.get_num_threads =
    (__typeof__ (blas.get_num_threads)) dlsym (library, "openblas_get_num_threads");
  blas.sgemm = (__typeof__ (blas.sgemm)) dlsym (library, "cblas_sgemm");
}

const LigBlas *
lig_cpu_blas (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, open_library);
  return blas.sgemm && blas.get_num_threads ? &blas : NULL;
}
