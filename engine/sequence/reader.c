/* SPDX-License-Identifier: MIT */
/* Reads JSON values and tracks their path for messages. */
#include "engine/sequence/reader.h"

#include "engine/sequence/literal.h"
#include <ligature/suggest.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <string.h>

#define MAX_WARNINGS 100

gsize
lig_reader_enter (LigReader *self, const char *key)
{
  gsize outside = self->path->len;
  lig_json_append_key (self->path, key);
  return outside;
}

gsize
lig_reader_enter_element (LigReader *self, guint index)
{
  gsize outside = self->path->len;
  g_string_append_printf (self->path, "[%u]", index);
  return outside;
}

void
lig_reader_leave (LigReader *self, gsize outside)
{
  g_string_truncate (self->path, outside);
}

gboolean
lig_reader_reject (LigReader *self, int code, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  g_autofree char *message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (self->error, LIG_ERROR, code, "%s: %s", self->path->str, message);
  return lig_error_set_path (self->error, self->path->str);
}

gboolean
lig_reader_place (LigReader *self)
{
  g_prefix_error (self->error, "%s: ", self->path->str);
  return lig_error_set_path (self->error, self->path->str);
}

static char *
describe (JsonNode *value)
{
  if (!value)
    return g_strdup (_ ("nothing"));
  if (JSON_NODE_HOLDS_OBJECT (value))
    return g_strdup (_ ("an object"));
  if (JSON_NODE_HOLDS_ARRAY (value))
    return g_strdup (_ ("an array"));
  if (json_node_get_string (value) && strlen (json_node_get_string (value)) > 60)
    return g_strdup (_ ("a long string"));
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, value);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
lig_reader_expected (LigReader *self, const char *what, JsonNode *value)
{
  g_autofree char *given = describe (value);
  return lig_reader_reject (self, LIG_ERROR_FORMAT, _ ("expected %s, got %s"), what, given);
}

JsonObject *
lig_reader_object (LigReader *self, JsonNode *value)
{
  if (value && JSON_NODE_HOLDS_OBJECT (value))
    return json_node_get_object (value);
  lig_reader_expected (self, _ (_ ("an object")), value);
  return NULL;
}

JsonArray *
lig_reader_array (LigReader *self, JsonNode *value)
{
  if (value && JSON_NODE_HOLDS_ARRAY (value))
    return json_node_get_array (value);
  lig_reader_expected (self, _ (_ ("an array")), value);
  return NULL;
}

const char *
lig_reader_string (LigReader *self, JsonNode *value)
{
  if (value && json_node_get_value_type (value) == G_TYPE_STRING)
    return json_node_get_string (value);
  lig_reader_expected (self, _ ("a string"), value);
  return NULL;
}

const char *
lig_reader_member (LigReader *self, JsonObject *object, const char *key)
{
  gsize outside = lig_reader_enter (self, key);
  const char *string = lig_reader_string (self, json_object_get_member (object, key));
  lig_reader_leave (self, outside);
  return string;
}

/* Suggests one of the keys, or a parameter of the op. */
static char *
suggest (const char *key, const char *const *keys, LigOp *op)
{
  const LigParam *param = op ? lig_op_get_info (op)->params : NULL;
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();
  for (; param && param->name; param++)
    g_strv_builder_add (builder, param->name);
  g_strv_builder_addv (builder, (const char **) keys);
  g_auto (GStrv) names = g_strv_builder_end (builder);
  return lig_suggest_ending (key, (const char *const *) names);
}

static void
warn (LigReader *self, const char *key, const char *like)
{
  gsize outside = lig_reader_enter (self, key);
  if (self->warnings->len < MAX_WARNINGS)
    g_ptr_array_add (self->warnings,
                     g_strdup_printf (_ ("%s: unknown key, kept%s"), self->path->str, like));
  else
    self->n_silent++;
  lig_reader_leave (self, outside);
}

static gboolean
known (const char *key, const char *const *keys, LigOp *op)
{
  return g_strv_contains (keys, key) || (op && lig_literal_param (op, key)) ||
         (op && lig_op_get_body (op) && strcmp (key, "ops") == 0);
}

JsonObject *
lig_reader_gather_unknown (LigReader *self, JsonObject *object, const char *const *keys, LigOp *op)
{
  g_autoptr (JsonObject) unknown = NULL;
  JsonObjectIter iter;
  const char *key;
  JsonNode *value;
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &key, &value)) {
    if (known (key, keys, op))
      continue;
    if (!unknown)
      unknown = json_object_new ();
    json_object_set_member (unknown, key, json_node_copy (value));
    g_autofree char *like = suggest (key, keys, op);
    warn (self, key, like);
  }
  return g_steal_pointer (&unknown);
}

char *
lig_reader_text (JsonObject *object)
{
  g_autoptr (JsonNode) node = json_node_init_object (json_node_alloc (), object);
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, node);
  return g_string_free (g_steal_pointer (&text), FALSE);
}
