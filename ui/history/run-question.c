/* SPDX-License-Identifier: MIT */
/* Queries the store. */
#include "ui/history/run-question.h"

#include "ui/history/varying.h"
#include <ligature/store-trash.h>
#include <ligature/store.h>

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
  g_clear_pointer (&self->open, g_hash_table_unref);
  g_clear_pointer (&self->folds, lig_run_folds_unref);
  g_clear_pointer (&self->wanted, g_array_unref);
  g_clear_pointer (&self->keys, g_array_unref);
  g_hash_table_unref (self->rows);
  g_strfreev (self->varying);
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

/* Returns the rows as the list will count them. */
static GArray *
list_rows (LigRunQuestion *self)
{
  guint count;
  return lig_run_folds_list (self->folds, self->keys, self->hidden, self->open, &count);
}

/* Finds the runs at the visible positions; a fold shows its sample. */
static GArray *
find_wanted (LigRunQuestion *self, const GArray *rows)
{
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < self->positions->len; i++) {
    guint position = g_array_index (self->positions, guint, i);
    gint64 key = position < rows->len ? g_array_index (rows, gint64, position) : 0;
    const LigRunFold *fold = lig_run_folds_get (self->folds, key);
    if (fold)
      key = fold->sample;
    if (key > 0)
      g_array_append_val (wanted, key);
  }
  return wanted;
}

/* The number of runs whose settings are compared for the columns; reading them takes some
 * milliseconds. */
#define MAX_COMPARED 200

/* Finding the folds of more runs would take longer than finding the runs. */
#define MAX_FOLDED 10000

/* Compares the runs of the first rows. The settings of a folded sweep vary, which its own row shows
 * only once it is open, and repetitions have the same. */
static void
find_varying (LigRunQuestion *self, const GArray *shown)
{
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  for (guint i = 0; i < shown->len && keys->len < MAX_COMPARED; i++) {
    gint64 key = g_array_index (shown, gint64, i);
    const LigRunFold *fold = lig_run_folds_get (self->folds, key);
    if (fold && !fold->sweep)
      key = fold->sample;
    if (key > 0)
      g_array_append_val (keys, key);
  }
  g_autoptr (GPtrArray) rows = lig_store_read_runs (
    self->store, (const gint64 *) (gpointer) keys->data, keys->len, &self->error);
  if (rows)
    self->varying = lig_history_find_varying (rows);
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
  if (self->folding && self->keys->len <= MAX_FOLDED &&
      !(self->folds = lig_run_folds_new (self->store, self->keys, &self->error)))
    return;
  g_autoptr (GArray) rows = list_rows (self);
  g_autoptr (GArray) wanted = find_wanted (self, rows);
  read_rows (self, wanted);
  if (!self->error)
    find_varying (self, rows);
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
