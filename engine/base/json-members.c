/* SPDX-License-Identifier: MIT */
/* Adds members to the JSON documents of commands and reports. */
#include "engine/base/json-private.h"
#include <ligature/json-members.h>

#include <json-glib/json-glib.h>
#include <ligature/json.h>

#include <math.h>

void
lig_json_add_text (JsonBuilder *to, const char *name, const char *value)
{
  g_autofree char *valid = value ? g_utf8_make_valid (value, -1) : NULL;
  json_builder_set_member_name (to, name);
  json_builder_add_string_value (to, valid);
}

void
lig_json_add_integer (JsonBuilder *to, const char *name, gint64 value)
{
  json_builder_set_member_name (to, name);
  json_builder_add_int_value (to, value);
}

void
lig_json_add_unsigned (JsonBuilder *to, const char *name, guint64 value)
{
  g_autofree char *digits = g_strdup_printf ("%" G_GUINT64_FORMAT, value);
  if (value > G_MAXINT64)
    lig_json_add_text (to, name, digits);
  else
    lig_json_add_integer (to, name, (gint64) value);
}

void
lig_json_add_number (JsonBuilder *to, const char *name, double value)
{
  if (name)
    json_builder_set_member_name (to, name);
  if (isfinite (value))
    json_builder_add_double_value (to, value);
  else
    json_builder_add_null_value (to);
}

void
lig_json_add_truth (JsonBuilder *to, const char *name, gboolean value)
{
  json_builder_set_member_name (to, name);
  json_builder_add_boolean_value (to, value);
}

void
lig_json_add_moment (JsonBuilder *to, const char *name, gint64 when)
{
  g_autoptr (GDateTime) seconds = g_date_time_new_from_unix_utc (when / G_USEC_PER_SEC);
  g_autoptr (GDateTime) exact =
    when && seconds ? g_date_time_add (seconds, when % G_USEC_PER_SEC) : NULL;
  g_autofree char *text = exact ? g_date_time_format_iso8601 (exact) : NULL;
  lig_json_add_text (to, name, text);
}

void
lig_json_add_document (JsonBuilder *to, const char *name, const char *text)
{
  JsonNode *value = *text ? lig_json_from_text (text, NULL) : NULL;
  if (!value) {
    lig_json_add_text (to, name, *text ? text : NULL);
    return;
  }
  json_builder_set_member_name (to, name);
  json_builder_add_value (to, value);
}

void
lig_json_add_range (JsonBuilder *to, const char *name, int first, int count)
{
  lig_json_begin_array (to, name);
  for (int i = 0; i < count; i++)
    json_builder_add_int_value (to, first + i);
  json_builder_end_array (to);
}

void
lig_json_begin_object (JsonBuilder *to, const char *name)
{
  json_builder_set_member_name (to, name);
  json_builder_begin_object (to);
}

void
lig_json_begin_array (JsonBuilder *to, const char *name)
{
  json_builder_set_member_name (to, name);
  json_builder_begin_array (to);
}
