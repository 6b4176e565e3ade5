/* SPDX-License-Identifier: MIT */
/* Recompiles the plan of a run, with the recorded groups, for its device or the description of
 * that, and reads the times of profiles for this or for a given plan. */
#include "engine/base/json-private.h"
#include "engine/report/picture.h"
#include <ligature/compile.h>
#include <ligature/json.h>
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/recorded-times.h>
#include <ligature/run.h>
#include <ligature/store-spreads.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

/* The number of profiles among which the one of a plan is looked for. */
enum { MAX_CANDIDATES = 200 };

static JsonObject *
get_object (JsonNode *root)
{
  return root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
}

/* --- The device ---------------------------------------------------------------------------- */

/* Returns a member of the recorded versions, such as the name of the device, or NULL; (transfer
 * full). */
static char *
read_version (const LigRunRow *row, const char *name)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->versions, NULL);
  JsonObject *object = get_object (root);
  JsonNode *value = object ? json_object_get_member (object, name) : NULL;
  return value && JSON_NODE_HOLDS_VALUE (value) ? json_node_dup_string (value) : NULL;
}

/* Opens the description of the device of this name. */
static LigDevice *
open_described (const char *name)
{
  g_auto (GStrv) names = lig_device_list ();
  for (char **at = names; name && *name && *at; at++) {
    g_autoptr (LigDevice) device =
      lig_device_name_has (*at, LIG_DEVICE_DESCRIBED) ? lig_device_open (*at, NULL) : NULL;
    if (device && g_str_equal (lig_device_get_facts (device)->name, name))
      return g_steal_pointer (&device);
  }
  return NULL;
}

/* Opens the run's device if its name is the recorded one, because `cuda:0` may be a different
 * device on this machine; otherwise the description of the device, or a device without
 * properties. */
static LigDevice *
open_device (const LigReportRun *run, GString *note)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = read_version (run->row, "device");
  g_autoptr (LigDevice) device = lig_device_open (run->row->device, &error);
  if (device && (!name || g_str_equal (name, lig_device_get_facts (device)->name))) {
    g_string_append_printf (note, "on %s", run->row->device);
    return g_steal_pointer (&device);
  }
  LigDevice *described = open_described (name);
  if (described) {
    g_string_append_printf (note, "on %s, which describes the %s of the run; times are predicted",
                            lig_device_get_name (described), name);
    return described;
  }
  g_string_append_printf (
    note, "on a device without properties, because the run's %s (%s) is not available",
    run->row->device, name ? name : "not described");
  return lig_device_open ("null", NULL);
}

/* --- Options ------------------------------------------------------------------------------- */

/* Makes the plan that of rank 0 if several ranks trained. Older versions did not record the
 * ranks. */
static void
shard (const LigReportRun *run, LigSequence *sequence, LigDevice *device, LigPlanOptions *options)
{
  LigLayout layout;
  g_autoptr (JsonNode) root = run->inputs ? lig_json_from_text (run->inputs, NULL) : NULL;
  JsonObject *object = get_object (root);
  gint64 ranks = object ? lig_json_get_int (object, "ranks", 1) : 1;
  const char *parallel = object ? lig_json_get_string (object, "parallel", NULL) : NULL;
  if (ranks > 1 && ranks <= LIG_MAX_PEERS &&
      lig_layout_parse (&layout, parallel, (int) ranks, NULL) &&
      lig_plan_options_shard (options, sequence, &layout, NULL))
    lig_device_assume_ranks (device, 0, &layout);
}

static void
read_types (const char *text, LigPlanOptions *options)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", 2);
  for (int i = 0; parts[i]; i++) {
    LigDtype dtype;
    if (i > 0)
      lig_parameters_from_name (parts[i], &options->parameters);
    else if (lig_dtype_from_name (parts[i], &dtype) && lig_dtype_is_floating (dtype))
      options->compute = (int) dtype;
  }
}

