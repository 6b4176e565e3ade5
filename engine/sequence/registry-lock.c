/* SPDX-License-Identifier: MIT */
/* A readers-writer lock: compilations run concurrently, but a registration excludes them, because
 * inserting a fusion would shift the later ones in the list that a compilation reads. */
#include "engine/sequence/registry-lock.h"

static GRWLock lock;
static GPrivate depth; /* how many times this thread holds the registries; 1 while it registers */

void
lig_registry_hold (void)
{
  guint held = GPOINTER_TO_UINT (g_private_get (&depth));
  if (held == 0)
    g_rw_lock_reader_lock (&lock);
  g_private_set (&depth, GUINT_TO_POINTER (held + 1));
}

void
lig_registry_release (void)
{
  guint held = GPOINTER_TO_UINT (g_private_get (&depth)) - 1;
  g_private_set (&depth, GUINT_TO_POINTER (held));
  if (held == 0)
    g_rw_lock_reader_unlock (&lock);
}

gboolean
lig_registry_open (const char *what, int code, GError **error)
{
  if (g_private_get (&depth)) {
    g_set_error (error, LIG_ERROR, code,
                 "%s cannot be registered while this thread compiles or registers; do it before",
                 what);
    return FALSE;
  }
  g_rw_lock_writer_lock (&lock);
  g_private_set (&depth, GUINT_TO_POINTER (1));
  return TRUE;
}

void
lig_registry_close (void)
{
  g_private_set (&depth, NULL);
  g_rw_lock_writer_unlock (&lock);
}
