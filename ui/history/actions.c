/* SPDX-License-Identifier: MIT */
/* The actions on the selected runs of the history. */
#include "ui/document/ranks.h"
#include "ui/history/format.h"
#include "ui/history/history-page.h"
#include "ui/history/sweep.h"
#include "ui/history/trash.h"
#include "ui/run/settings.h"
#include "ui/session/command.h"
#include "ui/session/task.h"
#include "ui/widgets/toast.h"
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <string.h>

/* Runs that were hidden together; they are deleted once their toast closes. */
typedef struct {
  LigHistoryPage *page; /* not owned */
  LigStore *store;
  GArray *keys;
  AdwToast *toast;  /* not owned; null once it is closed */
  gboolean hidden;  /* until the list no longer has the runs */
  gboolean written; /* the store has moved them to the trash */
} Deletion;

static void
edit_selected (LigHistoryPage *self, LigHistoryEdit edit, const char *text)
{
  g_autoptr (GArray) keys = lig_history_get_selected (self);
  if (keys->len && lig_history_get_store (self))
    lig_history_edits_add (self->edits, lig_history_get_store (self), edit,
                           (gint64 *) (gpointer) keys->data, keys->len, text);
}

/* --- Marks --------------------------------------------------------------------------------- */

/* Adds stars, or removes them if all known runs have one. */
static void
star (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  GtkBitsetIter iter;
  guint position, looked_at = 0;
  gboolean plain = FALSE;
  gboolean more = gtk_bitset_iter_init_first (&iter, selected, &position);
  for (; more && looked_at < 1000; more = gtk_bitset_iter_next (&iter, &position), looked_at++) {
    g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (self->list), position);
    const LigRunRow *row = lig_run_item_get_row (item);
    plain = plain || (row && !row->starred);
  }
  edit_selected (self, plain ? LIG_HISTORY_STAR : LIG_HISTORY_UNSTAR, NULL);
}

static void
add_tag (GtkWidget *widget, const char *action, GVariant *parameter)
{
  const char *tag = g_variant_get_string (parameter, NULL);
  if (*tag)
    edit_selected (LIG_HISTORY_PAGE (widget), LIG_HISTORY_TAG, tag);
}

static void
take_tag (AdwMessageDialog *dialog, const char *response, LigHistoryPage *self)
{
  GtkWidget *entry = adw_message_dialog_get_extra_child (dialog);
  g_autofree char *tag = g_strstrip (g_strdup (gtk_editable_get_text (GTK_EDITABLE (entry))));
  if (strcmp (response, "tag") == 0 && *tag)
    edit_selected (self, LIG_HISTORY_TAG, tag);
}

static void
tag (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  g_autoptr (GArray) keys = lig_history_get_selected (self);
  if (keys->len == 1) {
    lig_run_detail_edit_tags (self->detail);
    return;
  }
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_root (widget));
  GtkWidget *dialog = adw_message_dialog_new (window, NULL, NULL);
  GtkWidget *entry = gtk_entry_new ();
  adw_message_dialog_format_heading (ADW_MESSAGE_DIALOG (dialog),
                                     ngettext ("Tag %u run", "Tag %u runs", keys->len), keys->len);
  gtk_entry_set_placeholder_text (GTK_ENTRY (entry), _ ("Tag"));
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _ ("Tag"),
                                  -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _ ("_Cancel"), "tag",
                                    _ ("_Tag"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "tag",
                                              ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "tag");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_tag), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

static void
note (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_run_detail_edit_notes (LIG_HISTORY_PAGE (widget)->detail);
}

/* --- Deleting ------------------------------------------------------------------------------ */

void
lig_history_free_deletion (gpointer data)
{
  Deletion *self = data;
  if (self->toast)
    g_signal_handlers_disconnect_by_data (self->toast, self);
  g_object_unref (self->store);
  g_array_unref (self->keys);
  g_free (self);
}

static void
hide (Deletion *self, gboolean hidden)
{
  if (self->hidden == hidden)
    return;
  self->hidden = hidden;
  if (self->store == lig_history_get_store (self->page))
    lig_run_list_hide (self->page->list, (gint64 *) (gpointer) self->keys->data, self->keys->len,
                       hidden);
}

static void
send (Deletion *self, LigHistoryEdit edit)
{
  lig_history_edits_add (self->page->edits, self->store, edit,
                         (gint64 *) (gpointer) self->keys->data, self->keys->len, NULL);
}

