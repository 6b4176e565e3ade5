/* SPDX-License-Identifier: MIT */
/* An uninstalled program finds the schema of its settings in its build folder. GLib would abort the
 * process if the schema were missing. */
#include "ui/session/settings.h"

#include <ligature/error.h>
#include <ligature/folders.h>

#define SCHEMA "org.ligature.Ligature"

GSettings *
lig_settings_open (GError **error)
{
  GSettingsSchemaSource *usual = g_settings_schema_source_get_default ();
  g_autoptr (GSettingsSchema) schema =
    usual ? g_settings_schema_source_lookup (usual, SCHEMA, TRUE) : NULL;
  g_auto (GStrv) folders = lig_schema_folders ();
  for (char **folder = folders; !schema && *folder; folder++) {
    g_autoptr (GSettingsSchemaSource) source =
      g_settings_schema_source_new_from_directory (*folder, usual, TRUE, NULL);
    schema = source ? g_settings_schema_source_lookup (source, SCHEMA, FALSE) : NULL;
  }
  if (schema)
    return g_settings_new_full (schema, NULL, NULL);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE,
               "the settings' schema " SCHEMA " was not found; is the installation complete?");
  return NULL;
}
