/* SPDX-License-Identifier: MIT */
/* Reads the header of a safetensors file: eight bytes with its length, then JSON that maps each
 * name to {"dtype", "shape", "data_offsets": [begin, end]}, with offsets from the end of the
 * header, and `__metadata__` to texts. Every number in it is checked before use. */
#include "engine/tensor/safetensors.h"

#include "engine/base/file.h"
#include "engine/base/json-private.h"

#include <json-glib/json-glib.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

static gboolean
find_header (LigTensorFile *self, const char **header, gsize *length, GError **error)
{
  gsize size = (gsize) self->size;
  guint64 claimed;
  if (size < sizeof claimed)
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE, "has %zu byte, a safetensors file has at least 10",
                   "has %zu bytes, a safetensors file has at least 10", (gulong) (size)),
      size);
  if (!lig_read_at (self->fd, self->path, 0, &claimed, sizeof claimed, error))
    return FALSE;
  if (claimed > size - sizeof claimed)
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE,
                   "the header claims %" PRIu64
                   " byte, only %zu follow: the file is truncated or not safetensors",
                   "the header claims %" PRIu64
                   " bytes, only %zu follow: the file is truncated or not safetensors",
                   (gulong) (claimed)),
      claimed, size - sizeof claimed);
  if (claimed > LIG_LONGEST_HEADER)
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("the header has %" PRIu64 " bytes, at most %d are supported"),
                                   claimed, LIG_LONGEST_HEADER);
  *length = (gsize) claimed;
  *header = self->header = g_try_malloc (*length + 1);
  if (!self->header)
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_MEMORY,
      g_dngettext (GETTEXT_PACKAGE, "no memory for its header of %zu byte",
                   "no memory for its header of %zu bytes", (gulong) (*length)),
      *length);
  if (!lig_read_at (self->fd, self->path, sizeof claimed, self->header, *length, error))
    return FALSE;
  self->body_at = (gint64) (sizeof claimed + *length);
  self->body_size = (gint64) (size - sizeof claimed - *length);
  if (*length == 0 || **header != '{')
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("the header is not a JSON object"));
  return TRUE;
}

/* Parses the header, which must be a JSON object (transfer full). */
static JsonNode *
parse_header (LigTensorFile *self, const char *text, gsize length, GError **error)
{
  g_autoptr (GError) local = NULL;
  g_autoptr (JsonNode) root = lig_json_read (text, length, NULL, &local);
  if (!root)
    lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT, _ ("the header is not JSON: %s"),
                            local->message);
  else if (!JSON_NODE_HOLDS_OBJECT (root))
    lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT, _ ("the header is not a JSON object"));
  return root && JSON_NODE_HOLDS_OBJECT (root) ? g_steal_pointer (&root) : NULL;
}

/* Reads an integer of a header. Returns false for any other value, also for 2.0. */
static gboolean
get_integer (JsonNode *value, gint64 *integer)
{
  if (!value || !JSON_NODE_HOLDS_VALUE (value) || json_node_get_value_type (value) != G_TYPE_INT64)
    return FALSE;
  *integer = json_node_get_int (value);
  return TRUE;
}

static JsonArray *
get_array (JsonObject *object, const char *member)
{
  JsonNode *value = json_object_get_member (object, member);
  return value && JSON_NODE_HOLDS_ARRAY (value) ? json_node_get_array (value) : NULL;
}

static gboolean
read_dtype (LigTensorFile *self, LigFileEntry *entry, JsonObject *object, GError **error)
{
  JsonNode *value = json_object_get_member (object, "dtype");
  if (!value || !JSON_NODE_HOLDS_VALUE (value) || json_node_get_value_type (value) != G_TYPE_STRING)
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT, _ ("tensor '%s' has no dtype"),
                                   entry->name);
  const char *word = json_node_get_string (value);
  entry->type = lig_file_type_find (word);
  if (entry->type)
    return TRUE;
  g_autofree char *shown = lig_format_excerpt (word, 60);
  g_autofree char *expected = lig_file_types_join ();
  return lig_tensor_file_reject (self, error, LIG_ERROR_DTYPE,
                                 _ ("tensor '%s' has dtype '%s', expected %s"), entry->name, shown,
                                 expected);
}

