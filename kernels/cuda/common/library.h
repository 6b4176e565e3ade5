/* SPDX-License-Identifier: MIT */
/* Opens the libraries that are used if they are installed. Plain C, without CUDA. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a library, which is searched by the loader (LD_LIBRARY_PATH, the folders that the module
 * itself names, the system), then beside the library that has the function `beside`, then where
 * Python's packages have it if they have that library, too: from nvidia/cublas/lib in
 * nvidia/PACKAGE/lib. `beside` may be null. Returns null, with the loader's first reason in `why`,
 * if it is in none of them. */
void *lig_library_open (
  const char *name, const char *package, const void *beside, char *why, size_t size);

/* Writes the path of the file that has a function or variable; an empty text if it is unknown. */
void lig_library_path (const void *symbol, char *path, size_t size);

#ifdef __cplusplus
}
#endif
