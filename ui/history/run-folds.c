/* SPDX-License-Identifier: MIT */
#include "ui/history/run-folds.h"

static void
free_folds (gpointer data)
{
  LigRunFolds *self = data;
  g_ptr_array_unref (self->folds);
  g_ptr_array_unref (self->members);
  g_hash_table_unref (self->by_row);
  g_hash_table_unref (self->by_key);
}

LigRunFolds *
lig_run_folds_ref (LigRunFolds *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
lig_run_folds_unref (LigRunFolds *self)
{
  g_atomic_rc_box_release_full (self, free_folds);
}

static void
put (GHashTable *table, gint64 key, guint index)
{
  g_hash_table_insert (table, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (index + 1));
}

/* Returns the index, G_MAXUINT without one. */
static guint
find (GHashTable *table, gint64 key)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (table, &key)) - 1;
}

static gint64
get_key (const GArray *keys, guint index)
{
  return g_array_index (keys, gint64, index);
}

static gint64
get_row (const GArray *members)
{
  gint64 min = G_MAXINT64;
  for (guint i = 0; i < members->len; i++)
    min = MIN (min, get_key (members, i));
  return -min;
}

LigRunFolds *
lig_run_folds_new (LigStore *store, const GArray *keys, GError **error)
{
  g_autofree guint *places = g_new (guint, (gsize) keys->len + 1);
  GPtrArray *folds = lig_store_fold_runs (store, (const gint64 *) (gconstpointer) keys->data,
                                          keys->len, places, error);
  if (!folds)
    return NULL;
  LigRunFolds *self = g_atomic_rc_box_new0 (LigRunFolds);
  self->folds = folds;
  self->members = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  self->by_row = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->by_key = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint i = 0; i < folds->len; i++)
    g_ptr_array_add (self->members, g_array_new (FALSE, FALSE, sizeof (gint64)));
  for (guint i = 0; i < keys->len; i++)
    if (places[i] != G_MAXUINT) {
      gint64 key = get_key (keys, i);
      g_array_append_val (self->members->pdata[places[i]], key);
      put (self->by_key, key, places[i]);
    }
  for (guint i = 0; i < folds->len; i++)
    put (self->by_row, get_row (self->members->pdata[i]), i);
  return self;
}

const LigRunFold *
lig_run_folds_get (const LigRunFolds *self, gint64 row)
{
  guint index = self && row < 0 ? find (self->by_row, row) : G_MAXUINT;
  return index != G_MAXUINT ? self->folds->pdata[index] : NULL;
}

gboolean
lig_run_folds_contains (const LigRunFolds *self, gint64 key)
{
  return self && g_hash_table_contains (self->by_key, &key);
}

void
lig_run_folds_append (const LigRunFolds *self, gint64 row, GHashTable *hidden, GArray *to)
{
  guint index = self && row < 0 ? find (self->by_row, row) : G_MAXUINT;
  const GArray *members = index != G_MAXUINT ? self->members->pdata[index] : NULL;
  if (row > 0)
    g_array_append_val (to, row);
  for (guint i = 0; members && i < members->len; i++) {
    gint64 key = get_key (members, i);
    if (!g_hash_table_contains (hidden, &key))
      g_array_append_val (to, key);
  }
}

/* Appends the fold to which a run belongs, unless it is already in the list. */
static void
append_fold (const LigRunFolds *self,
             guint index,
             GHashTable *hidden,
             GHashTable *open,
             gboolean *seen,
             GArray *to)
{
  gint64 row = get_row (self->members->pdata[index]);
  if (seen[index])
    return;
  seen[index] = TRUE;
  guint before = to->len;
  g_array_append_val (to, row);
  lig_run_folds_append (self, row, hidden, to);
  if (to->len - before < 3)
    g_array_remove_index (to, before);
  else if (!g_hash_table_contains (open, &row))
    g_array_set_size (to, before + 1);
}

GArray *
lig_run_folds_list (
  const LigRunFolds *self, const GArray *keys, GHashTable *hidden, GHashTable *open, guint *count)
{
  GArray *rows = g_array_sized_new (FALSE, FALSE, sizeof (gint64), keys->len);
  g_autofree gboolean *seen = g_new0 (gboolean, self ? (gsize) self->folds->len + 1 : 1);
  *count = 0;
  for (guint i = 0; i < keys->len; i++) {
    gint64 key = get_key (keys, i);
    if (g_hash_table_contains (hidden, &key))
      continue;
    guint index = self ? find (self->by_key, key) : G_MAXUINT;
    ++*count;
    if (index == G_MAXUINT)
      g_array_append_val (rows, key);
    else
      append_fold (self, index, hidden, open, seen, rows);
  }
  return rows;
}
