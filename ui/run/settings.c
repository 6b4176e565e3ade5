/* SPDX-License-Identifier: MIT */
/* The `train` object contains the settings that differ from the defaults; unknown members are
 * preserved. */
#include "ui/run/settings.h"

#include "ui/document/edit.h"
#include "ui/document/ends.h"
#include "ui/document/ranks.h"
#include "ui/session/command.h"
#include "ui/session/interrupted.h"
#include "ui/widgets/figures.h"
#include <ligature/device.h>
#include <ligature/json.h>
#include <ligature/sequence.h>
#include <ligature/units.h>

#include <glib/gi18n.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* --- Settings ------------------------------------------------------------------------------ */

/* The first embedding has the vocabulary size. */
static char *
choose_data (LigSequence *sequence)
{
  LigShape shape;
  LigDtype dtype;
  lig_sequence_get_input (sequence, &shape, &dtype);
  for (guint i = 0; i < lig_sequence_get_length (sequence); i++) {
    LigOp *op = lig_sequence_get (sequence, (int) i, NULL);
    const LigOpInfo *info = lig_op_get_info (op);
    gint64 vocabulary;
    if (dtype != LIG_INT32 || !(info->flags & LIG_OP_INTEGER_INPUT) || !info->vocabulary)
      continue;
    g_object_get (op, info->vocabulary, &vocabulary, NULL);
    return g_strdup_printf ("synthetic?vocabulary=%" G_GINT64_FORMAT, vocabulary);
  }
  return g_strdup ("synthetic");
}

gboolean
lig_train_read (LigDocument *doc, LigRunSettings *settings, GError **error)
{
  LigSequence *sequence = lig_document_get_sequence (doc);
  const char *train = lig_sequence_get_train (sequence);
  g_auto (GStrv) warnings = NULL;
  lig_run_settings_init (settings);
  gboolean fine = !train || lig_run_settings_read (settings, train, &warnings, error);
  if (!settings->data)
    settings->data = choose_data (sequence);
  if (lig_document_get_policy (doc) != LIG_POLICY_DEFAULT) {
    g_free (settings->policy);
    settings->policy = g_strdup (lig_policy_name (lig_document_get_policy (doc)));
  }
  return fine;
}

gboolean
lig_train_has_data (LigDocument *doc)
{
  const char *train = lig_sequence_get_train (lig_document_get_sequence (doc));
  g_auto (LigRunSettings) settings;
  lig_run_settings_init (&settings);
  return train && lig_run_settings_read (&settings, train, NULL, NULL) && settings.data;
}

static const LigSetting *
find_setting (const char *name)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (g_str_equal (setting->name, name))
      return setting;
  return NULL;
}

/* Returns a copy that can be changed. */
static JsonObject *
read_object (LigDocument *doc)
{
  const char *train = lig_sequence_get_train (lig_document_get_sequence (doc));
  g_autoptr (JsonNode) root = train ? lig_json_from_text (train, NULL) : NULL;
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    return json_node_dup_object (root);
  return json_object_new ();
}

static void
write_object (LigDocument *doc, JsonObject *object)
{
  g_autoptr (JsonNode) root = json_node_init_object (json_node_alloc (), object);
  g_autoptr (GString) text = g_string_new (NULL);
  lig_json_append (text, root);
  lig_edit_set_train (doc, json_object_get_size (object) > 0 ? text->str : NULL);
}

gboolean
lig_train_set (LigDocument *doc, const char *name, const char *text, GError **error)
{
  const LigSetting *setting = find_setting (name);
  g_auto (LigRunSettings) settings, initial;
  lig_run_settings_init (&settings);
  lig_run_settings_init (&initial);
  if (text && !lig_run_settings_set (&settings, name, text, error))
    return FALSE;
  g_autofree char *value = lig_run_settings_get (&settings, name);
  g_autofree char *usual = lig_run_settings_get (&initial, name);
  g_autoptr (JsonObject) object = read_object (doc);
  if (g_strcmp0 (value, usual) == 0)
    json_object_remove_member (object, name);
  else if (setting->kind == LIG_SETTING_TEXT)
    json_object_set_string_member (object, name, value);
  else if (setting->kind == LIG_SETTING_COUNT)
    json_object_set_int_member (object, name, g_ascii_strtoll (value, NULL, 10));
  else
    json_object_set_double_member (object, name, g_ascii_strtod (value, NULL));
  write_object (doc, object);
  return TRUE;
}

