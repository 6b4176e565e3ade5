/* SPDX-License-Identifier: MIT */
/* Opens NCCL, and connects the devices of several processes with it. */
#include "kernels/cuda/connect/nccl.h"

#include "kernels/cuda/common/library.h"

#include <cublasLt.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first version with ncclAvg and the 16-bit types: 2.10. */
enum { OLDEST = 21000 };

static LigNccl nccl;
static char reason[256];

/* Sets a pointer to a function; false, with the reason, if the library does not have it. */
static bool
find (void *library, const char *name, void *function)
{
  void *symbol = dlsym (library, name);
  memcpy (function, &symbol, sizeof symbol);
  if (!symbol)
    snprintf (reason, sizeof reason, "it has no %s", name);
  return symbol != NULL;
}

static bool
find_all (void *library)
{
  return find (library, "ncclGetVersion", &nccl.get_version) &&
         find (library, "ncclGetUniqueId", &nccl.get_key) &&
         find (library, "ncclCommInitRank", &nccl.connect) &&
         find (library, "ncclCommDestroy", &nccl.disconnect) &&
         find (library, "ncclCommAbort", &nccl.abandon) &&
         find (library, "ncclCommGetAsyncError", &nccl.get_state) &&
         find (library, "ncclGetErrorString", &nccl.describe) &&
         find (library, "ncclAllReduce", &nccl.all_reduce) &&
         find (library, "ncclAllGather", &nccl.all_gather) &&
         find (library, "ncclReduceScatter", &nccl.reduce_scatter) &&
         find (library, "ncclGroupStart", &nccl.group_start) &&
         find (library, "ncclGroupEnd", &nccl.group_end) &&
         find (library, "ncclSend", &nccl.send) && find (library, "ncclRecv", &nccl.receive);
}

/* NVLink multicast (NVLS) hangs on machines whose fabric is shared, so it is off unless the user
 * sets it. NCCL reads the environment at its first call. */
static void
open_library (void)
{
  int version = 0;
  size_t (*const neighbour) (void) = cublasLtGetVersion;
  const void *beside;
  memcpy (&beside, &neighbour, sizeof beside);
  void *library = lig_library_open ("libnccl.so.2", "nccl", beside, reason, sizeof reason);
  nccl.why = reason;
  if (!library)
    return;
  setenv ("NCCL_NVLS_ENABLE", "0", 0);
  if (!find_all (library))
    return;
  memcpy (&beside, &nccl.get_version, sizeof beside);
  lig_library_path (beside, nccl.path, sizeof nccl.path);
  *(void **) &nccl.last_error = dlsym (library, "ncclGetLastError");
  if (nccl.get_version (&version) != 0 || version < OLDEST)
    snprintf (reason, sizeof reason, "version %d is older than %d", version, OLDEST);
  else
    nccl.why = NULL;
}

const LigNccl *
lig_nccl (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, open_library);
  return &nccl;
}

/* Stores the reason of a failure in the device's message. */
static LigStatus
check (LigBackendDevice *device, int error, const char *what)
{
  if (error == 0)
    return LIG_OK;
  const char *more = nccl.last_error ? nccl.last_error (NULL) : NULL;
  snprintf (device->message, sizeof device->message, "NCCL failed: %s: %s%s%.300s", what,
            nccl.describe (error), more && *more ? ": " : "", more ? more : "");
  return LIG_FAILED;
}

static LigStatus
find_library (LigBackendDevice *device)
{
  if (!lig_nccl ()->why)
    return LIG_OK;
  snprintf (device->message, sizeof device->message,
            "NCCL is missing: %.250s; add it by ./setup cuda, or install libnccl2", nccl.why);
  return LIG_UNSUPPORTED;
}

LigStatus
lig_cuda_connection_key (LigBackendDevice *device, char *key)
{
  LigNcclKey made;
  LigStatus status = find_library (device);
  if (status == LIG_OK)
    status = check (device, nccl.get_key (&made), "making a key");
  if (status == LIG_OK)
    memcpy (key, made.bytes, sizeof made.bytes);
  return status;
}

LigStatus
lig_cuda_connect (LigBackendDevice *device, const char *key, int rank, int count, void **connection)
{
  LigNcclKey copy;
  LigStatus status = find_library (device);
  if (status != LIG_OK)
    return status;
  memcpy (copy.bytes, key, sizeof copy.bytes);
  cudaSetDevice (device->number);
  return check (device, nccl.connect (connection, count, copy, rank), "connecting");
}

void
lig_cuda_disconnect (LigBackendDevice *device, void *connection)
{
  int error = 0;
  cudaSetDevice (device->number);
  if (!connection)
    return;
  if (nccl.get_state (connection, &error) == 0 && error == 0)
    nccl.disconnect (connection);
  else
    nccl.abandon (connection);
}

LigStatus
lig_cuda_connection_state (LigBackendDevice *device, void *connection)
{
  int error = 0, failed = nccl.get_state (connection, &error);
  return check (device, failed ? failed : error, "a collective");
}
