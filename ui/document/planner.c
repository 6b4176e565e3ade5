/* SPDX-License-Identifier: MIT */
/* Each document has one thread, because a device belongs to one thread at a time. A request is
 * dropped once a newer one arrives. */
#include "ui/document/planner.h"

#include "ui/document/ranks.h"
#include "ui/session/measuring.h"
#include <ligature/compile.h>
#include <ligature/figures.h>
#include <ligature/plan-options.h>
#include <ligature/tuning.h>

#include <stdlib.h>
#include <string.h>

struct _LigPlanner {
  gatomicrefcount references; /* the owner's and the thread's */
  GAsyncQueue *requests;
  LigPlannerFunc func;
  gpointer owner; /* null after dispose; used by the main thread only */
  guint64 last;
  LigDevice *device; /* used by the thread only */
  gint forget;       /* passed to the thread */
};

typedef struct {
  guint64 number;
  LigSequence *sequence; /* null: the end */
  char *device;
  LigLayout layout;
  LigPolicy policy;
  LigStore *store;
} Request;

typedef struct {
  LigPlanner *planner;
  LigPlannerAnswer answer;
} Delivery;

static void
release (LigPlanner *self)
{
  if (!g_atomic_ref_count_dec (&self->references))
    return;
  g_clear_object (&self->device);
  g_async_queue_unref (self->requests);
  g_free (self);
}

static void
free_request (gpointer data)
{
  Request *request = data;
  g_clear_object (&request->sequence);
  g_clear_object (&request->store);
  g_free (request->device);
  g_free (request);
}

/* --- Answers ------------------------------------------------------------------------------- */

static void
free_delivery (gpointer data)
{
  Delivery *delivery = data;
  g_clear_pointer (&delivery->answer.plan, lig_plan_unref);
  g_clear_pointer (&delivery->answer.unfused, lig_plan_unref);
  g_clear_pointer (&delivery->answer.recorded, lig_recorded_times_free);
  g_clear_pointer (&delivery->answer.recorded_unfused, lig_recorded_times_free);
  g_clear_pointer (&delivery->answer.problems, g_ptr_array_unref);
  g_free (delivery->answer.measuring);
  release (delivery->planner);
  g_free (delivery);
}

static gboolean
deliver (gpointer data)
{
  Delivery *delivery = data;
  if (delivery->planner->owner)
    delivery->planner->func (delivery->planner->owner, &delivery->answer);
  return G_SOURCE_REMOVE;
}

static Delivery *
new_delivery (LigPlanner *self, guint64 request)
{
  Delivery *delivery = g_new0 (Delivery, 1);
  g_atomic_ref_count_inc (&self->references);
  delivery->planner = self;
  delivery->answer.request = request;
  return delivery;
}

/* g_main_context_invoke() would call it on this thread if no thread is running the main loop. */
static void
send (Delivery *delivery)
{
  g_idle_add_full (G_PRIORITY_DEFAULT, deliver, delivery, free_delivery);
}

static void
report_measuring (gpointer data, const char *what)
{
  const Delivery *now = data;
  Delivery *delivery = new_delivery (now->planner, now->answer.request);
  delivery->answer.measuring = g_strdup (what);
  send (delivery);
}

/* --- Compiling ----------------------------------------------------------------------------- */

static LigDevice *
open_device (LigPlanner *self, const Request *request, const LigLayout *layout, GError **error)
{
  if (g_atomic_int_exchange (&self->forget, 0))
    g_clear_object (&self->device);
  if (lig_ranks_has_device (self->device, request->device, layout))
    return self->device;
  g_clear_object (&self->device);
  self->device = lig_ranks_open_device (request->device, layout, error);
  if (self->device && request->store)
    lig_tuning_learn (self->device, request->store);
  return self->device;
}

/* Compiles the ops before the first problem, so that the rows above it keep their rails. */
static LigPlan *
compile_start (LigSequence *sequence,
               LigDevice *device,
               const LigPlanOptions *options,
               const GPtrArray *problems)
{
  const char *path = NULL;
  for (guint i = 0; i < problems->len && !path; i++)
    path = ((const LigProblem *) problems->pdata[i])->path;
  guint64 first = path ? g_ascii_strtoull (path, NULL, 10) : 0;
  while (first > 0 && lig_sequence_get_length (sequence) > first)
    lig_sequence_remove (sequence, -1, NULL);
  LigPlanOptions quick = *options;
  if (quick.policy == LIG_POLICY_MEASURED)
    quick.policy = LIG_POLICY_ALL;
  return first > 0 ? lig_plan_compile (sequence, device, &quick, NULL) : NULL;
}

/* Measuring new shapes takes seconds; in the meantime, the cover of policy `all` is shown. */
static void
answer_quickly (LigPlanner *self, const Request *request, LigDevice *device, LigPlanOptions options)
{
  options.policy = LIG_POLICY_ALL;
  Delivery *delivery = new_delivery (self, request->number);
  delivery->answer.plan = lig_plan_compile (request->sequence, device, &options, NULL);
  if (delivery->answer.plan)
    send (delivery);
  else
    free_delivery (delivery);
}

/* Compiles the unfused baseline, which takes a third of the time of the plan itself: less than
 * showing the figures twice, without and with savings. A newer edit gets its own. */
static LigPlan *
compile_unfused (LigPlanner *self, LigPlan *plan)
{
  return g_async_queue_length (self->requests) > 0 ? NULL : lig_plan_unfuse (plan, NULL);
}

