/* SPDX-License-Identifier: MIT */
/* Items of the list of runs. */
#include "ui/history/run-item.h"

G_DEFINE_FINAL_TYPE (LigRunItem, lig_run_item, G_TYPE_OBJECT)

static guint changed;

static void
lig_run_item_finalize (GObject *object)
{
  lig_run_row_free (LIG_RUN_ITEM (object)->row);
  g_clear_pointer (&LIG_RUN_ITEM (object)->folds, lig_run_folds_unref);
  G_OBJECT_CLASS (lig_run_item_parent_class)->finalize (object);
}

static void
lig_run_item_class_init (LigRunItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_run_item_finalize;
  changed = g_signal_new ("changed", LIG_TYPE_RUN_ITEM, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                          G_TYPE_NONE, 0);
}

static void
lig_run_item_init (LigRunItem *self)
{
}

gint64
lig_run_item_get_key (LigRunItem *self)
{
  return self->key;
}

const LigRunFold *
lig_run_item_get_fold (LigRunItem *self)
{
  return lig_run_folds_get (self->folds, self->key);
}

void
lig_run_item_set_folds (LigRunItem *self, LigRunFolds *folds, GHashTable *open)
{
  if (folds)
    lig_run_folds_ref (folds);
  g_clear_pointer (&self->folds, lig_run_folds_unref);
  self->folds = folds;
  self->open = g_hash_table_contains (open, &self->key);
  self->inner = self->key > 0 && lig_run_folds_contains (folds, self->key);
}

const LigRunRow *
lig_run_item_get_row (LigRunItem *self)
{
  return self->row;
}

void
lig_run_item_tell (LigRunItem *self)
{
  g_signal_emit (self, changed, 0);
}

void
lig_run_item_set (LigRunItem *self, gint64 key, LigRunRow *row)
{
  g_autoptr (LigRunItem) alive = g_object_ref (self);
  lig_run_row_free (self->row);
  self->row = row;
  self->key = key;
  self->asked = FALSE;
  lig_run_item_tell (self);
}
