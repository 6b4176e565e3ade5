/* SPDX-License-Identifier: MIT */
#include "engine/sequence/data-path.h"

#include <ligature/json.h>
#include <ligature/sequence.h>

#include <json-glib/json-glib.h>
#include <string.h>

/* Returns another path for data, null to keep it. */
typedef char *(*Map) (const char *path, const char *folder);

/* Returns the absolute path of data in the folder. */
static char *
resolve (const char *path, const char *folder)
{
  g_autofree char *found = g_build_filename (folder, path, NULL);
  return !g_path_is_absolute (path) && g_file_test (found, G_FILE_TEST_EXISTS)
           ? g_steal_pointer (&found)
           : NULL;
}

/* Returns the path relative to the folder of data below it. Data that does not exist, and patterns
 * of file names, keep their paths: a relative one could not be resolved. */
static char *
relate (const char *path, const char *folder)
{
  g_autofree char *below =
    g_str_has_suffix (folder, "/") ? g_strdup (folder) : g_strconcat (folder, "/", NULL);
  gsize length = strlen (below);
  return g_str_has_prefix (path, below) && path[length] && g_file_test (path, G_FILE_TEST_EXISTS)
           ? g_strdup (path + length)
           : NULL;
}

/* Maps an option of a query, `tokenizer=PATH`. */
static char *
map_option (const char *option, const char *folder, Map map)
{
  static const char *const keys[] = {"validation", "tokenizer", NULL};
  const char *equals = strchr (option, '=');
  g_autofree char *key = equals ? g_strndup (option, (gsize) (equals - option)) : NULL;
  g_autofree char *path = equals ? g_uri_unescape_string (equals + 1, NULL) : NULL;
  gboolean file = path && *path && g_strv_contains (keys, key);
  g_autofree char *other = file ? map (path, folder) : NULL;
  g_autofree char *escaped = other ? g_uri_escape_string (other, "/", TRUE) : NULL;
  return escaped ? g_strconcat (key, "=", escaped, NULL) : g_strdup (option);
}

/* Maps the paths of `csv:PATH?target=y&validation=PATH`. */
static char *
map_spec (const char *spec, const char *folder, Map map)
{
  const char *colon = strchr (spec, ':');
  if (!colon || !colon[1])
    return g_strdup (spec);
  /* A path may contain a question mark, a query contains an equals sign. */
  const char *query = strrchr (colon, '?');
  const char *end = query && strchr (query, '=') ? query : spec + strlen (spec);
  g_autofree char *path = g_strndup (colon + 1, (gsize) (end - colon - 1));
  g_autofree char *other = *path ? map (path, folder) : NULL;
  GString *text = g_string_new_len (spec, colon + 1 - spec);
  g_string_append (text, other ? other : path);
  g_auto (GStrv) options = g_strsplit (*end ? end + 1 : "", "&", -1);
  for (char **option = options; *option; option++) {
    g_autofree char *mapped = map_option (*option, folder, map);
    g_string_append_printf (text, "%c%s", option == options ? '?' : '&', mapped);
  }
  return g_string_free (text, FALSE);
}

static void
map_paths (LigSequence *sequence, const char *file, Map map)
{
  const char *train = lig_sequence_get_train (sequence);
  g_autoptr (JsonNode) root = train ? json_from_string (train, NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return;
  JsonObject *object = json_node_get_object (root);
  JsonNode *data = json_object_get_member (object, "data");
  const char *spec = data && JSON_NODE_HOLDS_VALUE (data) ? json_node_get_string (data) : NULL;
  if (!spec)
    return;
  g_autofree char *absolute = g_canonicalize_filename (file, NULL);
  g_autofree char *folder = g_path_get_dirname (absolute);
  g_autofree char *mapped = map_spec (spec, folder, map);
  if (g_str_equal (mapped, spec))
    return;
  json_object_set_string_member (object, "data", mapped);
  g_autofree char *json = json_to_string (root, FALSE);
  lig_sequence_set_train (sequence, json);
}

void
lig_data_path_resolve (LigSequence *sequence, const char *file)
{
  map_paths (sequence, file, resolve);
}

void
lig_data_path_relate (LigSequence *sequence, const char *file)
{
  map_paths (sequence, file, relate);
}
