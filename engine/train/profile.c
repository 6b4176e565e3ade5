/* SPDX-License-Identifier: MIT */
/* Measures whole training steps, and single steps of the plan, on random data. */
#include "engine/device/device-private.h"
#include "engine/measure/conditions.h"
#include "engine/measure/shared-choices.h"
#include "engine/measure/stopwatch.h"
#include "engine/program/results.h"
#include "engine/store/writing.h"
#include "engine/train/profile-json.h"
#include "engine/train/profile-load.h"
#include "engine/train/profile-ranks.h"
#include "engine/train/profile-spread.h"
#include "engine/train/record.h"
#include <ligature/json.h>
#include <ligature/plan-options.h>
#include <ligature/profile.h>
#include <ligature/ranks.h>

#include <glib/gi18n-lib.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

static void
clear (gpointer data)
{
  LigProfile *self = data;
  g_clear_pointer (&self->plan, lig_plan_unref);
  g_free (self->steps);
  g_free (self->run);
  g_free (self->load);
  lig_profile_ranks_free (self->ranks);
}

void
lig_profile_free (LigProfile *self)
{
  if (self)
    g_atomic_rc_box_release_full (self, clear);
}

G_DEFINE_BOXED_TYPE (LigProfile, lig_profile, g_atomic_rc_box_acquire, lig_profile_free)

/* The columns of one round: executions of one or more passes, then every step. */
enum { FORWARD, BACKWARD, UPDATE, FORWARD_BACKWARD, WHOLE, FIRST_STEP };

/* Runs the passes, except those that the plan lacks. */
static gboolean
run_passes (LigProgram *program, unsigned flags, GError **error)
{
  LigPlan *plan = lig_program_get_plan (program);
  if (!lig_plan_has_pass (plan, LIG_PASS_BACKWARD))
    flags &= ~(unsigned) LIG_RUN_BACKWARD;
  if (!lig_plan_has_pass (plan, LIG_PASS_UPDATE))
    flags &= ~(unsigned) LIG_RUN_UPDATE;
  return flags == 0 || lig_program_run (program, flags, error);
}

/* Returns the number of columns of a round; with ranks also the waits for each step. */
static guint
count_columns (LigPlan *plan)
{
  guint count;
  lig_plan_get_steps (plan, &count);
  return FIRST_STEP + (lig_device_get_ranks (lig_plan_get_device (plan)) ? 2 * count : count);
}

/* Adds the accumulated waits of the program to those of the round, or subtracts them. */
static gboolean
add_waits (LigProgram *program, double sign, double *sample, GError **error)
{
  guint count;
  lig_plan_get_steps (lig_program_get_plan (program), &count);
  g_autofree double *now = g_new (double, count + 1);
  if (count_columns (lig_program_get_plan (program)) == FIRST_STEP + count)
    return TRUE;
  if (!lig_program_read_waits (program, now, error))
    return FALSE;
  for (guint i = 0; i < count; i++)
    sample[FIRST_STEP + count + i] += sign * now[i];
  return TRUE;
}

static gboolean
time_passes (
  LigProgram *program, LigStopwatch *watch, unsigned flags, double *seconds, GError **error)
{
  return lig_stopwatch_start (watch, error) && run_passes (program, flags, error) &&
         lig_stopwatch_stop (watch, seconds, error);
}

static gboolean
run_round (LigProgram *program, LigStopwatch *watch, double *sample, GError **error)
{
  static const unsigned flags[] = {
    [FORWARD] = LIG_RUN_FORWARD,
    [BACKWARD] = LIG_RUN_BACKWARD,
    [UPDATE] = LIG_RUN_UPDATE,
    [FORWARD_BACKWARD] = LIG_RUN_FORWARD | LIG_RUN_BACKWARD,
    [WHOLE] = LIG_RUN_FORWARD | LIG_RUN_BACKWARD | LIG_RUN_UPDATE,
  };
  /* On a synchronous device the time of all passes is the sum of each pass's time. */
  gboolean apart = watch->device && !lig_device_has (watch->device, LIG_DEVICE_ASYNCHRONOUS);
  int runs = apart ? FORWARD_BACKWARD : FIRST_STEP, whole = apart ? FORWARD : WHOLE;
  for (int i = 0; i < runs; i++)
    if ((i == whole && !add_waits (program, -1, sample, error)) ||
        !time_passes (program, watch, flags[i], &sample[i], error))
      return FALSE;
  if (!add_waits (program, 1, sample, error))
    return FALSE;
  if (apart) {
    sample[FORWARD_BACKWARD] = sample[FORWARD] + sample[BACKWARD];
    sample[WHOLE] = sample[FORWARD_BACKWARD] + sample[UPDATE];
  }
  return lig_program_time_steps_freely (program, sample + FIRST_STEP, error);
}