/* Sets the shape and `bytes`, its size in the file's type. */
static gboolean
read_shape (
  LigTensorFile *self, LigFileEntry *entry, JsonObject *object, gint64 *bytes, GError **error)
{
  gboolean empty = FALSE;
  JsonArray *axes = get_array (object, "shape");
  if (!axes)
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT, _ ("tensor '%s' has no shape"),
                                   entry->name);
  if (json_array_get_length (axes) > LIG_MAX_AXES)
    return lig_tensor_file_reject (self, error, LIG_ERROR_SHAPE,
                                   _ ("tensor '%s' has %u axes, at most %d are possible"),
                                   entry->name, json_array_get_length (axes), LIG_MAX_AXES);
  entry->shape.n_axes = (int) json_array_get_length (axes);
  *bytes = (gint64) entry->type->size;
  for (int i = 0; i < entry->shape.n_axes; i++) {
    gint64 length;
    if (!get_integer (json_array_get_element (axes, (guint) i), &length))
      return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                     _ ("axis %d of tensor '%s' is not a whole number"), i,
                                     entry->name);
    if (length < 0)
      return lig_tensor_file_reject (
        self, error, LIG_ERROR_SHAPE,
        _ ("axis %d of tensor '%s' has length %" PRId64 ", expected at least 0"), i, entry->name,
        length);
    if (__builtin_mul_overflow (*bytes, MAX (length, 1), bytes))
      return lig_tensor_file_reject (self, error, LIG_ERROR_SHAPE,
                                     _ ("tensor '%s' takes more than 2^63 bytes"), entry->name);
    entry->shape.axes[i] = length;
    empty |= length == 0;
  }
  if (empty)
    *bytes = 0;
  return TRUE;
}

static gboolean
read_offsets (
  LigTensorFile *self, LigFileEntry *entry, JsonObject *object, gint64 bytes, GError **error)
{
  JsonArray *offsets = get_array (object, "data_offsets");
  if (!offsets || json_array_get_length (offsets) != 2 ||
      !get_integer (json_array_get_element (offsets, 0), &entry->begin) ||
      !get_integer (json_array_get_element (offsets, 1), &entry->end))
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("tensor '%s' has no data_offsets of two whole numbers"),
                                   entry->name);
  if (entry->begin < 0 || entry->end < entry->begin)
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("tensor '%s' extends from %" PRId64 " to %" PRId64
                                      ", expected ascending offsets of at least 0"),
                                   entry->name, entry->begin, entry->end);
  if (entry->end > self->body_size)
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE,
                   "tensor '%s' ends at %" PRId64 " of a body of %" PRId64
                   " byte: the file is truncated or damaged",
                   "tensor '%s' ends at %" PRId64 " of a body of %" PRId64
                   " bytes: the file is truncated or damaged",
                   (gulong) (self->body_size)),
      entry->name, entry->end, self->body_size);
  if (entry->end - entry->begin != bytes) {
    g_autofree char *shape = lig_shape_to_string (&entry->shape);
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE,
                   "tensor '%s' of %s %s takes %" PRId64 " byte, its offsets span %" PRId64,
                   "tensor '%s' of %s %s takes %" PRId64 " bytes, its offsets span %" PRId64,
                   (gulong) (bytes)),
      entry->name, shape, entry->type->name, bytes, entry->end - entry->begin);
  }
  return TRUE;
}

static gboolean
read_metadata (LigTensorFile *self, JsonNode *value, GError **error)
{
  JsonObjectIter iter;
  const char *key;
  JsonNode *text;
  if (!JSON_NODE_HOLDS_OBJECT (value))
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("__metadata__ is not a JSON object"));
  json_object_iter_init (&iter, json_node_get_object (value));
  while (json_object_iter_next (&iter, &key, &text)) {
    if (!JSON_NODE_HOLDS_VALUE (text) || json_node_get_value_type (text) != G_TYPE_STRING) {
      g_autofree char *shown = lig_format_excerpt (key, 60);
      return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                     _ ("__metadata__ has no text under '%s'"), shown);
    }
    lig_tensor_file_set_metadata (self, key, json_node_get_string (text));
  }
  return TRUE;
}

