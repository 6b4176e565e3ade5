/* SPDX-License-Identifier: MIT */
/* The list of runs. A separate thread queries the store, so that neither a slow disk nor a locked
 * file blocks the window; answers to outdated queries are dropped. */
#include "ui/history/run-list.h"

#include "ui/history/run-question.h"

#include <string.h>

/* The number of unused items that are kept, so that scrolling back needs no reads. */
#define KEPT 256

struct _LigRunList {
  GObject parent_instance;
  LigStore *store;
  GThreadPool *thread;
  LigRunFilter filter;
  LigRunOrder order;
  gboolean descending;
  int serial; /* counts queries for keys; the thread reads it */
  gboolean asking, loaded;
  gint64 version, asked_at, quiet_until; /* monotonic: a slow store is queried less often */
  guint polls;
  GArray *all;               /* keys in the store's order */
  GArray *keys;              /* the rows: the same without hidden runs, and with folds */
  GHashTable *hidden, *open; /* keys of runs, and rows of folds */
  LigRunFolds *folds;        /* (nullable) */
  gboolean folding;
  GHashTable *items; /* position to LigRunItem, not owned */
  GPtrArray *kept;   /* a ring of owned items */
  guint next_kept;
  GArray *wanted;
  guint wanted_source;
  guint shown, total, trashed;
  GStrv values[LIG_RUN_COLUMNS];
  GStrv varying; /* columns */
  char *error;
};

static void model_init (GListModelInterface *model);
G_DEFINE_FINAL_TYPE_WITH_CODE (LigRunList,
                               lig_run_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, model_init))

enum { RELOADING, RELOADED, VALUED, N_SIGNALS };
static guint signals[N_SIGNALS];

static gint64 *
get_keys (GArray *keys)
{
  return (gint64 *) (gpointer) keys->data;
}

static gboolean take_answer (gpointer data);

static void
work (gpointer question, gpointer unused)
{
  lig_run_question_answer (question);
  g_idle_add_full (G_PRIORITY_DEFAULT, take_answer, question, NULL);
}

/* --- Items --------------------------------------------------------------------------------- */

static LigRunRow *
steal_row (LigRunQuestion *answer, gint64 key)
{
  gpointer stored = NULL, row = NULL;
  if (g_hash_table_steal_extended (answer->rows, &key, &stored, &row))
    g_free (stored);
  return row;
}

static gboolean
ask_for_rows (gpointer data)
{
  LigRunList *self = data;
  LigRunQuestion *question = lig_run_question_new (LIG_RUN_ROWS, self, self->store);
  question->wanted = g_steal_pointer (&self->wanted);
  self->wanted = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->wanted_source = 0;
  g_thread_pool_push (self->thread, question, NULL);
  return G_SOURCE_REMOVE;
}

/* Returns the key of the run that an item shows. */
static gint64
get_shown_key (LigRunItem *item)
{
  const LigRunFold *fold = lig_run_item_get_fold (item);
  return fold ? fold->sample : item->key;
}

/* The rows that a frame needs are read by one query. */
static void
want_row (LigRunList *self, LigRunItem *item)
{
  if (item->asked || !self->store)
    return;
  gint64 key = get_shown_key (item);
  item->asked = TRUE;
  g_array_append_val (self->wanted, key);
  if (!self->wanted_source)
    self->wanted_source = g_idle_add_full (G_PRIORITY_DEFAULT, ask_for_rows, self, NULL);
}

/* Returns: (transfer full): the live items; a handler of a signal may free items. */
static GPtrArray *
list_items (LigRunList *self)
{
  GPtrArray *items = g_ptr_array_new_with_free_func (g_object_unref);
  GHashTableIter iter;
  gpointer item;
  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    g_ptr_array_add (items, g_object_ref (item));
  return items;
}

static void
take_rows (LigRunList *self, LigRunQuestion *answer)
{
  g_autoptr (GPtrArray) items = list_items (self);
  /* A fold copies the row that one of its runs may need. */
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    gint64 key = get_shown_key (item);
    const LigRunRow *row = item->key < 0 ? g_hash_table_lookup (answer->rows, &key) : NULL;
    if (row)
      lig_run_item_set (item, item->key, lig_run_row_copy (row));
  }
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    LigRunRow *row = item->key > 0 ? steal_row (answer, item->key) : NULL;
    if (row)
      lig_run_item_set (item, item->key, row);
  }
}

