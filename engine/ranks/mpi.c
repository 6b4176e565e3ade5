/* SPDX-License-Identifier: MIT */
/* Opens the OpenMPI library and waits for requests. */
#include "engine/ranks/mpi.h"

#include <dlfcn.h>
#include <glib/gi18n-lib.h>
#include <sched.h>

/* MPI's constants in OpenMPI's headers. */
#define LONGEST_ERROR_STRING 256
#define STATUSES_IGNORE NULL

/* Each function and its member of LigMpi. */
static const struct {
  const char *name;
  gsize member;
} symbols[] = {
  {"ompi_mpi_comm_world", G_STRUCT_OFFSET (LigMpi, world)},
  {"ompi_mpi_byte", G_STRUCT_OFFSET (LigMpi, byte)},
  {"ompi_mpi_errors_return", G_STRUCT_OFFSET (LigMpi, errors_return)},
  {"MPI_Init_thread", G_STRUCT_OFFSET (LigMpi, init_thread)},
  {"MPI_Finalize", G_STRUCT_OFFSET (LigMpi, finalize)},
  {"MPI_Abort", G_STRUCT_OFFSET (LigMpi, abort)},
  {"MPI_Comm_rank", G_STRUCT_OFFSET (LigMpi, comm_rank)},
  {"MPI_Comm_size", G_STRUCT_OFFSET (LigMpi, comm_size)},
  {"MPI_Comm_dup", G_STRUCT_OFFSET (LigMpi, comm_dup)},
  {"MPI_Comm_split", G_STRUCT_OFFSET (LigMpi, comm_split)},
  {"MPI_Comm_set_errhandler", G_STRUCT_OFFSET (LigMpi, comm_set_errhandler)},
  {"MPI_Error_string", G_STRUCT_OFFSET (LigMpi, error_string)},
  {"MPI_Ibcast", G_STRUCT_OFFSET (LigMpi, ibcast)},
  {"MPI_Iallgather", G_STRUCT_OFFSET (LigMpi, iallgather)},
  {"MPI_Ibarrier", G_STRUCT_OFFSET (LigMpi, ibarrier)},
  {"MPI_Isend", G_STRUCT_OFFSET (LigMpi, isend)},
  {"MPI_Irecv", G_STRUCT_OFFSET (LigMpi, irecv)},
  {"MPI_Testall", G_STRUCT_OFFSET (LigMpi, testall)},
};

/* Returns whether the library has all symbols. */
static gboolean
bind (LigMpi *self, void *library, const char *file, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++) {
    void *found = dlsym (library, symbols[i].name);
    if (!found) {
      g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                   _ ("ranks: %s has no %s, expected the library of OpenMPI 4; install the package "
                      "openmpi-bin and use its mpirun"),
                   file, symbols[i].name);
      return FALSE;
    }
    *(void **) G_STRUCT_MEMBER_P (self, symbols[i].member) = found;
  }
  return TRUE;
}

LigMpi *
lig_mpi_open (GError **error)
{
  static LigMpi mpi;
  static const char *const files[] = {"libmpi.so.40", "libmpi.so"};
  g_autofree char *reason = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    /* Global, because OpenMPI opens plugins that use the library's symbols. */
    void *library = dlopen (files[i], RTLD_NOW | RTLD_GLOBAL);
    if (library)
      return bind (&mpi, library, files[i], error) ? &mpi : NULL;
    reason = reason ? reason : g_strdup (dlerror ());
  }
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
               _ ("ranks: the library of OpenMPI cannot be opened: %s; install the package "
                  "openmpi-bin"),
               reason);
  return NULL;
}

static int
test (LigMpi *self, void **requests, int count, int *done)
{
  g_mutex_lock (&self->lock);
  int code = self->testall (count, requests, done, STATUSES_IGNORE);
  g_mutex_unlock (&self->lock);
  return code;
}

int
lig_mpi_wait (LigMpi *self, void **requests, int count, gsize bytes, gint64 longest, int code)
{
  enum { SHORTEST = 20, POLLED = 500 };
  /* A slow transfer through shared memory moves 500 bytes a microsecond. */
  gint64 began = g_get_monotonic_time (), polled = POLLED + (gint64) (bytes / 500);
  int done = 0;
  while (!code && !(code = test (self, requests, count, &done)) && !done) {
    gint64 passed = g_get_monotonic_time () - began;
    if (passed < polled)
      sched_yield ();
    else
      g_usleep ((gulong) CLAMP (passed / 8, SHORTEST, longest));
  }
  return code;
}

char *
lig_mpi_describe (LigMpi *self, int code)
{
  char text[LONGEST_ERROR_STRING + 1] = "";
  int length = 0;
  g_mutex_lock (&self->lock);
  int failed = self->error_string (code, text, &length);
  g_mutex_unlock (&self->lock);
  return failed ? g_strdup_printf ("%d", code) : g_utf8_make_valid (text, -1);
}

gboolean
lig_mpi_check (LigMpi *self, int code, GError **error)
{
  if (!code)
    return TRUE;
  g_autofree char *reason = lig_mpi_describe (self, code);
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("ranks: MPI failed: %s; start the run again"),
               reason);
  return FALSE;
}
