/* SPDX-License-Identifier: MIT */
/* Repeats a recorded training run or profile. */
#include "engine/base/json-private.h"
#include "engine/train/inputs.h"
#include "engine/train/recording.h"
#include "engine/train/types.h"
#include "kernels/threads.h"
#include <ligature/optimizer.h>
#include <ligature/plan-options.h>
#include <ligature/tuning.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* The bounds of the number of rounds that a recording may request, and the default. */
enum { MIN_ROUNDS = 5, USUAL_ROUNDS = 15, MAX_ROUNDS = 10000 };

static JsonObject *
get_inputs (const LigRecording *self)
{
  return json_node_get_object (self->inputs);
}

/* Returns the groups of the plan, from the inputs, which include the number of parts in which a
 * group communicates rows. Older records have only the list of fusions, which lacks it. */
static const char *
get_choices (const LigRecording *self)
{
  return lig_json_get_string (get_inputs (self), "choices", self->choices);
}

static LigSequence *
read_sequence (const LigRecording *self, GError **error)
{
  g_autofree char *text = lig_recording_to_text (self->sequence);
  LigSequence *sequence = lig_sequence_from_json (text, -1, NULL, error);
  if (!sequence)
    g_prefix_error (error, _ ("run %.8s: "), self->run);
  return sequence;
}

/* The checkpoint belongs to the recorded run; that run may have chosen types and policy itself. */
static gboolean
read_settings (const LigRecording *self, LigRunSettings *settings, GError **error)
{
  g_autofree char *text = lig_recording_to_text (self->settings);
  if (!lig_run_settings_read_record (settings, text, error))
    return FALSE;
  g_clear_pointer (&settings->checkpoint, g_free);
  if (!settings->policy && *self->policy)
    settings->policy = g_strdup (self->policy);
  if (!settings->dtype && *self->dtype)
    settings->dtype = g_strdup (self->dtype);
  return TRUE;
}

/* Another CPU or GPU may not support the groups; then the run chooses its own. */
LigRun *
lig_recording_train (const LigRecording *self, LigDevice *device, LigStore *store, GError **error)
{
  g_return_val_if_fail (self && LIG_IS_DEVICE (device), NULL);
  g_auto (LigRunSettings) settings;
  g_autoptr (GError) failure = NULL;
  lig_run_settings_init (&settings);
  if (lig_recording_is_profile (self)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run %.8s is a profile, expected a training run"), self->run);
    return NULL;
  }
  JsonObject *inputs = get_inputs (self);
  gint64 step = lig_json_get_int (inputs, "continues", 0);
  if (step > 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run %.8s continued another run with different settings from step %" PRId64
                    "; repeat its parent, and resume that with these settings"),
                 self->run, step);
    return NULL;
  }
  g_autoptr (LigSequence) sequence = read_sequence (self, error);
  if (!sequence || !read_settings (self, &settings, error))
    return NULL;
  const char *init = lig_json_get_string (inputs, "init", NULL);
  LigRunOrigin origin = {
    .repeats = self->run,
    .choices = get_choices (self),
    .calibration_choices = lig_json_get_string (inputs, "calibration-choices", NULL),
    .algorithms = lig_json_get_string (inputs, "algorithms", NULL),
    .threads = (int) CLAMP (lig_json_get_int (inputs, "threads", 0), 0, omp_get_thread_limit ()),
  };
  LigRun *run = lig_run_new_from (sequence, device, &settings, init, store, &origin, &failure);
  if (!run && g_error_matches (failure, LIG_ERROR, LIG_ERROR_FUSION)) {
    origin.choices = origin.calibration_choices = NULL;
    g_clear_error (&failure);
    run = lig_run_new_from (sequence, device, &settings, init, store, &origin, &failure);
  }
  if (!run)
    g_propagate_error (error, g_steal_pointer (&failure));
  return run;
}

/* --- Profiles ------------------------------------------------------------------------------ */