/* Finds the times of earlier profiles, unless a newer edit is waiting. */
static void
find_times (LigPlanner *self, LigStore *store, LigPlannerAnswer *answer)
{
  if (!store || g_async_queue_length (self->requests) > 0)
    return;
  answer->recorded = lig_recorded_times_find (store, answer->plan);
  if (answer->unfused)
    answer->recorded_unfused = lig_recorded_times_find (store, answer->unfused);
}

/* Splits the batch among the ranks. If they cannot share it, the plan is for one rank. */
static LigLayout
shard_batch (const Request *request, LigPlanOptions *options, GPtrArray *problems)
{
  g_autoptr (GError) error = NULL;
  LigLayout layout = request->layout;
  if (lig_plan_options_shard (options, request->sequence, &layout, &error))
    return layout;
  g_ptr_array_add (problems, lig_problem_of_batch (request->sequence, &layout, error));
  lig_layout_init (&layout, 1);
  return layout;
}

static void
compile (LigPlanner *self, const Request *request)
{
  g_autoptr (GError) error = NULL;
  Delivery *delivery = new_delivery (self, request->number);
  LigPlannerAnswer *answer = &delivery->answer;
  LigTuning tuning;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = request->policy;
  options.input_gradient = TRUE;
  answer->problems = g_ptr_array_new_with_free_func ((GDestroyNotify) lig_problem_free);
  answer->final = TRUE;
  LigLayout layout = shard_batch (request, &options, answer->problems);
  LigDevice *device = open_device (self, request, &layout, &error);
  gboolean measures = device && lig_policy_for (options.policy, device) == LIG_POLICY_MEASURED;
  if (measures) {
    if (!lig_device_has (device, LIG_DEVICE_DESCRIBED))
      answer_quickly (self, request, device, options);
    lig_tuning_init (&tuning, request->store);
    options.tuning = &tuning;
    lig_measuring_listen (report_measuring, delivery);
  }
  if (device && lig_sequence_get_length (request->sequence) > 0)
    answer->plan = lig_plan_compile (request->sequence, device, &options, &error);
  lig_measuring_listen (NULL, NULL);
  LigProblem *memory =
    answer->plan ? lig_problem_of_memory (answer->plan, request->sequence, &options) : NULL;
  if (memory)
    g_ptr_array_add (answer->problems, memory);
  if (error) {
    g_ptr_array_unref (answer->problems);
    answer->problems = lig_problem_list (request->sequence, device, &options, error);
    if (device)
      answer->plan = compile_start (request->sequence, device, &options, answer->problems);
  }
  if (answer->plan)
    answer->unfused = compile_unfused (self, answer->plan);
  if (answer->plan && !error)
    find_times (self, request->store, answer);
  send (delivery);
}

/* --- The end of the program ----------------------------------------------------------------- */

/* A thread that computes while the program exits would use memory that libraries have already
 * released: OpenBLAS frees its buffers. So the program waits for running compilations and
 * measurements, and no thread starts new ones. */
static GMutex ending;
static GCond ended;
static guint busy;
static gboolean leaving;

static void
wait_for_threads (void)
{
  enum { MAX_SECONDS = 20 };
  gint64 last = g_get_monotonic_time () + MAX_SECONDS * G_TIME_SPAN_SECOND;
  g_mutex_lock (&ending);
  leaving = TRUE;
  while (busy > 0 && g_cond_wait_until (&ended, &ending, last))
    ;
  g_mutex_unlock (&ending);
}

static void
compile_unless_leaving (LigPlanner *self, const Request *request)
{
  g_mutex_lock (&ending);
  gboolean allowed = !leaving;
  busy += allowed;
  g_mutex_unlock (&ending);
  if (!allowed)
    return;
  compile (self, request);
  g_mutex_lock (&ending);
  busy--;
  g_cond_signal (&ended);
  g_mutex_unlock (&ending);
}

static gpointer
work (gpointer data)
{
  LigPlanner *self = data;
  for (;;) {
    Request *request = g_async_queue_pop (self->requests);
    Request *newer;
    while (request->sequence && (newer = g_async_queue_try_pop (self->requests))) {
      free_request (request);
      request = newer;
    }
    gboolean end = request->sequence == NULL;
    if (!end)
      compile_unless_leaving (self, request);
    free_request (request);
    if (end)
      break;
  }
  release (self);
  return NULL;
}

LigPlanner *
lig_planner_new (LigPlannerFunc func, gpointer owner)
{
  static gsize once = 0;
  LigPlanner *self = g_new0 (LigPlanner, 1);
  if (g_once_init_enter (&once)) {
    atexit (wait_for_threads);
    g_once_init_leave (&once, 1);
  }
  g_atomic_ref_count_init (&self->references);
  g_atomic_ref_count_inc (&self->references);
  self->requests = g_async_queue_new_full (free_request);
  self->func = func;
  self->owner = owner;
  g_thread_unref (g_thread_new ("plan", work, self));
  return self;
}

void
lig_planner_free (LigPlanner *self)
{
  self->owner = NULL;
  g_async_queue_push (self->requests, g_new0 (Request, 1));
  release (self);
}

guint64
lig_planner_ask (LigPlanner *self,
                 LigSequence *sequence,
                 const char *device,
                 const LigLayout *layout,
                 LigPolicy policy,
                 LigStore *store)
{
  Request *request = g_new0 (Request, 1);
  request->number = ++self->last;
  request->sequence = sequence;
  request->device = g_strdup (device);
  request->layout = *layout;
  request->policy = policy;
  request->store = store ? g_object_ref (store) : NULL;
  g_async_queue_push (self->requests, request);
  return self->last; /* the request may already be freed */
}

void
lig_planner_forget_device (LigPlanner *self)
{
  g_atomic_int_set (&self->forget, 1);
}
