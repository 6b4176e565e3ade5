/* SPDX-License-Identifier: MIT */
/* Matches runs in the store with the document by their ops. */
#include "ui/profile/rank-waits.h"

#include "ui/session/task.h"

#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/json-members.h>
#include <ligature/json.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/run.h>
#include <ligature/spread.h>
#include <ligature/store-sweeps.h>
#include <ligature/tuning.h>

#include <json-glib/json-glib.h>
#include <math.h>

/* The maximum number of runs to look at, newest first, and the maximum number of steps and ranks of
 * each. */
enum { MAX_RUNS = 50, MAX_STEPS = 1000, MAX_RANKS = 1 << 20 };

typedef struct {
  LigStore *store;
  LigSequence *sequence;
  LigPlanOptions options;
  LigOptimizer optimizer;
  char *device, *expression;
} Request;

static void
free_request (gpointer data)
{
  Request *request = data;
  g_object_unref (request->store);
  g_object_unref (request->sequence);
  g_free (request->device);
  g_free (request->expression);
  g_free (request);
}

void
lig_rank_waits_free (LigRankWaits *self)
{
  if (!self)
    return;
  g_free (self->run);
  g_free (self->parallel);
  g_free (self);
}

/* --- The training --------------------------------------------------------------------------- */

static gboolean
is_same (const LigRunRow *row, const char *expression)
{
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  g_autofree char *other = sequence ? lig_sequence_to_expression (sequence) : NULL;
  return g_strcmp0 (other, expression) == 0;
}

/* Reads the parallelism of a run; FALSE for one rank. */
static gboolean
read_layout (LigStore *store, const char *run, LigLayout *layout)
{
  g_autofree char *inputs = lig_store_get_inputs (store, run, NULL);
  g_autoptr (JsonNode) root = inputs ? lig_json_from_text (inputs, NULL) : NULL;
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  return ranks > 1 && ranks <= G_MAXINT && lig_layout_parse (layout, parallel, (int) ranks, NULL);
}

/* Returns the median of a metric over the last steps, NaN without values. */
static double
find_median (LigStore *store, const char *run, const char *name, guint *count)
{
  g_autoptr (GArray) steps = NULL, values = NULL;
  LigSpread spread;
  if (!lig_store_get_metric (store, run, name, &steps, &values, NULL) || values->len == 0)
    return NAN;
  guint skipped = values->len > MAX_STEPS ? values->len - MAX_STEPS : 0;
  *count = values->len - skipped;
  lig_spread_measure ((const double *) (gpointer) values->data + skipped, *count, &spread);
  return spread.median;
}

/* Returns the rank that was slowest in most of the last steps; a median of rank numbers would be a
 * third rank if two alternate. */
static int
find_slowest (LigStore *store, const char *run)
{
  g_autoptr (GArray) steps = NULL, values = NULL;
  guint max = 0, slowest = 0;
  if (!lig_store_get_metric (store, run, LIG_METRIC_SLOWEST, &steps, &values, NULL))
    return 0;
  g_autoptr (GArray) counts = g_array_new (FALSE, TRUE, sizeof (guint));
  for (guint i = values->len > MAX_STEPS ? values->len - MAX_STEPS : 0; i < values->len; i++) {
    double value = g_array_index (values, double, i);
    if (!(value >= 0 && value < MAX_RANKS))
      continue;
    guint rank = (guint) value;
    if (rank >= counts->len)
      g_array_set_size (counts, rank + 1);
    guint count = ++g_array_index (counts, guint, rank);
    slowest = count > max ? rank : slowest;
    max = MAX (count, max);
  }
  return (int) slowest;
}

static LigRankWaits *
read_waits (LigStore *store, const char *run, const LigLayout *layout)
{
  guint count = 0;
  double exposed = find_median (store, run, LIG_METRIC_EXPOSED, &count);
  if (isnan (exposed))
    return NULL;
  LigRankWaits *self = g_new0 (LigRankWaits, 1);
  self->run = g_strdup (run);
  self->parallel = lig_layout_to_string (layout);
  self->ranks = lig_layout_size (layout, LIG_GROUP_ALL);
  self->exposed = exposed * 1e-3;
  self->imbalance = find_median (store, run, LIG_METRIC_IMBALANCE, &count) * 1e-3;
  self->slowest = find_slowest (store, run);
  self->step = find_median (store, run, "step-ms", &count) * 1e-3;
  self->steps = count;
  self->predicted = NAN;
  return self;
}

static LigRankWaits *
find (const Request *request, LigLayout *layout)
{
  const LigRunFilter filter = {.kind = "train", .limit = MAX_RUNS};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (request->store, &filter, NULL);
  for (guint i = 0; rows && i < rows->len; i++) {
    const LigRunRow *row = rows->pdata[i];
    LigRankWaits *found =
      is_same (row, request->expression) && read_layout (request->store, row->uuid, layout)
        ? read_waits (request->store, row->uuid, layout)
        : NULL;
    if (found)
      return found;
  }
  return NULL;
}

/* --- The prediction ------------------------------------------------------------------------- */

static double
predict (Request *request, const LigLayout *layout)
{
  LigCommunication collective;
  g_autoptr (LigDevice) device = lig_device_open (request->device, NULL);
  if (!device || !lig_sequence_has_input (request->sequence))
    return NAN;
  lig_tuning_recall (device, lig_store_get_path (request->store));
  if (!lig_plan_options_shard (&request->options, request->sequence, layout, NULL))
    return NAN;
  lig_device_assume_ranks (device, 0, layout);
  request->options.optimizer = &request->optimizer;
  g_autoptr (LigPlan) plan = lig_plan_compile (request->sequence, device, &request->options, NULL);
  if (!plan)
    return NAN;
  lig_figures_of_communication (plan, &collective);
  return collective.seconds > 0 ? collective.exposed : NAN;
}

/* --- The thread ----------------------------------------------------------------------------- */

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  Request *request = data;
  LigLayout layout;
  LigRankWaits *found = find (request, &layout);
  if (found)
    found->predicted = predict (request, &layout);
  g_task_return_pointer (task, found, (GDestroyNotify) lig_rank_waits_free);
}

void
lig_rank_waits_find (LigDocument *document,
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
  const LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  request->store = g_object_ref (store);
  request->sequence = lig_sequence_copy (lig_document_get_sequence (document));
  request->expression = lig_sequence_to_expression (request->sequence);
  request->device = g_strdup (lig_document_get_device (document));
  request->optimizer = optimizer;
  lig_document_get_options (document, &request->options);
  /* The pointers in it belong to the document, and a prediction measures nothing. */
  request->options.policy = LIG_POLICY_ALL;
  request->options.tuning = NULL;
  request->options.choices = request->options.freeze = NULL;
  g_task_set_task_data (task, request, free_request);
  lig_task_run (task, work);
}

LigRankWaits *
lig_rank_waits_finish (GAsyncResult *result)
{
  return g_task_propagate_pointer (G_TASK (result), NULL);
}
