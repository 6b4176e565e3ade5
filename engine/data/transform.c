/* SPDX-License-Identifier: MIT */
/* The preprocessing of a trained model, read from the JSON that lig_dataset_describe_table()
 * writes. */
#include "engine/data/transform-private.h"
#include <ligature/error.h>
#include <ligature/json.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>

G_DEFINE_BOXED_TYPE (LigTransform, lig_transform, g_atomic_rc_box_acquire, lig_transform_free)

static void
clear_column (gpointer column)
{
  g_free (((LigTransformColumn *) column)->name);
}

static void
clear_transform (gpointer box)
{
  LigTransform *self = box;
  g_array_unref (self->features);
  g_array_unref (self->targets);
  g_ptr_array_unref (self->classes);
  g_hash_table_unref (self->indices);
}

void
lig_transform_free (LigTransform *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear_transform);
}

/* --- JSON ---------------------------------------------------------------------------------- */

/* Reads a number; absent: `fallback`. FALSE if the member is something else. */
static gboolean
read_number (JsonObject *object, const char *name, double fallback, double *number)
{
  JsonNode *node = json_object_get_member (object, name);
  *number = fallback;
  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_VALUE (node) || (json_node_get_value_type (node) != G_TYPE_DOUBLE &&
                                        json_node_get_value_type (node) != G_TYPE_INT64))
    return FALSE;
  *number = json_node_get_double (node);
  return isfinite (*number);
}

static gboolean
read_columns (JsonObject *object, const char *name, GArray *columns)
{
  JsonArray *array = lig_json_get_array (object, name);
  guint count = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < count; i++) {
    JsonObject *one = lig_json_get_element (array, i);
    const char *title = one ? lig_json_get_string (one, "name", NULL) : NULL;
    double std;
    LigTransformColumn column = {0};
    if (!title || !read_number (one, "mean", 0, &column.mean) ||
        !read_number (one, "std", 0, &std) || std < 0)
      return FALSE;
    /* A mean without a standard deviation only replaces missing cells. */
    column.scale = std > 0 ? 1 / std : 0;
    column.number = (guint) CLAMP (lig_json_get_int (one, "column", i + 1), 1, G_MAXINT);
    column.name = g_strdup (title);
    g_array_append_val (columns, column);
  }
  return TRUE;
}

static gboolean
read_classes (LigTransform *self, JsonObject *object)
{
  JsonArray *array = lig_json_get_array (object, "classes");
  guint count = array ? json_array_get_length (array) : 0;
  for (guint i = 0; i < count; i++) {
    JsonNode *node = json_array_get_element (array, i);
    if (!JSON_NODE_HOLDS_VALUE (node) || json_node_get_value_type (node) != G_TYPE_STRING)
      return FALSE;
    char *label = g_strdup (json_node_get_string (node));
    g_ptr_array_add (self->classes, label);
    g_hash_table_insert (self->indices, label, GUINT_TO_POINTER (i));
  }
  return TRUE;
}

static gboolean
read_table (LigTransform *self, JsonObject *object)
{
  self->images = g_strcmp0 (lig_json_get_string (object, "kind", "csv"), "idx") == 0;
  self->header = json_object_get_boolean_member_with_default (object, "header", TRUE);
  self->replaces = g_strcmp0 (lig_json_get_string (object, "missing", "reject"), "mean") == 0;
  self->lengths[0] = lig_json_get_int (object, "rows", 0);
  self->lengths[1] = lig_json_get_int (object, "columns", 0);
  if (self->images)
    return self->lengths[0] > 0 && self->lengths[1] > 0 &&
           self->lengths[0] <= G_MAXINT32 / self->lengths[1];
  return read_columns (object, "features", self->features) &&
         read_columns (object, "targets", self->targets) && read_classes (self, object) &&
         self->features->len > 0;
}

LigTransform *
lig_transform_parse (const char *json, GError **error)
{
  g_autoptr (JsonNode) root = lig_json_from_text (json, error);
  if (!root)
    return NULL;
  g_autoptr (LigTransform) self = g_atomic_rc_box_new0 (LigTransform);
  self->features = g_array_new (FALSE, TRUE, sizeof (LigTransformColumn));
  self->targets = g_array_new (FALSE, TRUE, sizeof (LigTransformColumn));
  g_array_set_clear_func (self->features, clear_column);
  g_array_set_clear_func (self->targets, clear_column);
  self->classes = g_ptr_array_new_with_free_func (g_free);
  self->indices = g_hash_table_new (g_str_hash, g_str_equal);
  if (JSON_NODE_HOLDS_OBJECT (root) && read_table (self, json_node_get_object (root)))
    return g_steal_pointer (&self);
  g_set_error (error, LIG_ERROR, LIG_ERROR_FORMAT,
               _ ("the table of the weights describes neither columns nor images; train again, or "
                  "give the training data"));
  return NULL;
}

/* --- Facts --------------------------------------------------------------------------------- */

guint
lig_transform_get_n_features (const LigTransform *self)
{
  return self->images ? (guint) (self->lengths[0] * self->lengths[1]) : self->features->len;
}

gboolean
lig_transform_has_header (const LigTransform *self)
{
  return self->header;
}

const char *
lig_transform_get_feature (const LigTransform *self, guint n)
{
  return n < self->features->len ? g_array_index (self->features, LigTransformColumn, n).name
                                 : NULL;
}

const char *
lig_transform_get_target (const LigTransform *self, guint n)
{
  return n < self->targets->len ? g_array_index (self->targets, LigTransformColumn, n).name : NULL;
}

const char *
lig_transform_get_class (const LigTransform *self, guint n)
{
  return n < self->classes->len ? self->classes->pdata[n] : NULL;
}

LigRows *
lig_transform_read (const LigTransform *self, const char *path, GError **error)
{
  return self->images ? lig_transform_read_idx (self, path, error)
                      : lig_transform_read_csv (self, path, error);
}
