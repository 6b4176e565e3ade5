/* SPDX-License-Identifier: MIT */
/* A lock per GPU for measuring: a file in the user's runtime folder, named by the GPU's UUID and
 * locked with flock(), which the system releases when a process ends. */
#include "engine/measure/lock.h"

#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <sys/file.h>
#include <unistd.h>

#define TIMEOUT 120.0
#define PAUSE 20000 /* microseconds between two attempts to get a lock */

typedef struct {
  GThread *owner;
  guint depth;
  int file;          /* -1 if measuring without the lock */
  gboolean given_up; /* timed out: no thread waits again until the lock was free once */
} Held;

static GMutex mutex;
static GHashTable *locks; /* id to Held, of this process */

/* Returns the lock of that name. The caller holds the mutex. */
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

/* Takes the lock within this process if it is free or this thread already holds it; else returns
 * null. */
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

/* Opens the lock's file, or returns -1 if it cannot be created; the device is then measured without
 * a lock. */
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
report_once (gboolean *reported)
{
  if (!*reported)
    lig_tuning_say (_ ("another measurement is running on this device; waiting for it"));
  *reported = TRUE;
}

/* Returns whether the file was locked. Does not wait if the file cannot be locked at all. */
static gboolean
lock_file (int file, double deadline, gboolean *reported)
{
  while (flock (file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return FALSE;
    if (lig_now () >= deadline)
      return FALSE;
    report_once (reported);
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

/* Records whether the lock was obtained, reports a timeout after a wait, and returns `obtained`. */
static gboolean
finish_locking (const char *id, gboolean obtained, gboolean reported)
{
  g_mutex_lock (&mutex);
  find (id)->given_up = !obtained && (reported || find (id)->given_up);
  g_mutex_unlock (&mutex);
  if (!obtained && reported)
    lig_tuning_say (_ ("the other measurement did not finish; measuring in parallel with it, so "
                       "times may be too long"));
  return obtained;
}

gboolean
lig_measuring_lock (const char *id, double timeout)
{
  gboolean given_up = has_given_up (id), reported = given_up;
  double deadline = lig_now () + (given_up ? 0 : timeout);
  Held *held;
  while (!(held = claim (id))) {
    if (lig_now () >= deadline)
      return finish_locking (id, FALSE, reported && !given_up);
    report_once (&reported);
    g_usleep (PAUSE);
  }
  if (held->depth > 1)
    return held->file >= 0;
  int file = open_file (id);
  if (file >= 0 && lock_file (file, deadline, &reported)) {
    held->file = file;
    return finish_locking (id, TRUE, FALSE);
  }
  if (file >= 0)
    close (file);
  return finish_locking (id, FALSE, reported && !given_up);
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
    lig_measuring_lock (id, TIMEOUT);
}

void
lig_measuring_end (LigDevice *device)
{
  const char *id = lig_device_get_id (device);
  if (*id)
    lig_measuring_unlock (id);
}
