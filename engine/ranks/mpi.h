/* SPDX-License-Identifier: MIT */
/* The functions of the MPI library that ranks need, looked up when it is opened. No MPI header is
 * used: the prototypes follow OpenMPI's ABI, in which handles are pointers. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

typedef struct {
  GMutex lock; /* held during each call, so that only one thread at a time calls MPI */
  void *world, *byte, *errors_return;
  int (*init_thread) (int *argc, char ***argv, int required, int *provided);
  int (*finalize) (void);
  int (*abort) (void *comm, int code);
  int (*comm_rank) (void *comm, int *rank);
  int (*comm_size) (void *comm, int *size);
  int (*comm_dup) (void *comm, void **copy);
  int (*comm_split) (void *comm, int color, int key, void **part);
  int (*comm_set_errhandler) (void *comm, void *handler);
  int (*error_string) (int code, char *text, int *length);
  int (*ibcast) (void *data, int count, void *type, int root, void *comm, void **request);
  int (*iallgather) (const void *from,
                     int n_from,
                     void *from_type,
                     void *to,
                     int n_to,
                     void *to_type,
                     void *comm,
                     void **request);
  int (*ibarrier) (void *comm, void **request);
  int (*isend) (
    const void *data, int count, void *type, int to, int tag, void *comm, void **request);
  int (*irecv) (void *data, int count, void *type, int from, int tag, void *comm, void **request);
  int (*testall) (int count, void **requests, int *flag, void *statuses);
} LigMpi;

/* Opens the library, which stays open. Returns null with LIG_ERROR_DEVICE set if it is missing or
 * not OpenMPI. */
LigMpi *lig_mpi_open (GError **error);

/* Waits until the requests are done. Polls for about as long as a transfer of this many bytes
 * takes, then sleeps for an eighth of the elapsed time, at most `longest` microseconds, because the
 * other ranks of this machine need the CPUs. `code` is the result of the calls that began the
 * requests. Returns MPI's code, 0 for success. */
int lig_mpi_wait (LigMpi *self, void **requests, int count, gsize bytes, gint64 longest, int code);

/* Returns MPI's message for a code; (transfer full). */
char *lig_mpi_describe (LigMpi *self, int code);

/* Sets an error with that message unless the code is 0. Returns whether it is 0. */
gboolean lig_mpi_check (LigMpi *self, int code, GError **error);

G_END_DECLS