static gpointer
to_slot (guint position)
{
  return GUINT_TO_POINTER (position);
}

static void
forget_item (gpointer data, GObject *object)
{
  LigRunItem *item = (LigRunItem *) (gpointer) object;
  LigRunList *self = data;
  if (g_hash_table_lookup (self->items, to_slot (item->position)) == item)
    g_hash_table_remove (self->items, to_slot (item->position));
}

/* Removes an item from the list; it keeps its last row. */
static void
detach_item (LigRunList *self, LigRunItem *item)
{
  g_hash_table_remove (self->items, to_slot (item->position));
  g_object_weak_unref (G_OBJECT (item), forget_item, self);
}

static LigRunItem *
get_item (LigRunList *self, guint position)
{
  LigRunItem *item = g_hash_table_lookup (self->items, to_slot (position));
  if (item)
    return g_object_ref (item);
  item = g_object_new (LIG_TYPE_RUN_ITEM, NULL);
  item->key = get_keys (self->keys)[position];
  item->position = position;
  lig_run_item_set_folds (item, self->folds, self->open);
  g_hash_table_insert (self->items, to_slot (position), item);
  g_object_weak_ref (G_OBJECT (item), forget_item, self);
  g_clear_object (&self->kept->pdata[self->next_kept]);
  self->kept->pdata[self->next_kept] = g_object_ref (item);
  self->next_kept = (self->next_kept + 1) % KEPT;
  want_row (self, item);
  return item;
}

static void
drop_items (LigRunList *self)
{
  g_autoptr (GPtrArray) items = list_items (self);
  for (guint i = 0; i < items->len; i++)
    detach_item (self, items->pdata[i]);
  for (guint i = 0; i < KEPT; i++)
    g_clear_object (&self->kept->pdata[i]);
  g_array_set_size (self->wanted, 0);
  g_clear_handle_id (&self->wanted_source, g_source_remove);
}

/* --- Keys ---------------------------------------------------------------------------------- */

/* Up to this many runs added or removed at one position are signalled to the view, which then keeps
 * its place. With more, its rows stay and show other runs: recreating them takes longer than
 * reading. */
#define MAX_SPLICED 64

/* Updates positions after runs were added or removed at `head`. */
static void
splice (LigRunList *self, guint head, guint removed, guint added)
{
  g_autoptr (GPtrArray) items = list_items (self);
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    if (item->position >= head && item->position < head + removed)
      detach_item (self, item);
  }
  for (guint i = 0; i < items->len; i++)
    if (((LigRunItem *) items->pdata[i])->position >= head + removed)
      g_hash_table_remove (self->items, to_slot (((LigRunItem *) items->pdata[i])->position));
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    if (item->position < head + removed)
      continue;
    item->position = item->position + added - removed;
    g_hash_table_insert (self->items, to_slot (item->position), item);
  }
  g_list_model_items_changed (G_LIST_MODEL (self), head, removed, added);
}

/* Assigns the runs at their positions to existing items. */
static void
replace (LigRunList *self, guint old_length, LigRunQuestion *answer)
{
  g_autoptr (GPtrArray) items = list_items (self);
  guint common = MIN (old_length, self->keys->len);
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    if (item->position >= common) {
      detach_item (self, item);
      continue;
    }
    gint64 key = get_keys (self->keys)[item->position];
    if (key == item->key)
      continue;
    LigRunRow *row = answer && key > 0 ? steal_row (answer, key) : NULL;
    lig_run_item_set (item, key, row);
    lig_run_item_set_folds (item, self->folds, self->open);
    if (!row)
      want_row (self, item);
  }
  if (old_length != self->keys->len)
    g_list_model_items_changed (G_LIST_MODEL (self), common, old_length - common,
                                self->keys->len - common);
}

/* Sets the folds of all items, whose figures may have changed. */
static void
refold_items (LigRunList *self)
{
  g_autoptr (GPtrArray) items = list_items (self);
  for (guint i = 0; i < items->len; i++) {
    lig_run_item_set_folds (items->pdata[i], self->folds, self->open);
    lig_run_item_tell (items->pdata[i]);
  }
}

