/* SPDX-License-Identifier: MIT */
/* Times lists of steps on the device as they would run: on random data, in turns so that all run at
 * the same clocks, as a graph if the plan uses one. Buffers rotate through as much memory as the
 * whole plan uses, up to more than the last cache: data that stays in the cache between the steps
 * of a small plan then stays there here. */
#include "engine/compile/price.h"
#include "engine/measure/choices.h"
#include "engine/measure/stopwatch.h"
#include "engine/steps/steps.h"

#include <glib/gi18n-lib.h>
#include <string.h>

enum { MOST_SETS = 8, MOST_SAMPLES = 21, MOST_REPEATS = 64 };

/* By LigTiming: the least number of turns, and the seconds of one session, warm-up excluded, after
 * which no more turns follow. */
static const struct {
  int turns;
  double budget;
} sessions[] = {{5, 0.25}, {3, 1.0}, {LIG_LAST_TURNS, 1.0}};

#define SAMPLE_SPAN 200e-6 /* shortest sample of a graph, in seconds */

/* A whole step that takes longer than this is limited by power, which shows only in long runs. Its
 * samples last this long, each after an equally long run that is not measured. */
#define SUSTAINED_FROM 2e-3
#define SUSTAINED_SPAN 50e-3

typedef struct {
  GArray *steps;
  LigSteps *runs[MOST_SETS]; /* launches on each set of buffers */
  void *graph;               /* of `repeats` runs; null if the device has no graphs */
  guint repeats;             /* runs in a sample */
  gboolean sustained;        /* each sample follows a run of the same length that is not measured */
  GArray *samples;           /* of double: seconds of one run */
} List;

/* All lists share their buffers: `sets` copies of every distinct value. */
typedef struct {
  LigDraft *draft;
  LigDevice *device;
  const LigBackend *calls;
  List *lists;
  guint count;
  GHashTable *offsets; /* value + 1 -> offset / 256 in a set */
  gsize bytes;         /* of one set */
  guint sets, next;
  LigTiming timing;
  char *memory;
  LigTick *tick;
  void *workspaces[2]; /* for the steps and for those that overlap them */
  gint64 scratch[2];   /* likewise: the most bytes that a step needs, which all steps share */
  gsize scratch_at[2]; /* offsets in a set */
  void *forked, *joined;
  LigStopwatch watch;
} Bench;

/* A kernel that exchanges has no peers while it is timed, and nothing to wait for. */
static LigLane
lane_of (const LigDraftStep *step)
{
  return step->lane == LIG_LANE_COMMUNICATION ? LIG_LANE_MAIN : step->lane;
}

static gsize
slot_bytes (Bench *bench, int value)
{
  return ((gsize) lig_value (bench->draft, value)->bytes + 255) / 256 * 256;
}

/* Returns the bytes of one list's values; gives new values an offset. */
static gsize
lay_out_list (Bench *bench, const List *list)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gsize bytes = 0;
  for (guint i = 0; i < list->steps->len; i++) {
    const LigDraftStep *step = &g_array_index (list->steps, LigDraftStep, i);
    gint64 *scratch = &bench->scratch[lane_of (step)];
    *scratch = MAX (*scratch, step->scratch_bytes);
    for (int j = 0; j < step->n_operands; j++) {
      gpointer key = GINT_TO_POINTER (step->values[j] + 1);
      if (step->values[j] < 0 || !g_hash_table_add (seen, key))
        continue;
      bytes += slot_bytes (bench, step->values[j]);
      if (g_hash_table_contains (bench->offsets, key))
        continue;
      g_hash_table_insert (bench->offsets, key, GSIZE_TO_POINTER (bench->bytes / 256));
      bench->bytes += slot_bytes (bench, step->values[j]);
    }
  }
  return bytes;
}

