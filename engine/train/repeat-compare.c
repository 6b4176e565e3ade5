/* SPDX-License-Identifier: MIT */
/* Compares a repetition with the recording: the bits of each step, the figures, and possible
 * explanations of a difference. */
#include "engine/base/json-private.h"
#include "engine/base/number.h"
#include "engine/train/profile-json.h"
#include "engine/train/recording.h"
#include <ligature/json-members.h>
#include <ligature/sequence.h>
#include <ligature/store.h>
#include <ligature/units.h>

#include <glib/gi18n-lib.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Times of the same plan vary between processes, because memory is placed differently and clocks
 * follow the temperature. The samples of one process do not show that: on an H200 the medians of
 * two profiles differed by 2.6 %, although the quartiles of each were 1 % apart. */
#define NOISE_OF_PROCESSES 0.03

/* The number of last losses with distributions that are compared: a quarter of all, within these
 * bounds. */
enum { MIN_LOSSES = 5, MAX_LOSSES = 50 };

void
lig_repetition_free (LigRepetition *self)
{
  if (!self)
    return;
  g_free (self->metric);
  g_strfreev (self->differences);
  g_free (self->text);
  g_free (self);
}

static LigRepetition *
copy (LigRepetition *self)
{
  LigRepetition *other = g_memdup2 (self, sizeof *self);
  other->metric = g_strdup (self->metric);
  other->differences = g_strdupv (self->differences);
  other->text = g_strdup (self->text);
  return other;
}

G_DEFINE_BOXED_TYPE (LigRepetition, lig_repetition, copy, lig_repetition_free)

const char *
lig_repetition_outcome_name (LigRepetitionOutcome outcome)
{
  static const char *const names[] = {"same", "noise", "different"};
  return names[outcome];
}

/* --- Explanations -------------------------------------------------------------------------- */

