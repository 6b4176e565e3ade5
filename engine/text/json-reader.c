/* SPDX-License-Identifier: MIT */
/* Members and errors of tokenizer.json, for the functions that read it. */
#include "engine/text/json-reader.h"
#include "engine/base/file.h"

#include <glib/gi18n-lib.h>

/* The longest excerpt of the file in a message, in characters. */
#define LONGEST_EXCERPT 200

gboolean
lig_tokenizer_reject (LigTokenizerReader *self, const char *path, const char *format, ...)
{
  va_list arguments;
  va_start (arguments, format);
  g_autofree char *whole = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_autofree char *what = lig_format_excerpt (whole, LONGEST_EXCERPT);
  g_set_error (self->error, LIG_ERROR, LIG_ERROR_FORMAT, "%s: %s: %s", self->tokenizer->name, path,
               what);
  return lig_error_set_path (self->error, path);
}

gboolean
lig_tokenizer_reject_type (LigTokenizerReader *self, const char *path, const char *type)
{
  g_autofree char *shown = lig_format_excerpt (*type ? type : "?", 40);
  return lig_tokenizer_reject (self, path, _ ("%s is not supported; %s"), shown,
                               _ (LIG_TOKENIZER_REMEDY));
}

JsonObject *
lig_tokenizer_get_object (JsonObject *object, const char *name)
{
  JsonNode *value = json_object_get_member (object, name);
  return value && JSON_NODE_HOLDS_OBJECT (value) ? json_node_get_object (value) : NULL;
}

gboolean
lig_tokenizer_is_null (JsonObject *object, const char *name)
{
  JsonNode *value = json_object_get_member (object, name);
  return !value || JSON_NODE_HOLDS_NULL (value);
}

gboolean
lig_tokenizer_get_truth (JsonObject *object, const char *name, gboolean fallback)
{
  JsonNode *value = json_object_get_member (object, name);
  return value && JSON_NODE_HOLDS_VALUE (value) &&
             json_node_get_value_type (value) == G_TYPE_BOOLEAN
           ? json_node_get_boolean (value)
           : fallback;
}

const char *
lig_tokenizer_get_kind (JsonObject *object)
{
  return lig_json_get_string (object, "type", "");
}