void
lig_train_set_policy (LigDocument *doc, const char *name)
{
  for (LigPolicy policy = LIG_POLICY_NONE; policy < LIG_POLICY_DEFAULT; policy++)
    if (g_str_equal (name, lig_policy_name (policy)))
      lig_document_set_policy (doc, policy);
}

gint64
lig_train_get_batch (LigDocument *doc)
{
  LigShape shape;
  LigDtype dtype;
  g_auto (LigRunSettings) settings;
  lig_train_read (doc, &settings, NULL);
  lig_sequence_get_input (lig_document_get_sequence (doc), &shape, &dtype);
  return settings.batch > 0 ? settings.batch : shape.n_axes > 0 ? shape.axes[0] : 1;
}

void
lig_train_set_batch (LigDocument *doc, gint64 batch)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (doc, &settings, NULL);
  if (settings.batch > 0)
    lig_train_set (doc, "batch", NULL, NULL);
  lig_edit_set_batch (doc, batch);
}

gint64
lig_train_halve_batch (LigDocument *doc)
{
  gint64 batch = MAX (lig_train_get_batch (doc) / 2, 1);
  lig_train_set_batch (doc, batch);
  return batch;
}

/* --- Obstacles ----------------------------------------------------------------------------- */

static const char *
find_device_title (LigDocument *doc)
{
  guint count;
  const char *name = lig_document_get_device (doc);
  const LigDeviceEntry *entries = lig_session_get_devices (lig_document_get_session (doc), &count);
  for (guint i = 0; i < count; i++)
    if (g_str_equal (entries[i].name, name))
      return entries[i].title;
  return name;
}

/* A file may name checkpoints only in its own folder; an unsaved document has no folder. */
static gboolean
confine (LigDocument *doc, LigRunSettings *settings, GError **error)
{
  const char *path = lig_document_get_path (doc);
  g_autofree char *folder =
    path ? g_path_get_dirname (path) : g_build_filename (g_get_user_data_dir (), "ligature", NULL);
  return lig_run_settings_confine (settings, folder, error);
}

LigTrainObstacle
lig_train_find_obstacle (LigDocument *doc, char **sentence)
{
  LigSequence *sequence = lig_document_get_sequence (doc);
  g_autoptr (GError) error = NULL;
  g_auto (LigRunSettings) settings;
  gboolean readable = lig_train_read (doc, &settings, &error) && confine (doc, &settings, &error);
  const LigProblem *problem = lig_document_get_problem (doc, 0);
  *sentence = NULL;
  if (lig_sequence_get_length (sequence) == 0) {
    *sentence = g_strdup (_ ("Add operations to train them"));
    return LIG_TRAIN_EMPTY;
  }
  if (lig_device_name_has (lig_document_get_device (doc), LIG_DEVICE_DESCRIBED)) {
    *sentence = g_strdup_printf (_ ("%s: choose a device of this computer to train"),
                                 find_device_title (doc));
    return LIG_TRAIN_NO_DEVICE;
  }
  if (!lig_ends_in_loss (sequence)) {
    *sentence = g_strdup (_ ("Add a loss, like Cross-entropy, to train"));
    return LIG_TRAIN_NO_LOSS;
  }
  if (!readable) {
    *sentence = g_strdup (error->message);
    return LIG_TRAIN_SETTINGS;
  }
  /* A separate batch size changes the memory of a run. */
  if (problem && !lig_document_is_stale (doc) && (!problem->whole || settings.batch == 0)) {
    *sentence = lig_figure_sentence (problem->text);
    return LIG_TRAIN_PROBLEM;
  }
  LigOp *waiting = lig_ends_find_open (doc);
  if (waiting) {
    /* Translators: title and path of an operation. */
    *sentence = g_strdup_printf (_ ("%s at %s has no branch: connect it, or delete it"),
                                 _ (lig_op_get_info (waiting)->title),
                                 lig_document_find_row (doc, waiting)->path);
    return LIG_TRAIN_BRANCH;
  }
  return LIG_TRAIN_POSSIBLE;
}