static char *
format_value (JsonNode *node)
{
  if (node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  return node ? lig_recording_to_text (node) : g_strdup (_ ("none"));
}

/* Adds `WHAT is B, was A` for each member that differs; `names` has display names for some members,
 * and an empty one skips the member. */
static void
add_members (GStrvBuilder *to, JsonNode *before, JsonNode *after, const char *const names[][2])
{
  JsonObject *a = json_node_get_object (before), *b = json_node_get_object (after);
  g_autoptr (GList) members = json_object_get_members (b);
  for (GList *at = members; at; at = at->next) {
    const char *name = at->data, *word = NULL;
    JsonNode *was = json_object_get_member (a, name), *is = json_object_get_member (b, name);
    for (guint i = 0; names[i][0]; i++)
      if (g_str_equal (names[i][0], name))
        word = names[i][1];
    g_autofree char *old = format_value (was), *new = format_value (is);
    /* Skips a value that the other record lacks: an older program did not record it. */
    if (!was || (word && !*word) || g_str_equal (old, new))
      continue;
    g_autofree char *text = word ? g_strdup_printf (_ ("%s %s, was %s"), _ (word), new, old)
                                 : g_strdup_printf (_ ("setting %s is %s, was %s"), name, new, old);
    g_strv_builder_add (to, text);
  }
}

/* Adds a sentence on a file with another content hash. */
static void
add_file (GStrvBuilder *to,
          const LigRecording *before,
          const LigRecording *after,
          const char *hash,
          const char *file)
{
  JsonObject *a = json_node_get_object (before->inputs), *b = json_node_get_object (after->inputs);
  const char *was = lig_json_get_string (a, hash, NULL), *is = lig_json_get_string (b, hash, NULL);
  if (!was || !is || g_str_equal (was, is))
    return;
  g_autofree char *text = g_strdup_printf (_ ("the content of %s differs (hash %.16s, was %.16s)"),
                                           file ? file : _ ("a file"), is, was);
  g_strv_builder_add (to, text);
}

static gint64
get_ranks (const LigRecording *recording)
{
  return lig_json_get_int (json_node_get_object (recording->inputs), "ranks", 1);
}

/* Adds a sentence on the number of ranks, which runs of one process do not record. */
static void
add_ranks (GStrvBuilder *to, const LigRecording *before, const LigRecording *after)
{
  gint64 was = get_ranks (before), is = get_ranks (after);
  if (was == is)
    return;
  g_autofree char *text =
    g_strdup_printf (_ ("the number of ranks is %" PRId64 ", was %" PRId64), is, was);
  g_strv_builder_add (to, text);
}

/* Returns the sequence as this version writes it: the recording may have former names. */
static char *
write_sequence (JsonNode *document)
{
  g_autofree char *text = lig_recording_to_text (document);
  g_autoptr (LigSequence) sequence = lig_sequence_from_json (text, -1, NULL, NULL);
  return sequence ? lig_sequence_to_json (sequence) : g_steal_pointer (&text);
}

/* Returns whether both read files with the same bytes. */
static gboolean
has_same_content (const LigRecording *before, const LigRecording *after)
{
  JsonObject *a = json_node_get_object (before->inputs), *b = json_node_get_object (after->inputs);
  const char *was = lig_json_get_string (a, "content", NULL);
  return was && g_strcmp0 (was, lig_json_get_string (b, "content", NULL)) == 0;
}

static GStrv
explain (const LigRecording *before, const LigRecording *after)
{
  static const char *const none[][2] = {
    {"checkpoint", ""}, {"health", ""}, {"conditions", ""}, {NULL, NULL}};
  static const char *const versions[][2] = {{"ligature", N_ ("Ligature is")},
                                            {"device", N_ ("the device is")},
                                            {"libraries", N_ ("the libraries are")},
                                            {"driver", N_ ("the driver is")},
                                            {NULL, NULL}};
  /* Versions describe the same data in other words. */
  const char *data = has_same_content (before, after) ? "" : N_ ("the data is");
  const char *const inputs[][2] = {{"content", ""},
                                   {"weights", ""},
                                   {"init", ""},
                                   {"algorithms", ""},
                                   {"repeats", ""},
                                   {"data", data},
                                   {"rounds", ""},
                                   {"ranks", ""},
                                   {"parallel", N_ ("the parallelism is")},
                                   {"threads", N_ ("the number of threads is")},
                                   {"choices", N_ ("the groups are")},
                                   {"instructions", N_ ("the CPU instructions are")},
                                   {NULL, NULL}};
  g_autoptr (GStrvBuilder) to = g_strv_builder_new ();
  g_autofree char *old = write_sequence (before->sequence);
  g_autofree char *new = write_sequence (after->sequence);
  if (!g_str_equal (old, new))
    g_strv_builder_add (to, _ ("the sequence differs"));
  add_members (to, before->settings, after->settings, none);
  add_members (to, before->versions, after->versions, versions);
  if (!g_str_equal (before->device, after->device)) {
    g_autofree char *text =
      g_strdup_printf (_ ("the device is %s, was %s"), after->device, before->device);
    g_strv_builder_add (to, text);
  }
  add_ranks (to, before, after);
  add_members (to, before->inputs, after->inputs, inputs);
  JsonObject *settings = json_node_get_object (after->settings);
  add_file (to, before, after, "content", lig_json_get_string (settings, "data", NULL));
  add_file (to, before, after, "weights",
            lig_json_get_string (json_node_get_object (after->inputs), "init", NULL));
  return g_strv_builder_end (to);
}

/* --- Steps --------------------------------------------------------------------------------- */

/* Compares a metric step by step; notes the first difference if it is earlier than those of
 * previous metrics. Returns the number of common steps. */
static gint64
compare_metric (LigRepetition *to, const LigMetricRow *before, const LigMetricRow *after)
{
  guint j = 0;
  gint64 common = 0;
  for (guint i = 0; i < before->steps->len; i++) {
    gint64 step = g_array_index (before->steps, gint64, i);
    while (j < after->steps->len && g_array_index (after->steps, gint64, j) < step)
      j++;
    if (j == after->steps->len)
      break;
    if (g_array_index (after->steps, gint64, j) != step)
      continue;
    double a = g_array_index (before->values, double, i);
    double b = g_array_index (after->values, double, j);
    common++;
    if (memcmp (&a, &b, sizeof a) == 0 || (isnan (a) && isnan (b)) ||
        (to->first_step && to->first_step <= step))
      continue;
    to->first_step = step;
    g_free (to->metric);
    to->metric = g_strdup (before->name);
    to->before = a;
    to->after = b;
  }
  return common;
}

/* Returns whether a text member differs between both documents. */
static gboolean
differs_in (JsonNode *before, JsonNode *after, const char *name)
{
  const char *was = lig_json_get_string (json_node_get_object (before), name, NULL);
  const char *is = lig_json_get_string (json_node_get_object (after), name, NULL);
  return was && is && !g_str_equal (was, is);
}

/* Returns whether both are the same run, up to rounding differences of libraries, devices and
 * threads. With different data or settings, similar figures prove nothing. */
static gboolean
is_same_training (const LigRecording *before, const LigRecording *after)
{
  g_autofree char *old = write_sequence (before->sequence);
  g_autofree char *new = write_sequence (after->sequence);
  g_auto (LigRunSettings) a, b;
  lig_run_settings_init (&a);
  lig_run_settings_init (&b);
  g_autofree char *first = lig_recording_to_text (before->settings);
  g_autofree char *second = lig_recording_to_text (after->settings);
  if (!lig_run_settings_read_record (&a, first, NULL) ||
      !lig_run_settings_read_record (&b, second, NULL))
    return FALSE;
  g_clear_pointer (&a.checkpoint, g_free);
  g_clear_pointer (&b.checkpoint, g_free);
  g_free (a.policy);
  g_free (a.dtype);
  a.policy = g_strdup (b.policy);
  a.dtype = g_strdup (b.dtype);
  g_autofree char *settings = lig_run_settings_to_json (&a);
  g_autofree char *others = lig_run_settings_to_json (&b);
  return g_str_equal (old, new) && g_str_equal (settings, others) &&
         g_str_equal (before->dtype, after->dtype) &&
         !differs_in (before->inputs, after->inputs, "content") &&
         !differs_in (before->inputs, after->inputs, "weights");
}

/* Measured times are not part of the result of a training run. */
static gboolean
is_time (const char *metric)
{
  static const char *const times[] = {"step-ms",          "samples-per-second",
                                      LIG_METRIC_EXPOSED, LIG_METRIC_IMBALANCE,
                                      LIG_METRIC_SLOWEST, NULL};
  return g_strv_contains (times, metric);
}

/* Returns whether both runs completed, or ended alike. */
static gboolean
ended_alike (const LigRecording *before, const LigRecording *after)
{
  const LigMetricRow *a = lig_recording_find_metric (before, LIG_METRIC_LOSS);
  const LigMetricRow *b = lig_recording_find_metric (after, LIG_METRIC_LOSS);
  gboolean done = g_str_equal (before->status, "done") || g_str_equal (before->status, "failed");
  return !done || (a && b && a->steps->len == b->steps->len) || (!a && !b);
}

static void
measure_losses (const LigMetricRow *metric, gint64 until, LigSpread *spread)
{
  guint count = metric ? metric->values->len : 0;
  while (count > 0 && g_array_index (metric->steps, gint64, count - 1) > until)
    count--;
  guint kept = CLAMP (count / 4, MIN_LOSSES, MAX_LOSSES), first = count > kept ? count - kept : 0;
  if (count > 0)
    lig_spread_measure (&g_array_index (metric->values, double, first), count - first, spread);
}

static gboolean
compare_trainings (LigRepetition *to,
                   const LigRecording *before,
                   const LigRecording *after,
                   GError **error)
{
  const LigMetricRow *losses = lig_recording_find_metric (before, LIG_METRIC_LOSS);
  const LigMetricRow *others = lig_recording_find_metric (after, LIG_METRIC_LOSS);
  if (losses && others)
    to->steps = compare_metric (to, losses, others);
  for (guint i = 0; i < before->metrics->len; i++) {
    const LigMetricRow *metric = before->metrics->pdata[i];
    const LigMetricRow *other = lig_recording_find_metric (after, metric->name);
    if (other && metric != losses && !is_time (metric->name))
      compare_metric (to, metric, other);
  }
  if (to->steps == 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run %.8s and its repetition have no step in common"), before->run);
    return FALSE;
  }
  gint64 last = MIN (g_array_index (losses->steps, gint64, losses->steps->len - 1),
                     g_array_index (others->steps, gint64, others->steps->len - 1));
  measure_losses (losses, last, &to->recorded);
  measure_losses (others, last, &to->repeated);
  LigDifferenceKind kind = lig_spread_compare (&to->repeated, &to->recorded, &to->difference);
  to->outcome =
    !to->first_step && ended_alike (before, after) ? LIG_REPETITION_SAME
    : kind == LIG_DIFFERENCE_NONE && ended_alike (before, after) && is_same_training (before, after)
      ? LIG_REPETITION_NOISE
      : LIG_REPETITION_DIFFERENT;
  return TRUE;
}

/* --- Sentences ----------------------------------------------------------------------------- */

static char *
format_loss (const LigSpread *spread)
{
  return g_strdup_printf (_ ("%.5g (quartiles %.5g to %.5g)"), spread->median, spread->lower,
                          spread->upper);
}

static char *
format_time (const LigSpread *spread)
{
  g_autofree char *median = lig_units_time (spread->median);
  g_autofree char *lower = lig_units_time (spread->lower);
  g_autofree char *upper = lig_units_time (spread->upper);
  return g_strdup_printf (_ ("%s (quartiles %s to %s)"), median, lower, upper);
}

/* Appends the last validation losses, if both have one. */
static void
append_validation (GString *text, const LigRecording *before, const LigRecording *after)
{
  const LigMetricRow *a = lig_recording_find_metric (before, LIG_METRIC_EVAL_LOSS);
  const LigMetricRow *b = lig_recording_find_metric (after, LIG_METRIC_EVAL_LOSS);
  if (a && b && a->values->len > 0 && b->values->len > 0)
    g_string_append_printf (text, _ ("; validation loss %.5g, was %.5g"),
                            g_array_index (b->values, double, b->values->len - 1),
                            g_array_index (a->values, double, a->values->len - 1));
}

/* Appends the first step that differs, with both values at full precision. */
static void
append_step (GString *text, const LigRepetition *self)
{
  if (!self->first_step)
    return;
  g_autofree char *step = g_strdup_printf ("%" G_GINT64_FORMAT, self->first_step);
  g_autoptr (GString) after = g_string_new (NULL);
  g_autoptr (GString) before = g_string_new (NULL);
  lig_number_append (after, self->after, FALSE);
  lig_number_append (before, self->before, FALSE);
  g_string_append_printf (text, _ ("; the first difference is at step %s: %s %s, was %s"), step,
                          self->metric, after->str, before->str);
}

static void
append_differences (GString *text, const LigRepetition *self, gboolean training)
{
  for (char **one = self->differences; *one; one++)
    g_string_append_printf (text, "; %s", *one);
  if (!*self->differences && (training || self->outcome == LIG_REPETITION_DIFFERENT))
    g_string_append (text, _ ("; no recorded input differs"));
}

/* Appends the disturbances of a profile's measurement. */
static void
append_conditions (GString *text, const LigRecording *recording, const char *which)
{
  LigConditions conditions;
  g_autofree char *settings = lig_recording_to_text (recording->settings);
  if (!lig_profile_read_conditions (settings, &conditions))
    return;
  conditions.step = recording->step;
  lig_conditions_judge (&conditions);
  g_autofree char *said = lig_conditions_to_text (&conditions);
  if (said)
    g_string_append_printf (text, "; %s: %s", which, said);
}

static char *
write_text (const LigRepetition *self, const LigRecording *before, const LigRecording *after)
{
  GString *text = g_string_new (NULL);
  gboolean profile = lig_recording_is_profile (before);
  g_autofree char *a = profile ? format_time (&self->recorded) : format_loss (&self->recorded);
  g_autofree char *b = profile ? format_time (&self->repeated) : format_loss (&self->repeated);
  if (self->outcome == LIG_REPETITION_SAME) {
    g_string_append_printf (text,
                            ngettext ("bitwise identical for %d step",
                                      "bitwise identical for %d steps", (gulong) self->steps),
                            (int) self->steps);
    for (char **one = self->differences; *one; one++)
      g_string_append_printf (text, one == self->differences ? _ (", although %s") : "; %s", *one);
    return g_string_free (text, FALSE);
  }
  g_string_append (text, self->outcome == LIG_REPETITION_NOISE ? _ ("within the noise: ")
                                                               : _ ("different: "));
  if (!profile && !ended_alike (before, after))
    g_string_append_printf (text,
                            ngettext ("it is %s after %d common step; ",
                                      "it is %s after %d common steps; ", (gulong) self->steps),
                            after->status, (int) self->steps);
  g_string_append_printf (text, profile ? _ ("step time %s, was %s") : _ ("last losses %s, was %s"),
                          b, a);
  if (!profile)
    append_validation (text, before, after);
  append_step (text, self);
  append_differences (text, self, !profile);
  if (profile) {
    append_conditions (text, before, _ ("recorded"));
    append_conditions (text, after, _ ("repeated"));
  }
  return g_string_free (text, FALSE);
}

/* --- Comparing ----------------------------------------------------------------------------- */

LigRepetition *
lig_recording_compare (const LigRecording *self, const LigRecording *repetition, GError **error)
{
  g_return_val_if_fail (self && repetition, NULL);
  g_autoptr (LigRepetition) to = g_new0 (LigRepetition, 1);
  to->before = to->after = NAN;
  if (!g_str_equal (self->kind, repetition->kind)) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
                 _ ("run %.8s is of the kind %s, run %.8s is %s"), self->run, self->kind,
                 repetition->run, repetition->kind);
    return NULL;
  }
  to->differences = explain (self, repetition);
  if (lig_recording_is_profile (self)) {
    to->timed = TRUE;
    to->recorded = self->step;
    to->repeated = repetition->step;
    LigDifferenceKind kind = lig_spread_compare (&to->repeated, &to->recorded, &to->difference);
    gboolean near = fabs (to->repeated.median / to->recorded.median - 1) <= NOISE_OF_PROCESSES;
    to->outcome =
      kind == LIG_DIFFERENCE_NONE || near ? LIG_REPETITION_NOISE : LIG_REPETITION_DIFFERENT;
  } else if (!compare_trainings (to, self, repetition, error)) {
    return NULL;
  }
  to->text = write_text (to, self, repetition);
  return g_steal_pointer (&to);
}

