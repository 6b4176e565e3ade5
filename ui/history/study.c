/* SPDX-License-Identifier: MIT */
/* Several runs at once: read on a thread, then overlaid, compared or previewed. */
#include "ui/history/history-page.h"
#include "ui/session/task.h"

#include "ui/widgets/toast.h"

#include <glib/gi18n.h>

/* The maximum number of runs that are overlaid or compared: more cannot be distinguished. */
#define MAX_STUDIED 64
#define MAX_PREVIEWED 16

typedef struct {
  LigHistoryPage *page; /* owned by the task */
  LigStore *store;
  GArray *keys;
  guint serial;
  char *how; /* `overlay` or `compare`, null while the list is shown */
} Study;

static void
free_study (gpointer data)
{
  Study *study = data;
  g_object_unref (study->store);
  g_array_unref (study->keys);
  g_free (study->how);
  g_free (study);
}

static void
read_study (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Study *study = data;
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = lig_store_read_runs (
    study->store, (gint64 *) (gpointer) study->keys->data, study->keys->len, &error);
  if (!rows) {
    g_task_return_error (task, error);
    return;
  }
  while (g_ptr_array_remove (rows, NULL))
    ;
  g_task_return_pointer (task, g_steal_pointer (&rows), (GDestroyNotify) g_ptr_array_unref);
}

static void
take_study (GObject *source, GAsyncResult *result, gpointer unused)
{
  Study *study = g_task_get_task_data (G_TASK (result));
  LigHistoryPage *self = study->page;
  GError *error = NULL;
  g_autoptr (GPtrArray) rows = g_task_propagate_pointer (G_TASK (result), &error);
  if (error) {
    lig_toast_error (GTK_WIDGET (self), error);
    return;
  }
  if (study->serial != self->study_serial || !self->list || rows->len == 0)
    return;
  if (!study->how) {
    lig_history_chart_show (self->preview, study->store, rows);
    return;
  }
  g_autofree char *title =
    g_strdup_printf (ngettext ("%u run", "%u runs compared", rows->len), rows->len);
  gtk_label_set_text (self->study_title, title);
  lig_history_chart_show (self->overlay, study->store, rows);
  lig_run_compare_show (self->compare, study->store, rows);
  gtk_stack_set_visible_child_name (self->study, study->how);
  gtk_stack_set_visible_child_name (self->states, "study");
  gtk_widget_child_focus (GTK_WIDGET (self->study), GTK_DIR_TAB_FORWARD);
}

void
lig_history_study (LigHistoryPage *self, const char *how)
{
  LigStore *store = lig_history_get_store (self);
  if (!store)
    return;
  Study *study = g_new0 (Study, 1);
  study->page = self;
  study->store = g_object_ref (store);
  study->keys = lig_history_get_selected (self);
  study->serial = ++self->study_serial;
  study->how = g_strdup (how);
  if (how && study->keys->len > MAX_STUDIED) {
    g_autofree char *text =
      g_strdup_printf (_ ("The first %d of the selected runs are shown"), MAX_STUDIED);
    lig_toast (GTK_WIDGET (self), text, NULL, NULL);
  }
  g_array_set_size (study->keys, MIN (study->keys->len, how ? MAX_STUDIED : MAX_PREVIEWED));
  g_autoptr (GTask) task = g_task_new (self, NULL, take_study, NULL);
  g_task_set_task_data (task, study, free_study);
  lig_task_run (task, read_study);
}

void
lig_history_end_study (LigHistoryPage *self)
{
  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->states), "study") != 0)
    return;
  gtk_stack_set_visible_child_name (self->states, "list");
  lig_history_update_state (self);
  gtk_widget_grab_focus (GTK_WIDGET (self->view));
}