static void
take_back (Deletion *self)
{
  LigHistoryPage *page = self->page;
  send (self, LIG_HISTORY_RESTORE);
  if (self->store == lig_history_get_store (page))
    g_ptr_array_add (page->undeleted, g_array_ref (self->keys));
  hide (self, FALSE);
  if (self->toast) {
    g_signal_handlers_disconnect_by_data (self->toast, self);
    adw_toast_dismiss (self->toast);
    self->toast = NULL;
  }
  g_ptr_array_remove (page->deletions, self);
  g_signal_emit_by_name (page, "edited");
}

static void
end_toast (AdwToast *toast, Deletion *self)
{
  g_signal_handlers_disconnect_by_data (toast, self);
  self->toast = NULL;
}

static void
show_toast (Deletion *self)
{
  GtkWidget *overlay = lig_toast_find_overlay (GTK_WIDGET (self->page));
  guint n = self->keys->len;
  if (!overlay)
    return;
  g_autofree char *text = g_strdup_printf (ngettext ("Deleted %u run", "Deleted %u runs", n), n);
  self->toast = adw_toast_new (text);
  adw_toast_set_timeout (self->toast, 10);
  adw_toast_set_button_label (self->toast, _ ("_Undo"));
  g_signal_connect_swapped (self->toast, "button-clicked", G_CALLBACK (take_back), self);
  g_signal_connect (self->toast, "dismissed", G_CALLBACK (end_toast), self);
  adw_toast_overlay_add_toast (ADW_TOAST_OVERLAY (overlay), self->toast);
}

/* Moves the runs to the trash. They are hidden at once, because the store may take a while. */
static void
begin_deletion (LigHistoryPage *self, GArray *keys)
{
  Deletion *deletion = g_new0 (Deletion, 1);
  deletion->page = self;
  deletion->store = g_object_ref (lig_history_get_store (self));
  deletion->keys = g_array_ref (keys);
  g_ptr_array_add (self->deletions, deletion);
  hide (deletion, TRUE);
  send (deletion, LIG_HISTORY_DELETE);
  show_toast (deletion);
  g_signal_emit_by_name (self, "edited");
}

static gboolean
shows_trash (LigHistoryPage *self)
{
  return lig_run_list_get_filter (self->list)->deleted;
}

/* Deletions of runs that are gone for good cannot be undone. */
static void
forget_deletions (LigHistoryPage *self)
{
  for (guint i = 0; i < self->deletions->len; i++) {
    Deletion *deletion = self->deletions->pdata[i];
    hide (deletion, FALSE);
    if (deletion->toast)
      adw_toast_dismiss (deletion->toast);
  }
  g_ptr_array_set_size (self->deletions, 0);
  g_ptr_array_set_size (self->undeleted, 0);
  g_signal_emit_by_name (self, "edited");
}

static void
take_purge (GtkWidget *dialog, const char *response, LigHistoryPage *self)
{
  const GArray *keys = g_object_get_data (G_OBJECT (dialog), "keys");
  LigStore *store = lig_history_get_store (self);
  if (!store || !g_str_equal (response, "delete"))
    return;
  forget_deletions (self);
  lig_history_edits_add (self->edits, store, LIG_HISTORY_PURGE,
                         (const gint64 *) (gconstpointer) keys->data, keys->len, NULL);
}

/* Asks whether runs of the trash are to be deleted for good. */
static void
ask_purge (LigHistoryPage *self, GArray *keys, guint hidden)
{
  GtkWindow *window = GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self)));
  GtkWidget *dialog = lig_trash_question_new (window, keys->len, hidden);
  g_object_set_data_full (G_OBJECT (dialog), "keys", g_array_ref (keys),
                          (GDestroyNotify) g_array_unref);
  g_signal_connect_object (dialog, "response", G_CALLBACK (take_purge), self, 0);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* Only the runs that the question counts are deleted, even if others are moved to the trash before
 * the answer. */
static void
take_trash (GObject *source, GAsyncResult *result, gpointer unused)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (source);
  GError *error = NULL;
  g_autoptr (GArray) keys = lig_trash_list_finish (result, &error);
  if (error)
    lig_toast_error (GTK_WIDGET (self), error);
  else if (self->list && keys->len > 0) {
    guint shown = shows_trash (self) ? lig_run_list_get_count (self->list) : keys->len;
    ask_purge (self, keys, keys->len - MIN (shown, keys->len));
  }
}