static void
lay_out (Bench *bench)
{
  gsize least = G_MAXSIZE, working = 0;
  gsize cache = (gsize) MAX (lig_device_get_facts (bench->device)->l2, 32 << 20);
  for (guint i = 0; i < bench->count; i++)
    least = MIN (least, lay_out_list (bench, &bench->lists[i]));
  for (int i = 0; i < 2; i++) {
    bench->scratch_at[i] = bench->bytes;
    bench->bytes += ((gsize) bench->scratch[i] + 255) / 256 * 256;
  }
  for (guint i = 0; i < bench->draft->values->len; i++)
    working += (gsize) lig_value (bench->draft, i)->bytes;
  bench->sets = (guint) CLAMP (MIN (2 * cache, working) / MAX (least, 1) + 1, 1, MOST_SETS);
}

static gboolean
fill_values (Bench *bench, GError **error)
{
  GHashTableIter iter;
  gpointer key, slot;
  LigTick tick = {.seed = 1, .step = 1, .learning_rate = 1e-3f};
  g_hash_table_iter_init (&iter, bench->offsets);
  while (g_hash_table_iter_next (&iter, &key, &slot)) {
    const LigValue *value = lig_value (bench->draft, GPOINTER_TO_INT (key) - 1);
    for (guint set = 0; set < bench->sets; set++)
      if (!lig_fill_random (bench->device,
                            bench->memory + set * bench->bytes + GPOINTER_TO_SIZE (slot) * 256,
                            lig_shape_size (&value->shape), value->dtype, error))
        return FALSE;
  }
  return lig_device_upload (bench->device, bench->tick, &tick, sizeof tick, error);
}

/* Returns the address of a value in a set of buffers. */
static void *
address_of (const Bench *bench, int value, char *set)
{
  gpointer slot = g_hash_table_lookup (bench->offsets, GINT_TO_POINTER (value + 1));
  return set + GPOINTER_TO_SIZE (slot) * 256;
}

static void
bind_step (Bench *bench, const LigDraftStep *from, LigStep *to, LigOperand *operands, char *set)
{
  LigDevice *device = bench->device;
  LigLane lane = lane_of (from);
  for (int j = 0; j < from->n_operands; j++) {
    operands[j] = lig_draft_operand (bench->draft, from->values[j]);
    if (from->values[j] >= 0)
      operands[j].data = address_of (bench, from->values[j], set);
  }
  to->function = from->kernel ? lig_device_function (device, from->kernel) : NULL;
  to->lane = lane;
  to->joins = lane == LIG_LANE_SIDE ? 1u << LIG_LANE_SIDE : 0;
  to->empty = from->empty;
  to->zeroed = from->zeroed;
  to->added = from->added;
  memcpy (to->params, from->params, from->params_size);
  to->launch = (LigLaunch){
    .operands = operands,
    .tick = bench->tick,
    .workspace = bench->workspaces[lane],
    .scratch = from->scratch_bytes > 0 ? set + bench->scratch_at[lane] : NULL,
    .nondeterministic = bench->draft->options.nondeterministic,
    .params = from->params_size ? to->params : NULL,
    .stream = lig_device_lane (device, lane),
    .device = lig_device_handle (device),
    .tf32 = bench->draft->options.tf32,
  };
}

/* Binds the launches of a list to one set of buffers. */
static LigSteps *
bind_list (Bench *bench, const List *list, char *set)
{
  int n_operands = 0, n_steps = (int) list->steps->len;
  for (int i = 0; i < n_steps; i++)
    n_operands += g_array_index (list->steps, LigDraftStep, i).n_operands;
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
    const LigDraftStep *from = &g_array_index (list->steps, LigDraftStep, i);
    bind_step (bench, from, &run->steps[i], run->operands + n_operands, set);
    n_operands += from->n_operands;
  }
  return run;
}

