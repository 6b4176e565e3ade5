/* SPDX-License-Identifier: MIT */
/* Searches and opens libraries. A library with several parts, such as cuDNN, gets its own folder
 * added to the search of its parts. */
#include "kernels/cuda/common/library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void
lig_library_path (const void *symbol, char *path, size_t size)
{
  Dl_info info;
  bool known = symbol && dladdr (symbol, &info) && info.dli_fname;
  snprintf (path, size, "%s", known ? info.dli_fname : "");
}

/* Opens a library in the folder of a file, or in another folder whose relative path is given. */
static void *
open_in (const char *file, const char *from_there, const char *name)
{
  char path[8192];
  const char *slash = strrchr (file, '/');
  if (!slash)
    return NULL;
  snprintf (path, sizeof path, "%.*s%s/%s", (int) (slash - file), file, from_there, name);
  return dlopen (path, RTLD_NOW | RTLD_LOCAL);
}

void *
lig_library_open (const char *name, const char *package, const void *beside, char *why, size_t size)
{
  char file[4096], there[64];
  void *library = dlopen (name, RTLD_NOW | RTLD_LOCAL);
  if (library)
    return library;
  snprintf (why, size, "%s", dlerror ());
  snprintf (there, sizeof there, "/../../%s/lib", package);
  lig_library_path (beside, file, sizeof file);
  library = open_in (file, "", name);
  return library ? library : open_in (file, there, name);
}
