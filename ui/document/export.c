/* SPDX-License-Identifier: MIT */
/* Exports the plan of the moment when the export started; later edits do not affect it. */
#include "ui/document/export.h"

#include "ui/document/times.h"
#include "ui/session/command.h"
#include "ui/session/task.h"
#include <ligature/report.h>

#include <glib/gi18n.h>

typedef struct {
  LigPlan *plan;
  LigStore *store;
  char *path, *command, *run, *sweep;
  gulong handler;
} Export;

static void
free_export (gpointer data)
{
  Export *export = data;
  g_clear_pointer (&export->plan, lig_plan_unref);
  g_free (export->path);
  g_clear_object (&export->store);
  g_free (export->command);
  g_free (export->run);
  g_free (export->sweep);
  g_free (export);
}

static void
write_report (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Export *export = data;
  GError *error = NULL;
  if (lig_report_write_plan (export->plan, export->command, export->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/* Writes a file with the name that the command gives it. */
static char *
make_command (LigDocument *document, const char *path)
{
  g_autofree char *name = g_path_get_basename (path);
  g_autofree char *begin = lig_document_to_command (document, "report");
  GString *command = g_string_new (begin);
  g_string_append (command, " -o");
  lig_shell_append (command, name);
  return g_string_free (command, FALSE);
}

static void
begin (GTask *task)
{
  LigDocument *document = g_task_get_source_object (task);
  Export *export = g_task_get_task_data (task);
  const LigProblem *problem = lig_document_get_problem (document, 0);
  LigPlan *plan = lig_document_get_plan (document);
  LigTimedPlan timed, unfused;
  if ((problem && !problem->whole) || !plan) {
    g_task_return_new_error (task, LIG_ERROR, LIG_ERROR_VALUE, "%s",
                             problem ? problem->text
                                     : _ ("there is nothing to report yet; add operations"));
    return;
  }
  lig_document_get_timed (document, &timed, &unfused);
  export->plan = timed.steps ? lig_plan_with_times (plan, timed.steps) : lig_plan_ref (plan);
  export->command = make_command (document, export->path);
  lig_task_run (task, write_report);
}

static void
go_on (LigDocument *document, GTask *task)
{
  const Export *export = g_task_get_task_data (task);
  if (lig_document_is_stale (document))
    return;
  begin (task);
  /* The signal handler has a reference to the task. */
  g_signal_handler_disconnect (document, export->handler);
}

static void
release_task (gpointer task, GClosure *closure)
{
  g_object_unref (task);
}

void
lig_export_async (LigDocument *document,
                  const char *path,
                  GCancellable *cancellable,
                  GAsyncReadyCallback callback,
                  gpointer data)
{
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  Export *export = g_new0 (Export, 1);
  GError *error = NULL;
  export->path = g_strdup (path);
  g_task_set_task_data (task, export, free_export);
  if (!lig_report_choose_format (path, &error))
    g_task_return_error (task, error);
  else if (!lig_document_is_stale (document))
    begin (task);
  else
    export->handler = g_signal_connect_data (document, "planned", G_CALLBACK (go_on),
                                             g_object_ref (task), release_task, 0);
}

/* Writes a run or a sweep. */
static void
write_record (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Export *export = data;
  GError *error = NULL;
  if (export->run ? lig_report_write_run (export->store, export->run, export->path, &error)
                  : lig_report_write_sweep (export->store, export->sweep, export->path, &error))
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

static void
export_record (
  LigDocument *document, const char *run, const char *sweep, const char *path, GTask *task)
{
  LigStore *store = lig_session_get_store (lig_document_get_session (document));
  Export *export = g_new0 (Export, 1);
  export->path = g_strdup (path);
  export->run = g_strdup (run);
  export->sweep = g_strdup (sweep);
  export->store = store ? g_object_ref (store) : NULL;
  g_task_set_task_data (task, export, free_export);
  if (store)
    lig_task_run (task, write_record);
  else
    g_task_return_new_error (task, LIG_ERROR, LIG_ERROR_STORE, "%s",
                             _ ("there is no store, so the run was not recorded"));
}

void
lig_export_run_async (LigDocument *document,
                      const char *run,
                      const char *path,
                      GCancellable *cancellable,
                      GAsyncReadyCallback callback,
                      gpointer data)
{
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  export_record (document, run, NULL, path, task);
}

void
lig_export_sweep_async (LigDocument *document,
                        const char *sweep,
                        const char *path,
                        GCancellable *cancellable,
                        GAsyncReadyCallback callback,
                        gpointer data)
{
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  export_record (document, NULL, sweep, path, task);
}

gboolean
lig_export_finish (LigDocument *document, GAsyncResult *result, GError **error)
{
  return g_task_propagate_boolean (G_TASK (result), error);
}