/* Returns whether the run's plan had an update. Profiles record its time. */
static gboolean
has_update (const LigReportRun *run)
{
  for (guint i = 0; i < run->timings->len; i++)
    if (g_str_equal (((const LigTimingRow *) run->timings->pdata[i])->pass, "update"))
      return TRUE;
  return g_str_equal (run->row->kind, "train");
}

/* Reads the settings that the kernels depend on; the options point into `settings`. */
static void
read_settings (const LigReportRun *run,
               LigRunSettings *settings,
               LigPlanOptions *options,
               LigOptimizer *optimizer)
{
  gboolean known = lig_run_settings_read_record (settings, run->row->settings, NULL);
  options->tf32 = known && settings->tf32 != 0;
  options->nondeterministic = known && settings->nondeterministic != 0;
  options->shard_optimizer = known && settings->shard_optimizer != 0;
  if (known)
    options->bucket_bytes = settings->bucket_size << 20;
  options->freeze = known ? settings->freeze : NULL;
  options->recompute = LIG_RECOMPUTE_NONE;
  if (known && settings->recompute)
    lig_recompute_from_name (settings->recompute, &options->recompute);
  if (!known || !lig_run_settings_get_optimizer (settings, optimizer, NULL))
    *optimizer = (LigOptimizer) LIG_OPTIMIZER_INIT;
  if (known) {
    optimizer->loss_scale = settings->loss_scale;
    options->accumulate = has_update (run) && settings->accumulate > 1;
  }
  options->optimizer = has_update (run) ? optimizer : NULL;
}

/* Returns the groups in the format of lig_plan_get_choices(). A joint one is recorded in both
 * passes and listed once. */
static char *
list_choices (const LigReportRun *run)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < run->fusions->len; i++) {
    const LigFusionRow *row = run->fusions->pdata[i];
    if (!row->fusion)
      continue;
    char *choice = g_strdup_printf ("%s@%d+%d", row->fusion, row->first_op, row->count);
    if (!g_hash_table_contains (seen, choice))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", choice);
    g_hash_table_add (seen, choice);
  }
  return g_string_free (text, FALSE);
}

/* Returns whether the plan has exactly the recorded groups of a pass. */
static gboolean
has_groups (const LigReportRun *run, LigPlan *plan, LigPass pass)
{
  guint count, seen = 0;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
  for (guint i = 0; i < run->fusions->len; i++) {
    const LigFusionRow *row = run->fusions->pdata[i];
    if (!g_str_equal (row->pass, lig_pass_name (pass)))
      continue;
    if (row->group < 0 || (guint) row->group >= count)
      return FALSE;
    const LigPlanGroup *group = &groups[row->group];
    if (g_strcmp0 (group->fusion ? group->fusion->name : NULL, row->fusion) != 0 ||
        group->first != row->first_op || group->count != row->count)
      return FALSE;
    seen++;
  }
  return seen == count;
}

static gboolean
has_backward (const LigReportRun *run)
{
  for (guint i = 0; i < run->fusions->len; i++)
    if (g_str_equal (((const LigFusionRow *) run->fusions->pdata[i])->pass, "backward"))
      return TRUE;
  return FALSE;
}

/* Compiles with exactly the recorded groups, or fails, because wrong rails are worse than none. The
 * store does not record whether the run computed the gradient of the input, so both cases are
 * tried. */
static LigPlan *
compile_recorded (const LigReportRun *run,
                  LigSequence *sequence,
                  LigDevice *device,
                  const LigPlanOptions *options,
                  GError **error)
{
  g_autofree char *choices = list_choices (run);
  LigPlanOptions own = *options;
  own.choices = choices;
  own.training = has_backward (run);
  for (int gradient = 0; gradient <= (own.training ? 1 : 0); gradient++) {
    own.input_gradient = gradient;
    g_clear_error (error);
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &own, error);
    if (plan && has_groups (run, plan, LIG_PASS_FORWARD) &&
        has_groups (run, plan, LIG_PASS_BACKWARD))
      return g_steal_pointer (&plan);
  }
  if (error && !*error)
    g_set_error (error, LIG_ERROR, LIG_ERROR_FUSION,
                 _ ("the groups differ from the recorded ones"));
  return NULL;
}

