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

/* Returns whether the device's name is wrong, rather than the device missing: no backend has names
 * of this form, or the device description is neither a shipped one nor a file. */
static gboolean
is_wrong (const char *name, const GError *error)
{
  return g_error_matches (error, LIG_ERROR, LIG_ERROR_DEVICE) &&
         (!lig_backend_find (name) || lig_device_name_has (name, LIG_DEVICE_DESCRIBED));
}

/* The file name of a device description may contain a comma. */
static gboolean
is_file (const char *device)
{
  const char *colon = strchr (device, ':');
  return colon && g_file_test (colon + 1, G_FILE_TEST_EXISTS);
}

GStrv
lig_cli_split_devices (const char *device)
{
  if (!device || !strchr (device, ',') || is_file (device))
    return NULL;
  GStrv names = g_strsplit (device, ",", -1);
  for (char **name = names; *name; name++)
    g_strstrip (*name);
  return names;
}

/* Only `lig fuse` and `lig report` take several devices. */
static gboolean
need_one_device (const char *device, GError **error)
{
  g_auto (GStrv) names = lig_cli_split_devices (device);
  if (!names)
    return TRUE;
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "--device lists several devices, expected one; lig fuse --device %s compares them",
               device);
  return FALSE;
}

LigDevice *
lig_cli_open_named (const char *name, GError **error)
{
  if (!need_one_device (name, error))
    return NULL;
  LigDevice *device = lig_device_open (name, error);
  if (!device && name && error && is_wrong (name, *error))
    lig_cli_blame (error, NULL);
  if (device && name && lig_device_get_remark (device))
    lig_cli_say ("%s", lig_device_get_remark (device));
  return device;
}
