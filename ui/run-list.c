/* SPDX-License-Identifier: MIT */
/* The list of runs. One thread of its own asks the store, so that neither a slow disk nor a locked
 * file stops the window; an answer to a question that was asked differently since is dropped. */
#include "ui/run-list.h"

#include <string.h>

/* So many items stay although nobody holds them: going back a screen reads nothing. */
#define KEPT 1024

struct _LigRunItem {
  GObject parent_instance;
  gint64 key;
  LigRunRow *row;
  gboolean asked;
};

G_DEFINE_FINAL_TYPE (LigRunItem, lig_run_item, G_TYPE_OBJECT)

static guint item_changed;

static void
lig_run_item_finalize (GObject *object)
{
  lig_run_row_free (LIG_RUN_ITEM (object)->row);
  G_OBJECT_CLASS (lig_run_item_parent_class)->finalize (object);
}

static void
lig_run_item_class_init (LigRunItemClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_run_item_finalize;
  item_changed = g_signal_new ("changed", LIG_TYPE_RUN_ITEM, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
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

const LigRunRow *
lig_run_item_get_row (LigRunItem *self)
{
  return self->row;
}

/* --- What is asked ------------------------------------------------------------------------- */

static const char *const columns[] = {"status", "device", "kind", "tag"};

/* A question to the store, and its answer; the thread owns it until it is answered. */
typedef struct {
  LigRunList *list; /* owned, but only touched by the main thread */
  LigStore *store;
  int serial;     /* of the list when it was asked */
  gint64 version; /* that the list knows; the answer's then */
  gboolean forced, values_wanted;
  LigRunFilter filter;
  LigRunOrder order;
  gboolean descending;
  GArray *wanted; /* keys of rows; null where all keys are wanted */
  GArray *keys;   /* the answers */
  GPtrArray *rows;
  GStrv values[G_N_ELEMENTS (columns)];
  guint total;
  GError *error;
} Question;

struct _LigRunList {
  GObject parent_instance;
  LigStore *store;
  GThreadPool *thread;
  LigRunFilter filter;
  LigRunOrder order;
  gboolean descending;
  int serial; /* counts questions for keys; the thread reads it */
  gboolean asking, loaded;
  gint64 version, asked_at, quiet_until; /* monotonic: a slow store is asked less often */
  guint polls;
  GArray *all;  /* keys as the store gave them */
  GArray *keys; /* the same without the hidden ones */
  GHashTable *hidden;
  GHashTable *items; /* key to LigRunItem, not owned */
  GPtrArray *kept;   /* a ring of owned items */
  guint next_kept;
  GArray *wanted;
  guint wanted_source;
  guint total;
  GStrv values[G_N_ELEMENTS (columns)];
  char *error;
};

static void model_init (GListModelInterface *model);
G_DEFINE_FINAL_TYPE_WITH_CODE (LigRunList,
                               lig_run_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, model_init))

enum { RELOADING, RELOADED, VALUED, N_SIGNALS };
static guint signals[N_SIGNALS];

static void
clear_filter (LigRunFilter *filter)
{
  g_free ((char *) filter->text);
  g_free ((char *) filter->status);
  g_free ((char *) filter->device);
  g_free ((char *) filter->tag);
  g_free ((char *) filter->kind);
}

static LigRunFilter
copy_filter (const LigRunFilter *from)
{
  LigRunFilter to = *from;
  to.text = g_strdup (from->text);
  to.status = g_strdup (from->status);
  to.device = g_strdup (from->device);
  to.tag = g_strdup (from->tag);
  to.kind = g_strdup (from->kind);
  return to;
}

static void
free_question (Question *self)
{
  g_object_unref (self->list);
  g_object_unref (self->store);
  clear_filter (&self->filter);
  g_clear_pointer (&self->wanted, g_array_unref);
  g_clear_pointer (&self->keys, g_array_unref);
  g_clear_pointer (&self->rows, g_ptr_array_unref);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    g_strfreev (self->values[i]);
  g_clear_error (&self->error);
  g_free (self);
}

static Question *
new_question (LigRunList *list)
{
  Question *self = g_new0 (Question, 1);
  self->list = g_object_ref (list);
  self->store = g_object_ref (list->store);
  self->serial = list->serial;
  self->version = list->version;
  return self;
}

static gint64 *
get_keys (GArray *keys)
{
  return (gint64 *) (gpointer) keys->data;
}

/* --- On the thread ------------------------------------------------------------------------- */

static void
read_keys (Question *self)
{
  gint64 version = lig_store_get_data_version (self->store, &self->error);
  if (self->error || (version == self->version && !self->forced))
    return;
  self->version = version;
  self->keys =
    lig_store_list_keys (self->store, &self->filter, self->order, self->descending, &self->error);
  gint64 total = self->error ? 0 : lig_store_count_runs (self->store, &self->error);
  self->total = (guint) MAX (total, 0);
}

/* Asked for when the runs are already there: only menus need it. */
static void
read_values (Question *self)
{
  for (guint i = 0; !self->error && i < G_N_ELEMENTS (columns); i++)
    self->values[i] = lig_store_list_values (self->store, columns[i], &self->error);
}

static gboolean take_answer (gpointer data);

static void
work (gpointer data, gpointer unused)
{
  Question *self = data;
  if (self->wanted)
    self->rows =
      lig_store_read_runs (self->store, get_keys (self->wanted), self->wanted->len, &self->error);
  else if (self->values_wanted)
    read_values (self);
  else if (self->serial == g_atomic_int_get (&self->list->serial))
    read_keys (self);
  g_idle_add_full (G_PRIORITY_DEFAULT, take_answer, self, NULL);
}

/* --- Rows ---------------------------------------------------------------------------------- */

static void
take_rows (LigRunList *self, Question *question)
{
  for (guint i = 0; i < question->wanted->len; i++) {
    LigRunItem *item = g_hash_table_lookup (self->items, &get_keys (question->wanted)[i]);
    if (!item)
      continue;
    g_autoptr (LigRunItem) alive = g_object_ref (item);
    item->asked = FALSE;
    if (!question->rows || !question->rows->pdata[i])
      continue;
    lig_run_row_free (item->row);
    item->row = g_steal_pointer (&question->rows->pdata[i]);
    g_signal_emit (item, item_changed, 0);
  }
}

static gboolean
ask_for_rows (gpointer data)
{
  LigRunList *self = data;
  Question *question = new_question (self);
  question->wanted = g_steal_pointer (&self->wanted);
  self->wanted = g_array_new (FALSE, FALSE, sizeof (gint64));
  self->wanted_source = 0;
  g_thread_pool_push (self->thread, question, NULL);
  return G_SOURCE_REMOVE;
}

/* All rows that a frame needs are one question. */
static void
want_row (LigRunList *self, LigRunItem *item)
{
  if (item->asked || !self->store)
    return;
  item->asked = TRUE;
  g_array_append_val (self->wanted, item->key);
  if (!self->wanted_source)
    self->wanted_source = g_idle_add_full (G_PRIORITY_DEFAULT, ask_for_rows, self, NULL);
}

/* Reads those rows again that somebody has: all, or the running ones alone, whose processes may
 * have gone without a word in the store. */
static void
refresh_items (LigRunList *self, gboolean running)
{
  GHashTableIter iter;
  gpointer item;
  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item)) {
    const LigRunRow *row = LIG_RUN_ITEM (item)->row;
    if (!running || (row && strcmp (row->status, "running") == 0))
      want_row (self, item);
  }
}

