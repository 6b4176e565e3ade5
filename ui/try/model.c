/* SPDX-License-Identifier: MIT */
#include "ui/try/model.h"

#include <ligature/json.h>

#include <math.h>

static double
read_number (JsonNode *node)
{
  gboolean number = node && JSON_NODE_HOLDS_VALUE (node) &&
                    (json_node_get_value_type (node) == G_TYPE_DOUBLE ||
                     json_node_get_value_type (node) == G_TYPE_INT64);
  return number ? json_node_get_double (node) : NAN;
}

double
lig_try_number (JsonObject *object, const char *name)
{
  return read_number (json_object_get_member (object, name));
}

double
lig_try_number_at (JsonArray *array, guint n)
{
  return array && n < json_array_get_length (array)
           ? read_number (json_array_get_element (array, n))
           : NAN;
}

guint
lig_try_model_count (JsonObject *model, const char *list)
{
  JsonArray *array = lig_json_get_array (model, list);
  return array ? json_array_get_length (array) : 0;
}

LigTryFeature
lig_try_model_get_feature (JsonObject *model, guint n)
{
  JsonArray *array = lig_json_get_array (model, "features");
  JsonObject *one =
    array && n < json_array_get_length (array) ? lig_json_get_element (array, n) : NULL;
  if (!one)
    return (LigTryFeature){NULL, NAN, NAN, NAN};
  return (LigTryFeature){lig_json_get_string (one, "name", ""), lig_try_number (one, "mean"),
                         lig_try_number (one, "min"), lig_try_number (one, "max")};
}

static const char *
get_name (JsonObject *model, const char *list, gint64 n)
{
  JsonArray *array = lig_json_get_array (model, list);
  if (!array || n < 0 || n >= json_array_get_length (array))
    return NULL;
  JsonNode *node = json_array_get_element (array, (guint) n);
  return JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
}

const char *
lig_try_model_get_class (JsonObject *model, gint64 n)
{
  return get_name (model, "classes", n);
}

const char *
lig_try_model_get_target (JsonObject *model, guint n)
{
  return get_name (model, "targets", n);
}

gint64
lig_try_model_get_validation (JsonObject *model)
{
  return lig_json_get_int (model, "validation", 0);
}

char *
lig_try_format (double value)
{
  return isnan (value) ? g_strdup ("–") : g_strdup_printf ("%.4g", value);
}
