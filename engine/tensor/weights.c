/* SPDX-License-Identifier: MIT */
/* Opens weights in one or more files. */
#include <ligature/weights.h>

#include "engine/base/file.h"
#include "engine/base/json-private.h"
#include "engine/tensor/safetensors.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define WHOLE "model.safetensors"
#define INDEX "model.safetensors.index.json"

static gboolean G_GNUC_PRINTF (3, 4)
  reject (const char *path, GError **error, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *what = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *name = g_filename_display_name (path);
  g_autofree char *shown = lig_format_excerpt (what, 400);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s", name, shown);
  return FALSE;
}

/* Returns the root of an index, whose member `weight_map` is an object. */
static JsonNode *
read_index (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = lig_read_file (path, error);
  if (!bytes)
    return NULL;
  gsize length;
  const char *text = g_bytes_get_data (bytes, &length);
  if (length == 0 || memchr (text, '\0', length) || !g_utf8_validate_len (text, length, NULL)) {
    reject (path, error, _ ("is not JSON"));
    return NULL;
  }
  g_autofree char *copy = g_strndup (text, length);
  g_autoptr (JsonNode) root = lig_json_read (copy, length, path, error);
  if (!root)
    return NULL;
  JsonNode *map = JSON_NODE_HOLDS_OBJECT (root)
                    ? json_object_get_member (json_node_get_object (root), "weight_map")
                    : NULL;
  if (map && JSON_NODE_HOLDS_OBJECT (map) && json_object_get_size (json_node_get_object (map)) > 0)
    return g_steal_pointer (&root);
  reject (path, error, _ ("has no weight_map of tensors and files"));
  return NULL;
}

/* Opens each file of the index once. */
static gboolean
open_files (const char *path, JsonObject *map, LigTensorFile *all, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  JsonObjectIter iter;
  const char *tensor;
  JsonNode *node;
  json_object_iter_init (&iter, map);
  while (json_object_iter_next (&iter, &tensor, &node)) {
    gboolean text =
      JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING;
    const char *name = text ? json_node_get_string (node) : "";
    /* The index is untrusted and must not name files in other folders. */
    if (!*name || strchr (name, '/') || strchr (name, '\\') || *name == '.')
      return reject (path, error,
                     _ ("the file of '%s' is '%s', expected the name of a file next to the index"),
                     tensor, name);
    if (!g_hash_table_add (seen, (gpointer) name))
      continue;
    g_autofree char *file = g_build_filename (folder, name, NULL);
    g_autoptr (LigTensorFile) part = lig_tensor_file_load (file, error);
    if (!part || !lig_tensor_file_join (all, part, error))
      return FALSE;
  }
  return TRUE;
}

static LigTensorFile *
open_index (const char *path, GError **error)
{
  g_autoptr (JsonNode) root = read_index (path, error);
  g_autoptr (LigTensorFile) all = lig_tensor_file_new ();
  if (!root)
    return NULL;
  JsonObject *map = json_object_get_object_member (json_node_get_object (root), "weight_map");
  if (!open_files (path, map, all, error))
    return NULL;
  JsonObjectIter iter;
  const char *tensor;
  JsonNode *node;
  json_object_iter_init (&iter, map);
  while (json_object_iter_next (&iter, &tensor, &node)) {
    if (!lig_tensor_file_has (all, tensor)) {
      reject (path, error, _ ("names tensor '%s', which '%s' does not contain"), tensor,
              json_node_get_string (node));
      return NULL;
    }
  }
  return g_steal_pointer (&all);
}

/* Returns whether the names of all tensors have the prefix and more characters. */
static gboolean
all_have (LigTensorFile *file, const char *prefix)
{
  const char *const *names = lig_tensor_file_get_names (file);
  gsize length = strlen (prefix);
  for (const char *const *name = names; *name; name++)
    if (!g_str_has_prefix (*name, prefix) || !(*name)[length])
      return FALSE;
  return *names != NULL;
}

char *
lig_weights_unwrap (LigTensorFile *file)
{
  /* Prefixes by which torch.compile, DistributedDataParallel and PEFT wrap a module. */
  static const char *const wrappers[] = {"_orig_mod.", "module.", "base_model.model."};
  g_autoptr (GString) removed = g_string_new (NULL);
  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++) {
    if (!all_have (file, wrappers[i]))
      continue;
    lig_tensor_file_strip (file, strlen (wrappers[i]));
    g_string_append (removed, wrappers[i]);
    i = (guint) -1; /* prefixes may be nested */
  }
  return removed->len > 0 ? g_string_free (g_steal_pointer (&removed), FALSE) : NULL;
}

LigTensorFile *
lig_weights_open (const char *path, GError **error)
{
  g_return_val_if_fail (path, NULL);
  if (g_str_has_suffix (path, ".index.json"))
    return open_index (path, error);
  if (!g_file_test (path, G_FILE_TEST_IS_DIR))
    return lig_tensor_file_load (path, error);
  g_autofree char *whole = g_build_filename (path, WHOLE, NULL);
  g_autofree char *index = g_build_filename (path, INDEX, NULL);
  if (g_file_test (whole, G_FILE_TEST_EXISTS))
    return lig_tensor_file_load (whole, error);
  if (g_file_test (index, G_FILE_TEST_EXISTS))
    return open_index (index, error);
  g_autofree char *name = g_filename_display_name (path);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FILE, _ ("the folder '%s' contains neither %s nor %s"),
               name, WHOLE, INDEX);
  return NULL;
}
