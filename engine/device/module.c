/* SPDX-License-Identifier: MIT */
/* Loads a backend's module, searching $LIGATURE_MODULES, the folder of the library, the build
 * folder, the installation folder, then the loader's search path. Without the module everything
 * else works. It stays loaded, because its kernels are in the table of kernels. */
#include "engine/base/folders-private.h"
#include "engine/device/backend.h"
#include "kernels/times.h"
#include <ligature/kernels.h>

#include <dlfcn.h>
#include <glib/gi18n-lib.h>

static int
count_kernels (void)
{
  int count = 0;
  while (lig_kernel_nth (count))
    count++;
  return count;
}

/* Opens the first module found; else returns null with, if a file exists, the loader's message in
 * `reason`. */
static void *
open_module (const char *backend, char **found, char **reason)
{
  Dl_info here;
  g_autofree char *file = g_strdup_printf ("ligature-%s.so", backend);
  g_autofree char *missing = g_strconcat (file, ":", NULL);
  g_autofree char *near = dladdr ((void *) lig_module_load, &here) && here.dli_fname
                            ? g_path_get_dirname (here.dli_fname)
                            : NULL;
  g_autofree char *built =
    lig_build_folder () ? g_build_filename (lig_build_folder (), "kernels", backend, NULL) : NULL;
  const char *folders[] = {g_getenv ("LIGATURE_MODULES"), near, built, lig_module_folder (), ""};
  for (guint i = 0; i < G_N_ELEMENTS (folders); i++) {
    if (!folders[i])
      continue;
    g_autofree char *path =
      *folders[i] ? g_build_filename (folders[i], file, NULL) : g_strdup (file);
    void *module = dlopen (path, RTLD_NOW | RTLD_LOCAL);
    const char *said = module ? NULL : dlerror ();
    if (module) {
      *found = g_steal_pointer (&path);
      return module;
    }
    /* For a bare name the loader searches, and its message shows whether the file is missing. */
    gboolean exists =
      *folders[i] ? g_file_test (path, G_FILE_TEST_EXISTS) : !g_str_has_prefix (said, missing);
    if (!*reason && exists)
      *reason = g_strdup_printf (_ ("the module cannot be loaded: %s"), said);
  }
  if (!*reason)
    *reason = g_strdup_printf (_ ("the module %s was not found"), file);
  return NULL;
}

static const LigBackend *
load (const LigBackendTable *table, char **reason)
{
  g_autofree char *path = NULL;
  /* Checks for the driver first: the module loads large libraries, which are useless without a
   * driver. */
  void *driver = dlopen (table->driver, RTLD_LAZY | RTLD_LOCAL);
  if (!driver) {
    *reason = g_strdup_printf (_ ("no %s driver is installed (%s was not found)"), table->maker,
                               table->driver);
    return NULL;
  }
  /* The driver library stays open, because the runtime would load it again. */
  lig_times_mark ("driver library");
  void *module = open_module (table->info.name, &path, reason);
  lig_times_mark ("module and libraries");
  if (!module)
    return NULL;
  LigBackendEntry entry = (LigBackendEntry) dlsym (module, LIG_BACKEND_SYMBOL);
  const LigBackend *backend = entry ? entry () : NULL;
  if (!backend || backend->version != LIG_BACKEND_VERSION ||
      backend->n_functions != count_kernels ()) {
    g_free (*reason);
    *reason = g_strdup_printf (_ ("the module %s and this library have different versions"), path);
    dlclose (module);
    return NULL;
  }
  lig_kernels_register (table->kind, backend->functions);
  return backend;
}

const LigBackend *
lig_module_load (const LigBackendTable *table, const char **reason)
{
  static struct {
    gsize done;
    const LigBackend *backend;
    char *reason;
  } loaded[LIG_N_BACKENDS];
  if (g_once_init_enter (&loaded[table->kind].done)) {
    loaded[table->kind].backend = load (table, &loaded[table->kind].reason);
    g_once_init_leave (&loaded[table->kind].done, 1);
  }
  *reason = loaded[table->kind].backend ? NULL : loaded[table->kind].reason;
  return loaded[table->kind].backend;
}
