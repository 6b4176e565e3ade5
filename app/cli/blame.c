/* SPDX-License-Identifier: MIT */
#include "app/cli/blame.h"

#include <ligature/error.h>
#include <ligature/op.h>

#include <string.h>

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

gboolean
lig_cli_blame_named (GError **error)
{
  lig_cli_blame (error, NULL);
  g_prefix_error_literal (error, "--");
  return FALSE;
}

/* Returns whether the word is the last one of the op's name, or its initials: `mse` for
 * `mean-squared-error`. */
static gboolean
abbreviates (const char *word, const char *name)
{
  g_auto (GStrv) parts = g_strsplit (name, "-", -1);
  g_autoptr (GString) initials = g_string_new (NULL);
  guint count = g_strv_length (parts);
  for (guint i = 0; i < count; i++)
    g_string_append_c (initials, *parts[i]);
  return count > 1 && (g_str_equal (word, initials->str) || g_str_equal (word, parts[count - 1]));
}

void
lig_cli_suggest_op (GError **error)
{
  const LigOpInfo *info;
  const char *end = error && *error ? strrchr ((*error)->message, '\'') : NULL;
  if (!end || !g_error_matches (*error, LIG_ERROR, LIG_ERROR_OP))
    return;
  const char *start = g_strrstr_len ((*error)->message, end - (*error)->message, "'");
  g_autofree char *word = start ? g_strndup (start + 1, (gsize) (end - start - 1)) : g_strdup ("");
  g_autofree char *sentence =
    g_strdup_printf (g_dgettext (GETTEXT_PACKAGE, "op '%.60s' is unknown%s"), word, "");
  if (!g_str_has_suffix ((*error)->message, sentence))
    return;
  for (guint i = 0; (info = lig_op_info_nth (i)); i++)
    if (abbreviates (word, info->name))
      break;
  char *message = info ? g_strdup_printf ("%s; did you mean '%s'?", (*error)->message, info->name)
                       : g_strconcat ((*error)->message, "; lig ops lists the ops", NULL);
  g_free ((*error)->message);
  (*error)->message = message;
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