static LigPlan *
compile (const LigReportRun *run,
         LigSequence *sequence,
         LigDevice *device,
         const LigPlanOptions *options,
         GString *note,
         GError **error)
{
  if (run->fusions->len > 0) {
    g_string_prepend (note, "Recompiled with the groups that the run recorded, ");
    return compile_recorded (run, sequence, device, options, error);
  }
  /* The policy `measured` would use the device. */
  LigPlanOptions today = *options;
  if (today.policy != LIG_POLICY_NONE)
    today.policy = LIG_POLICY_ALL;
  g_string_prepend (note,
                    "The run recorded no groups. Recompiled with the groups that are chosen now, ");
  return lig_plan_compile (sequence, device, &today, error);
}

LigPlan *
lig_report_rebuild (const LigReportRun *run, char **note)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) text = g_string_new (NULL);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (run->row->sequence, -1, NULL, &error);
  g_autoptr (LigDevice) device = sequence ? open_device (run, text) : NULL;
  read_types (run->row->dtype, &options);
  read_settings (run, &settings, &options, &optimizer);
  if (!lig_policy_from_name (run->row->policy, &options.policy))
    options.policy = LIG_POLICY_ALL;
  if (device)
    lig_tuning_recall (device, run->file);
  if (device)
    shard (run, sequence, device, &options);
  LigPlan *plan = device ? compile (run, sequence, device, &options, text, &error) : NULL;
  *note = plan ? g_strdup_printf ("%s.", text->str)
               : g_strdup_printf ("The rails cannot be drawn: %s",
                                  error ? error->message : "no device can be opened");
  return plan;
}

/* --- Recorded times ------------------------------------------------------------------------ */

void
lig_recorded_times_free (LigRecordedTimes *self)
{
  if (!self)
    return;
  lig_plan_unref (self->plan);
  g_free (self->steps);
  g_free (self->run);
  g_free (self->note);
  g_free (self);
}

void
lig_recorded_times_get (const LigRecordedTimes *self, LigTimedPlan *timed)
{
  g_return_if_fail (self && timed);
  *timed = (LigTimedPlan){self->plan, self->steps, self->passes, self->spreads};
}

/* --- Times --------------------------------------------------------------------------------- */

/* Distributes a group's time over its steps. */
static void
distribute (const LigPlanStep *steps, const LigPlanGroup *group, double seconds, double *times)
{
  double predicted = 0;
  for (int i = 0; i < group->n_steps; i++)
    predicted += steps[group->steps[i]].predicted;
  for (int i = 0; i < group->n_steps; i++) {
    double share =
      predicted > 0 ? steps[group->steps[i]].predicted / predicted : 1. / group->n_steps;
    times[group->steps[i]] = seconds * share;
  }
}

/* Sets the times of the steps; returns FALSE if the timings are those of another plan. */
static gboolean
read_steps (const LigReportRun *run, LigPlan *plan, double *times)
{
  guint n_steps, n_groups;
  gboolean updates = lig_plan_has_pass (plan, LIG_PASS_UPDATE);
  const LigPlanStep *steps = lig_plan_get_steps (plan, &n_steps);
  for (guint i = 0; i < run->timings->len; i++) {
    const LigTimingRow *row = run->timings->pdata[i];
    gboolean update = g_str_equal (row->pass, "update");
    LigPass pass = g_str_equal (row->pass, "forward") ? LIG_PASS_FORWARD : LIG_PASS_BACKWARD;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &n_groups);
    if (update && !updates)
      continue;
    if (row->group < 0 || (guint) row->group >= (update ? n_steps : n_groups))
      return FALSE;
    if (update)
      times[row->group] = row->microseconds * 1e-6;
    else
      distribute (steps, &groups[row->group], row->microseconds * 1e-6, times);
  }
  return run->timings->len > 0;
}