/* Adopts the keys, without hidden runs. `answer` may be null. */
static void
show_keys (LigRunList *self, LigRunQuestion *answer)
{
  g_autoptr (GArray) new =
    lig_run_folds_list (self->folds, self->all, self->hidden, self->open, &self->shown);
  const gint64 *now = get_keys (new), *old = get_keys (self->keys);
  guint length = self->keys->len, min = MIN (length, new->len), head = 0, tail = 0;
  while (head < min && old[head] == now[head])
    head++;
  while (tail < min - head && old[length - 1 - tail] == now[new->len - 1 - tail])
    tail++;
  guint removed = length - head - tail, added = new->len - head - tail;
  if (!removed && !added)
    return;
  g_signal_emit (self, signals[RELOADING], 0);
  g_array_unref (self->keys);
  self->keys = g_steal_pointer (&new);
  if (removed + added <= MAX_SPLICED)
    splice (self, head, removed, added);
  else
    replace (self, length, answer);
}

static void
ask_for_values (LigRunList *self)
{
  g_thread_pool_push (self->thread, lig_run_question_new (LIG_RUN_VALUES, self, self->store), NULL);
}

static void
take_values (LigRunList *self, LigRunQuestion *answer)
{
  if (answer->error)
    return;
  for (guint i = 0; i < LIG_RUN_COLUMNS; i++) {
    g_strfreev (self->values[i]);
    self->values[i] = g_steal_pointer (&answer->values[i]);
  }
  g_signal_emit (self, signals[VALUED], 0);
}

static void
take_keys (LigRunList *self, LigRunQuestion *answer)
{
  gint64 now = g_get_monotonic_time ();
  gboolean news = answer->keys || answer->error || self->error || !self->loaded;
  self->asking = FALSE;
  self->loaded = TRUE;
  self->quiet_until = now + 5 * (now - self->asked_at);
  g_free (self->error);
  self->error = answer->error ? g_strdup (answer->error->message) : NULL;
  if (answer->keys && !answer->error) {
    gboolean changed = self->version != answer->version;
    self->version = answer->version;
    self->total = answer->total;
    self->trashed = answer->trashed;
    g_array_unref (self->all);
    self->all = g_steal_pointer (&answer->keys);
    gboolean folded = self->folds || answer->folds;
    g_clear_pointer (&self->folds, lig_run_folds_unref);
    self->folds = g_steal_pointer (&answer->folds);
    show_keys (self, answer);
    if (folded)
      refold_items (self);
    take_rows (self, answer);
    g_strfreev (self->varying);
    self->varying = g_steal_pointer (&answer->varying);
    if (changed)
      ask_for_values (self);
  }
  if (news)
    g_signal_emit (self, signals[RELOADED], 0);
}

static gboolean
take_answer (gpointer data)
{
  LigRunQuestion *answer = data;
  g_autoptr (LigRunList) self = g_object_ref (LIG_RUN_LIST (answer->owner));
  if (answer->store != self->store)
    ;
  else if (answer->kind == LIG_RUN_ROWS)
    take_rows (self, answer);
  else if (answer->kind == LIG_RUN_VALUES)
    take_values (self, answer);
  else if (answer->serial == self->serial)
    take_keys (self, answer);
  lig_run_question_free (answer);
  return G_SOURCE_REMOVE;
}

static void
ask_for_keys (LigRunList *self, gboolean forced)
{
  GHashTableIter iter;
  gpointer value;
  if (!self->store)
    return;
  if (forced)
    g_atomic_int_inc (&self->serial);
  LigRunQuestion *question = lig_run_question_new (LIG_RUN_KEYS, self, self->store);
  question->version = self->version;
  question->forced = forced;
  question->latest = &self->serial;
  question->serial = self->serial;
  lig_run_filter_copy (&self->filter, &question->filter);
  question->order = self->order;
  question->descending = self->descending;
  question->positions = g_array_new (FALSE, FALSE, sizeof (guint));
  question->hidden = lig_run_keys_new ();
  question->open = lig_run_keys_new ();
  question->folding =
    self->folding && !self->filter.deleted && !self->filter.group_by && !self->filter.sweep;
  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_array_append_val (question->positions, LIG_RUN_ITEM (value)->position);
  g_hash_table_iter_init (&iter, self->hidden);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    lig_run_keys_add (question->hidden, *(gint64 *) value);
  g_hash_table_iter_init (&iter, self->open);
  while (g_hash_table_iter_next (&iter, &value, NULL))
    lig_run_keys_add (question->open, *(gint64 *) value);
  self->asking = TRUE;
  self->asked_at = g_get_monotonic_time ();
  g_thread_pool_push (self->thread, question, NULL);
}

