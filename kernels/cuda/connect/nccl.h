/* SPDX-License-Identifier: MIT */
/* NCCL, opened at run time: the functions in use, as declared in the documentation of NCCL 2 (their
 * names and constants are a stable interface), and the connections of the backend. */
#pragma once

#include "kernels/cuda/common/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same as ncclUniqueId. */
typedef struct {
  char bytes[LIG_CONNECTION_KEY];
} LigNcclKey;

/* Constants of types and reductions. */
enum { LIG_NCCL_FP16 = 6, LIG_NCCL_FP32 = 7, LIG_NCCL_BF16 = 9 };
enum { LIG_NCCL_SUM = 0, LIG_NCCL_MAX = 2, LIG_NCCL_MEAN = 4 };

/* Functions return 0 or an error number. `connection` and `c` are an ncclComm_t. `count` is the
 * number of elements that this process sends, for reduce_scatter that it receives. */
typedef struct {
  const char *why; /* null; or the reason why NCCL cannot be used: then only `path` may be set */
  char path[1024]; /* its path; empty if it is missing */
  int (*get_version) (int *version);
  int (*get_key) (LigNcclKey *key);
  int (*connect) (void **connection, int count, LigNcclKey key, int rank);
  int (*disconnect) (void *connection);
  int (*abandon) (void *connection); /* the same, after a failure of another process */
  int (*get_state) (void *connection, int *error);
  const char *(*describe) (int error);
  const char *(*last_error) (void *connection); /* null before version 2.13 */
  int (*all_reduce) (const void *x, void *y, size_t count, int type, int op, void *c, void *stream);
  int (*all_gather) (const void *x, void *y, size_t count, int type, void *c, void *stream);
  int (*reduce_scatter) (
    const void *x, void *y, size_t count, int type, int op, void *c, void *stream);
  /* Sends and receives between the calls that begin and end a group run concurrently. */
  int (*group_start) (void);
  int (*group_end) (void);
  int (*send) (const void *x, size_t count, int type, int peer, void *c, void *stream);
  int (*receive) (void *y, size_t count, int type, int peer, void *c, void *stream);
} LigNccl;

/* Opens the library at the first call. May be called from any thread. */
const LigNccl *lig_nccl (void);

/* The backend's calls for connections, see backend.h. */
LigStatus lig_cuda_connection_key (LigBackendDevice *device, char *key);
LigStatus lig_cuda_connect (
  LigBackendDevice *device, const char *key, int rank, int count, void **connection);
void lig_cuda_disconnect (LigBackendDevice *device, void *connection);
LigStatus lig_cuda_connection_state (LigBackendDevice *device, void *connection);

#ifdef __cplusplus
}
#endif
