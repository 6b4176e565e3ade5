/* SPDX-License-Identifier: MIT */
/* Several runs at once: read on a thread, then overlaid, compared or previewed. */
#include "ui/history/history-page.h"
#include "ui/session/task.h"

#include "ui/widgets/toast.h"
#include <ligature/store.h>

#include <glib/gi18n.h>

/* The maximum number of runs that are overlaid or compared: more cannot be distinguished. */
#define MAX_STUDIED 64
#define MAX_PREVIEWED 16

typedef struct {
  LigHistoryPage *page; /* owned by the task */
  LigStore *store;
  GArray *keys; /* or null: */
  GStrv runs;   /* uuids */
  guint serial;
  char *how; /* `overlay` or `compare`, null while the list is shown */
} Study;

static void
free_study (gpointer data)
{
  Study *study = data;
  g_object_unref (study->store);
  g_clear_pointer (&study->keys, g_array_unref);
  g_strfreev (study->runs);
  g_free (study->how);
  g_free (study);
}

static int
compare_starts (gconstpointer a, gconstpointer b)
{
  const LigRunRow *one = *(LigRunRow *const *) a, *other = *(LigRunRow *const *) b;
  return (one->started > other->started) - (one->started < other->started);
}

static GPtrArray *
read_named (LigStore *store, GStrv runs, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_run_row_free);
  for (; *runs; runs++) {
    LigRunRow *row = lig_store_find_run (store, *runs, error);
    if (!row)
      return NULL;
    g_ptr_array_add (rows, row);
  }
  return g_steal_pointer (&rows);
}

static void
read_study (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Study *study = data;
  GError *error = NULL;
  g_autoptr (GPtrArray) rows =
    study->runs ? read_named (study->store, study->runs, &error)
                : lig_store_read_runs (study->store, (gint64 *) (gpointer) study->keys->data,
                                       study->keys->len, &error);
  if (!rows) {
    g_task_return_error (task, error);
    return;
  }
  while (g_ptr_array_remove (rows, NULL))
    ;
  /* The others are compared with the oldest run, in whichever order the list shows them. */
  g_ptr_array_sort (rows, compare_starts);
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

static Study *
new_study (LigHistoryPage *self, const char *how)
{
  Study *study = g_new0 (Study, 1);
  study->page = self;
  study->store = g_object_ref (lig_history_get_store (self));
  study->serial = ++self->study_serial;
  study->how = g_strdup (how);
  return study;
}

static void
begin (LigHistoryPage *self, Study *study)
{
  g_autoptr (GTask) task = g_task_new (self, NULL, take_study, NULL);
  g_task_set_task_data (task, study, free_study);
  lig_task_run (task, read_study);
}

void
lig_history_compare (LigHistoryPage *self, const char *run, const char *other)
{
  if (!lig_history_get_store (self))
    return;
  Study *study = new_study (self, "compare");
  study->runs = g_strdupv ((char *[]){(char *) run, (char *) other, NULL});
  begin (self, study);
}

void
lig_history_study (LigHistoryPage *self, const char *how)
{
  if (!lig_history_get_store (self))
    return;
  Study *study = new_study (self, how);
  study->keys = lig_history_get_selected (self);
  if (how && study->keys->len > MAX_STUDIED) {
    g_autofree char *text =
      g_strdup_printf (_ ("The first %d of the selected runs are shown"), MAX_STUDIED);
    lig_toast (GTK_WIDGET (self), text, NULL, NULL);
  }
  g_array_set_size (study->keys, MIN (study->keys->len, how ? MAX_STUDIED : MAX_PREVIEWED));
  begin (self, study);
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