static void
read_types (const LigRecording *self, LigPlanOptions *options)
{
  const char *parameters = lig_json_get_string (get_inputs (self), "parameters", "");
  lig_run_read_types (self->dtype, &options->compute, &options->parameters, NULL);
  lig_parameters_from_name (parameters, &options->parameters);
}

static gboolean
get_truth (JsonObject *object, const char *name, gboolean fallback)
{
  return json_object_get_boolean_member_with_default (object, name, fallback);
}

static gboolean
make_options (const LigRecording *self,
              LigTuning *tuning,
              LigOptimizer *optimizer,
              LigPlanOptions *options,
              GError **error)
{
  JsonObject *inputs = get_inputs (self);
  const char *name = lig_json_get_string (inputs, "optimizer", NULL);
  const LigOptimizerInfo *info = name ? lig_optimizer_info_find (name, error) : NULL;
  if (name && (!info || !lig_optimizer_init (optimizer, info->name, error)))
    return FALSE;
  options->training = get_truth (inputs, "training", TRUE);
  options->input_gradient = get_truth (inputs, "input-gradient", FALSE);
  options->accumulate = get_truth (inputs, "accumulate", FALSE);
  options->tf32 = get_truth (json_node_get_object (self->settings), "tf32", FALSE);
  options->nondeterministic =
    get_truth (json_node_get_object (self->settings), "nondeterministic", FALSE);
  const char *again =
    lig_json_get_string (json_node_get_object (self->settings), "recompute", "none");
  options->recompute = LIG_RECOMPUTE_NONE;
  lig_recompute_from_name (again, &options->recompute);
  options->shard_optimizer = get_truth (inputs, "shard-optimizer", FALSE);
  options->bucket_bytes = lig_json_get_int (inputs, "bucket-bytes", LIG_BUCKET_INITIAL);
  options->optimizer = self->update ? optimizer : NULL;
  options->tuning = tuning;
  options->choices = get_choices (self);
  lig_policy_from_name (self->policy, &options->policy);
  read_types (self, options);
  return TRUE;
}

/* Sets the options for the plan of one of the ranks that the device has joined. */
static gboolean
shard_options (LigSequence *sequence, LigDevice *device, LigPlanOptions *options, GError **error)
{
  const LigLayout *layout = lig_device_get_ranks (device) ? lig_device_get_layout (device) : NULL;
  return !layout || lig_plan_options_shard (options, sequence, layout, error);
}

char *
lig_recording_profile (const LigRecording *self,
                       LigDevice *device,
                       LigStore *store,
                       LigProfileMonitor monitor,
                       gpointer data,
                       GError **error)
{
  g_return_val_if_fail (self && LIG_IS_DEVICE (device), NULL);
  LigTuning tuning;
  LigOptimizer optimizer = LIG_OPTIMIZER_INIT;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  if (!lig_recording_is_profile (self)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run %.8s is a training run, expected a profile"), self->run);
    return NULL;
  }
  lig_tuning_init (&tuning, store);
  const char *name =
    lig_json_get_string (json_node_get_object (self->settings), "expert_load", "even");
  g_autoptr (LigProfileLoad) load = lig_profile_load_parse (name, store, error);
  g_autoptr (LigSequence) sequence = load ? read_sequence (self, error) : NULL;
  if (!sequence || !make_options (self, &tuning, &optimizer, &options, error) ||
      !shard_options (sequence, device, &options, error))
    return NULL;
  gint64 rounds = lig_json_get_int (get_inputs (self), "rounds",
                                    self->step.count > 0 ? self->step.count : USUAL_ROUNDS);
  g_autoptr (GPtrArray) profiles = lig_profile_measure_loaded (
    sequence, device, &options, 1, (guint) CLAMP (rounds, MIN_ROUNDS, MAX_ROUNDS), load, store,
    monitor, data, error);
  if (!profiles)
    return NULL;
  const char *run = ((const LigProfile *) profiles->pdata[0])->run;
  return g_strdup (run ? run : "");
}
