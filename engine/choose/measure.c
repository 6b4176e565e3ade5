/* SPDX-License-Identifier: MIT */
/* Times lists of steps on the device as they would run: on random data, interleaved so that all run
 * at the same clocks, as a graph if the plan uses one. Buffers rotate through as much memory as the
 * whole plan uses, but at most somewhat more than the last-level cache, so that data that would
 * stay in the cache between the steps of a small plan also stays there here. */
#include "engine/choose/timed-memory.h"
#include "engine/device/device-private.h"
#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/measure/choices.h"
#include "engine/measure/stopwatch.h"
#include "engine/steps/steps.h"
#include <ligature/kernels.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

enum { MAX_SETS = 8, MAX_SAMPLES = 21, MAX_REPEATS = 64 };

/* By LigTiming: the minimum number of turns, for lists with long samples and for others, and the
 * seconds of a session, excluding warm-up, after which no more turns follow. */
static const struct {
  int turns, short_turns;
  double budget;
} sessions[] = {{3, 5, 0.25}, {3, 3, 1.0}, {LIG_LAST_TURNS / 2, LIG_LAST_TURNS, 1.0}};

#define SAMPLE_SPAN 200e-6 /* shortest sample of a graph, in seconds */

/* Steps that take longer than this may be power-limited, which shows only in long runs: clocks are
 * steady after a tenth of a second. Their samples last SUSTAINED_SPAN, each after unmeasured
 * runs. */
#define SUSTAINED_FROM 2e-3
#define SUSTAINED_SPAN 40e-3
#define WARMING_SPAN 80e-3

typedef struct {
  GArray *steps;
  LigSteps *runs[MAX_SETS]; /* launches on each set of buffers */
  void *capture;            /* of `repeats` runs; null if the device has none */
  guint repeats;            /* runs in a sample */
  int warming;              /* runs of the graph before each sample that are not measured */
  GArray *samples;          /* of double: seconds of one run */
} List;

/* The memory that all lists share, `sets` times. */
typedef struct {
  LigGraph *graph;
  LigDevice *device;
  const LigBackend *calls;
  List *lists;
  guint count;
  LigTimedMemory places; /* of the values in a set */
  guint sets, next;
  LigTiming timing;
  gboolean sustained; /* Steps are power-limited: the clocks differ between turns. */
  char *memory;
  LigTick *tick;
  void *workspaces[2]; /* for the steps and for those that overlap them */
  void *forked, *joined;
  LigStopwatch watch;
} Bench;

/* Finds the offsets of all values, and the number of sets. */
static void
lay_out (Bench *bench)
{
  gsize working = 0, cache = (gsize) MAX (lig_device_get_facts (bench->device)->l2, 32 << 20);
  g_autoptr (GPtrArray) lists = g_ptr_array_new ();
  for (guint i = 0; i < bench->count; i++)
    g_ptr_array_add (lists, bench->lists[i].steps);
  lig_timed_memory_init (&bench->places, bench->graph, (GArray *const *) lists->pdata, lists->len,
                         bench->timing != LIG_TIMING_GROUPS);
  for (guint i = 0; i < bench->graph->values->len; i++)
    working += (gsize) lig_value (bench->graph, i)->bytes;
  bench->sets =
    (guint) CLAMP (MIN (2 * cache, working) / MAX (bench->places.min, 1) + 1, 1, MAX_SETS);
}

/* Fills in the integers that a step reads, such as where groups of rows begin, on which its time
 * depends. */
