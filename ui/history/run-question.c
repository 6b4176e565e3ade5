/* SPDX-License-Identifier: MIT */
/* Queries the store. */
#include "ui/history/run-question.h"
#include <ligature/store-trash.h>

const char *const lig_run_columns[LIG_RUN_COLUMNS] = {"status", "device", "kind", "tag"};

GHashTable *
lig_run_keys_new (void)
{
  return g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
}

void
lig_run_keys_add (GHashTable *keys, gint64 key)
{
  g_hash_table_add (keys, g_memdup2 (&key, sizeof key));
}

void
lig_run_filter_clear (LigRunFilter *self)
{
  g_free ((char *) self->text);
  g_free ((char *) self->status);
  g_free ((char *) self->device);
  g_free ((char *) self->tag);
  g_free ((char *) self->kind);
  g_free ((char *) self->group_by);
  g_free ((char *) self->group);
  g_free ((char *) self->order_by);
  *self = (LigRunFilter){0};
}

void
lig_run_filter_copy (const LigRunFilter *from, LigRunFilter *to)
{
  LigRunFilter copy = *from;
  copy.text = g_strdup (from->text);
  copy.status = g_strdup (from->status);
  copy.device = g_strdup (from->device);
  copy.tag = g_strdup (from->tag);
  copy.kind = g_strdup (from->kind);
  copy.group_by = g_strdup (from->group_by);
  copy.group = g_strdup (from->group);
  copy.order_by = g_strdup (from->order_by);
  lig_run_filter_clear (to);
  *to = copy;
}

LigRunQuestion *
lig_run_question_new (LigRunQuestionKind kind, gpointer owner, LigStore *store)
{
  LigRunQuestion *self = g_new0 (LigRunQuestion, 1);
  self->kind = kind;
  self->owner = g_object_ref (owner);
  self->store = g_object_ref (store);
  self->rows =
    g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, (GDestroyNotify) lig_run_row_free);
  return self;
}

void
lig_run_question_free (LigRunQuestion *self)
{
  lig_run_filter_clear (&self->filter);
  g_clear_pointer (&self->positions, g_array_unref);
  g_clear_pointer (&self->hidden, g_hash_table_unref);
  g_clear_pointer (&self->wanted, g_array_unref);
  g_clear_pointer (&self->keys, g_array_unref);
  g_hash_table_unref (self->rows);
  for (guint i = 0; i < LIG_RUN_COLUMNS; i++)
    g_strfreev (self->values[i]);
  g_clear_error (&self->error);
  g_object_unref (self->store);
  g_object_unref (self->owner);
  g_free (self);
}

static void
read_rows (LigRunQuestion *self, GArray *wanted)
{
  const gint64 *keys = (const gint64 *) (gpointer) wanted->data;
  g_autoptr (GPtrArray) rows = lig_store_read_runs (self->store, keys, wanted->len, &self->error);
  for (guint i = 0; rows && i < rows->len; i++)
    if (rows->pdata[i])
      g_hash_table_insert (self->rows, g_memdup2 (&keys[i], sizeof keys[i]),
                           g_steal_pointer (&rows->pdata[i]));
}

/* Finds the keys at the visible positions, as the list will count them. */
static GArray *
find_wanted (LigRunQuestion *self)
{
  g_autoptr (GArray) shown = g_array_new (FALSE, FALSE, sizeof (gint64));
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < self->keys->len; i++) {
    gint64 key = g_array_index (self->keys, gint64, i);
    if (!g_hash_table_contains (self->hidden, &key))
      g_array_append_val (shown, key);
  }
  for (guint i = 0; i < self->positions->len; i++) {
    guint position = g_array_index (self->positions, guint, i);
    if (position < shown->len)
      g_array_append_val (wanted, g_array_index (shown, gint64, position));
  }
  return wanted;
}

static void
read_keys (LigRunQuestion *self)
{
  gint64 version = lig_store_get_data_version (self->store, &self->error);
  if (self->error || (version == self->version && !self->forced))
    return;
  self->version = version;
  self->keys =
    lig_store_list_keys (self->store, &self->filter, self->order, self->descending, &self->error);
  gint64 total = self->error ? 0 : lig_store_count_runs (self->store, &self->error);
  self->total = (guint) MAX (total, 0);
  gint64 trashed = self->error ? 0 : lig_store_count_trash (self->store, &self->error);
  self->trashed = (guint) MAX (trashed, 0);
  if (self->error)
    return;
  g_autoptr (GArray) wanted = find_wanted (self);
  read_rows (self, wanted);
}

void
lig_run_question_answer (LigRunQuestion *self)
{
  if (self->kind == LIG_RUN_ROWS)
    read_rows (self, self->wanted);
  else if (self->kind == LIG_RUN_KEYS && self->serial == g_atomic_int_get (self->latest))
    read_keys (self);
  for (guint i = 0; self->kind == LIG_RUN_VALUES && !self->error && i < LIG_RUN_COLUMNS; i++)
    self->values[i] = lig_store_list_values (self->store, lig_run_columns[i], &self->error);
}