static gboolean
bind_lists (Bench *bench, GError **error)
{
  for (guint i = 0; i < bench->count; i++)
    for (guint set = 0; set < bench->sets; set++) {
      List *list = &bench->lists[i];
      list->runs[set] = bind_list (bench, list, bench->memory + set * bench->bytes);
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
run_list (Bench *bench, const List *list, gboolean rehearse, GError **error)
{
  LigSteps *run = list->runs[bench->next];
  LigStatus status;
  bench->next = (bench->next + 1) % bench->sets;
  int at = lig_steps_run (run, 0, run->n_steps, (LigStepsMode){.rehearse = rehearse}, &status);
  if (at == run->n_steps && status == LIG_OK)
    return TRUE;
  const LigKernel *kernel =
    g_array_index (list->steps, LigDraftStep, MIN (at, run->n_steps - 1)).kernel;
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
  if (list->sustained &&
      !lig_device_check (bench->device, bench->calls->replay (handle, list->graph, stream),
                         _ ("measuring"), error))
    return FALSE;
  if (!lig_stopwatch_start (&bench->watch, error))
    return FALSE;
  if (list->graph
        ? !lig_device_check (bench->device, bench->calls->replay (handle, list->graph, stream),
                             _ ("measuring"), error)
        : !run_list (bench, list, FALSE, error))
    return FALSE;
  if (!lig_stopwatch_stop (&bench->watch, seconds, error))
    return FALSE;
  *seconds /= list->repeats;
  return TRUE;
}

/* Warms a list up: kernels choose their algorithms; then, if the device has graphs, enough runs for
 * a sample that is long enough become one graph. */
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
  gboolean sustained = bench->timing != LIG_TIMING_GROUPS && seconds > SUSTAINED_FROM;
  double span = sustained ? SUSTAINED_SPAN : SAMPLE_SPAN;
  guint repeats = (guint) CLAMP (span / MAX (seconds, 1e-7) + 1, 1, MOST_REPEATS);
  repeats = MAX (repeats, bench->sets);
  gboolean fine = lig_device_check (bench->device, bench->calls->capture (handle, stream),
                                    _ ("capturing"), error);
  if (!fine)
    return FALSE;
  for (guint i = 0; i < repeats && fine; i++)
    fine = run_list (bench, list, FALSE, error);
  LigStatus status = bench->calls->capture_end (handle, stream, &list->graph);
  list->repeats = repeats;
  list->sustained = sustained;
  return fine && lig_device_check (bench->device, status, _ ("capturing"), error) &&
         run_sample (bench, list, &seconds, error);
}

/* Shuffles the numbers of the lists: a list that always follows the same one always finds the
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
  for (int round = 0; round < MOST_SAMPLES; round++) {
    if (round >= sessions[bench->timing].turns && lig_now () > deadline)
      break;
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
  bench->offsets = g_hash_table_new (NULL, NULL);
  lay_out (bench);
  bench->memory = lig_device_allocate (device, bench->bytes * bench->sets, NULL);
  if (!bench->memory) {
    bench->sets = 1;
    bench->memory = lig_device_allocate (device, bench->bytes, error);
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
    if (bench->lists[i].graph)
      bench->calls->graph_free (lig_device_handle (device), bench->lists[i].graph);
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
  g_clear_pointer (&bench->offsets, g_hash_table_unref);
  g_free (bench->lists);
}

gboolean
lig_time_lists (LigDraft *draft,
                GArray *const *lists,
                guint count,
                LigTiming timing,
                LigPrice *prices,
                GError **error)
{
  Bench bench = {.draft = draft,
                 .device = draft->device,
                 .calls = lig_device_calls (draft->device),
                 .lists = g_new0 (List, count),
                 .timing = timing,
                 .count = count};
  for (guint i = 0; i < count; i++)
    bench.lists[i] =
      (List){.steps = lists[i], .samples = g_array_new (FALSE, FALSE, sizeof (double))};
  bench.calls->enter (lig_device_handle (draft->device));
  lig_choices_begin (draft->device, draft->options.tuning);
  gboolean fine = prepare (&bench, error) && sample (&bench, error);
  lig_choices_end (draft->device);
  for (guint i = 0; i < count && fine; i++)
    summarize (&bench.lists[i], &prices[i]);
  clear (&bench);
  return fine;
}