static gboolean
fill_numbers (Bench *bench, guint list, const LigGraphStep *step, char *set, GError **error)
{
  LigOperand operands[LIG_MAX_OPERANDS];
  const void *params = step->code.params_size ? step->code.params : NULL;
  for (int j = 0; j < step->plan.n_operands; j++)
    operands[j] = lig_graph_operand (bench->graph, step->values[j]);
  for (int j = 0; j < step->plan.n_inputs && step->plan.kernel; j++) {
    if (step->values[j] < 0 || operands[j].dtype != LIG_INT32)
      continue;
    g_autofree gint32 *numbers = g_new (gint32, MAX (operands[j].size, 1));
    gsize bytes = (gsize) operands[j].size * sizeof *numbers;
    char *to = set + lig_timed_memory_offset (&bench->places, list, step->values[j]);
    if (lig_kernel_fill_numbers (step->plan.kernel, operands, params, j, 0, numbers) &&
        !lig_device_upload (bench->device, to, numbers, bytes, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
fill_values (Bench *bench, GError **error)
{
  LigTick tick = {.seed = 1, .step = 1, .learning_rate = 1e-3f};
  for (guint i = 0; i < bench->sets; i++) {
    char *set = bench->memory + i * bench->places.bytes;
    if (!lig_timed_memory_fill (&bench->places, bench->device, set, error))
      return FALSE;
    for (guint list = 0; list < bench->count; list++)
      for (guint j = 0; j < bench->lists[list].steps->len; j++)
        if (!fill_numbers (bench, list, &g_array_index (bench->lists[list].steps, LigGraphStep, j),
                           set, error))
          return FALSE;
  }
  return lig_device_upload (bench->device, bench->tick, &tick, sizeof tick, error);
}

static void
bind_step (
  Bench *bench, guint list, const LigGraphStep *from, LigStep *to, LigOperand *operands, char *set)
{
  LigDevice *device = bench->device;
  LigLane lane = lig_timed_lane (from);
  for (int j = 0; j < from->plan.n_operands; j++) {
    operands[j] = lig_graph_operand (bench->graph, from->values[j]);
    if (from->values[j] >= 0)
      operands[j].data = set + lig_timed_memory_offset (&bench->places, list, from->values[j]);
  }
  to->function = from->plan.kernel ? lig_device_function (device, from->plan.kernel) : NULL;
  to->lane = lane;
  to->joins = lane == LIG_LANE_SIDE ? 1u << LIG_LANE_SIDE : 0;
  to->empty = from->code.empty;
  to->zeroed = from->code.zeroed;
  to->added = from->code.added;
  memcpy (to->params, from->code.params, from->code.params_size);
  to->launch = (LigLaunch){
    .operands = operands,
    .tick = bench->tick,
    .workspace = bench->workspaces[lane],
    .scratch = from->scratch_bytes > 0 ? set + bench->places.scratch_at[lane] : NULL,
    .nondeterministic = bench->graph->request->options.nondeterministic,
    .params = from->code.params_size ? to->params : NULL,
    .stream = lig_device_lane (device, lane),
    .device = lig_device_handle (device),
    .tf32 = bench->graph->request->options.tf32,
  };
}

/* Binds the launches of a list to one set of buffers. */
static LigSteps *
bind_list (Bench *bench, guint number, char *set)
{
  const List *list = &bench->lists[number];
  int n_operands = 0, n_steps = (int) list->steps->len;
  for (int i = 0; i < n_steps; i++)
    n_operands += g_array_index (list->steps, LigGraphStep, i).plan.n_operands;
  LigSteps *run = lig_steps_new (n_steps, n_operands);
  if (!run)
    return NULL;
  run->calls = bench->calls;
  run->device = lig_device_handle (bench->device);
  run->lanes[LIG_LANE_MAIN].stream = lig_device_stream (bench->device);
  run->lanes[LIG_LANE_SIDE] =
    (LigStepsLane){lig_device_lane (bench->device, LIG_LANE_SIDE), bench->joined};
  run->begun = bench->forked;
  n_operands = 0;
  for (int i = 0; i < n_steps; i++) {
    const LigGraphStep *from = &g_array_index (list->steps, LigGraphStep, i);
    bind_step (bench, number, from, &run->steps[i], run->operands + n_operands, set);
    n_operands += from->plan.n_operands;
  }
  return run;
}

static gboolean
bind_lists (Bench *bench, GError **error)
{
  for (guint i = 0; i < bench->count; i++)
    for (guint set = 0; set < bench->sets; set++) {
      List *list = &bench->lists[i];
      list->runs[set] = bind_list (bench, i, bench->memory + set * bench->places.bytes);
      if (!list->runs[set]) {
        g_set_error (error, LIG_ERROR, LIG_ERROR_MEMORY,
                     g_dngettext (GETTEXT_PACKAGE, "no memory for %u step",
                                  "no memory for %u steps", (gulong) (list->steps->len)),
                     list->steps->len);
        return FALSE;
      }
    }
  return TRUE;
}

static gboolean
run_list (Bench *bench, const List *list, gboolean autotune, GError **error)
{
  LigSteps *run = list->runs[bench->next];
  LigStatus status;
  bench->next = (bench->next + 1) % bench->sets;
  int at = lig_steps_run (run, 0, run->n_steps, (LigStepsMode){.autotune = autotune}, &status);
  if (at == run->n_steps && status == LIG_OK)
    return TRUE;
  const LigKernel *kernel =
    g_array_index (list->steps, LigGraphStep, MIN (at, run->n_steps - 1)).plan.kernel;
  const char *where = run->steps[MIN (at, run->n_steps - 1)].launch.where;
  g_set_error (error, LIG_ERROR, LIG_ERROR_DEVICE, _ ("measuring %s failed: %s"),
               kernel ? kernel->name : _ ("an opaque op"),
               where ? where : _ ("it cannot run here"));
  return FALSE;
}

static gboolean
run_sample (Bench *bench, List *list, double *seconds, GError **error)
{
  LigBackendDevice *handle = lig_device_handle (bench->device);
  void *stream = lig_device_stream (bench->device);
  for (int i = 0; i < list->warming; i++)
    if (!lig_device_check (bench->device, bench->calls->replay (handle, list->capture, stream),
                           _ ("measuring"), error))
      return FALSE;
  if (!lig_stopwatch_start (&bench->watch, error))
    return FALSE;
  if (list->capture
        ? !lig_device_check (bench->device, bench->calls->replay (handle, list->capture, stream),
                             _ ("measuring"), error)
        : !run_list (bench, list, FALSE, error))
    return FALSE;
  if (!lig_stopwatch_stop (&bench->watch, seconds, error))
    return FALSE;
  *seconds /= list->repeats;
  return TRUE;
}

/* Warms a list up: kernels choose their algorithms; then, if the device supports graphs, captures
 * as many runs in one graph as a sufficiently long sample needs. */
static gboolean
warm_up (Bench *bench, List *list, GError **error)
{
  LigBackendDevice *handle = lig_device_handle (bench->device);
  void *stream = lig_device_stream (bench->device);
  double seconds;
  list->repeats = 1;
  if (!run_list (bench, list, TRUE, error) || !run_sample (bench, list, &seconds, error))
    return FALSE;
  if (!bench->calls->capture)
    return TRUE;
  /* Each set at least once, so that a graph rotates through them. */
  gboolean sustained = seconds > SUSTAINED_FROM;
  double span = sustained ? SUSTAINED_SPAN : SAMPLE_SPAN;
  guint repeats = (guint) CLAMP (span / MAX (seconds, 1e-7) + 1, 1, MAX_REPEATS);
  repeats = MAX (repeats, bench->sets);
  gboolean fine = lig_device_check (bench->device, bench->calls->capture (handle, stream),
                                    _ ("capturing"), error);
  if (!fine)
    return FALSE;
  for (guint i = 0; i < repeats && fine; i++)
    fine = run_list (bench, list, FALSE, error);
  LigStatus status = bench->calls->capture_end (handle, stream, &list->capture);
  list->repeats = repeats;
  list->warming = sustained ? (int) ceil (WARMING_SPAN / (seconds * repeats)) : 0;
  return fine && lig_device_check (bench->device, status, _ ("capturing"), error) &&
         run_sample (bench, list, &seconds, error);
}

/* Shuffles the order of the lists, because a list that always follows the same one always gets the
 * caches and clocks that it leaves. */
static void
shuffle (GRand *chance, guint *order, guint count)
{
  for (guint i = 0; i < count; i++)
    order[i] = i;
  for (guint i = count; i > 1; i--) {
    guint other = (guint) g_rand_int_range (chance, 0, (gint32) i), last = order[i - 1];
    order[i - 1] = order[other];
    order[other] = last;
  }
}

static gboolean
sample (Bench *bench, GError **error)
{
  g_autoptr (GRand) chance = g_rand_new_with_seed (1);
  g_autofree guint *order = g_new (guint, bench->count);
  for (guint i = 0; i < bench->count; i++)
    if (!warm_up (bench, &bench->lists[i], error))
      return FALSE;
  double deadline = lig_now () + sessions[bench->timing].budget;
  for (guint i = 0; i < bench->count; i++)
    bench->sustained |= bench->lists[i].warming > 0;
  int turns =
    bench->sustained ? sessions[bench->timing].turns : sessions[bench->timing].short_turns;
  for (int round = 0; round < MAX_SAMPLES && (round < turns || lig_now () < deadline); round++) {
    shuffle (chance, order, bench->count);
    for (guint i = 0; i < bench->count; i++) {
      List *list = &bench->lists[order[i]];
      double seconds;
      if (!run_sample (bench, list, &seconds, error))
        return FALSE;
      g_array_append_val (list->samples, seconds);
    }
  }
  return TRUE;
}

void
lig_price_level (double *const *samples, guint lists, guint turns)
{
  if (lists < 2 || turns == 0)
    return;
  g_autofree double *sorted = g_new (double, turns), *medians = g_new (double, lists);
  for (guint i = 0; i < lists; i++) {
    memcpy (sorted, samples[i], turns * sizeof *sorted);
    medians[i] = lig_median (sorted, turns);
    if (!(medians[i] > 0))
      return;
  }
  double widening = sqrt (lists / (lists - 1.0));
  for (guint turn = 0; turn < turns; turn++) {
    double mean = 0;
    for (guint i = 0; i < lists; i++)
      mean += samples[i][turn] / medians[i] / lists;
    for (guint i = 0; i < lists; i++) {
      double deviation = samples[i][turn] / medians[i] / mean - 1;
      samples[i][turn] = medians[i] * (1 + widening * deviation);
    }
  }
}

static void
level (const Bench *bench)
{
  g_autofree double **samples = g_new (double *, bench->count);
  for (guint i = 0; i < bench->count; i++)
    samples[i] = (double *) (gpointer) bench->lists[i].samples->data;
  lig_price_level (samples, bench->count, bench->lists[0].samples->len);
}

static void
summarize (const List *list, LigPrice *price)
{
  guint n = list->samples->len;
  double *samples = (double *) (gpointer) list->samples->data;
  price->seconds = lig_median (samples, n);
  price->noise = (samples[3 * n / 4] - samples[n / 4]) / 2;
  price->measured = TRUE;
}

/* Allocates the buffers. Measuring is impossible if not even one set fits. */
static gboolean
prepare (Bench *bench, GError **error)
{
  LigDevice *device = bench->device;
  lay_out (bench);
  bench->memory = lig_device_allocate (device, bench->places.bytes * bench->sets, NULL);
  if (!bench->memory) {
    bench->sets = 1;
    bench->memory = lig_device_allocate (device, bench->places.bytes, error);
  }
  bench->tick = bench->memory ? lig_device_allocate (device, sizeof (LigTick), error) : NULL;
  for (int i = 0; i < 2 && bench->tick; i++)
    bench->workspaces[i] = lig_device_allocate (device, LIG_WORKSPACE_SIZE, error);
  if (!bench->workspaces[0] || !bench->workspaces[1])
    return FALSE;
  LigStatus status = bench->calls->event_new (lig_device_handle (device), &bench->forked);
  if (status == LIG_OK)
    status = bench->calls->event_new (lig_device_handle (device), &bench->joined);
  return lig_device_check (device, status, _ ("measuring"), error) &&
         lig_stopwatch_init (&bench->watch, device, error) && fill_values (bench, error) &&
         bind_lists (bench, error);
}

static void
clear (Bench *bench)
{
  LigDevice *device = bench->device;
  for (guint i = 0; i < bench->count; i++) {
    if (bench->lists[i].capture)
      bench->calls->graph_free (lig_device_handle (device), bench->lists[i].capture);
    for (guint set = 0; set < bench->sets; set++)
      lig_steps_free (bench->lists[i].runs[set]);
    g_array_unref (bench->lists[i].samples);
  }
  if (bench->forked)
    bench->calls->event_free (lig_device_handle (device), bench->forked);
  if (bench->joined)
    bench->calls->event_free (lig_device_handle (device), bench->joined);
  lig_stopwatch_clear (&bench->watch);
  lig_device_release (device, bench->memory);
  lig_device_release (device, bench->tick);
  lig_device_release (device, bench->workspaces[0]);
  lig_device_release (device, bench->workspaces[1]);
  lig_timed_memory_clear (&bench->places);
  g_free (bench->lists);
}

gboolean
lig_time_lists (LigGraph *graph,
                GArray *const *lists,
                guint count,
                LigTiming timing,
                LigPrice *prices,
                GError **error)
{
  Bench bench = {.graph = graph,
                 .device = graph->request->device,
                 .calls = lig_device_calls (graph->request->device),
                 .lists = g_new0 (List, count),
                 .timing = timing,
                 .count = count};
  for (guint i = 0; i < count; i++)
    bench.lists[i] =
      (List){.steps = lists[i], .samples = g_array_new (FALSE, FALSE, sizeof (double))};
  bench.calls->enter (lig_device_handle (graph->request->device));
  lig_choices_begin (graph->request->device, graph->request->options.tuning);
  gboolean fine = prepare (&bench, error) && sample (&bench, error);
  lig_choices_end (graph->request->device);
  if (fine && bench.sustained)
    level (&bench);
  for (guint i = 0; i < count && fine; i++)
    summarize (&bench.lists[i], &prices[i]);
  clear (&bench);
  return fine;
}
