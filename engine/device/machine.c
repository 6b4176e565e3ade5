/* SPDX-License-Identifier: MIT */
/* Lists the devices of this machine. */
#include "engine/device/backend.h"

#include <string.h>

GStrv
lig_device_list (void)
{
  char why[512];
  const LigBackendTable *backend;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  for (guint i = 0; (backend = lig_backend_table_nth (i)); i++) {
    int count = backend->driver ? lig_numbered_count (backend, why, sizeof why) : 0;
    for (int number = 0; number < count; number++)
      g_ptr_array_add (names, g_strdup_printf ("%s:%d", backend->info.name, number));
    if (backend->list)
      backend->list (names);
  }
  g_ptr_array_add (names, NULL);
  return (GStrv) g_ptr_array_steal (names, NULL);
}

/* Returns whether a device has this name, in which the first device of a kind may lack its
 * number. */
static gboolean
is_named (const char *device, const char *name)
{
  return strchr (name, ':') ? g_str_equal (device, name)
                            : g_str_has_prefix (device, name) && device[strlen (name)] == ':';
}

GStrv
lig_device_list_accelerators (const char *first)
{
  g_auto (GStrv) names = lig_device_list ();
  g_autoptr (GStrvBuilder) found = g_strv_builder_new ();
  gboolean begun = FALSE;
  for (char **name = names; *name; name++) {
    if (!lig_device_name_has (*name, LIG_DEVICE_ACCELERATOR) ||
        lig_device_name_has (*name, LIG_DEVICE_DESCRIBED))
      continue;
    begun = begun || !first || is_named (*name, first);
    if (begun)
      g_strv_builder_add (found, *name);
  }
  return g_strv_builder_end (found);
}