static void
forget_item (gpointer data, GObject *item)
{
  g_hash_table_remove (LIG_RUN_LIST (data)->items, &((LigRunItem *) (gpointer) item)->key);
}

static LigRunItem *
get_item (LigRunList *self, gint64 key)
{
  LigRunItem *item = g_hash_table_lookup (self->items, &key);
  if (item)
    return g_object_ref (item);
  item = g_object_new (LIG_TYPE_RUN_ITEM, NULL);
  item->key = key;
  g_hash_table_insert (self->items, &item->key, item);
  g_object_weak_ref (G_OBJECT (item), forget_item, self);
  g_clear_object (&self->kept->pdata[self->next_kept]);
  self->kept->pdata[self->next_kept] = g_object_ref (item);
  self->next_kept = (self->next_kept + 1) % KEPT;
  want_row (self, item);
  return item;
}

/* Nothing of another store may stay. */
static void
drop_items (LigRunList *self)
{
  GHashTableIter iter;
  gpointer item;
  g_hash_table_iter_init (&iter, self->items);
  while (g_hash_table_iter_next (&iter, NULL, &item))
    g_object_weak_unref (item, forget_item, self);
  g_hash_table_remove_all (self->items);
  for (guint i = 0; i < KEPT; i++)
    g_clear_object (&self->kept->pdata[i]);
  g_array_set_size (self->wanted, 0);
  g_clear_handle_id (&self->wanted_source, g_source_remove);
}

