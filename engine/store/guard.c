/* SPDX-License-Identifier: MIT */
/* A way out of SQLite where a file that it maps was cut off. */
#include "engine/store/guard.h"
#include <ligature/store.h>

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static _Thread_local sigjmp_buf *way_out;

static void
leave (int number)
{
  static const char text[] =
    "a file that this program has mapped was cut off by another one, most likely the store's\n";
  if (way_out)
    siglongjmp (*way_out, 1);
  ssize_t written = write (STDERR_FILENO, text, sizeof text - 1);
  (void) written;
  _exit (1);
}

void
lig_store_catch_truncation (void)
{
  struct sigaction action = {.sa_handler = leave};
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, NULL);
}

gboolean
lig_guard_run (void (*work) (gpointer data), gpointer data)
{
  sigjmp_buf here;
  if (sigsetjmp (here, 1) != 0) {
    way_out = NULL;
    return FALSE;
  }
  way_out = &here;
  work (data);
  way_out = NULL;
  return TRUE;
}

void
lig_guard_fail (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               "store '%s': its file '%s-shm' was cut off by another program; nothing more can be "
               "written to it before this program ends",
               path, path);
}

void
lig_guard_abandon (gpointer connection)
{
  static GSList *kept;
  static GMutex lock;
  g_mutex_lock (&lock);
  kept = g_slist_prepend (kept, connection);
  g_mutex_unlock (&lock);
}
