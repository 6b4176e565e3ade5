/* SPDX-License-Identifier: MIT */
/* The libraries of the backend, for display: version, path, and the effect if one is missing. */
#include "kernels/cuda/attention/cudnn-version.h"
#include "kernels/cuda/common/library.h"
#include "kernels/cuda/connect/nccl.h"
#include "kernels/cuda/runtime/device.h"

#include <cublasLt.h>
#include <stdio.h>
#include <string.h>

/* Records the reason for not using a library, unless its file is simply absent. */
static void
keep_reason (LigBackendLibrary *library, const char *file, const char *why)
{
  bool absent = strncmp (why, file, strlen (file)) == 0 && strstr (why, ": No such file");
  snprintf (library->why, sizeof library->why, "%s", absent ? "" : why);
}

static void
describe_cublas (LigBackendLibrary *library)
{
  size_t (*const get_version) (void) = cublasLtGetVersion;
  size_t version = get_version ();
  const void *address;
  memcpy (&address, &get_version, sizeof address);
  library->name = "cuBLASLt";
  lig_library_path (address, library->path, sizeof library->path);
  snprintf (library->version, sizeof library->version, "%zu.%zu.%zu", version / 10000,
            version % 10000 / 100, version % 100);
}

static void
describe_cudnn (LigBackendLibrary *library)
{
  const char *why;
  size_t version = lig_cudnn_version (&why);
  library->name = "cuDNN";
  library->cost = "attention runs on the built-in kernels, about 1.8 times slower forward";
  snprintf (library->path, sizeof library->path, "%s", lig_cudnn_path ());
  if (version)
    snprintf (library->version, sizeof library->version, "%zu.%zu.%zu", version / 10000,
              version % 10000 / 100, version % 100);
  else
    keep_reason (library, "libcudnn.so.9", why);
}

static void
describe_nccl (LigBackendLibrary *library)
{
  const LigNccl *nccl = lig_nccl ();
  int version = 0;
  library->name = "NCCL";
  library->cost = "training on several GPUs is not possible";
  snprintf (library->path, sizeof library->path, "%s", nccl->path);
  if (nccl->why)
    keep_reason (library, "libnccl.so.2", nccl->why);
  else if (nccl->get_version (&version) == 0)
    snprintf (library->version, sizeof library->version, "%d.%d.%d", version / 10000,
              version % 10000 / 100, version % 100);
}

bool
lig_cuda_library (int n, LigBackendLibrary *library)
{
  static void (*const all[]) (LigBackendLibrary *) = {describe_cublas, describe_cudnn,
                                                      describe_nccl};
  if (n < 0 || (size_t) n >= sizeof all / sizeof *all)
    return false;
  *library = (LigBackendLibrary){0};
  all[n](library);
  return true;
}