/* Profiles of early versions recorded no spreads. */
static void
read_spreads (const LigReportRun *run, LigRecordedTimes *to)
{
  static const char *const figures[] = {"forward", "backward", "update", "step"};
  gboolean updates = lig_plan_has_pass (to->plan, LIG_PASS_UPDATE);
  for (guint i = 0; i < run->spreads->len; i++) {
    const LigSpreadRow *row = run->spreads->pdata[i];
    for (guint k = 0; k < G_N_ELEMENTS (figures); k++) {
      if (!g_str_equal (row->figure, figures[k]) || !isfinite (row->microseconds))
        continue;
      if (k < LIG_STEP_SPREAD)
        to->passes[k] = row->microseconds * 1e-6;
      /* The step of a profile contains the update. */
      if ((k < LIG_PASS_UPDATE || updates) && isfinite (row->lower) && isfinite (row->upper))
        to->spreads[k] = (LigSpread){(guint) row->count, row->microseconds * 1e-6,
                                     row->lower * 1e-6, row->upper * 1e-6};
    }
  }
}

LigRecordedTimes *
lig_report_read_times (const LigReportRun *run, LigPlan *plan)
{
  guint n_steps;
  lig_plan_get_steps (plan, &n_steps);
  if (!g_str_equal (run->row->kind, "profile"))
    return NULL;
  LigRecordedTimes *self = g_new0 (LigRecordedTimes, 1);
  self->plan = lig_plan_ref (plan);
  self->steps = g_new0 (double, n_steps + 1);
  self->run = g_strdup (run->row->uuid);
  self->started = run->row->started;
  read_spreads (run, self);
  if (!read_steps (run, plan, self->steps))
    g_clear_pointer (&self, lig_recorded_times_free);
  return self;
}

LigRecordedTimes *
lig_recorded_times_read (LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && run, NULL);
  g_auto (LigReportRun) contents = {0};
  g_autofree char *note = NULL;
  if (!lig_report_read_run (&contents, store, run, error))
    return NULL;
  g_autoptr (LigPlan) plan = lig_report_rebuild (&contents, &note);
  LigRecordedTimes *self = plan ? lig_report_read_times (&contents, plan) : NULL;
  if (self)
    self->note = g_steal_pointer (&note);
  else if (!plan)
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE, _ ("run '%s': the plan is unknown: %s"),
                 contents.row->uuid, note);
  else
    g_set_error (error, LIG_ERROR, LIG_ERROR_STORE,
                 _ ("run '%s' is a %s without the times of groups, expected a profile"),
                 contents.row->uuid, contents.row->kind);
  return self;
}

/* --- Finding ------------------------------------------------------------------------------- */

char *
lig_report_describe_sequence (LigSequence *sequence, LigPlan *plan)
{
  const char *recipe = lig_plan_get_recipe (plan);
  g_autoptr (LigSequence) copy = lig_sequence_copy (sequence);
  lig_sequence_set_name (copy, NULL);
  lig_sequence_set_train (copy, NULL);
  lig_sequence_set_types (copy, -1, -1);
  lig_sequence_set_recipe (copy, g_str_equal (recipe, "none") ? NULL : recipe, NULL);
  return lig_sequence_to_json (copy);
}

static gboolean
is_same_device (const LigRunRow *row, LigPlan *plan)
{
  const LigDeviceFacts *facts = lig_device_get_facts (lig_plan_get_device (plan));
  g_autofree char *name = read_version (row, "device");
  g_autofree char *libraries = read_version (row, "libraries");
  return g_strcmp0 (name, facts->name) == 0 && g_strcmp0 (libraries, facts->libraries) == 0;
}

static gboolean
has_types (const LigRunRow *row, LigPlan *plan)
{
  const char *compute = lig_dtype_name (lig_plan_get_compute (plan));
  const char *parameters = lig_plan_get_parameters_name (plan);
  g_auto (GStrv) types = g_strsplit (row->dtype, ":", 2);
  return g_strcmp0 (types[0], compute) == 0 &&
         g_strcmp0 (types[0] && types[1] ? types[1] : types[0], parameters) == 0 &&
         g_strcmp0 (row->recipe, lig_plan_get_recipe (plan)) == 0;
}