/* --- Keys ---------------------------------------------------------------------------------- */

/* Takes the list without hidden runs over, saying no more of it changed than did. */
static void
show_keys (LigRunList *self)
{
  g_autoptr (GArray) new = g_array_new (FALSE, FALSE, sizeof (gint64));
  const gint64 *all = get_keys (self->all), *old = get_keys (self->keys);
  for (guint i = 0; i < self->all->len; i++)
    if (!g_hash_table_contains (self->hidden, &all[i]))
      g_array_append_val (new, all[i]);
  const gint64 *now = get_keys (new);
  guint least = MIN (self->keys->len, new->len), head = 0, tail = 0;
  while (head < least && old[head] == now[head])
    head++;
  while (tail < least - head && old[self->keys->len - 1 - tail] == now[new->len - 1 - tail])
    tail++;
  guint removed = self->keys->len - head - tail, added = new->len - head - tail;
  if (!removed && !added)
    return;
  g_signal_emit (self, signals[RELOADING], 0);
  g_array_unref (self->keys);
  self->keys = g_steal_pointer (&new);
  g_list_model_items_changed (G_LIST_MODEL (self), head, removed, added);
}

static void
ask_for_values (LigRunList *self)
{
  Question *question = new_question (self);
  question->values_wanted = TRUE;
  g_thread_pool_push (self->thread, question, NULL);
}

static void
take_values (LigRunList *self, Question *question)
{
  if (question->error)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++) {
    g_strfreev (self->values[i]);
    self->values[i] = g_steal_pointer (&question->values[i]);
  }
  g_signal_emit (self, signals[VALUED], 0);
}

static void
take_keys (LigRunList *self, Question *question)
{
  gint64 now = g_get_monotonic_time ();
  gboolean news = question->keys || question->error || self->error || !self->loaded;
  self->asking = FALSE;
  self->loaded = TRUE;
  self->quiet_until = now + 5 * (now - self->asked_at);
  g_free (self->error);
  self->error = question->error ? g_strdup (question->error->message) : NULL;
  if (question->keys && !question->error) {
    self->version = question->version;
    self->total = question->total;
    g_array_unref (self->all);
    self->all = g_steal_pointer (&question->keys);
    show_keys (self);
    refresh_items (self, FALSE);
    ask_for_values (self);
  }
  if (news)
    g_signal_emit (self, signals[RELOADED], 0);
}

static gboolean
take_answer (gpointer data)
{
  Question *question = data;
  g_autoptr (LigRunList) self = g_object_ref (question->list);
  if (question->store == self->store && question->wanted)
    take_rows (self, question);
  else if (question->store == self->store && question->values_wanted)
    take_values (self, question);
  else if (question->store == self->store && question->serial == self->serial)
    take_keys (self, question);
  free_question (question);
  return G_SOURCE_REMOVE;
}

