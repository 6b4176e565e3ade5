/* SPDX-License-Identifier: MIT */
#include "app/window-recover.h"

#include "app/connect.h"
#include "ui/document/journal.h"
#include "ui/session/task.h"
#include "ui/session/training.h"
#include "ui/widgets/figures.h"
#include "ui/widgets/toast.h"
#include <ligature/sequence.h>
#include <ligature/store.h>

#include <glib/gi18n.h>

struct _LigWindowRecover {
  GtkWindow *window;
  LigSession *session;
  LigNoticeBar *notices;
  GCancellable *cancellable; /* of the search */
  GtkWidget *(*find_toasts) (gpointer data);
  LigDocument *(*find_document) (gpointer data);
  gpointer data;
};

/* --- The store ----------------------------------------------------------------------------- */

static void
open_store (LigWindowRecover *self, const char *path)
{
  GError *error = NULL;
  if (!lig_session_open_store (self->session, path, &error))
    lig_toast_error (self->find_toasts (self->data), error);
}

static void choose_store (gpointer data);

/* The store may have been opened here or in another window, or it finally responded. */
static void
follow_store (LigWindowRecover *self)
{
  if (!lig_session_get_store (self->session) ||
      lig_notice_bar_remove (self->notices, choose_store) == 0)
    return;
  lig_toast (self->find_toasts (self->data),
             _ ("The store is open; runs and edits are stored from now on"), NULL, NULL);
}

static void
take_chosen (LigWindowRecover *self, int response, GtkNativeDialog *chooser)
{
  g_autoptr (GFile) file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));
  g_autofree char *path = file ? g_file_get_path (file) : NULL;
  if (response == GTK_RESPONSE_ACCEPT && path)
    open_store (self, path);
  gtk_native_dialog_destroy (chooser);
  g_object_unref (chooser);
}

static void
choose_store (gpointer data)
{
  LigWindowRecover *self = data;
  GtkFileChooserNative *chooser = gtk_file_chooser_native_new (
    _ ("Choose a store"), self->window, GTK_FILE_CHOOSER_ACTION_SAVE, _ ("_Use"), NULL);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (chooser), "ligature.db");
  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (chooser), TRUE);
  lig_connect_part (self->window, chooser, "response", G_CALLBACK (take_chosen), self);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
try_store (gpointer data)
{
  LigWindowRecover *self = data;
  GError *error = NULL;
  if (!lig_session_reopen_store (self->session, &error))
    lig_toast_error (self->find_toasts (self->data), error);
}

void
lig_window_recover_choose_store (LigWindowRecover *self)
{
  choose_store (self);
}

static void
offer_store (LigWindowRecover *self)
{
  const char *error = lig_session_get_store_error (self->session);
  LigStore *store = lig_session_get_store (self->session);
  const char *warning = store ? lig_store_get_warning (store) : NULL;
  if (error) {
    g_autofree char *text = g_strdup_printf (
      _ ("Nothing can be stored: %s. You can edit, but runs and unsaved edits will be lost."),
      error);
    LigNotice notice = {.type = GTK_MESSAGE_ERROR,
                        .text = text,
                        .labels = {_ ("_Choose another store…"), _ ("_Try again")},
                        .callbacks = {choose_store, try_store},
                        .keep = TRUE,
                        .data = self};
    lig_notice_bar_add (self->notices, &notice);
  } else if (warning)
    lig_notice_bar_add (self->notices, &(LigNotice){.type = GTK_MESSAGE_WARNING, .text = warning});
}

/* --- Edits that were lost ------------------------------------------------------------------ */

typedef struct {
  LigWindowRecover *owner;
  LigLostEdit *edit;
  LigSequence *sequence; /* null if the text cannot be read */
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
forget (gpointer data)
{
  const Lost *lost = data;
  LigStore *store = lig_session_get_store (lost->owner->session);
  if (!store)
    return;
  g_autoptr (GTask) task = g_task_new (store, NULL, NULL, NULL);
  g_task_set_task_data (task, g_strdup (lost->edit->key), g_free);
  lig_task_run (task, forget_on_thread);
}

static void
restore (gpointer data)
{
  const Lost *lost = data;
  lig_document_recover (lost->owner->find_document (lost->owner->data), lost->edit);
  forget (data);
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
  LigWindowRecover *self = data;
  g_autoptr (GPtrArray) found = g_task_propagate_pointer (G_TASK (result), NULL);
  while (found && !g_cancellable_is_cancelled (self->cancellable) && found->len > 0) {
    Lost *lost = g_ptr_array_steal_index (found, 0);
    lost->owner = self;
    g_autofree char *text = describe_lost (lost);
    LigNotice notice = {.type = GTK_MESSAGE_INFO,
                        .text = text,
                        .labels = {_ ("_Restore"), _ ("_Forget")},
                        .callbacks = {restore, forget},
                        .data = lost,
                        .free_data = free_lost};
    /* It is reported once. */
    if (lost->problem) {
      forget (lost);
      notice.labels[0] = notice.labels[1] = NULL;
    }
    lig_notice_bar_add (self->notices, &notice);
  }
}

/* --- An interrupted run -------------------------------------------------------------------- */

/* The setting that keeps a declined run from being offered again. */
#define DECLINED "declined-run"

typedef struct {
  LigWindowRecover *owner;
  LigInterrupted *run;
} Interrupted;

static void
free_interrupted (gpointer data)
{
  Interrupted *self = data;
  lig_interrupted_free (self->run);
  g_free (self);
}

static void
find_interrupted (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_task_return_pointer (task, lig_interrupted_find (data, lig_training_get_metrics ()),
                         (GDestroyNotify) lig_interrupted_free);
}

/* Continues the run in a tab of its own, with its sequence. */
static void
continue_run (gpointer data)
{
  const Interrupted *self = data;
  LigWindowRecover *owner = self->owner;
  const LigRunRow *row = self->run->row;
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, &error);
  if (!sequence) {
    lig_toast_error (owner->find_toasts (owner->data), g_steal_pointer (&error));
    return;
  }
  LigDocument *document = owner->find_document (owner->data);
  g_autofree char *label = g_strdup_printf (_ ("Open the sequence of %s"), row->name);
  GtkWidget *view = owner->find_toasts (owner->data);
  lig_document_replace (document, sequence, label);
  /* The page has its actions once it has been shown. */
  gtk_widget_activate_action (view, "win.page", "s", "run");
  gtk_widget_activate_action (view, "win.resume-run", "(ss)", self->run->checkpoint, row->uuid);
}