LigRepetition *
lig_recording_conclude (const LigRecording *self, LigStore *store, const char *run, GError **error)
{
  g_return_val_if_fail (self && LIG_IS_STORE (store) && run, NULL);
  g_autoptr (LigRecording) after = lig_recording_read_run (store, run, error);
  g_autoptr (LigRepetition) found = after ? lig_recording_compare (self, after, error) : NULL;
  if (!found)
    return NULL;
  g_autofree char *note =
    g_strdup_printf (_ ("Repetition of run %.8s: %s"), self->run, found->text);
  return lig_store_set_note (store, run, note, error) ? g_steal_pointer (&found) : NULL;
}

/* --- JSON ---------------------------------------------------------------------------------- */

static void
add_spread (JsonBuilder *to, const char *name, const LigSpread *spread)
{
  lig_json_begin_object (to, name);
  lig_json_add_integer (to, "count", spread->count);
  lig_json_add_number (to, "median", spread->count > 0 ? spread->median : NAN);
  lig_json_add_number (to, "lower", spread->count > 0 ? spread->lower : NAN);
  lig_json_add_number (to, "upper", spread->count > 0 ? spread->upper : NAN);
  json_builder_end_object (to);
}

JsonNode *
lig_repetition_to_json (const LigRepetition *self)
{
  g_return_val_if_fail (self, NULL);
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "outcome", lig_repetition_outcome_name (self->outcome));
  lig_json_add_text (builder, "text", self->text);
  lig_json_add_integer (builder, "steps", self->steps);
  if (self->first_step)
    lig_json_add_integer (builder, "first_step", self->first_step);
  else
    lig_json_add_text (builder, "first_step", NULL);
  lig_json_add_text (builder, "metric", self->metric);
  lig_json_add_number (builder, "recorded_value", self->before);
  lig_json_add_number (builder, "repeated_value", self->after);
  add_spread (builder, "recorded", &self->recorded);
  add_spread (builder, "repeated", &self->repeated);
  lig_json_begin_array (builder, "differences");
  for (char **one = self->differences; *one; one++)
    json_builder_add_string_value (builder, *one);
  json_builder_end_array (builder);
  if (self->timed) {
    lig_json_begin_object (builder, "units");
    lig_json_add_text (builder, "recorded", "s");
    lig_json_add_text (builder, "repeated", "s");
    json_builder_end_object (builder);
  }
  json_builder_end_object (builder);
  return json_builder_get_root (builder);
}
