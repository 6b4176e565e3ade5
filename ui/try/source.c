/* SPDX-License-Identifier: MIT */
#include "ui/try/source.h"

#include "ui/document/document.h"
#include "ui/history/format.h"
#include "ui/session/interrupted.h"
#include "ui/session/task.h"
#include "ui/session/trying.h"
#include "ui/widgets/figures.h"
#include <ligature/sequence.h>
#include <ligature/store.h>

#include <glib/gi18n.h>
#include <math.h>

/* The maximum number of runs that are listed. */
enum { MAX_RUNS = 100 };

void
lig_try_source_free (LigTrySource *self)
{
  if (!self)
    return;
  g_free (self->model);
  g_free (self->title);
  g_free (self->subtitle);
  g_free (self->missing);
  g_free (self);
}

LigTrySource *
lig_try_source_new_file (const char *path)
{
  LigTrySource *self = g_new0 (LigTrySource, 1);
  self->model = g_strdup (path);
  self->title = g_filename_display_basename (path);
  self->subtitle = g_filename_display_name (path);
  self->rows = lig_trying_reads_rows (path);
  return self;
}

/* --- Runs ---------------------------------------------------------------------------------- */

typedef struct {
  LigStore *store;
  char *expression; /* of the document */
} Request;

static void
free_request (gpointer data)
{
  Request *request = data;
  g_clear_object (&request->store);
  g_free (request->expression);
  g_free (request);
}

/* Returns whether the model reads tokens. */
static gboolean
reads_text (LigSequence *sequence)
{
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (sequence, &shape, &dtype);
  return dtype == LIG_INT32;
}

static gboolean
is_own (LigSequence *sequence, const char *expression)
{
  g_autofree char *other = lig_sequence_to_expression (sequence);
  return *other && g_strcmp0 (other, expression) == 0;
}

static char *
describe (const LigRunRow *row)
{
  GString *text = g_string_new (NULL);
  gboolean running = g_str_equal (row->status, "running");
  gboolean validated = isfinite (row->eval_loss);
  double loss = validated ? row->eval_loss : row->last_loss;
  g_autofree char *ago = lig_figure_ago (row->started);
  if (isfinite (loss))
    g_string_append_printf (text, validated ? _ ("validation loss %.4g") : _ ("loss %.4g"), loss);
  if (isfinite (row->eval_accuracy))
    g_string_append_printf (text, _ (", accuracy %.1f %%"), 100 * row->eval_accuracy);
  g_string_append_printf (text, "%s%s", text->len > 0 ? " · " : "",
                          running ? _ ("still training") : ago);
  return g_string_free (text, FALSE);
}

/* Returns null for a run that cannot be tried: it saved no checkpoint, or was trained on numbers
 * that have no columns. A checkpoint that is missing may have had columns. */
static LigTrySource *
read_run (const Request *request, const LigRunRow *row)
{
  g_autoptr (GPtrArray) artifacts =
    row->saved_step > 0 ? lig_store_get_artifacts (request->store, row->uuid, NULL) : NULL;
  const char *path = lig_interrupted_find_checkpoint (artifacts);
  const char *missing = lig_interrupted_find_missing (artifacts);
  g_autoptr (LigSequence) sequence =
    path || missing ? lig_sequence_from_json (row->sequence, -1, NULL, NULL) : NULL;
  gboolean rows = sequence && path && lig_trying_reads_rows (path);
  if (!sequence || !(missing || rows || reads_text (sequence)))
    return NULL;
  g_autofree char *name = lig_figure_excerpt (row->name);
  g_autofree char *step = lig_figure_count (row->saved_step);
  LigTrySource *self = g_new0 (LigTrySource, 1);
  self->model = g_strdup (row->uuid);
  self->title = g_strdup_printf (_ ("%s, step %s"), *name ? name : _ ("Untitled"), step);
  self->missing = g_strdup (missing);
  self->subtitle = missing ? lig_interrupted_describe_missing (missing) : describe (row);
  self->rows = rows;
  self->own = is_own (sequence, request->expression);
  return self;
}

static void
find_runs (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Request *request = data;
  const LigRunFilter filter = {.kind = "train", .limit = MAX_RUNS};
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_try_source_free);
  g_autoptr (GPtrArray) rows = lig_store_list_runs (request->store, &filter, NULL);
  for (guint i = 0; rows && i < rows->len && !g_cancellable_is_cancelled (cancellable); i++) {
    LigTrySource *self = read_run (request, rows->pdata[i]);
    if (self)
      g_ptr_array_add (found, self);
  }
  g_task_return_pointer (task, found, (GDestroyNotify) g_ptr_array_unref);
}

void
lig_try_source_find (LigDocument *document,
                     GCancellable *cancellable,
                     GAsyncReadyCallback callback,
                     gpointer data)
{
  LigStore *store = lig_session_get_store (lig_document_get_session (document));
  g_autoptr (GTask) task = g_task_new (document, cancellable, callback, data);
  if (!store) {
    g_task_return_pointer (task, NULL, NULL);
    return;
  }
  Request *request = g_new0 (Request, 1);
  request->store = g_object_ref (store);
  request->expression = lig_sequence_to_expression (lig_document_get_sequence (document));
  g_task_set_task_data (task, request, free_request);
  lig_task_run (task, find_runs);
}

GPtrArray *
lig_try_source_find_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}

const LigTrySource *
lig_try_source_get_initial (GPtrArray *sources)
{
  const LigTrySource *newest = NULL;
  for (guint i = 0; sources && i < sources->len; i++) {
    const LigTrySource *source = sources->pdata[i];
    if (source->own && !source->missing)
      return source;
    newest = newest || source->missing ? newest : source;
  }
  return newest;
}

const LigTrySource *
lig_try_source_lookup (GPtrArray *sources, const char *model)
{
  for (guint i = 0; sources && i < sources->len; i++)
    if (g_str_equal (((const LigTrySource *) sources->pdata[i])->model, model))
      return sources->pdata[i];
  return NULL;
}

char *
lig_try_source_explain (GPtrArray *sources, const LigTrySource *source, const char *title)
{
  const LigTrySource *newest = NULL;
  for (guint i = 0; sources && i < sources->len && !newest; i++)
    newest = ((const LigTrySource *) sources->pdata[i])->own ? sources->pdata[i] : NULL;
  if (newest && newest->missing) {
    g_autofree char *text = lig_interrupted_describe_missing (newest->missing);
    return g_strdup_printf (_ ("The newest run, “%s”, cannot be tried: %s."), newest->title, text);
  }
  if (!source || source->own || !lig_try_source_lookup (sources, source->model))
    return NULL;
  if (!newest)
    return g_strdup_printf (_ ("No run of “%s” has a checkpoint; this model has another sequence."),
                            title);
  return g_strdup_printf (_ ("This model has another sequence than “%s”."), title);
}
