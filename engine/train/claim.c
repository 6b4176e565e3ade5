/* SPDX-License-Identifier: MIT */
/* Lets only one run at a time write to a checkpoint file, by a lock in the user's runtime folder,
 * named by the hash of the file's name; the system releases it when the process ends. */
#include "engine/train/checkpoint.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the lock file of a checkpoint (transfer full); null if its folder cannot be created. */
static char *
name_lock (const char *checkpoint)
{
  g_autofree char *place = lig_run_resolve_place (checkpoint);
  g_autofree char *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA256, place, -1);
  g_autofree char *name = g_strdup_printf ("checkpoint-%.32s.lock", hash);
  g_autofree char *folder = g_build_filename (g_get_user_runtime_dir (), "ligature", NULL);
  return g_mkdir_with_parents (folder, 0700) == 0 ? g_build_filename (folder, name, NULL) : NULL;
}

/* Returns FALSE if another run holds the lock. That run may have removed the lock file between
 * opening and locking it here. */
static gboolean
lock (const char *path, int *file)
{
  GStatBuf info;
  for (;;) {
    *file = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*file < 0)
      return TRUE;
    if (flock (*file, LOCK_EX | LOCK_NB) != 0) {
      gboolean held = errno == EWOULDBLOCK;
      close (*file);
      *file = -1;
      return !held;
    }
    if (fstat (*file, &info) != 0 || info.st_nlink > 0)
      return TRUE;
    close (*file);
  }
}

gboolean
lig_run_claim (LigRun *self, GError **error)
{
  const char *named = self->checkpoint ? self->checkpoint : self->settings.checkpoint;
  lig_run_release (self);
  if (!named || !lig_run_writes (self))
    return TRUE;
  g_autofree char *path = name_lock (named);
  int file = -1;
  if (path && !lock (path, &file)) {
    g_autofree char *name = g_filename_display_name (named);
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
                 _ ("cannot write the checkpoint '%s': another run writes to it; choose another "
                    "name, or wait until that run ends"),
                 name);
    return FALSE;
  }
  self->claim = file;
  self->claim_path = g_steal_pointer (&path);
  return TRUE;
}

void
lig_run_release (LigRun *self)
{
  if (self->claim >= 0) {
    g_unlink (self->claim_path);
    close (self->claim);
  }
  self->claim = -1;
  g_clear_pointer (&self->claim_path, g_free);
}