/* Every tenth time, running runs are reread, because their processes may have ended without a
 * record; every thirtieth time, texts like `2 minutes ago` are refreshed. */
static void
refresh_items (LigRunList *self)
{
  g_autoptr (GPtrArray) items = list_items (self);
  self->polls++;
  for (guint i = 0; i < items->len; i++) {
    LigRunItem *item = items->pdata[i];
    if (self->polls % 10 == 0 && item->row && strcmp (item->row->status, "running") == 0)
      want_row (self, item);
    if (self->polls % 30 == 0)
      lig_run_item_tell (item);
  }
}

void
lig_run_list_poll (LigRunList *self)
{
  if (self->asking || g_get_monotonic_time () < self->quiet_until)
    return;
  refresh_items (self);
  ask_for_keys (self, FALSE);
}

void
lig_run_list_reload (LigRunList *self)
{
  ask_for_keys (self, TRUE);
}

void
lig_run_list_set_store (LigRunList *self, LigStore *store)
{
  guint removed = self->keys->len;
  if (!g_set_object (&self->store, store))
    return;
  g_signal_emit (self, signals[RELOADING], 0);
  drop_items (self);
  g_array_set_size (self->all, 0);
  g_array_set_size (self->keys, 0);
  g_hash_table_remove_all (self->hidden);
  g_hash_table_remove_all (self->open);
  g_clear_pointer (&self->folds, lig_run_folds_unref);
  g_clear_pointer (&self->error, g_free);
  self->loaded = self->asking = FALSE;
  self->version = 0;
  self->shown = self->total = self->trashed = 0;
  if (removed)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, removed, 0);
  g_signal_emit (self, signals[RELOADED], 0);
  ask_for_keys (self, TRUE);
}

void
lig_run_list_set_filter (LigRunList *self, const LigRunFilter *filter)
{
  LigRunFilter sorted = *filter;
  g_autofree char *setting = g_strdup (self->filter.order_by);
  sorted.order_by = setting;
  lig_run_filter_copy (&sorted, &self->filter);
  ask_for_keys (self, TRUE);
}

const LigRunFilter *
lig_run_list_get_filter (LigRunList *self)
{
  return &self->filter;
}

gboolean
lig_run_list_is_filtered (LigRunList *self)
{
  const LigRunFilter *f = &self->filter;
  return (f->text && *f->text) || f->status || f->device || f->tag || f->kind || f->starred ||
         f->started_from || f->started_to || f->group_by || f->deleted;
}

void
lig_run_list_set_order (LigRunList *self,
                        LigRunOrder order,
                        const char *setting,
                        gboolean descending)
{
  if (self->order == order && self->descending == descending &&
      g_strcmp0 (self->filter.order_by, setting) == 0)
    return;
  g_free ((char *) self->filter.order_by);
  self->filter.order_by = g_strdup (setting);
  self->order = order;
  self->descending = descending;
  ask_for_keys (self, TRUE);
}

void
lig_run_list_hide (LigRunList *self, const gint64 *keys, guint count, gboolean hidden)
{
  for (guint i = 0; i < count; i++)
    if (hidden)
      lig_run_keys_add (self->hidden, keys[i]);
    else
      g_hash_table_remove (self->hidden, &keys[i]);
  show_keys (self, NULL);
  g_signal_emit (self, signals[RELOADED], 0);
}

/* --- Content ------------------------------------------------------------------------------- */

gboolean
lig_run_list_is_loaded (LigRunList *self)
{
  return self->loaded;
}

const char *
lig_run_list_get_error (LigRunList *self)
{
  return self->error;
}

guint
lig_run_list_get_count (LigRunList *self)
{
  return self->shown;
}

guint
lig_run_list_get_total (LigRunList *self)
{
  return self->total;
}

guint
lig_run_list_get_trashed (LigRunList *self)
{
  return self->trashed;
}

const char *const *
lig_run_list_get_values (LigRunList *self, const char *column)
{
  static const char *const none[] = {NULL};
  for (guint i = 0; i < LIG_RUN_COLUMNS; i++)
    if (strcmp (column, lig_run_columns[i]) == 0 && self->values[i])
      return (const char *const *) self->values[i];
  return none;
}

const char *const *
lig_run_list_get_varying (LigRunList *self)
{
  static const char *const none[] = {NULL};
  return self->varying ? (const char *const *) self->varying : none;
}