/* --- Runs of a document -------------------------------------------------------------------- */

/* Settings that the command already has, or that a saved file contains. */
static gboolean
is_in_command (LigDocument *doc, const char *name)
{
  gboolean saved = lig_document_get_path (doc) && !lig_document_is_modified (doc);
  if (g_str_equal (name, "policy"))
    return lig_document_get_policy (doc) != LIG_POLICY_DEFAULT || saved;
  if (g_str_equal (name, "data"))
    return saved && lig_train_has_data (doc);
  return saved && !g_str_equal (name, "name");
}

/* The run has the name shown in the window. */
static void
name_run (LigDocument *doc, LigRunSettings *settings)
{
  const char *name = lig_sequence_get_name (lig_document_get_sequence (doc));
  gboolean saved = lig_document_get_path (doc) && !lig_document_is_modified (doc);
  if (settings->name || (name && saved))
    return;
  if (name)
    settings->name = g_strdup (name);
  else if (lig_document_get_path (doc))
    settings->name = lig_document_get_title (doc);
}

char *
lig_train_to_command (LigDocument *doc)
{
  g_autofree char *begin = lig_document_to_command (doc, "train");
  if (!begin)
    return NULL;
  const LigSetting *setting;
  g_auto (LigRunSettings) settings, initial;
  GString *text = g_string_new (begin);
  lig_train_read (doc, &settings, NULL);
  name_run (doc, &settings);
  lig_run_settings_init (&initial);
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++) {
    g_autofree char *value = lig_run_settings_get (&settings, setting->name);
    g_autofree char *usual = lig_run_settings_get (&initial, setting->name);
    if (value && !is_in_command (doc, setting->name) && g_strcmp0 (value, usual) != 0)
      lig_shell_append_option (text, setting->name, value);
  }
  LigLayout layout = lig_ranks_choose_layout (doc);
  lig_command_append_ranks (text, &layout);
  return g_string_free (text, FALSE);
}

static GQuark
current_quark (void)
{
  return g_quark_from_static_string ("ligature-training");
}

/* The document's run is remembered for its window. */
static LigTraining *
adopt (LigDocument *doc, LigTraining *training)
{
  g_object_set_qdata_full (G_OBJECT (doc), current_quark (), g_object_ref (training),
                           g_object_unref);
  g_signal_emit_by_name (doc, "settings");
  return training;
}

#define STARTED "ligature-started"

/* Remembers the document's state at the start of a run. */
static void
note_document (LigDocument *doc, LigTraining *training)
{
  g_object_set_data_full (G_OBJECT (training), STARTED,
                          lig_sequence_to_json (lig_document_get_sequence (doc)), g_free);
}

gboolean
lig_train_is_current (LigDocument *doc, LigTraining *training)
{
  const char *then = g_object_get_data (G_OBJECT (training), STARTED);
  g_autofree char *now = lig_sequence_to_json (lig_document_get_sequence (doc));
  return !then || g_str_equal (then, now);
}

LigTraining *
lig_train_start (LigDocument *doc)
{
  g_auto (LigRunSettings) settings;
  lig_train_read (doc, &settings, NULL);
  if (!confine (doc, &settings, NULL))
    g_clear_pointer (&settings.checkpoint, g_free);
  g_autofree char *command = lig_train_to_command (doc);
  name_run (doc, &settings);
  LigTraining *training =
    lig_training_start (lig_document_get_session (doc), lig_document_get_sequence (doc),
                        lig_document_get_device (doc), lig_ranks_choose_layout (doc), &settings);
  lig_training_set_command (training, command);
  note_document (doc, training);
  return adopt (doc, training);
}

