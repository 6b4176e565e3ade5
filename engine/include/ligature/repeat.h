/* SPDX-License-Identifier: MIT */
/* Repetitions: a recorded training run or profile is repeated from its record in the store or in a
 * report, and both are compared.
 *
 * Threads: any thread may use a recording, but only one at a time. */
#pragma once

#include <ligature/foreign.h>
#include <ligature/profile.h>
#include <ligature/run.h>
#include <ligature/spread.h>

G_BEGIN_DECLS

/**
 * LigRecording:
 *
 * The whole record of a run: sequence, settings, versions, hashes, groups, the values of each step.
 */
typedef struct _LigRecording LigRecording;

#define LIG_TYPE_RECORDING (lig_recording_get_type ())
LIG_API GType lig_recording_get_type (void);

/**
 * lig_recording_read_run:
 * @store: a store
 * @selector: a selector as for lig_store_find_run()
 *
 * Returns: (transfer full): the recording of a run, or %NULL with an error set
 */
LIG_API LigRecording *lig_recording_read_run (LigStore *store,
                                              const char *selector,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recording_read_report:
 * @path: (type filename): a report of a run in the format `html` or `json`
 *
 * Returns: (transfer full): the recording in the report, or %NULL with an error set
 */
LIG_API LigRecording *lig_recording_read_report (const char *path,
                                                 GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recording_free:
 * @self: (nullable): a recording
 *
 * Releases a reference to a recording.
 */
LIG_API void lig_recording_free (LigRecording *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRecording, lig_recording_free)

/**
 * lig_recording_get_run:
 * @self: a recording
 *
 * Returns: (transfer none): the uuid of the run
 */
LIG_API const char *lig_recording_get_run (const LigRecording *self);

/**
 * lig_recording_get_ranks:
 * @self: a recording
 *
 * Returns: the number of processes of the run
 */
LIG_API int lig_recording_get_ranks (const LigRecording *self);

/**
 * lig_recording_explain_length:
 * @self: a recording
 *
 * Returns: (transfer full) (nullable): a translated sentence for a training run that ended before
 *   its last step, whose steps are all repeated because schedules depend on them; %NULL for other
 *   runs
 */
LIG_API char *lig_recording_explain_length (const LigRecording *self);

/**
 * lig_recording_get_layout:
 * @self: a recording
 *
 * Returns: (transfer none) (nullable): the parallelism of the processes, a text for
 *   lig_layout_parse(); %NULL if it was only data parallel
 */
LIG_API const char *lig_recording_get_layout (const LigRecording *self);

/**
 * lig_recording_get_name:
 * @self: a recording
 *
 * Returns: (transfer none): the name of the experiment
 */
LIG_API const char *lig_recording_get_name (const LigRecording *self);

/**
 * lig_recording_is_profile:
 * @self: a recording
 *
 * Returns: whether it is a profile instead of a training run
 */
LIG_API gboolean lig_recording_is_profile (const LigRecording *self);

/**
 * lig_recording_get_device:
 * @self: a recording
 *
 * Returns: (transfer none): the name of the device, `cpu` or `cuda:0`
 */
LIG_API const char *lig_recording_get_device (const LigRecording *self);

/**
 * lig_recording_train:
 * @self: the recording of a training run
 * @device: the device of the repetition, which has joined as many ranks as recorded if there were
 *   several
 * @store: (nullable): the store that records it, on rank 0
 *
 * Prepares the same run again, with the recorded sequence, settings, seed, data, initial weights,
 * groups and threads. Checkpoints of other runs are not touched.
 *
 * Returns: (transfer full): a run that is ready, or %NULL with an error set
 */
LIG_API LigRun *lig_recording_train (const LigRecording *self,
                                     LigDevice *device,
                                     LigStore *store,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recording_profile:
 * @self: the recording of a profile
 * @device: the device of the repetition, as for lig_recording_train()
 * @store: (nullable): the store that records it, on rank 0
 * @monitor: (nullable) (scope call) (closure data): called before each round
 * @data: the data of @monitor
 *
 * Measures the same plan again, as often as recorded.
 *
 * Returns: (transfer full): the uuid of the new run, an empty string without a store, or %NULL with
 * an error set
 */
LIG_API char *lig_recording_profile (const LigRecording *self,
                                     LigDevice *device,
                                     LigStore *store,
                                     LigProfileMonitor monitor,
                                     gpointer data,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * LigRepetitionOutcome:
 * @LIG_REPETITION_SAME: every compared value of every step is bitwise identical
 * @LIG_REPETITION_NOISE: the figures differ by no more than their noise; for step times, also if
 *   their medians are within 3 %, because two processes time the same plan differently
 * @LIG_REPETITION_DIFFERENT: the figures differ
 */
typedef enum {
  LIG_REPETITION_SAME,
  LIG_REPETITION_NOISE,
  LIG_REPETITION_DIFFERENT
} LigRepetitionOutcome;

/**
 * LigRepetition:
 * @outcome: the result
 * @steps: the number of steps that both have
 * @first_step: the first step with a different value, 0 if there is none
 * @metric: (nullable): the metric that differs at @first_step
 * @before: its recorded value, NaN if there is none
 * @after: its value in the repetition
 * @recorded: the distribution of the last losses, or of a profile's step times in seconds
 * @repeated: the same for the repetition
 * @timed: whether the distributions are of times
 * @difference: the comparison of both
 * @differences: (array zero-terminated=1): sentences about settings, versions, devices and files
 *   that differ, `setting lr is 0.1, was 0.01`
 * @text: the whole result as one sentence without a full stop
 *
 * The comparison of a repetition with the recording.
 */
typedef struct {
  LigRepetitionOutcome outcome;
  gint64 steps, first_step;
  char *metric;
  double before, after;
  LigSpread recorded, repeated;
  gboolean timed;
  LigDifference difference;
  GStrv differences;
  char *text;
} LigRepetition;

#define LIG_TYPE_REPETITION (lig_repetition_get_type ())
LIG_API GType lig_repetition_get_type (void);

/**
 * lig_recording_compare:
 * @self: the recording that was repeated
 * @repetition: the recording of its repetition
 *
 * Returns: (transfer full): the comparison, or %NULL with %LIG_ERROR_VALUE set if both have nothing
 *   in common
 */
LIG_API LigRepetition *lig_recording_compare (const LigRecording *self,
                                              const LigRecording *repetition,
                                              GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_recording_conclude:
 * @self: the recording that was repeated
 * @store: the store of the repetition
 * @run: the uuid of the repetition
 *
 * Compares a repetition that has ended and writes the result into its notes.
 *
 * Returns: (transfer full): the comparison, or %NULL with an error set
 */
LIG_API LigRepetition *lig_recording_conclude (const LigRecording *self,
                                               LigStore *store,
                                               const char *run,
                                               GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_repetition_free:
 * @self: (nullable) (transfer full): a comparison
 *
 * Releases a comparison.
 */
LIG_API void lig_repetition_free (LigRepetition *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRepetition, lig_repetition_free)

/**
 * lig_repetition_outcome_name:
 * @outcome: an outcome
 *
 * Returns: (transfer none): `same`, `noise` or `different`
 */
LIG_API const char *lig_repetition_outcome_name (LigRepetitionOutcome outcome);

/**
 * lig_repetition_to_json:
 * @self: a comparison
 *
 * Returns: (transfer full): a JSON object with all its fields
 */
LIG_API JsonNode *lig_repetition_to_json (const LigRepetition *self);

G_END_DECLS
