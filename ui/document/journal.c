/* SPDX-License-Identifier: MIT */
/* A thread writes the edits, because a commit to disk may take longer than a frame. */
#include "ui/document/journal.h"

#include <ligature/json.h>
#include <ligature/store.h>

#include <json-glib/json-glib.h>

#include <string.h>

struct _LigJournal {
  LigStore *store;
  char *key;
  GThreadPool *writer; /* one thread, so in order */
  GMutex lock;
  GCond written;
  guint waiting;
  gboolean begun;
};

/* The maximum time that closing a window waits for pending writes. */
#define MAX_WAIT_MS 1000

static const char *const kinds[] = {"start", "edit", "merge", "undo", "redo"};

typedef struct {
  gboolean clear; /* remove the document's entries instead of adding one */
  LigJournalKind kind;
  char *label, *path, *sequence;
  gint64 when;
} Item;

static void
free_item (Item *item)
{
  g_free (item->label);
  g_free (item->path);
  g_free (item->sequence);
  g_free (item);
}

static void
add_member (JsonObject *object, const char *name, const char *text)
{
  if (text)
    json_object_set_string_member (object, name, text);
}

static char *
item_to_json (const Item *item)
{
  g_autoptr (JsonNode) root = json_node_new (JSON_NODE_OBJECT);
  JsonObject *object = json_object_new ();
  add_member (object, "kind", kinds[item->kind]);
  add_member (object, "label", item->label);
  add_member (object, "path", item->path);
  add_member (object, "sequence", item->sequence);
  json_object_set_int_member (object, "when", item->when);
  json_node_take_object (root, object);
  return json_to_string (root, FALSE);
}

static void
write_edit (gpointer entry, gpointer data)
{
  LigJournal *self = data;
  Item *item = entry;
  g_autofree char *json = item->clear ? NULL : item_to_json (item);
  /* If the journal cannot be written, recovery is lost, but editing continues. */
  if (item->clear)
    lig_store_clear_edits (self->store, self->key, NULL);
  else
    lig_store_append_edit (self->store, self->key, json, NULL);
  free_item (item);
  g_mutex_lock (&self->lock);
  self->waiting--;
  g_cond_signal (&self->written);
  g_mutex_unlock (&self->lock);
}

static void
push (LigJournal *self, Item *item)
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
  gint64 end = g_get_monotonic_time () + MAX_WAIT_MS * G_TIME_SPAN_MILLISECOND;
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

/* A store locked by another program does not prevent closing a window. */
void
lig_journal_free (LigJournal *self)
{
  if (wait_until_written (self))
    end (self);
  else
    g_thread_unref (g_thread_new ("journal", end, self));
}

void
lig_journal_append (
  LigJournal *self, LigJournalKind kind, const char *label, const char *path, const char *sequence)
{
  if (!self->writer)
    return;
  self->begun = TRUE;
  Item *item = g_new0 (Item, 1);
  *item = (Item){.kind = kind,
                 .label = g_strdup (label),
                 .path = g_strdup (path),
                 .sequence = g_strdup (sequence),
                 .when = g_get_real_time ()};
  push (self, item);
}

void
lig_journal_clear (LigJournal *self)
{
  self->begun = FALSE;
  if (!self->writer)
    return;
  Item *item = g_new0 (Item, 1);
  item->clear = TRUE;
  push (self, item);
}

gboolean
lig_journal_is_empty (LigJournal *self)
{
  return !self->begun;
}

/* --- Lost edits ---------------------------------------------------------------------------- */

static void
free_state (gpointer data)
{
  LigLostState *state = data;
  g_free (state->label);
  g_free (state->sequence);
  g_free (state);
}

void
lig_lost_edit_free (LigLostEdit *lost)
{
  g_ptr_array_unref (lost->states);
  g_free (lost->key);
  g_free (lost->path);
  g_free (lost->label);
  g_free (lost->sequence);
  g_free (lost);
}

/* Limits for texts in labels and tooltips, because any program may have written the row. */
#define LONGEST_LABEL 200 /* characters */
#define LONGEST_PATH 4096 /* bytes, like the system's own limit */

static char *
shorten (const char *label)
{
  g_autofree char *start =
    g_utf8_substring (label, 0, MIN (g_utf8_strlen (label, -1), LONGEST_LABEL));
  return g_strconcat (start, strlen (start) < strlen (label) ? "…" : "", NULL);
}

static LigJournalKind
get_kind (JsonObject *object)
{
  const char *name = lig_json_get_string (object, "kind", "edit");
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_equal (kinds[i], name))
      return (LigJournalKind) i;
  return LIG_JOURNAL_EDIT;
}

static void
push_state (LigLostEdit *lost, const char *label, const char *sequence)
{
  LigLostState *state = g_new0 (LigLostState, 1);
  if (lost->states->len > 0)
    g_ptr_array_set_size (lost->states, (int) lost->now + 1);
  state->label = shorten (label);
  state->sequence = g_strdup (sequence);
  g_ptr_array_add (lost->states, state);
  lost->now = lost->states->len - 1;
}

/* An entry that points outside the history, which this program never writes, counts as an added
 * state. */
static void
replay (LigLostEdit *lost, JsonObject *object)
{
  LigJournalKind kind = get_kind (object);
  const char *label = lig_json_get_string (object, "label", "");
  const char *sequence = lig_json_get_string (object, "sequence", "");
  lost->edits += kind != LIG_JOURNAL_START;
  if (kind == LIG_JOURNAL_UNDO && lost->now > 0)
    lost->now--;
  else if (kind == LIG_JOURNAL_REDO && lost->now + 1 < lost->states->len)
    lost->now++;
  else if (kind == LIG_JOURNAL_MERGE && lost->now > 0) {
    LigLostState *state = lost->states->pdata[lost->now];
    g_free (state->sequence);
    state->sequence = g_strdup (sequence);
  } else
    push_state (lost, label, sequence);
}

static char *
read_path (JsonObject *object)
{
  const char *path = lig_json_get_string (object, "path", NULL);
  return path && strlen (path) < LONGEST_PATH ? g_strdup (path) : NULL;
}

/* Damaged rows are skipped. If all are damaged, the text is empty, so that the user is informed and
 * can discard the journal. */
static LigLostEdit *
read_lost (const char *key, const char *const *edits)
{
  LigLostEdit *lost = g_new0 (LigLostEdit, 1);
  guint damaged = 0;
  lost->key = g_strdup (key);
  lost->states = g_ptr_array_new_with_free_func (free_state);
  for (guint i = 0; edits[i]; i++) {
    g_autoptr (JsonNode) root = lig_json_from_text (edits[i], NULL);
    if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
      damaged++;
      continue;
    }
    JsonObject *object = json_node_get_object (root);
    replay (lost, object);
    g_free (lost->path);
    lost->path = read_path (object);
    lost->when = lig_json_get_int (object, "when", 0);
  }
  if (lost->states->len == 0 && damaged > 0) {
    push_state (lost, "", "");
    lost->edits = damaged;
  }
  if (lost->edits == 0) {
    lig_lost_edit_free (lost);
    return NULL;
  }
  const LigLostState *last = lost->states->pdata[lost->now];
  lost->label = g_strdup (last->label);
  lost->sequence = g_strdup (last->sequence);
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
