/* SPDX-License-Identifier: MIT */
/* The record of a sweep in the store, and the part that ranks receive. */
#include "engine/base/json-private.h"
#include "engine/data/kind.h"
#include "engine/train/data.h"
#include "engine/train/sweep-private.h"
#include <ligature/json-members.h>
#include <ligature/ranks.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <string.h>

static char *
write_document (LigSweep *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *settings = lig_run_settings_to_json (&self->settings);
  g_autofree char *sequence = lig_sequence_to_json (self->sequence);
  GString *text = g_string_new (NULL);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", self->device);
  lig_json_add_text (builder, "init", self->init);
  if (self->ranks > 1) {
    lig_json_add_integer (builder, "ranks", self->ranks);
    lig_json_add_text (builder, "parallel", self->parallel);
  }
  lig_json_add_document (builder, "settings", settings);
  lig_json_begin_array (builder, "axes");
  for (guint i = 0; i < self->axes->len; i++) {
    const LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "key", axis->key);
    lig_json_begin_array (builder, "values");
    for (char **value = axis->values; *value; value++)
      json_builder_add_string_value (builder, *value);
    json_builder_end_array (builder);
    lig_json_add_integer (builder, "with", axis->with);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  lig_json_add_document (builder, "sequence", sequence);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

/* A sweep may be continued from another folder, so data paths become absolute. */
static void
locate_data (LigSweep *self)
{
  lig_run_locate_data (&self->settings);
  for (guint i = 0; i < self->axes->len; i++) {
    LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    for (char **value = axis->values; g_str_equal (axis->key, "data") && *value; value++) {
      g_autofree char *located = lig_dataset_locate (*value);
      g_free (*value);
      *value = lig_dataset_name_split (located, LIG_SPLIT_USUAL);
    }
  }
}

gboolean
lig_sweep_check (LigSweep *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && !self->uuid, FALSE);
  g_array_set_size (self->points, 0);
  return lig_sweep_expand (self, error);
}

gboolean
lig_sweep_begin (LigSweep *self, LigStore *store, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && LIG_IS_STORE (store) && !self->uuid, FALSE);
  locate_data (self);
  if (!lig_sweep_check (self, error))
    return FALSE;
  g_autofree char *document = write_document (self);
  self->uuid = lig_store_begin_sweep (store, self->name, document, error);
  g_set_object (&self->store, store);
  return self->uuid != NULL;
}

static gboolean
read_axes (LigSweep *self, JsonArray *axes, GError **error)
{
  for (guint i = 0; i < json_array_get_length (axes); i++) {
    g_autoptr (GStrvBuilder) values = g_strv_builder_new ();
    JsonObject *axis = json_array_get_object_element (axes, i);
    const char *key = axis ? lig_json_get_string (axis, "key", "") : "";
    gboolean data = g_str_equal (key, "data");
    JsonArray *texts = axis ? json_object_get_array_member (axis, "values") : NULL;
    for (guint j = 0; texts && j < json_array_get_length (texts); j++) {
      const char *text = json_array_get_string_element (texts, j);
      /* Older sweeps do not record the validation split: rows at the end. */
      g_autofree char *value =
        data && text ? lig_dataset_name_split (text, LIG_SPLIT_END) : g_strdup (text);
      g_strv_builder_add (values, value ? value : "");
    }
    gint64 with = axis ? lig_json_get_int (axis, "with", i) : i;
    if (!lig_sweep_take_axis (self, key, g_strv_builder_end (values), (guint) CLAMP (with, 0, i),
                              error))
      return FALSE;
  }
  return TRUE;
}

static char *
get_text (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  GString *text = g_string_new (NULL);
  if (node)
    lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

static gboolean
read_document (LigSweep *self, JsonNode *root, GError **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *axes = object ? json_object_get_member (object, "axes") : NULL;
  if (!axes || !JSON_NODE_HOLDS_ARRAY (axes)) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("it has no axes"));
    return FALSE;
  }
  g_autofree char *sequence = get_text (object, "sequence"),
                  *settings = get_text (object, "settings");
  self->device = g_strdup (lig_json_get_string (object, "device", "cpu"));
  self->init = g_strdup (lig_json_get_string (object, "init", NULL));
  self->ranks = (int) CLAMP (lig_json_get_int (object, "ranks", 1), 1, LIG_MAX_PEERS);
  self->parallel = g_strdup (lig_json_get_string (object, "parallel", NULL));
  self->sequence = lig_sequence_from_json (sequence, -1, NULL, error);
  return self->sequence && lig_run_settings_read_record (&self->settings, settings, error) &&
         read_axes (self, json_node_get_array (axes), error) && lig_sweep_expand (self, error);
}

/* Returns the recorded sweep without results. */
static LigSweep *
read_sweep (const char *uuid, const char *name, const char *document, GError **error)
{
  g_autoptr (LigSweep) self = g_object_new (LIG_TYPE_SWEEP, NULL);
  g_autoptr (JsonNode) root = lig_json_read (document, strlen (document), NULL, error);
  self->uuid = g_strdup (uuid);
  self->name = g_strdup (name);
  if (root && read_document (self, root, error))
    return g_steal_pointer (&self);
  g_prefix_error (error, _ ("sweep %.8s: "), uuid);
  return NULL;
}

LigSweep *
lig_sweep_open (LigStore *store, const char *selector, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && selector, NULL);
  g_autoptr (LigSweepRow) row = lig_store_find_sweep (store, selector, error);
  g_autoptr (LigSweep) self = row ? read_sweep (row->uuid, row->name, row->document, error) : NULL;
  if (!self)
    return NULL;
  self->store = g_object_ref (store);
  return lig_sweep_refresh (self, error) ? g_steal_pointer (&self) : NULL;
}

LigSweep *
lig_sweep_share (LigSweep *self, LigRanks *ranks, GError **error)
{
  g_return_val_if_fail (self ? self->uuid != NULL : lig_ranks_get_rank (ranks) > 0, NULL);
  g_autofree char *uuid = g_strdup (self ? self->uuid : NULL);
  g_autofree char *name = g_strdup (self ? self->name : NULL);
  g_autofree char *document = self ? write_document (self) : NULL;
  if (!lig_ranks_broadcast_text (ranks, &uuid, error) ||
      !lig_ranks_broadcast_text (ranks, &name, error) ||
      !lig_ranks_broadcast_text (ranks, &document, error))
    return NULL;
  return self ? g_object_ref (self) : read_sweep (uuid, name, document, error);
}
