/* SPDX-License-Identifier: MIT */
/* The descriptions and values of options that several commands have. */
#include "app/cli/shared-options.h"

#include "app/cli/blame.h"

#include <string.h>

static const LigSetting *
find_setting (const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (strcmp (setting->name, name) == 0)
      return setting;
  return NULL;
}

char *
lig_cli_setting_help (const LigSetting *setting)
{
  g_autofree char *initial = lig_setting_default (setting);
  GString *text = g_string_new (setting->help);
  if (setting->of)
    g_string_append_printf (text, strchr (setting->of, ',') ? " (%s)" : " (%s only)", setting->of);
  if (initial)
    g_string_append_printf (text, " [default: %s]", initial);
  return g_string_free (text, FALSE);
}

GOptionEntry
lig_cli_setting_entry (const char *name, char **variable)
{
  const LigSetting *setting = find_setting (name);
  g_autofree char *help = lig_cli_setting_help (setting);
  return (GOptionEntry){.long_name = setting->name,
                        .arg = G_OPTION_ARG_STRING,
                        .arg_data = variable,
                        .description = g_intern_string (help),
                        .arg_description = setting->argument};
}

gboolean
lig_cli_read_count (const char *name, const char *text, gint64 *value, GError **error)
{
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  if (text && !lig_run_settings_set (&settings, name, text, error)) {
    g_prefix_error (error, "--");
    return lig_cli_blame (error, NULL);
  }
  g_autofree char *number = lig_run_settings_get (&settings, name);
  *value = g_ascii_strtoll (number, NULL, 10);
  return TRUE;
}

GOptionEntry
lig_cli_device_entry (gboolean runs, char **variable)
{
  g_autofree char *help =
    g_strconcat (lig_device_forms (runs ? LIG_DEVICE_DESCRIBED : 0), LIG_CLI_DEVICE_DEFAULT, NULL);
  return (GOptionEntry){.long_name = "device",
                        .arg = G_OPTION_ARG_STRING,
                        .arg_data = variable,
                        .description = g_intern_string (help),
                        .arg_description = "DEVICE"};
}

LigDevice *
lig_cli_open_real (const char *name, GError **error)
{
  g_autoptr (LigDevice) device = lig_cli_open_named (name, error);
  if (!device || !lig_device_has (device, LIG_DEVICE_DESCRIBED))
    return g_steal_pointer (&device);
  g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
               "device '%s' is only a description and cannot run; give --device cpu or cuda:0",
               lig_device_get_name (device));
  return NULL;
}
