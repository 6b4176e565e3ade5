/* SPDX-License-Identifier: MIT */
/* The CUDA backend is a module: looked for in $LIGATURE_MODULES, beside the library, in the install
 * folder, then by bare name. Without it everything else works. It stays loaded: its kernels are in
 * the table. */
#include "engine/base/folders-private.h"
#include "engine/device/device-private.h"
#include "kernels/times.h"

#include <dlfcn.h>

#define MODULE "ligature-cuda.so"
#define DRIVER "libcuda.so.1"

static int
count_kernels (void)
{
  int count = 0;
  while (lig_kernel_nth (count))
    count++;
  return count;
}

/* The first module that there is; else null, with what the loader said of a file that is there. */
static void *
open_module (char **found, char **reason)
{
  Dl_info here;
  g_autofree char *beside = dladdr ((void *) lig_cuda_backend, &here) && here.dli_fname
                              ? g_path_get_dirname (here.dli_fname)
                              : NULL;
  g_autofree char *built = beside ? g_build_filename (beside, "..", "kernels", "cuda", NULL) : NULL;
  const char *folders[] = {g_getenv ("LIGATURE_MODULES"), beside, built, lig_module_folder (), ""};
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    if (!folders[i])
      continue;
    g_autofree char *path =
      *folders[i] ? g_build_filename (folders[i], MODULE, NULL) : g_strdup (MODULE);
    void *module = dlopen (path, RTLD_NOW | RTLD_LOCAL);
    const char *said = module ? NULL : dlerror ();
    if (module) {
      *found = g_steal_pointer (&path);
      return module;
    }
    /* By bare name the loader looks itself, and says so when there is no such file. */
    gboolean there =
      *folders[i] ? g_file_test (path, G_FILE_TEST_EXISTS) : !g_str_has_prefix (said, MODULE ":");
    if (!*reason && there)
      *reason = g_strdup_printf ("the module cannot be loaded: %s", said);
  }
  if (!*reason)
    *reason = g_strdup_printf ("the module %s was not found", MODULE);
  return NULL;
}

static const LigBackend *
load (char **reason)
{
  g_autofree char *path = NULL;
  /* Without a driver the module, whose libraries are large, would be opened for nothing. */
  void *driver = dlopen (DRIVER, RTLD_LAZY | RTLD_LOCAL);
  if (!driver) {
    *reason = g_strdup ("no NVIDIA driver is installed (" DRIVER " was not found)");
    return NULL;
  }
  /* It stays open: the runtime would load it again. */
  lig_times_mark ("driver library");
  void *module = open_module (&path, reason);
  lig_times_mark ("module and libraries");
  if (!module)
    return NULL;
  LigBackendEntry entry = (LigBackendEntry) dlsym (module, LIG_BACKEND_SYMBOL);
  const LigBackend *backend = entry ? entry () : NULL;
  if (!backend || backend->version != LIG_BACKEND_VERSION ||
      backend->n_functions != count_kernels ()) {
    g_free (*reason);
    *reason = g_strdup_printf ("the module %s is of another version than this library", path);
    dlclose (module);
    return NULL;
  }
  lig_kernels_register (LIG_BACKEND_CUDA, backend->functions);
  return backend;
}

const LigBackend *
lig_cuda_backend (const char **reason)
{
  static gsize loaded;
  static const LigBackend *backend;
  static char *why;
  if (g_once_init_enter (&loaded)) {
    backend = load (&why);
    g_once_init_leave (&loaded, 1);
  }
  if (!backend)
    *reason = why;
  return backend;
}