/* Computes the figures of a plan. `conditions` are those from before the measurement. */
static void
summarize (LigProfile *self,
           const LigConditions *conditions,
           const double *samples,
           guint width,
           guint rounds)
{
  g_autofree double *column = g_new (double, rounds);
  self->steps = g_new0 (double, width);
  double *targets[] = {&self->forward, &self->backward, &self->update, &self->forward_backward,
                       &self->step};
  LigSpread *spreads[] = {&self->forward_spread, &self->backward_spread, &self->update_spread,
                          &self->forward_backward_spread, &self->step_spread};
  for (guint i = 0; i < width; i++) {
    for (guint round = 0; round < rounds; round++)
      column[round] = samples[round * width + i];
    LigSpread step, *spread = i < FIRST_STEP ? spreads[i] : &step;
    lig_spread_measure (column, rounds, spread);
    *(i < FIRST_STEP ? targets[i] : &self->steps[i - FIRST_STEP]) = spread->median;
  }
  lig_device_get_health (lig_plan_get_device (self->plan), &self->health);
  self->conditions = *conditions;
  lig_conditions_end (&self->conditions, &self->step_spread, &self->health);
}

/* Returns a program with a new state. */
static LigProgram *
prepare_plan (LigSequence *sequence,
              LigDevice *device,
              const LigPlanOptions *options,
              const LigProfileLoad *load,
              GError **error)
{
  g_autoptr (LigState) state = lig_state_new (sequence, device, options, 0, error);
  g_autoptr (LigPlan) plan = state ? lig_state_plan (state, sequence, options, error) : NULL;
  g_autoptr (LigProgram) program = plan ? lig_program_new (plan, state, error) : NULL;
  if (!program || !lig_profile_load_fill (load, program, error) ||
      !lig_program_separate_waits (program, error))
    return NULL;
  lig_program_keep_gradients (program);
  lig_program_set_rate (program, 0, 0);
  return g_steal_pointer (&program);
}

/* Rank 0 chooses the groups for all ranks, which would choose different ones. */
static LigProgram *
prepare (LigSequence *sequence,
         LigDevice *device,
         const LigPlanOptions *options,
         const LigProfileLoad *load,
         GError **error)
{
  LigRanks *ranks = lig_device_get_ranks (device);
  g_autofree char *choices = NULL;
  g_autoptr (LigProgram) program = NULL;
  if (lig_ranks_get_rank (ranks) > 0) {
    LigPlanOptions chosen = LIG_PLAN_OPTIONS_INIT;
    memcpy (&chosen, options ? options : &chosen,
            MIN (options ? options->size : sizeof chosen, sizeof chosen));
    chosen.size = sizeof chosen;
    if (!lig_choices_share (device, NULL, &choices, error))
      return NULL;
    chosen.choices = choices;
    return prepare_plan (sequence, device, &chosen, load, error);
  }
  program = prepare_plan (sequence, device, options, load, error);
  choices = program ? lig_plan_get_choices (lig_program_get_plan (program)) : NULL;
  const LigTuning *tuning = options ? options->tuning : NULL;
  if (!program || !lig_choices_share (device, tuning, &choices, error))
    return NULL;
  return g_steal_pointer (&program);
}

static void
add_number (JsonBuilder *builder, const char *key, double value)
{
  json_builder_set_member_name (builder, key);
  if (value < 0)
    json_builder_add_null_value (builder);
  else
    json_builder_add_double_value (builder, value);
}