LigTraining *
lig_train_resume (LigDocument *doc, const char *checkpoint, LigLayout layout, GError **error)
{
  if (!lig_interrupted_check (checkpoint, error))
    return NULL;
  return adopt (doc, lig_training_resume (lig_document_get_session (doc), checkpoint, layout));
}

LigTraining *
lig_train_get_current (LigDocument *doc)
{
  return g_object_get_qdata (G_OBJECT (doc), current_quark ());
}

/* --- Words --------------------------------------------------------------------------------- */

char *
lig_train_format_number (double value)
{
  if (!isfinite (value))
    return g_strdup ("–");
  return g_strdup_printf (value != 0 && fabs (value) < 1e-3 ? "%.2e" : "%.4g", value);
}

char *
lig_train_format_seconds (double seconds)
{
  if (!isfinite (seconds))
    return g_strdup ("–");
  if (seconds < 1)
    return lig_units_time (seconds);
  gint64 whole = (gint64) ceil (seconds);
  if (whole < 60)
    return g_strdup_printf (_ ("%d s"), (int) whole);
  if (whole < 3600)
    return g_strdup_printf (_ ("%d min %d s"), (int) (whole / 60), (int) (whole % 60));
  if (whole < 48 * 3600)
    return g_strdup_printf (_ ("%d h %d min"), (int) (whole / 3600), (int) (whole % 3600 / 60));
  double days = seconds / 86400;
  if (days >= 100) {
    g_autofree char *count = lig_figure_count ((gint64) MIN (ceil (days), 1e15));
    return g_strdup_printf (_ ("%s d"), count);
  }
  return g_strdup_printf (_ ("%d d %d h"), (int) (whole / 86400), (int) (whole % 86400 / 3600));
}

static char *
format_running (const LigRunProgress *progress)
{
  g_autofree char *step = lig_figure_count (progress->step);
  g_autofree char *steps = lig_figure_count (progress->steps);
  g_autofree char *left = lig_train_format_seconds (progress->left);
  if (progress->status == LIG_RUN_PAUSED)
    return g_strdup_printf (_ ("Paused at %s of %s"), step, steps);
  if (progress->searching)
    return g_strdup_printf (_ ("%s of %s · autotuning kernels"), step, steps);
  if (!isfinite (progress->left))
    return g_strdup_printf (_ ("%s of %s"), step, steps);
  return g_strdup_printf (_ ("%s of %s · %s left"), step, steps, left);
}

char *
lig_train_format_status (LigTraining *training)
{
  LigRunProgress progress;
  lig_training_get_progress (training, &progress);
  const char *measuring = lig_training_get_measuring (training);
  g_autofree char *step = lig_figure_count (progress.step);
  g_autofree char *steps = lig_figure_count (progress.steps);
  g_autofree char *taken = lig_train_format_seconds (progress.seconds);
  switch (progress.status) {
  case LIG_RUN_READY:
    return measuring ? g_strdup_printf (_ ("Measuring %s"), measuring)
                     : g_strdup (_ ("Preparing…"));
  case LIG_RUN_RUNNING:
  case LIG_RUN_PAUSED:
    return format_running (&progress);
  case LIG_RUN_DONE:
    return g_strdup_printf (
      ngettext ("Done: %s step in %s", "Done: %s steps in %s", (gulong) progress.step), step,
      taken);
  case LIG_RUN_FAILED:
    return progress.step > 0
             ? g_strdup_printf (ngettext ("Failed after %s of %s step",
                                          "Failed after %s of %s steps", (gulong) progress.steps),
                                step, steps)
             : g_strdup (_ ("Could not start"));
  case LIG_RUN_CANCELLED:
    return g_strdup_printf (ngettext ("Cancelled after %s of %s step",
                                      "Cancelled after %s of %s steps", (gulong) progress.steps),
                            step, steps);
  default:
    return g_strdup_printf (ngettext ("Interrupted after %s of %s step",
                                      "Interrupted after %s of %s steps", (gulong) progress.steps),
                            step, steps);
  }
}
