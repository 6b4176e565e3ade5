/* SPDX-License-Identifier: MIT */
/* Edits are written by a thread: a commit to the disk may take longer than a frame. */
#include "ui/journal.h"

#include <json-glib/json-glib.h>

struct _LigJournal {
  LigStore *store;
  char *key;
  GThreadPool *writer; /* one thread, so in order */
  GMutex lock;
  GCond written;
  guint waiting;
};

/* How long closing a window waits for what is still to be written. */
#define PATIENCE_MS 1000

/* Stands for clearing in the queue. */
static char clear_all[] = "";

static void
write_edit (gpointer item, gpointer data)
{
  LigJournal *self = data;
  /* A journal that cannot be written costs recovery, never the editing itself. */
  if (item == clear_all) {
    lig_store_clear_edits (self->store, self->key, NULL);
  } else {
    lig_store_append_edit (self->store, self->key, item, NULL);
    g_free (item);
  }
  g_mutex_lock (&self->lock);
  self->waiting--;
  g_cond_signal (&self->written);
  g_mutex_unlock (&self->lock);
}

static void
push (LigJournal *self, char *item)
{
  g_mutex_lock (&self->lock);
  self->waiting++;
  g_mutex_unlock (&self->lock);
  g_thread_pool_push (self->writer, item, NULL);
}

LigJournal *
lig_journal_new (LigStore *store)
{
  LigJournal *self = g_new0 (LigJournal, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->written);
  if (!store)
    return self;
  self->store = g_object_ref (store);
  self->key = lig_store_new_document ();
  self->writer = g_thread_pool_new (write_edit, self, 1, FALSE, NULL);
  return self;
}

static gboolean
wait_until_written (LigJournal *self)
{
  gint64 end = g_get_monotonic_time () + PATIENCE_MS * G_TIME_SPAN_MILLISECOND;
  g_mutex_lock (&self->lock);
  while (self->waiting > 0 && g_cond_wait_until (&self->written, &self->lock, end))
    ;
  gboolean written = self->waiting == 0;
  g_mutex_unlock (&self->lock);
  return written;
}

static gpointer
end (gpointer data)
{
  LigJournal *self = data;
  if (self->writer)
    g_thread_pool_free (self->writer, FALSE, TRUE);
  g_clear_object (&self->store);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->written);
  g_free (self->key);
  g_free (self);
  return NULL;
}

/* A store that another program holds keeps no window from closing. */
void
lig_journal_free (LigJournal *self)
{
  if (wait_until_written (self))
    end (self);
  else
    g_thread_unref (g_thread_new ("journal", end, self));
}

static void
add_member (JsonObject *object, const char *name, const char *text)
{
  if (text)
    json_object_set_string_member (object, name, text);
}

void
lig_journal_append (LigJournal *self, const char *label, const char *path, const char *sequence)
{
  if (!self->writer)
    return;
  g_autoptr (JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  add_member (object, "label", label);
  add_member (object, "path", path);
  add_member (object, "sequence", sequence);
  json_object_set_int_member (object, "when", g_get_real_time ());
  json_node_take_object (root, object);
  push (self, json_to_string (root, FALSE));
}

void
lig_journal_clear (LigJournal *self)
{
  if (self->writer)
    push (self, clear_all);
}

/* --- What was lost ------------------------------------------------------------------------- */

void
lig_lost_edit_free (LigLostEdit *lost)
{
  g_free (lost->key);
  g_free (lost->path);
  g_free (lost->label);
  g_free (lost->sequence);
  g_free (lost);
}

static LigLostEdit *
read_lost (const char *key, const char *const *edits)
{
  guint count = g_strv_length ((GStrv) edits);
  g_autoptr (JsonNode) root = count > 0 ? json_from_string (edits[count - 1], NULL) : NULL;
  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return NULL;
  JsonObject *object = json_node_get_object (root);
  LigLostEdit *lost = g_new0 (LigLostEdit, 1);
  lost->key = g_strdup (key);
  lost->path = g_strdup (json_object_get_string_member_with_default (object, "path", NULL));
  lost->label = g_strdup (json_object_get_string_member_with_default (object, "label", ""));
  lost->sequence = g_strdup (json_object_get_string_member_with_default (object, "sequence", ""));
  lost->when = json_object_get_int_member_with_default (object, "when", 0);
  lost->edits = count;
  return lost;
}

GPtrArray *
lig_journal_find_lost (LigStore *store)
{
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_lost_edit_free);
  g_auto (GStrv) keys = store ? lig_store_list_lost (store, NULL) : NULL;
  for (char **key = keys; key && *key; key++) {
    g_auto (GStrv) edits = lig_store_get_edits (store, *key, NULL);
    LigLostEdit *lost = edits ? read_lost (*key, (const char *const *) edits) : NULL;
    if (lost)
      g_ptr_array_add (found, lost);
  }
  return found;
}

void
lig_journal_forget (LigStore *store, const char *key)
{
  lig_store_clear_edits (store, key, NULL);
}