JsonNode *
lig_profile_health_to_json (const LigDeviceHealth *health)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "driver");
  json_builder_add_string_value (builder, health->driver);
  add_number (builder, "clock_mhz", health->clock);
  add_number (builder, "memory_clock_mhz", health->memory_clock);
  add_number (builder, "power_w", health->power);
  add_number (builder, "power_limit_w", health->power_limit);
  add_number (builder, "temperature_c", health->temperature);
  json_builder_set_member_name (builder, "throttling");
  json_builder_add_string_value (builder, health->throttling);
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}

/* Describes the conditions of the times besides the plan: the device's health, the rounding of
 * matmuls, the order of sums, and the chosen attention kernels. */
static char *
describe_settings (const LigProfile *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "tf32");
  json_builder_add_boolean_value (builder, lig_plan_get_tf32 (self->plan));
  json_builder_set_member_name (builder, "nondeterministic");
  json_builder_add_boolean_value (builder, lig_plan_get_nondeterministic (self->plan));
  json_builder_set_member_name (builder, "recompute");
  json_builder_add_string_value (builder, lig_recompute_name (lig_plan_get_recompute (self->plan)));
  if (self->load) {
    json_builder_set_member_name (builder, "expert_load");
    json_builder_add_string_value (builder, self->load);
  }
  json_builder_set_member_name (builder, "health");
  json_builder_add_value (builder, lig_profile_health_to_json (&self->health));
  json_builder_set_member_name (builder, "conditions");
  json_builder_add_value (builder, lig_profile_conditions_to_json (&self->conditions));
  json_builder_set_member_name (builder, "attention");
  json_builder_add_value (builder, lig_profile_attention_to_json ());
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static char *
describe_versions (const LigProfile *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "ligature");
  json_builder_add_string_value (builder, LIG_VERSION);
  json_builder_set_member_name (builder, "device");
  json_builder_add_string_value (builder,
                                 lig_device_get_facts (lig_plan_get_device (self->plan))->name);
  json_builder_set_member_name (builder, "libraries");
  json_builder_add_string_value (
    builder, lig_device_get_facts (lig_plan_get_device (self->plan))->libraries);
  json_builder_set_member_name (builder, "driver");
  json_builder_add_string_value (builder, self->health.driver);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static void
record_times (LigProfile *self, LigStore *store)
{
  guint count, n_steps;
  const LigPlanStep *steps = lig_plan_get_steps (self->plan, &n_steps);
  for (LigPass pass = LIG_PASS_FORWARD; pass <= LIG_PASS_BACKWARD; pass++) {
    const LigPlanGroup *groups = lig_plan_get_groups (self->plan, pass, &count);
    for (guint i = 0; i < count; i++) {
      lig_store_add_timing (store, self->run, 0, (int) i, lig_pass_name (pass),
                            lig_profile_get_group_seconds (self, &groups[i]) * 1e6, groups[i].bytes,
                            groups[i].flops);
    }
  }
  for (guint i = 0; i < n_steps; i++)
    if (steps[i].pass == LIG_PASS_UPDATE)
      lig_store_add_timing (store, self->run, 0, (int) i, "update", self->steps[i] * 1e6,
                            steps[i].read + steps[i].written, steps[i].flops);
}

/* Returns the sequence with the plan's recipe, which an option may have chosen. */
static char *
describe_sequence (const LigProfile *self, LigSequence *sequence)
{
  const char *recipe = lig_plan_get_recipe (self->plan);
  g_autoptr (LigSequence) recorded = lig_sequence_copy (sequence);
  lig_sequence_set_recipe (recorded, g_str_equal (recipe, "none") ? NULL : recipe, NULL);
  return lig_sequence_to_json (recorded);
}

/* Returns `bf16`, or `bf16:fp8` with parameters of another type. */
static char *
describe_types (const LigProfile *self)
{
  const char *compute = lig_dtype_name (lig_plan_get_compute (self->plan));
  const char *parameters = lig_plan_get_parameters_name (self->plan);
  return g_str_equal (compute, parameters) ? g_strdup (compute)
                                           : g_strconcat (compute, ":", parameters, NULL);
}