void
lig_run_list_append_keys (LigRunList *self, guint position, GArray *to)
{
  lig_run_folds_append (self->folds, lig_run_list_get_key (self, position), self->hidden, to);
}

void
lig_run_list_set_folding (LigRunList *self, gboolean folding)
{
  if (self->folding == folding)
    return;
  self->folding = folding;
  ask_for_keys (self, TRUE);
}

gboolean
lig_run_list_open (LigRunList *self, guint position, gboolean open)
{
  gint64 row = lig_run_list_get_key (self, position);
  if (row >= 0 || g_hash_table_contains (self->open, &row) == open)
    return FALSE;
  if (open)
    lig_run_keys_add (self->open, row);
  else
    g_hash_table_remove (self->open, &row);
  show_keys (self, NULL);
  refold_items (self);
  g_signal_emit (self, signals[RELOADED], 0);
  ask_for_keys (self, TRUE);
  return TRUE;
}

gint64
lig_run_list_get_key (LigRunList *self, guint position)
{
  return position < self->keys->len ? get_keys (self->keys)[position] : 0;
}

static GType
model_get_item_type (GListModel *model)
{
  return LIG_TYPE_RUN_ITEM;
}

static guint
model_get_n_items (GListModel *model)
{
  return LIG_RUN_LIST (model)->keys->len;
}

static gpointer
model_get_item (GListModel *model, guint position)
{
  LigRunList *self = LIG_RUN_LIST (model);
  return position < self->keys->len ? get_item (self, position) : NULL;
}

static void
model_init (GListModelInterface *model)
{
  model->get_item_type = model_get_item_type;
  model->get_n_items = model_get_n_items;
  model->get_item = model_get_item;
}

/* --- Construction -------------------------------------------------------------------------- */

static void
lig_run_list_dispose (GObject *object)
{
  LigRunList *self = LIG_RUN_LIST (object);
  drop_items (self);
  g_clear_object (&self->store);
  G_OBJECT_CLASS (lig_run_list_parent_class)->dispose (object);
}

static void
lig_run_list_finalize (GObject *object)
{
  LigRunList *self = LIG_RUN_LIST (object);
  /* Queries hold references to the list, so none is pending. */
  g_thread_pool_free (self->thread, FALSE, FALSE);
  lig_run_filter_clear (&self->filter);
  g_array_unref (self->all);
  g_array_unref (self->keys);
  g_array_unref (self->wanted);
  g_hash_table_unref (self->hidden);
  g_hash_table_unref (self->open);
  g_clear_pointer (&self->folds, lig_run_folds_unref);
  g_hash_table_unref (self->items);
  g_ptr_array_unref (self->kept);
  for (guint i = 0; i < LIG_RUN_COLUMNS; i++)
    g_strfreev (self->values[i]);
  g_strfreev (self->varying);
  g_free (self->error);
  G_OBJECT_CLASS (lig_run_list_parent_class)->finalize (object);
}

static void
lig_run_list_class_init (LigRunListClass *class)
{
  G_OBJECT_CLASS (class)->dispose = lig_run_list_dispose;
  G_OBJECT_CLASS (class)->finalize = lig_run_list_finalize;
  signals[RELOADING] = g_signal_new ("reloading", LIG_TYPE_RUN_LIST, G_SIGNAL_RUN_LAST, 0, NULL,
                                     NULL, NULL, G_TYPE_NONE, 0);
  signals[RELOADED] = g_signal_new ("reloaded", LIG_TYPE_RUN_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                    NULL, G_TYPE_NONE, 0);
  signals[VALUED] = g_signal_new ("valued", LIG_TYPE_RUN_LIST, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
}

static void
lig_run_list_init (LigRunList *self)
{
  self->thread = g_thread_pool_new (work, NULL, 1, FALSE, NULL);
  self->order = LIG_RUN_BY_START;
  self->descending = TRUE;
  self->all = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->wanted = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->hidden = lig_run_keys_new ();
  self->open = lig_run_keys_new ();
  self->items = g_hash_table_new (NULL, NULL);
  self->kept = g_ptr_array_new ();
  g_ptr_array_set_size (self->kept, KEPT);
}

LigRunList *
lig_run_list_new (void)
{
  return g_object_new (LIG_TYPE_RUN_LIST, NULL);
}