/* The whole trash is deleted, whatever the filters show of it. */
static void
empty_trash (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigStore *store = lig_history_get_store (LIG_HISTORY_PAGE (widget));
  if (store)
    lig_trash_list_async (store, G_OBJECT (widget), take_trash, NULL);
}

static void
restore (GtkWidget *widget, const char *action, GVariant *parameter)
{
  edit_selected (LIG_HISTORY_PAGE (widget), LIG_HISTORY_RESTORE, NULL);
}

static void delete (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  g_autoptr (GArray) keys = lig_history_get_selected (self);
  if (!keys->len || !lig_history_get_store (self))
    return;
  if (shows_trash (self)) {
    ask_purge (self, keys, 0);
    return;
  }
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  guint first = gtk_bitset_get_minimum (selected);
  g_ptr_array_set_size (self->undeleted, 0);
  gtk_selection_model_unselect_all (GTK_SELECTION_MODEL (self->selection));
  begin_deletion (self, keys);
  /* Selects the next run, so that runs can be deleted one after another. */
  guint left = g_list_model_get_n_items (G_LIST_MODEL (self->list));
  if (left)
    gtk_selection_model_select_item (GTK_SELECTION_MODEL (self->selection), MIN (first, left - 1),
                                     TRUE);
}

/* --- Undoing ------------------------------------------------------------------------------- */

static void
undelete (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_history_step (LIG_PAGE (widget), 1);
}

GStrv
lig_history_list_edits (LigPage *page, gboolean redo)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (page);
  g_autoptr (GStrvBuilder) labels = g_strv_builder_new ();
  const GPtrArray *all = redo ? self->undeleted : self->deletions;
  for (guint i = all->len; i-- > 0;) {
    const GArray *keys = redo ? all->pdata[i] : ((const Deletion *) all->pdata[i])->keys;
    g_autofree char *label =
      g_strdup_printf (ngettext ("Delete %u run", "Delete %u runs", keys->len), keys->len);
    g_strv_builder_add (labels, label);
  }
  return g_strv_builder_end (labels);
}

static gboolean
redo_last (LigHistoryPage *self)
{
  guint count = self->undeleted->len;
  g_autoptr (GArray) keys = count > 0 ? g_ptr_array_steal_index (self->undeleted, count - 1) : NULL;
  if (keys && lig_history_get_store (self))
    begin_deletion (self, keys);
  return keys != NULL;
}

void
lig_history_step (LigPage *page, int steps)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (page);
  for (; steps > 0 && self->deletions->len > 0; steps--)
    take_back (self->deletions->pdata[self->deletions->len - 1]);
  for (; steps < 0 && redo_last (self); steps++)
    continue;
}

void
lig_history_note_written (LigHistoryPage *self)
{
  for (guint i = 0; i < self->deletions->len; i++)
    ((Deletion *) self->deletions->pdata[i])->written = TRUE;
}

void
lig_history_show_written (LigHistoryPage *self)
{
  for (guint i = 0; i < self->deletions->len; i++) {
    Deletion *deletion = self->deletions->pdata[i];
    if (deletion->written)
      hide (deletion, FALSE);
  }
}

/* --- One run ------------------------------------------------------------------------------- */

static void
open_sequence (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autoptr (LigRunItem) item = lig_history_get_only (LIG_HISTORY_PAGE (widget));
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (row)
    gtk_widget_activate_action (widget, "win.open-sequence", "s", row->sequence);
}

static void
resume (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  LigDocument *doc = lig_page_get_document (LIG_PAGE (self));
  g_autoptr (LigRunItem) item = lig_history_get_only (self);
  const char *checkpoint = lig_run_detail_get_checkpoint (self->detail);
  if (!checkpoint)
    return;
  const char *run = item ? lig_run_item_get_row (item)->uuid : NULL;
  GError *error = NULL;
  if (!lig_train_resume (doc, checkpoint, lig_ranks_find_layout (doc, run), &error)) {
    lig_toast_error (widget, error);
    return;
  }
  gtk_widget_activate_action (widget, "win.page", "s", "run");
}

typedef char *(*Format) (const LigRunRow *row, LigSession *session);

/* The maximum number of runs whose texts are copied. */
#define MAX_LINES 1000u

