/* SPDX-License-Identifier: MIT */
/* Device profiles: JSON files with a device's facts, shipped in data/devices or given by path. */
#include "engine/folders.h"
#include "engine/private/device.h"
#include "engine/private/json.h"
#include "engine/report.h"

#include <json-glib/json-glib.h>
#include <string.h>

static double
number (JsonObject *object, const char *key)
{
  JsonNode *node = object ? json_object_get_member (object, key) : NULL;
  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_double (node) : 0;
}

static void
text (JsonObject *object, const char *key, char *target, gsize size)
{
  JsonNode *node = json_object_get_member (object, key);
  const char *value = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
  g_strlcpy (target, value ? value : "", size);
}

gboolean
lig_device_facts_from_json (const char *json, LigDeviceFacts *facts, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonNode) root = lig_json_read (json, strlen (json), NULL, &local);
  if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "a device profile is a JSON object%s%s",
                 local ? ": " : "", local ? local->message : "");
    return FALSE;
  }
  JsonObject *object = json_node_get_object (root);
  JsonNode *node = json_object_get_member (object, "product");
  JsonObject *product = node && JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  *facts = (LigDeviceFacts){
    .capability = (int) number (object, "capability"),
    .multiprocessors = (int) number (object, "multiprocessors"),
    .memory = (gint64) number (object, "memory"),
    .l2 = (gint64) number (object, "l2"),
    .copy = number (object, "copy"),
    .launch = number (object, "launch"),
  };
  text (object, "name", facts->name, sizeof facts->name);
  text (object, "libraries", facts->libraries, sizeof facts->libraries);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    facts->product[i] = number (product, lig_dtype_name ((LigDtype) i));
  if (facts->copy > 0 && facts->name[0])
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               "a device profile needs a name and a copy bandwidth");
  return FALSE;
}

char *
lig_device_facts_to_json (const LigDeviceFacts *facts)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "name");
  json_builder_add_string_value (builder, facts->name);
  const struct {
    const char *key;
    double value;
  } numbers[] = {
    {"capability", facts->capability},
    {"multiprocessors", facts->multiprocessors},
    {"memory", (double) facts->memory},
    {"l2", (double) facts->l2},
    {"copy", facts->copy},
    {"launch", facts->launch},
  };
  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    json_builder_set_member_name (builder, numbers[i].key);
    if (numbers[i].value == (double) (gint64) numbers[i].value)
      json_builder_add_int_value (builder, (gint64) numbers[i].value);
    else
      json_builder_add_double_value (builder, numbers[i].value);
  }
  json_builder_set_member_name (builder, "libraries");
  json_builder_add_string_value (builder, facts->libraries);
  json_builder_set_member_name (builder, "product");
  json_builder_begin_object (builder);
  for (int i = 0; i < LIG_N_DTYPES; i++)
    if (facts->product[i] > 0) {
      json_builder_set_member_name (builder, lig_dtype_name ((LigDtype) i));
      json_builder_add_double_value (builder, facts->product[i]);
    }
  json_builder_end_object (builder);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  return lig_json_to_text (root);
}

static char *
find_file (const char *profile)
{
  if (strchr (profile, '/') || g_str_has_suffix (profile, ".json"))
    return g_strdup (profile);
  g_autofree char *file = g_strconcat (profile, ".json", NULL);
  g_autofree char *name = g_build_filename ("devices", file, NULL);
  return lig_data_find (name);
}

gboolean
lig_profile_load (const char *profile, LigDeviceFacts *facts, GError **error)
{
  g_autofree char *path = find_file (profile);
  g_autofree char *json = NULL;
  g_autoptr (GError) local = NULL;
  if (!path) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE,
                 "no device profile is called '%s'; shipped are h200, h100 and a100", profile);
    return FALSE;
  }
  if (!g_file_get_contents (path, &json, NULL, &local)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, "%s", local->message);
    return FALSE;
  }
  if (lig_device_facts_from_json (json, facts, error))
    return TRUE;
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}
