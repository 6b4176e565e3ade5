/* SPDX-License-Identifier: MIT */
/* A lock per GPU for those who measure on it: a file in the user's runtime folder, called by the
 * GPU's UUID and locked by flock(), which the system lets go of when a process ends. */
#include "engine/measure/lock.h"

#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/file.h>
#include <unistd.h>

#define PATIENCE 120.0
#define PAUSE 20000 /* microseconds between two looks at a lock that another holds */

typedef struct {
  GThread *owner;
  guint depth;
  int file;          /* -1: measured without the lock */
  gboolean given_up; /* waited in vain: nobody waits again before the lock was free once */
} Held;

static GMutex mutex;
static GHashTable *locks; /* id -> Held, of this process */

/* The lock of that name; the mutex is held. */
static Held *
find (const char *id)
{
  Held *held;
  if (!locks)
    locks = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  held = g_hash_table_lookup (locks, id);
  if (!held) {
    held = g_new (Held, 1);
    *held = (Held){NULL, 0, -1, FALSE};
    g_hash_table_insert (locks, g_strdup (id), held);
  }
  return held;
}

/* A lock of this process that this thread holds already, or that is free now; else null. */
static Held *
claim (const char *id)
{
  g_mutex_lock (&mutex);
  Held *held = find (id);
  if (held->depth > 0 && held->owner != g_thread_self ()) {
    held = NULL;
  } else {
    held->owner = g_thread_self ();
    held->depth++;
  }
  g_mutex_unlock (&mutex);
  return held;
}

/* The lock's file; -1 where none can be made: a machine that forbids it is measured on all the
 * same. */
static int
open_file (const char *id)
{
  g_autofree char *folder = g_build_filename (g_get_user_runtime_dir (), "ligature", NULL);
  g_autofree char *name = g_strconcat (id, ".lock", NULL);
  g_autofree char *path = g_build_filename (folder, name, NULL);
  if (g_mkdir_with_parents (folder, 0700) != 0)
    return -1;
  return open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static void
tell_once (gboolean *told)
{
  if (!*told)
    lig_tuning_say (_ ("another process measures on this device; waiting for it"));
  *told = TRUE;
}

/* Whether the file was locked; what cannot be locked at all is not waited for. */
static gboolean
lock_file (int file, double deadline, gboolean *told)
{
  while (flock (file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return FALSE;
    if (lig_now () >= deadline)
      return FALSE;
    tell_once (told);
    g_usleep (PAUSE);
  }
  return TRUE;
}

static gboolean
has_given_up (const char *id)
{
  g_mutex_lock (&mutex);
  gboolean given_up = find (id)->given_up;
  g_mutex_unlock (&mutex);
  return given_up;
}

/* Returns what a lock returns that was got or not. */
static gboolean
settle (const char *id, gboolean got, gboolean told)
{
  g_mutex_lock (&mutex);
  find (id)->given_up = !got && (told || find (id)->given_up);
  g_mutex_unlock (&mutex);
  if (!got && told)
    lig_tuning_say (_ ("it did not end; measuring beside it, so times may be too long"));
  return got;
}

gboolean
lig_measuring_lock (const char *id, double patience)
{
  gboolean given_up = has_given_up (id), told = given_up;
  double deadline = lig_now () + (given_up ? 0 : patience);
  Held *held;
  while (!(held = claim (id))) {
    if (lig_now () >= deadline)
      return settle (id, FALSE, told && !given_up);
    tell_once (&told);
    g_usleep (PAUSE);
  }
  if (held->depth > 1)
    return held->file >= 0;
  int file = open_file (id);
  if (file >= 0 && lock_file (file, deadline, &told)) {
    held->file = file;
    return settle (id, TRUE, FALSE);
  }
  if (file >= 0)
    close (file);
  return settle (id, FALSE, told && !given_up);
}

void
lig_measuring_unlock (const char *id)
{
  g_mutex_lock (&mutex);
  Held *held = locks ? g_hash_table_lookup (locks, id) : NULL;
  if (held && held->depth > 0 && held->owner == g_thread_self () && --held->depth == 0) {
    if (held->file >= 0)
      close (held->file);
    held->file = -1;
    held->owner = NULL;
  }
  g_mutex_unlock (&mutex);
}

void
lig_measuring_begin (LigDevice *device)
{
  const char *id = lig_device_get_id (device);
  if (*id)
    lig_measuring_lock (id, PATIENCE);
}

void
lig_measuring_end (LigDevice *device)
{
  const char *id = lig_device_get_id (device);
  if (*id)
    lig_measuring_unlock (id);
}
