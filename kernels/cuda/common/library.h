/* SPDX-License-Identifier: MIT */
/* Opens optional libraries. Plain C, without CUDA. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a library, which is searched by the loader (LD_LIBRARY_PATH, the RUNPATH of the module, the
 * system), then next to the library that contains the function `beside`, then, if that is part of a
 * Python package, in the corresponding folder of Python's packages: from nvidia/cublas/lib in
 * nvidia/PACKAGE/lib. `beside` may be null. Returns null, with the loader's first reason in `why`,
 * if it is not found. */
void *lig_library_open (
  const char *name, const char *package, const void *beside, char *why, size_t size);

/* Writes the path of the file that contains a function or variable; an empty text if it is
 * unknown. */
void lig_library_path (const void *symbol, char *path, size_t size);

#ifdef __cplusplus
}
#endif