static gboolean
record (LigProfile *self,
        LigSequence *sequence,
        const LigPlanOptions *options,
        guint rounds,
        LigStore *store,
        GError **error)
{
  g_autofree char *text = describe_sequence (self, sequence);
  g_autofree char *dtype = describe_types (self);
  g_autofree char *expression = lig_sequence_to_expression (sequence);
  g_autofree char *settings = describe_settings (self);
  g_autofree char *versions = describe_versions (self);
  g_autofree char *inputs = lig_plan_describe_inputs (self->plan, options, rounds);
  const char *name = lig_sequence_get_name (sequence);
  LigRunRecord row = {
    .name = name ? name : expression,
    .sequence = text,
    .kind = "profile",
    .device = lig_device_get_name (lig_plan_get_device (self->plan)),
    .dtype = dtype,
    .recipe = lig_plan_get_recipe (self->plan),
    .policy = lig_policy_name (lig_plan_get_policy (self->plan)),
    .settings = settings,
    .versions = versions,
    .inputs = inputs,
  };
  self->run = lig_store_begin_run (store, &row, error);
  if (!self->run)
    return FALSE;
  lig_plan_record (self->plan, store, self->run);
  if (!lig_profile_record_spreads (self, store, error))
    return FALSE;
  record_times (self, store);
  return lig_store_finish_run (store, self->run, "done", NULL, error);
}

enum { WARM_UP = 3 };

/* The monitor during a round of slow steps. */
typedef struct {
  LigProfileMonitor monitor;
  gpointer data;
  guint round, rounds;
  gint64 asked; /* microseconds */
} Watch;

/* Calls the monitor, for which rounds of the warm-up do not count. */
static gboolean
tell_monitor (const Watch *self)
{
  guint round = self->round > WARM_UP ? self->round - WARM_UP : 0;
  return self->monitor (round, self->rounds - WARM_UP, self->data);
}

static gboolean
ask_monitor (gpointer data)
{
  Watch *self = data;
  gint64 now = g_get_monotonic_time ();
  if (now - self->asked < G_USEC_PER_SEC / 20)
    return FALSE;
  self->asked = now;
  return !tell_monitor (self);
}

/* Returns whether steps of the plan are so long that reading the clock before each kernel does not
 * matter: at least a second on a CPU at 20 operations per nanosecond. */
static gboolean
is_long (LigProgram *program)
{
  guint count;
  double work = 0;
  const LigPlanStep *steps = lig_plan_get_steps (lig_program_get_plan (program), &count);
  for (guint i = 0; i < count; i++)
    work += steps[i].flops;
  return work > 2e10 && count < 1e5;
}

/* Lets the monitor end long programs between two of their steps; null removes it. */
static void
watch_long (GPtrArray *programs, Watch *watch)
{
  for (guint i = 0; i < programs->len; i++)
    if (is_long (programs->pdata[i]))
      lig_program_set_interrupt (programs->pdata[i], watch ? ask_monitor : NULL, watch);
}

static gboolean
run_rounds (LigDevice *device,
            GPtrArray *programs,
            GPtrArray *samples,
            const guint *widths,
            LigStopwatch *stopwatch,
            Watch *watch,
            GError **error)
{
  for (; watch->round < watch->rounds; watch->round++) {
    gboolean goes_on = !watch->monitor || tell_monitor (watch);
    if (!lig_profile_meet (device, &goes_on, error))
      return FALSE;
    if (!goes_on) {
      g_set_error_literal (error, LIG_ERROR, LIG_ERROR_CANCELLED, _ ("the profile was cancelled"));
      return FALSE;
    }
    for (guint i = 0; i < programs->len; i++)
      if (!run_round (programs->pdata[i], stopwatch,
                      (double *) samples->pdata[i] + watch->round * widths[i], error))
        return FALSE;
  }
  return TRUE;
}

/* Runs all rounds; ending a program within a round also fails with %LIG_ERROR_CANCELLED. */
static gboolean
run_watched (LigDevice *device,
             GPtrArray *programs,
             GPtrArray *samples,
             const guint *widths,
             Watch *watch,
             GError **error)
{
  LigStopwatch stopwatch;
  /* Ranks would have to end at the same point. */
  gboolean asks = watch->monitor && !lig_device_get_ranks (device);
  if (asks)
    watch_long (programs, watch);
  gboolean fine = lig_stopwatch_init (&stopwatch, device, error) &&
                  run_rounds (device, programs, samples, widths, &stopwatch, watch, error);
  lig_stopwatch_clear (&stopwatch);
  if (asks)
    watch_long (programs, NULL);
  return fine;
}