static void
decline_run (gpointer data)
{
  const Interrupted *self = data;
  g_settings_set_string (lig_session_get_settings (self->owner->session), DECLINED,
                         self->run->row->uuid);
}

static char *
describe_interrupted (const LigInterrupted *run)
{
  g_autofree char *when = describe_when (run->row->started);
  g_autofree char *step = lig_figure_count (run->row->saved_step);
  g_autofree char *steps = lig_figure_count (run->settings.steps);
  g_autofree char *missing = run->missing ? g_filename_display_name (run->missing) : NULL;
  if (missing)
    return g_strdup_printf (
      _ ("Training of “%s” (%s) was interrupted, and its checkpoint %s is missing; restore the "
         "file, or train again."),
      run->row->name, when, missing);
  return g_strdup_printf (
    _ ("Training of “%s” (%s) was interrupted. It can continue from step %s of %s."),
    run->row->name, when, step, steps);
}

/* A run that was started, also by the Run page, makes the offer outdated. */
static void
follow_trainings (LigWindowRecover *self)
{
  if (lig_training_find_active (self->session))
    lig_notice_bar_remove (self->notices, continue_run);
}

/* The Run page shows the run, whether it is continued or not. */
static void
offer_interrupted (GObject *source, GAsyncResult *result, gpointer data)
{
  LigWindowRecover *self = data;
  g_autoptr (LigInterrupted) run = g_task_propagate_pointer (G_TASK (result), NULL);
  if (!run || g_cancellable_is_cancelled (self->cancellable))
    return;
  g_autofree char *declined =
    g_settings_get_string (lig_session_get_settings (self->session), DECLINED);
  GListStore *trainings = lig_session_get_trainings (self->session);
  if (g_str_equal (declined, run->row->uuid) ||
      g_list_model_get_n_items (G_LIST_MODEL (trainings)) > 0)
    return;
  lig_training_recall (self->session, run);
  g_autofree char *text = describe_interrupted (run);
  Interrupted *offered = g_new (Interrupted, 1);
  LigNotice notice = {.type = GTK_MESSAGE_INFO,
                      .text = text,
                      .labels = {_ ("_Continue"), _ ("_Not now")},
                      .callbacks = {continue_run, decline_run},
                      .data = offered,
                      .free_data = free_interrupted};
  if (run->missing)
    notice.labels[0] = NULL;
  *offered = (Interrupted){self, g_steal_pointer (&run)};
  lig_notice_bar_add (self->notices, &notice);
  lig_connect_part (self->window, trainings, "items-changed", G_CALLBACK (follow_trainings), self);
}

static void
search (LigWindowRecover *self, LigStore *store, GTaskThreadFunc find, GAsyncReadyCallback offer)
{
  g_autoptr (GTask) task = g_task_new (self->window, self->cancellable, offer, self);
  g_task_set_task_data (task, g_object_ref (store), g_object_unref);
  lig_task_run (task, find);
}

void
lig_window_recover_offer (LigWindowRecover *self)
{
  offer_store (self);
  lig_connect_part (self->window, self->session, "store-changed", G_CALLBACK (follow_store), self);
  LigStore *store = lig_session_get_store (self->session);
  if (!store)
    return;
  search (self, store, find_lost, offer_lost);
  search (self, store, find_interrupted, offer_interrupted);
}

LigWindowRecover *
lig_window_recover_new (GtkWindow *window,
                        LigSession *session,
                        LigNoticeBar *notices,
                        const LigWindowPlaces *places,
                        gpointer data)
{
  LigWindowRecover *self = g_new0 (LigWindowRecover, 1);
  *self = (LigWindowRecover){
    window, session, notices, g_cancellable_new (), places->find_toasts, places->find_document,
    data};
  return self;
}

void
lig_window_recover_cancel (LigWindowRecover *self)
{
  g_cancellable_cancel (self->cancellable);
}

void
lig_window_recover_free (LigWindowRecover *self)
{
  g_object_unref (self->cancellable);
  g_free (self);
}
