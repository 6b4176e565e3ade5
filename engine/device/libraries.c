/* SPDX-License-Identifier: MIT */
/* Finds the libraries that the modules of backends open. */
#include "engine/device/backend.h"

#include <glib/gi18n-lib.h>
#include <stdlib.h>

gboolean
lig_backend_get_library (const char *name, guint n, LigLibrary *library)
{
  const char *rest, *reason;
  LigBackendLibrary found;
  const LigBackendTable *backend = lig_backend_table_find (name, &rest);
  const LigBackend *calls = backend && backend->driver ? lig_module_load (backend, &reason) : NULL;
  if (!calls || !calls->library || n > G_MAXINT || !calls->library ((int) n, &found))
    return FALSE;
  g_strlcpy (library->name, found.name, sizeof library->name);
  g_strlcpy (library->version, found.version, sizeof library->version);
  /* The path from the loader may go through the folders from which it searched. */
  char *file = realpath (found.path, NULL);
  g_strlcpy (library->path, file ? file : found.path, sizeof library->path);
  free (file);
  g_strlcpy (library->reason, found.why, sizeof library->reason);
  g_strlcpy (library->cost, found.cost ? found.cost : "", sizeof library->cost);
  return TRUE;
}

char *
lig_library_to_text (const LigLibrary *library)
{
  if (*library->version)
    return g_strdup_printf (_ ("%s %s is %s"), library->name, library->version, library->path);
  if (*library->reason)
    return g_strdup_printf (_ ("%s is not used, %s: %s"), library->name, library->reason,
                            library->cost);
  return g_strdup_printf (_ ("%s is missing: %s; ./setup cuda adds it"), library->name,
                          library->cost);
}