/* Returns one of the caller's array elements, whose size is that of the header with which the
 * caller was compiled. */
static gconstpointer
get_options (const LigPlanOptions *options, guint i)
{
  return options ? (const char *) options + i * options->size : NULL;
}

GPtrArray *
lig_profile_measure_loaded (LigSequence *sequence,
                            LigDevice *device,
                            const LigPlanOptions *options,
                            guint count,
                            guint rounds,
                            const LigProfileLoad *load,
                            LigStore *store,
                            LigProfileMonitor monitor,
                            gpointer data,
                            GError **error)
{
  g_autoptr (GPtrArray) profiles =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_profile_free);
  g_autoptr (GPtrArray) programs =
    g_ptr_array_new_with_free_func ((GDestroyNotify) lig_program_unref);
  g_autoptr (GPtrArray) samples = g_ptr_array_new_with_free_func (g_free);
  count = options ? count : 1;
  g_autofree guint *widths = g_new (guint, count);
  LigConditions conditions;
  Watch watch = {monitor, data, .rounds = rounds + WARM_UP};
  if (!lig_profile_compare_ranks (sequence, device, count, rounds, error))
    return NULL;
  lig_conditions_begin (&conditions, device);
  for (guint i = 0; i < count; i++) {
    LigProgram *program = prepare (sequence, device, get_options (options, i), load, error);
    if (!program)
      return NULL;
    g_ptr_array_add (programs, program);
    LigProfile *profile = g_atomic_rc_box_new0 (LigProfile);
    profile->plan = lig_plan_ref (lig_program_get_plan (program));
    profile->load = lig_profile_load_name (load, profile->plan);
    g_ptr_array_add (profiles, profile);
    widths[i] = count_columns (profile->plan);
    g_ptr_array_add (samples, g_new0 (double, (gsize) widths[i] * (rounds + WARM_UP)));
  }
  gboolean fine = run_watched (device, programs, samples, widths, &watch, error);
  for (guint i = 0; i < count && fine; i++) {
    const double *kept = (double *) samples->pdata[i] + WARM_UP * widths[i];
    summarize (profiles->pdata[i], &conditions, kept, widths[i], rounds);
    fine =
      lig_profile_join_ranks (profiles->pdata[i], kept, widths[i], FIRST_STEP, rounds, error) &&
      (!store ||
       record (profiles->pdata[i], sequence, get_options (options, i), rounds, store, error));
  }
  return fine ? g_steal_pointer (&profiles) : NULL;
}

GPtrArray *
lig_profile_measure_watched (LigSequence *sequence,
                             LigDevice *device,
                             const LigPlanOptions *options,
                             guint count,
                             guint rounds,
                             LigStore *store,
                             LigProfileMonitor monitor,
                             gpointer data,
                             GError **error)
{
  return lig_profile_measure_loaded (sequence, device, options, count, rounds, NULL, store, monitor,
                                     data, error);
}

GPtrArray *
lig_profile_measure (LigSequence *sequence,
                     LigDevice *device,
                     const LigPlanOptions *options,
                     guint count,
                     guint rounds,
                     LigStore *store,
                     GError **error)
{
  return lig_profile_measure_watched (sequence, device, options, count, rounds, store, NULL, NULL,
                                      error);
}

double
lig_profile_get_roofline (const LigProfile *self, double floor, double measured)
{
  LigShape shape;
  LigDtype dtype;
  g_return_val_if_fail (self, NAN);
  lig_plan_get_input (self->plan, &shape, &dtype);
  for (int i = 0; i < shape.n_axes; i++)
    if (shape.axes[i] == 0)
      return NAN;
  return floor > 0 && measured > 0 ? floor / measured : NAN;
}

double
lig_profile_get_group_seconds (const LigProfile *self, const LigPlanGroup *group)
{
  double seconds = 0;
  for (int i = 0; i < group->n_steps; i++)
    seconds += self->steps[group->steps[i]];
  return seconds;
}
