/* SPDX-License-Identifier: MIT */
/* Opens cuDNN and looks up its functions. */
#include "kernels/cuda/attention/cudnn-library.h"

#include "kernels/cuda/common/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library that forwards to the sublibraries, then the sublibrary with only the graph API. */
static const char *const names[] = {"libcudnn.so.9", "libcudnn_graph.so.9"};

static LigCudnn cudnn;
static bool tried;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Sets a pointer to a function; false, with the reason in `why`, if the library does not have
 * it. */
static bool
find (void *library, const char *name, void *function)
{
  void *symbol = dlsym (library, name);
  memcpy (function, &symbol, sizeof symbol);
  if (!symbol)
    snprintf (cudnn.why, sizeof cudnn.why, "cuDNN has no %s", name);
  return symbol != NULL;
}

static bool
find_all (void *library, size_t (**get_version) (void))
{
  return find (library, "cudnnGetVersion", get_version) &&
         find (library, "cudnnCreate", &cudnn.create_handle) &&
         find (library, "cudnnDestroy", &cudnn.destroy_handle) &&
         find (library, "cudnnSetStream", &cudnn.set_stream) &&
         find (library, "cudnnBackendCreateDescriptor", &cudnn.create) &&
         find (library, "cudnnBackendDestroyDescriptor", &cudnn.destroy) &&
         find (library, "cudnnBackendFinalize", &cudnn.finalize) &&
         find (library, "cudnnBackendSetAttribute", &cudnn.set) &&
         find (library, "cudnnBackendGetAttribute", &cudnn.get) &&
         find (library, "cudnnBackendExecute", &cudnn.execute) &&
         find (library, "cudnnGetErrorString", &cudnn.describe) &&
         find (library, "cudnnGetLastErrorString", &cudnn.last_message);
}

/* Opens the file that the user named, else the first of the default names that is found. */
static void *
open_first (const char *setting, const void *beside)
{
  void *library = setting ? dlopen (setting, RTLD_NOW | RTLD_LOCAL) : NULL;
  if (setting && !library)
    snprintf (cudnn.why, sizeof cudnn.why, "%.250s", dlerror ());
  for (size_t i = 0; i < sizeof names / sizeof *names && !library && !setting; i++)
    library =
      lig_library_open (names[i], "cudnn", beside, cudnn.why, i == 0 ? sizeof cudnn.why : 0);
  return library;
}

static void
open_library (const void *beside)
{
  const char *setting = getenv ("LIGATURE_CUDNN");
  setting = setting && *setting ? setting : NULL;
  size_t (*get_version) (void) = NULL;
  if (setting && strcmp (setting, "none") == 0) {
    snprintf (cudnn.why, sizeof cudnn.why, "LIGATURE_CUDNN=none");
    return;
  }
  void *library = open_first (setting, beside);
  if (!library || !find_all (library, &get_version))
    return;
  const void *address;
  memcpy (&address, &get_version, sizeof address);
  lig_library_path (address, cudnn.path, sizeof cudnn.path);
  size_t version = get_version ();
  if (version >= LIG_CUDNN_OLDEST)
    cudnn.version = version;
  else
    snprintf (cudnn.why, sizeof cudnn.why, "cuDNN %zu.%zu is older than %d.%d", version / 10000,
              version % 10000 / 100, LIG_CUDNN_OLDEST / 10000, LIG_CUDNN_OLDEST % 10000 / 100);
}

const LigCudnn *
lig_cudnn (const void *beside)
{
  pthread_mutex_lock (&lock);
  if (!tried)
    open_library (beside);
  tried = true;
  pthread_mutex_unlock (&lock);
  return &cudnn;
}