gboolean
lig_report_is_sequence (const LigRunRow *row, LigPlan *plan, const char *text)
{
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (row->sequence, -1, NULL, NULL);
  g_autofree char *other = sequence ? lig_report_describe_sequence (sequence, plan) : NULL;
  return g_strcmp0 (other, text) == 0;
}

/* Returns whether a single process measured the profile. */
static gboolean
is_single (const LigReportRun *run)
{
  g_autoptr (JsonNode) root = run->inputs ? lig_json_from_text (run->inputs, NULL) : NULL;
  JsonObject *object = get_object (root);
  return !object || lig_json_get_int (object, "ranks", 1) == 1;
}

/* Returns whether the groups have the recorded bytes and operations: settings such as recomputation
 * and the gradient of the input change these. */
static gboolean
has_work (const LigReportRun *run, LigPlan *plan)
{
  guint count;
  for (guint i = 0; i < run->timings->len; i++) {
    const LigTimingRow *row = run->timings->pdata[i];
    if (g_str_equal (row->pass, "update"))
      continue;
    LigPass pass = g_str_equal (row->pass, "forward") ? LIG_PASS_FORWARD : LIG_PASS_BACKWARD;
    const LigPlanGroup *groups = lig_plan_get_groups (plan, pass, &count);
    if (row->group < 0 || (guint) row->group >= count || groups[row->group].bytes != row->bytes ||
        groups[row->group].flops != row->flops)
      return FALSE;
  }
  return TRUE;
}

/* Returns whether the settings that change kernels or times but not their work are those of the
 * plan, whose experts have an even load. */
static gboolean
has_settings (const LigRunRow *row, LigPlan *plan)
{
  g_autoptr (JsonNode) root = lig_json_from_text (row->settings, NULL);
  JsonObject *object = get_object (root);
  return object &&
         json_object_get_boolean_member_with_default (object, "tf32", FALSE) ==
           lig_plan_get_tf32 (plan) &&
         json_object_get_boolean_member_with_default (object, "nondeterministic", FALSE) ==
           lig_plan_get_nondeterministic (plan) &&
         g_str_equal (lig_json_get_string (object, "expert_load", "even"), "even");
}

static LigRecordedTimes *
try (LigStore *store, const LigRunRow *row, LigPlan *plan)
{
  g_auto (LigReportRun) run = {0};
  if (!lig_report_read_run (&run, store, row->uuid, NULL) || !is_single (&run) ||
      !has_groups (&run, plan, LIG_PASS_FORWARD) || !has_groups (&run, plan, LIG_PASS_BACKWARD) ||
      !has_work (&run, plan))
    return NULL;
  return lig_report_read_times (&run, plan);
}

LigRecordedTimes *
lig_recorded_times_find (LigStore *store, LigPlan *plan)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && plan, NULL);
  LigDevice *device = lig_plan_get_device (plan);
  LigRecordedTimes *found = NULL;
  if (lig_device_has (device, LIG_DEVICE_DESCRIBED) ||
      lig_device_get_n_ranks (device, LIG_GROUP_ALL) > 1)
    return NULL;
  const LigRunFilter filter = {.kind = "profile",
                               .status = "done",
                               .device = lig_device_get_name (device),
                               .limit = MAX_CANDIDATES};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (store, &filter, NULL);
  g_autofree char *text = lig_report_describe_sequence (lig_plan_get_sequence (plan), plan);
  const char *rejected = NULL;
  for (guint i = 0; rows && i < rows->len && !found; i++) {
    const LigRunRow *row = rows->pdata[i];
    /* Adjacent rows share equal texts, which are parsed once. */
    if (row->sequence == rejected || !has_types (row, plan) || !is_same_device (row, plan) ||
        !has_settings (row, plan))
      continue;
    if (lig_report_is_sequence (row, plan, text))
      found = try (store, row, plan);
    else
      rejected = row->sequence;
  }
  return found;
}