/* Appends a line for each run of a fold, whose rows the list has not read. */
static void
append_fold (LigHistoryPage *self, guint position, Format format, GString *text, guint *count)
{
  g_autoptr (GArray) keys = g_array_new (FALSE, FALSE, sizeof (gint64));
  lig_run_list_append_keys (self->list, position, keys);
  g_autoptr (GPtrArray) rows =
    lig_store_read_runs (lig_history_get_store (self), (const gint64 *) (gpointer) keys->data,
                         MIN (keys->len, MAX_LINES - *count), NULL);
  for (guint i = 0; rows && i < rows->len; i++) {
    g_autofree char *line =
      rows->pdata[i] ? format (rows->pdata[i], lig_page_get_session (LIG_PAGE (self))) : NULL;
    if (line)
      g_string_append_printf (text, "%s%s", (*count)++ ? "\n" : "", line);
  }
}

/* Returns a line for each selected run whose row is known, up to a thousand. */
static char *
list_lines (LigHistoryPage *self, Format format, guint *count)
{
  g_autoptr (GtkBitset) selected = lig_history_get_positions (self);
  g_autoptr (GString) text = g_string_new (NULL);
  GtkBitsetIter iter;
  guint position;
  gboolean more = gtk_bitset_iter_init_first (&iter, selected, &position);
  *count = 0;
  for (; more && *count < MAX_LINES; more = gtk_bitset_iter_next (&iter, &position)) {
    g_autoptr (LigRunItem) item = g_list_model_get_item (G_LIST_MODEL (self->list), position);
    const LigRunRow *row = lig_run_item_get_row (item);
    if (lig_run_item_get_fold (item))
      append_fold (self, position, format, text, count);
    if (!row || lig_run_item_get_fold (item))
      continue;
    g_autofree char *line = format (row, lig_page_get_session (LIG_PAGE (self)));
    g_string_append_printf (text, "%s%s", (*count)++ ? "\n" : "", line);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
copy_lines (LigHistoryPage *self, Format format)
{
  guint n;
  g_autofree char *text = list_lines (self, format, &n);
  if (!n)
    return;
  g_autofree char *message = g_strdup_printf (ngettext ("Copied %u line", "Copied %u lines", n), n);
  gdk_clipboard_set_text (gtk_widget_get_clipboard (GTK_WIDGET (self)), text);
  lig_toast (GTK_WIDGET (self), message, NULL, NULL);
}

static char *
get_uuid (const LigRunRow *row, LigSession *session)
{
  return g_strdup (row->uuid);
}

static void
copy_uuid (GtkWidget *widget, const char *action, GVariant *parameter)
{
  copy_lines (LIG_HISTORY_PAGE (widget), get_uuid);
}

char *
lig_history_to_command (LigPage *page)
{
  guint n;
  char *text = list_lines (LIG_HISTORY_PAGE (page), lig_history_command, &n);
  if (n > 0)
    return text;
  g_free (text);
  GString *list = g_string_new ("lig runs list");
  lig_command_append_store (list, lig_page_get_session (page));
  return g_string_free (list, FALSE);
}

static void
copy_command (GtkWidget *widget, const char *action, GVariant *parameter)
{
  copy_lines (LIG_HISTORY_PAGE (widget), lig_history_command);
}

/* --- Exporting ----------------------------------------------------------------------------- */

/* The window offers the formats, and exports the record that the page names. */
static void
export_run (GtkWidget *widget, const char *action, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.export", NULL);
}

char *
lig_history_find_run (LigPage *page, char **title)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (page);
  gboolean listed = g_strcmp0 (gtk_stack_get_visible_child_name (self->states), "list") == 0;
  g_autoptr (LigRunItem) item = listed ? lig_history_get_only (self) : NULL;
  const LigRunRow *row = item ? lig_run_item_get_row (item) : NULL;
  if (!row)
    return NULL;
  *title = g_strdup (*row->name ? row->name : row->uuid);
  return g_strdup (row->uuid);
}

/* --- Several runs, and the rest ------------------------------------------------------------ */

static void
study (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_history_study (LIG_HISTORY_PAGE (widget), action + strlen ("history."));
}

static void
repeat (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_history_repeat (LIG_HISTORY_PAGE (widget));
}

static void
show_sweep (GtkWidget *widget, const char *action, GVariant *parameter)
{
  g_autofree char *sweep = lig_history_get_sweep (LIG_HISTORY_PAGE (widget));
  if (sweep)
    lig_history_show_sweep (LIG_HISTORY_PAGE (widget), sweep);
}

static void
new_sweep (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_history_ask_sweep (LIG_HISTORY_PAGE (widget));
}

static void
back (GtkWidget *widget, const char *action, GVariant *parameter)
{
  if (lig_history_leave_sweep (LIG_HISTORY_PAGE (widget)))
    return;
  lig_history_end_study (LIG_HISTORY_PAGE (widget));
}

static void
find (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  lig_history_end_study (self);
  lig_history_filters_focus_search (self->filters);
}

static void
clear_filters (GtkWidget *widget, const char *action, GVariant *parameter)
{
  lig_history_filters_clear (LIG_HISTORY_PAGE (widget)->filters);
}

static void
retry (GtkWidget *widget, const char *action, GVariant *parameter)
{
  LigHistoryPage *self = LIG_HISTORY_PAGE (widget);
  LigSession *session = lig_page_get_session (LIG_PAGE (self));
  if (lig_session_get_store (session) && !lig_run_list_get_error (self->list)) {
    lig_run_list_reload (self->list);
    return;
  }
  GError *error = NULL;
  if (!lig_session_reopen_store (session, &error))
    lig_toast_error (widget, error);
}

static void
choose_store (GtkWidget *widget, const char *action, GVariant *parameter)
{
  gtk_widget_activate_action (widget, "win.choose-store", NULL);
}

static const struct {
  const char *name, *parameter;
  GtkWidgetActionActivateFunc activate;
  guint min, max; /* selected runs; 0: any number */
} actions[] = {
  {"history.open", NULL, open_sequence, 1, 1},
  {"history.resume", NULL, resume, 1, 1},
  {"history.repeat", NULL, repeat, 1, 1},
  {"history.sweep", NULL, show_sweep, 1, 0},
  {"history.new-sweep", NULL, new_sweep, 0, 0},
  {"history.note", NULL, note, 1, 1},
  {"history.export", NULL, export_run, 1, 1},
  {"history.star", NULL, star, 1, 0},
  {"history.tag", NULL, tag, 1, 0},
  {"history.add-tag", "s", add_tag, 1, 0},
  {"history.delete", NULL, delete, 1, 0},
  {"history.copy-uuid", NULL, copy_uuid, 1, 0},
  {"history.copy-command", NULL, copy_command, 1, 0},
  {"history.compare", NULL, study, 2, 0},
  {"history.overlay", NULL, study, 1, 0},
  {"history.undelete", NULL, undelete, 0, 0},
  {"history.restore", NULL, restore, 1, 0},
  {"history.empty-trash", NULL, empty_trash, 0, 0},
  {"history.back", NULL, back, 0, 0},
  {"history.find", NULL, find, 0, 0},
  {"history.clear-filters", NULL, clear_filters, 0, 0},
  {"history.retry", NULL, retry, 0, 0},
  {"history.choose-store", NULL, choose_store, 0, 0},
};

void
lig_history_install_actions (GtkWidgetClass *class)
{
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++)
    gtk_widget_class_install_action (class, actions[i].name, actions[i].parameter,
                                     actions[i].activate);
}

void
lig_history_update_actions (LigHistoryPage *self)
{
  g_autoptr (GArray) selected = lig_history_get_selected (self);
  guint n = selected->len;
  g_autoptr (LigRunItem) only = lig_history_get_only (self);
  g_autofree char *sweep = lig_history_get_sweep (self);
  const LigRunRow *row = only ? lig_run_item_get_row (only) : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (actions); i++) {
    gboolean enabled = n >= actions[i].min && (actions[i].max == 0 || n <= actions[i].max);
    if (actions[i].activate == resume)
      enabled = enabled && lig_run_detail_get_checkpoint (self->detail);
    if (actions[i].activate == show_sweep)
      enabled = sweep != NULL;
    if (actions[i].activate == restore || actions[i].activate == empty_trash)
      enabled = enabled && shows_trash (self);
    if (actions[i].activate == repeat)
      enabled = enabled && row && strcmp (row->status, "running") != 0;
    gtk_widget_action_set_enabled (GTK_WIDGET (self), actions[i].name, enabled);
  }
}
