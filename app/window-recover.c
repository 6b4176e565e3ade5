/* SPDX-License-Identifier: MIT */
/* What went wrong before the window opened: a store that does not open, edits of a program that was
 * killed. Each comes with a way on. */
#include "app/window-private.h"

#include "ui/document/journal.h"
#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

/* --- The store ----------------------------------------------------------------------------- */

static void
open_store (LigWindow *self, const char *path, gpointer data)
{
  GError *error = NULL;
  if (!lig_session_open_store (self->session, path, &error))
    lig_toast_error (self->toasts, error);
}

static void choose_store (LigWindow *self, gpointer data);

/* However it was opened: here, in another window, or because it answered at last. */
static void
follow_store (LigWindow *self)
{
  const LigNotice *notice = g_queue_peek_head (self->notices);
  if (!notice || notice->callbacks[0] != choose_store || !lig_session_get_store (self->session))
    return;
  lig_window_remove_notice (self);
  lig_toast (self->toasts, _ ("The store is open; runs and edits are kept from now on"), NULL,
             NULL);
}

static void
choose_store (LigWindow *self, gpointer data)
{
  GtkFileChooserNative *chooser = gtk_file_chooser_native_new (
    _ ("Choose a Store"), GTK_WINDOW (self), GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Use"), NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), "ligature.db");
  lig_window_choose_file (self, GTK_NATIVE_DIALOG (chooser), open_store, NULL);
}

static void
try_store (LigWindow *self, gpointer data)
{
  GError *error = NULL;
  if (!lig_session_reopen_store (self->session, &error))
    lig_toast_error (self->toasts, error);
}

static void
ask_for_store (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  choose_store (data, NULL);
}

void
lig_window_init_recover (LigWindow *self)
{
  static const GActionEntry actions[] = {{.name = "choose-store", .activate = ask_for_store}};
  g_action_map_add_action_entries (G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
}

static void
offer_store (LigWindow *self)
{
  const char *error = lig_session_get_store_error (self->session);
  LigStore *store = lig_session_get_store (self->session);
  const char *warning = store ? lig_store_get_warning (store) : NULL;
  if (error) {
    g_autofree char *text = g_strdup_printf (
      _ ("Nothing can be stored: %s. You can edit, but runs and unsaved edits will not be kept."),
      error);
    LigNotice notice = {.type = GTK_MESSAGE_ERROR,
                        .text = text,
                        .labels = {_ ("_Choose Another Store…"), _ ("_Try Again")},
                        .callbacks = {choose_store, try_store},
                        .keep = TRUE};
    lig_window_add_notice (self, &notice);
  } else if (warning)
    lig_window_add_notice (self, &(LigNotice){.type = GTK_MESSAGE_WARNING, .text = warning});
}

/* --- Edits that were lost ------------------------------------------------------------------ */

typedef struct {
  LigLostEdit *edit;
  LigSequence *sequence; /* null where the text cannot be read */
  char *problem;
} Lost;

static void
free_lost (gpointer data)
{
  Lost *lost = data;
  lig_lost_edit_free (lost->edit);
  g_clear_object (&lost->sequence);
  g_free (lost->problem);
  g_free (lost);
}

static void
find_lost (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_autoptr (GPtrArray) edits = lig_journal_find_lost (data);
  GPtrArray *found = g_ptr_array_new_with_free_func (free_lost);
  while (edits->len > 0) {
    g_autoptr (GError) error = NULL;
    Lost *lost = g_new0 (Lost, 1);
    lost->edit = g_ptr_array_steal_index (edits, 0);
    lost->sequence = lig_sequence_from_json (lost->edit->sequence, -1, NULL, &error);
    lost->problem = error ? g_strdup (error->message) : NULL;
    g_ptr_array_add (found, lost);
  }
  g_task_return_pointer (task, found, (GDestroyNotify) g_ptr_array_unref);
}

static void
forget_on_thread (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  lig_journal_forget (LIG_STORE (source), data);
}

static void
forget (LigWindow *self, gpointer data)
{
  const Lost *lost = data;
  LigStore *store = lig_session_get_store (self->session);
  if (!store)
    return;
  g_autoptr (GTask) task = g_task_new (store, NULL, NULL, NULL);
  g_task_set_task_data (task, g_strdup (lost->edit->key), g_free);
  g_task_run_in_thread (task, forget_on_thread);
}

static void
restore (LigWindow *self, gpointer data)
{
  const Lost *lost = data;
  LigWindow *window = self;
  if (!lig_window_is_pristine (self)) {
    window = lig_window_new (LIG_APPLICATION (gtk_window_get_application (GTK_WINDOW (self))));
    gtk_window_present (GTK_WINDOW (window));
  }
  lig_document_recover (window->document, lost->edit);
  lig_window_show_page (window, "sequence");
  forget (self, data);
}

static char *
describe_when (gint64 microseconds)
{
  g_autoptr (GDateTime) then = g_date_time_new_from_unix_local (microseconds / G_USEC_PER_SEC);
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  gboolean today = then && g_date_time_get_year (then) == g_date_time_get_year (now) &&
                   g_date_time_get_day_of_year (then) == g_date_time_get_day_of_year (now);
  return then ? g_date_time_format (then, today ? "%H:%M" : "%x, %H:%M") : g_strdup ("");
}

static char *
describe_lost (const Lost *lost)
{
  g_autofree char *when = describe_when (lost->edit->when);
  g_autofree char *base = lost->edit->path ? g_path_get_basename (lost->edit->path) : NULL;
  const char *name = lost->sequence ? lig_sequence_get_name (lost->sequence) : NULL;
  const char *title = name && *name ? name : base ? base : _ ("Untitled");
  if (lost->problem && lost->edit->when == 0)
    return g_strdup_printf (_ ("“%s” was left unsaved, but it cannot be restored: %s"), title,
                            lost->problem);
  if (lost->problem)
    return g_strdup_printf (_ ("“%s” was left unsaved (%s), but it cannot be restored: %s"), title,
                            when, lost->problem);
  return g_strdup_printf (
    ngettext ("“%s” was left with %u unsaved edit, “%s” (%s), when Ligature ended unexpectedly.",
              "“%s” was left with %u unsaved edits, the last “%s” (%s), when Ligature ended "
              "unexpectedly.",
              lost->edit->edits),
    title, lost->edit->edits, lost->edit->label, when);
}

static void
offer_lost (GObject *source, GAsyncResult *result, gpointer data)
{
  LigWindow *self = LIG_WINDOW (source);
  g_autoptr (GPtrArray) found = g_task_propagate_pointer (G_TASK (result), NULL);
  while (found && self->notices && found->len > 0) {
    Lost *lost = g_ptr_array_steal_index (found, 0);
    g_autofree char *text = describe_lost (lost);
    LigNotice notice = {.type = GTK_MESSAGE_INFO,
                        .text = text,
                        .labels = {_ ("_Restore"), _ ("_Forget")},
                        .callbacks = {restore, forget},
                        .data = lost,
                        .free_data = free_lost};
    if (lost->problem) {
      notice.labels[0] = notice.labels[1];
      notice.labels[1] = NULL;
      notice.callbacks[0] = forget;
    }
    lig_window_add_notice (self, &notice);
  }
}

void
lig_window_offer_help (LigWindow *self)
{
  offer_store (self);
  g_signal_connect_object (self->session, "store-changed", G_CALLBACK (follow_store), self,
                           G_CONNECT_SWAPPED);
  LigStore *store = lig_session_get_store (self->session);
  if (!store)
    return;
  g_autoptr (GTask) task = g_task_new (self, self->cancellable, offer_lost, NULL);
  g_task_set_task_data (task, g_object_ref (store), g_object_unref);
  g_task_run_in_thread (task, find_lost);
}
