/* SPDX-License-Identifier: MIT */
/* Escapes from SQLite by a long jump if a file that it has mapped was truncated. */
#include "engine/store/guard.h"
#include <ligature/store.h>

#include <glib/gi18n-lib.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static _Thread_local sigjmp_buf *jump_target;

static void
handle_sigbus (int number)
{
  static const char text[] =
    "another program truncated a file that this program has mapped, most likely the store's\n";
  if (jump_target)
    siglongjmp (*jump_target, 1);
  ssize_t written = write (STDERR_FILENO, text, sizeof text - 1);
  (void) written;
  _exit (1);
}

void
lig_store_catch_truncation (void)
{
  struct sigaction action = {.sa_handler = handle_sigbus};
  sigemptyset (&action.sa_mask);
  sigaction (SIGBUS, &action, NULL);
}

gboolean
lig_guard_run (void (*work) (gpointer data), gpointer data)
{
  sigjmp_buf target;
  if (sigsetjmp (target, 1) != 0) {
    jump_target = NULL;
    return FALSE;
  }
  jump_target = &target;
  work (data);
  jump_target = NULL;
  return TRUE;
}

void
lig_guard_fail (const char *path, GError **error)
{
  g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
               _ ("store '%s': another program truncated its file '%s-shm'; restart this program "
                  "to write to the store again"),
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