static gboolean
read_entry (LigTensorFile *self, const char *name, JsonNode *value, GError **error)
{
  g_autoptr (LigFileEntry) entry = g_new0 (LigFileEntry, 1);
  gint64 bytes = 0;
  entry->name = g_strdup (name);
  if (!JSON_NODE_HOLDS_OBJECT (value))
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT,
                                   _ ("tensor '%s' is not described by a JSON object"), name);
  JsonObject *object = json_node_get_object (value);
  if (!read_dtype (self, entry, object, error) ||
      !read_shape (self, entry, object, &bytes, error) ||
      !read_offsets (self, entry, object, bytes, error))
    return FALSE;
  g_hash_table_insert (self->entries, entry->name, entry);
  (void) g_steal_pointer (&entry);
  return TRUE;
}

static int
compare_offsets (gconstpointer a, gconstpointer b)
{
  const LigFileEntry *first = *(const LigFileEntry *const *) a,
                     *second = *(const LigFileEntry *const *) b;
  if (first->begin != second->begin)
    return first->begin < second->begin ? -1 : 1;
  /* An empty tensor comes before another one at the same offset. */
  return first->end < second->end ? -1 : first->end > second->end;
}

/* Checks that the tensors cover the body exactly, so that no byte belongs to two names and no data
 * is hidden between them. */
static gboolean
check_layout (LigTensorFile *self, GError **error)
{
  g_autoptr (GPtrArray) sorted = lig_tensor_file_get_entries (self);
  gint64 reached = 0;
  g_ptr_array_sort (sorted, compare_offsets);
  for (guint i = 0; i < sorted->len; i++) {
    const LigFileEntry *entry = g_ptr_array_index (sorted, i);
    if (entry->begin != reached)
      return lig_tensor_file_reject (
        self, error, LIG_ERROR_FORMAT,
        _ ("tensor '%s' begins at %" PRId64 ", %s '%s' ends at %" PRId64
           ": tensors must neither overlap nor leave gaps"),
        entry->name, entry->begin, i > 0 ? _ ("tensor") : _ ("the start of"),
        i > 0 ? ((LigFileEntry *) g_ptr_array_index (sorted, i - 1))->name : _ ("the body"),
        reached);
    reached = entry->end;
  }
  if (reached != self->body_size)
    return lig_tensor_file_reject (
      self, error, LIG_ERROR_FORMAT,
      g_dngettext (GETTEXT_PACKAGE, "the body has %" PRId64 " byte, the tensors take %" PRId64,
                   "the body has %" PRId64 " bytes, the tensors take %" PRId64,
                   (gulong) (self->body_size)),
      self->body_size, reached);
  return TRUE;
}

static gboolean
read_header (LigTensorFile *self, GError **error)
{
  const char *header = NULL, *name;
  gsize length = 0;
  JsonObjectIter iter;
  JsonNode *value;
  if (!find_header (self, &header, &length, error))
    return FALSE;
  if (!g_utf8_validate_len (header, length, NULL))
    return lig_tensor_file_reject (self, error, LIG_ERROR_FORMAT, _ ("the header is not UTF-8"));
  g_autoptr (JsonNode) root = parse_header (self, header, length, error);
  if (!root)
    return FALSE;
  json_object_iter_init (&iter, json_node_get_object (root));
  while (json_object_iter_next (&iter, &name, &value)) {
    gboolean read = strcmp (name, LIG_METADATA) == 0 ? read_metadata (self, value, error)
                                                     : read_entry (self, name, value, error);
    if (!read)
      return FALSE;
  }
  g_clear_pointer (&self->header, g_free);
  return check_layout (self, error);
}

LigTensorFile *
lig_tensor_file_load (const char *path, GError **error)
{
  g_return_val_if_fail (path, NULL);
  g_autoptr (LigTensorFile) self = lig_tensor_file_new ();
  g_free (self->name);
  self->name = g_filename_display_name (path);
  gsize size = 0;
  self->path = g_strdup (path);
  self->fd = lig_open_file (path, &size, error);
  self->size = (gint64) size;
  if (self->fd < 0 || !read_header (self, error))
    return NULL;
  return g_steal_pointer (&self);
}