static void
ask_for_keys (LigRunList *self, gboolean forced)
{
  if (!self->store)
    return;
  if (forced)
    g_atomic_int_inc (&self->serial);
  Question *question = new_question (self);
  question->forced = forced;
  question->filter = copy_filter (&self->filter);
  question->order = self->order;
  question->descending = self->descending;
  self->asking = TRUE;
  self->asked_at = g_get_monotonic_time ();
  g_thread_pool_push (self->thread, question, NULL);
}

/* `2 minutes ago` grows old by itself. */
static void
show_time (LigRunList *self)
{
  g_autoptr (GList) items = g_hash_table_get_values (self->items);
  for (GList *item = items; item; item = item->next)
    g_object_ref (item->data);
  for (GList *item = items; item; item = item->next) {
    g_signal_emit (item->data, item_changed, 0);
    g_object_unref (item->data);
  }
}

void
lig_run_list_poll (LigRunList *self)
{
  if (self->asking || g_get_monotonic_time () < self->quiet_until)
    return;
  if (++self->polls % 10 == 0)
    refresh_items (self, TRUE);
  if (self->polls % 30 == 0)
    show_time (self);
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
  g_clear_pointer (&self->error, g_free);
  self->loaded = self->asking = FALSE;
  self->version = 0;
  self->total = 0;
  if (removed)
    g_list_model_items_changed (G_LIST_MODEL (self), 0, removed, 0);
  g_signal_emit (self, signals[RELOADED], 0);
  ask_for_keys (self, TRUE);
}

void
lig_run_list_set_filter (LigRunList *self, const LigRunFilter *filter)
{
  LigRunFilter old = self->filter;
  self->filter = copy_filter (filter);
  clear_filter (&old);
  ask_for_keys (self, TRUE);
}

gboolean
lig_run_list_is_filtered (LigRunList *self)
{
  const LigRunFilter *f = &self->filter;
  return (f->text && *f->text) || f->status || f->device || f->tag || f->kind || f->starred ||
         f->started_from || f->started_to;
}

void
lig_run_list_set_order (LigRunList *self, LigRunOrder order, gboolean descending)
{
  if (self->order == order && self->descending == descending)
    return;
  self->order = order;
  self->descending = descending;
  ask_for_keys (self, TRUE);
}

void
lig_run_list_hide (LigRunList *self, const gint64 *keys, guint count, gboolean hidden)
{
  for (guint i = 0; i < count; i++)
    if (hidden)
      g_hash_table_add (self->hidden, g_memdup2 (&keys[i], sizeof keys[i]));
    else
      g_hash_table_remove (self->hidden, &keys[i]);
  show_keys (self);
  g_signal_emit (self, signals[RELOADED], 0);
}

/* --- What it says -------------------------------------------------------------------------- */

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
  return self->keys->len;
}

guint
lig_run_list_get_total (LigRunList *self)
{
  return self->total;
}

const char *const *
lig_run_list_get_values (LigRunList *self, const char *column)
{
  static const char *const none[] = {NULL};
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    if (strcmp (column, columns[i]) == 0 && self->values[i])
      return (const char *const *) self->values[i];
  return none;
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
  return position < self->keys->len ? get_item (self, get_keys (self->keys)[position]) : NULL;
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
  /* Questions hold the list, so none is left. */
  g_thread_pool_free (self->thread, FALSE, FALSE);
  clear_filter (&self->filter);
  g_array_unref (self->all);
  g_array_unref (self->keys);
  g_array_unref (self->wanted);
  g_hash_table_unref (self->hidden);
  g_hash_table_unref (self->items);
  g_ptr_array_unref (self->kept);
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    g_strfreev (self->values[i]);
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
  self->hidden = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  self->items = g_hash_table_new (g_int64_hash, g_int64_equal);
  self->kept = g_ptr_array_new ();
  g_ptr_array_set_size (self->kept, KEPT);
}

LigRunList *
lig_run_list_new (void)
{
  return g_object_new (LIG_TYPE_RUN_LIST, NULL);
}
