/* SPDX-License-Identifier: MIT */
#include "app/cli/blame.h"

#include <ligature/error.h>

gboolean
lig_cli_blame (GError **error, const char *option)
{
  if (!error || !*error || (*error)->domain == G_OPTION_ERROR)
    return FALSE;
  GError *usage = g_error_new_literal (G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, (*error)->message);
  g_clear_error (error);
  g_propagate_error (error, usage);
  if (option)
    g_prefix_error (error, "--%s: ", option);
  return FALSE;
}

/* Returns whether the name of a device is wrong, not the device missing: no backend has names of
 * its form, or the described device is neither a shipped one nor a file. */
static gboolean
is_wrong (const char *name, const GError *error)
{
  return g_error_matches (error, LIG_ERROR, LIG_ERROR_DEVICE) &&
         (!lig_backend_find (name) || lig_device_name_has (name, LIG_DEVICE_DESCRIBED));
}

LigDevice *
lig_cli_open_named (const char *name, GError **error)
{
  LigDevice *device = lig_device_open (name, error);
  if (!device && name && error && is_wrong (name, *error))
    lig_cli_blame (error, NULL);
  return device;
}
