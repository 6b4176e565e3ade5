/* SPDX-License-Identifier: MIT */
/* The CUDA backend is a module: looked for in $LIGATURE_MODULES, beside the library, in the install
 * folder, then by bare name. Without it everything else works. */
#include "engine/private/device.h"

#include <dlfcn.h>

#define MODULE "ligature-cuda.so"

char *
lig_cuda_missing (void)
{
  Dl_info here;
  g_autofree char *beside = dladdr ((void *) lig_cuda_missing, &here) && here.dli_fname
                              ? g_path_get_dirname (here.dli_fname)
                              : NULL;
  const char *folders[] = {g_getenv ("LIGATURE_MODULES"), beside, LIG_MODULE_DIR, ""};
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    if (!folders[i])
      continue;
    g_autofree char *path =
      *folders[i] ? g_build_filename (folders[i], MODULE, NULL) : g_strdup (MODULE);
    void *module = dlopen (path, RTLD_NOW | RTLD_LOCAL);
    if (!module)
      continue;
    dlclose (module);
    return g_strdup_printf ("the module %s is of another version than this library", path);
  }
  return g_strdup_printf ("the module %s was not found", MODULE);
}
