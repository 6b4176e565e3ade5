/* SPDX-License-Identifier: MIT */
/* Sweeps: their record in the store, their state, and the training of the next point. */
#include "engine/base/json-private.h"
#include "engine/data/kind.h"
#include "engine/train/run-private.h"
#include "engine/train/sweep-private.h"
#include <ligature/json-members.h>
#include <ligature/ranks.h>
#include <ligature/store-sweeps.h>

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

G_DEFINE_FINAL_TYPE (LigSweep, lig_sweep, G_TYPE_OBJECT)

static void
clear_axis (gpointer data)
{
  LigSweepAxis *axis = data;
  g_free (axis->key);
  g_strfreev (axis->values);
}

static void
clear_point (gpointer data)
{
  LigSweepPoint *point = data;
  g_strfreev (point->values);
  g_free (point->run);
  g_free (point->status);
  g_free (point->message);
}

static void
lig_sweep_finalize (GObject *object)
{
  LigSweep *self = LIG_SWEEP (object);
  g_clear_object (&self->sequence);
  g_clear_object (&self->store);
  lig_run_settings_clear (&self->settings);
  g_free (self->uuid);
  g_free (self->name);
  g_free (self->device);
  g_free (self->init);
  g_free (self->parallel);
  g_array_unref (self->axes);
  g_array_unref (self->points);
  G_OBJECT_CLASS (lig_sweep_parent_class)->finalize (object);
}

static void
lig_sweep_class_init (LigSweepClass *class)
{
  G_OBJECT_CLASS (class)->finalize = lig_sweep_finalize;
}

static void
lig_sweep_init (LigSweep *self)
{
  lig_run_settings_init (&self->settings);
  self->ranks = 1;
  self->axes = g_array_new (FALSE, FALSE, sizeof (LigSweepAxis));
  self->points = g_array_new (FALSE, FALSE, sizeof (LigSweepPoint));
  g_array_set_clear_func (self->axes, clear_axis);
  g_array_set_clear_func (self->points, clear_point);
}

static LigSweepPoint *
get_point (LigSweep *self, guint number)
{
  return &g_array_index (self->points, LigSweepPoint, number);
}

LigSweep *
lig_sweep_new (LigSequence *sequence,
               const char *device,
               const LigRunSettings *settings,
               const char *init)
{
  g_return_val_if_fail (sequence && device && settings, NULL);
  LigSweep *self = g_object_new (LIG_TYPE_SWEEP, NULL);
  self->sequence = lig_sequence_copy (sequence);
  self->device = g_strdup (device);
  self->init = init ? g_canonicalize_filename (init, NULL) : NULL;
  lig_run_settings_clear (&self->settings);
  lig_run_settings_copy (settings, &self->settings);
  g_clear_pointer (&self->settings.checkpoint, g_free);
  const char *name = settings->name ? settings->name : lig_sequence_get_name (sequence);
  self->name = name ? g_strdup (name) : lig_sequence_to_expression (sequence);
  return self;
}

void
lig_sweep_set_ranks (LigSweep *self, int ranks, const char *parallel)
{
  g_return_if_fail (LIG_IS_SWEEP (self) && !self->uuid && ranks > 0);
  self->ranks = ranks;
  g_free (self->parallel);
  self->parallel = ranks > 1 ? g_strdup (parallel) : NULL;
}

/* --- The record ---------------------------------------------------------------------------- */

static char *
write_document (LigSweep *self)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();
  g_autofree char *settings = lig_run_settings_to_json (&self->settings);
  g_autofree char *sequence = lig_sequence_to_json (self->sequence);
  GString *text = g_string_new (NULL);
  json_builder_begin_object (builder);
  lig_json_add_text (builder, "device", self->device);
  lig_json_add_text (builder, "init", self->init);
  if (self->ranks > 1) {
    lig_json_add_integer (builder, "ranks", self->ranks);
    lig_json_add_text (builder, "parallel", self->parallel);
  }
  lig_json_add_document (builder, "settings", settings);
  lig_json_begin_array (builder, "axes");
  for (guint i = 0; i < self->axes->len; i++) {
    const LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    json_builder_begin_object (builder);
    lig_json_add_text (builder, "key", axis->key);
    lig_json_begin_array (builder, "values");
    for (char **value = axis->values; *value; value++)
      json_builder_add_string_value (builder, *value);
    json_builder_end_array (builder);
    lig_json_add_integer (builder, "with", axis->with);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  lig_json_add_document (builder, "sequence", sequence);
  json_builder_end_object (builder);
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  lig_json_append (text, root);
  return g_string_free (text, FALSE);
}

/* A sweep may be continued from another folder, so paths of data become absolute. */
static void
locate_data (LigSweep *self)
{
  lig_run_locate_data (&self->settings);
  for (guint i = 0; i < self->axes->len; i++) {
    LigSweepAxis *axis = &g_array_index (self->axes, LigSweepAxis, i);
    for (char **value = axis->values; g_str_equal (axis->key, "data") && *value; value++) {
      g_autofree char *located = lig_dataset_locate (*value);
      g_free (*value);
      *value = lig_dataset_name_split (located, LIG_SPLIT_USUAL);
    }
  }
}

gboolean
lig_sweep_check (LigSweep *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && !self->uuid, FALSE);
  g_array_set_size (self->points, 0);
  return lig_sweep_expand (self, error);
}

gboolean
lig_sweep_begin (LigSweep *self, LigStore *store, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && LIG_IS_STORE (store) && !self->uuid, FALSE);
  locate_data (self);
  if (!lig_sweep_check (self, error))
    return FALSE;
  g_autofree char *document = write_document (self);
  self->uuid = lig_store_begin_sweep (store, self->name, document, error);
  g_set_object (&self->store, store);
  return self->uuid != NULL;
}

static gboolean
read_axes (LigSweep *self, JsonArray *axes, GError **error)
{
  for (guint i = 0; i < json_array_get_length (axes); i++) {
    g_autoptr (GStrvBuilder) values = g_strv_builder_new ();
    JsonObject *axis = json_array_get_object_element (axes, i);
    const char *key = axis ? lig_json_get_string (axis, "key", "") : "";
    gboolean data = g_str_equal (key, "data");
    JsonArray *texts = axis ? json_object_get_array_member (axis, "values") : NULL;
    for (guint j = 0; texts && j < json_array_get_length (texts); j++) {
      const char *text = json_array_get_string_element (texts, j);
      /* Older sweeps do not say which rows are held out: those at the end. */
      g_autofree char *value =
        data && text ? lig_dataset_name_split (text, LIG_SPLIT_END) : g_strdup (text);
      g_strv_builder_add (values, value ? value : "");
    }
    gint64 with = axis ? lig_json_get_int (axis, "with", i) : i;
    if (!lig_sweep_take_axis (self, key, g_strv_builder_end (values), (guint) CLAMP (with, 0, i),
                              error))
      return FALSE;
  }
  return TRUE;
}

static char *
get_text (JsonObject *object, const char *name)
{
  JsonNode *node = json_object_get_member (object, name);
  GString *text = g_string_new (NULL);
  if (node)
    lig_json_append (text, node);
  return g_string_free (text, FALSE);
}

static gboolean
read_document (LigSweep *self, JsonNode *root, GError **error)
{
  JsonObject *object = JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  JsonNode *axes = object ? json_object_get_member (object, "axes") : NULL;
  if (!axes || !JSON_NODE_HOLDS_ARRAY (axes)) {
    g_set_error_literal (error, LIG_ERROR, LIG_ERROR_FORMAT, _ ("it has no axes"));
    return FALSE;
  }
  g_autofree char *sequence = get_text (object, "sequence"),
                  *settings = get_text (object, "settings");
  self->device = g_strdup (lig_json_get_string (object, "device", "cpu"));
  self->init = g_strdup (lig_json_get_string (object, "init", NULL));
  self->ranks = (int) CLAMP (lig_json_get_int (object, "ranks", 1), 1, LIG_MAX_PEERS);
  self->parallel = g_strdup (lig_json_get_string (object, "parallel", NULL));
  self->sequence = lig_sequence_from_json (sequence, -1, NULL, error);
  return self->sequence && lig_run_settings_read_record (&self->settings, settings, error) &&
         read_axes (self, json_node_get_array (axes), error) && lig_sweep_expand (self, error);
}

/* Returns the recorded sweep without results. */
static LigSweep *
read_sweep (const char *uuid, const char *name, const char *document, GError **error)
{
  g_autoptr (LigSweep) self = g_object_new (LIG_TYPE_SWEEP, NULL);
  g_autoptr (JsonNode) root = lig_json_read (document, strlen (document), NULL, error);
  self->uuid = g_strdup (uuid);
  self->name = g_strdup (name);
  if (root && read_document (self, root, error))
    return g_steal_pointer (&self);
  g_prefix_error (error, _ ("sweep %.8s: "), uuid);
  return NULL;
}

LigSweep *
lig_sweep_open (LigStore *store, const char *selector, GError **error)
{
  g_return_val_if_fail (LIG_IS_STORE (store) && selector, NULL);
  g_autoptr (LigSweepRow) row = lig_store_find_sweep (store, selector, error);
  g_autoptr (LigSweep) self = row ? read_sweep (row->uuid, row->name, row->document, error) : NULL;
  if (!self)
    return NULL;
  self->store = g_object_ref (store);
  return lig_sweep_refresh (self, error) ? g_steal_pointer (&self) : NULL;
}

LigSweep *
lig_sweep_share (LigSweep *self, LigRanks *ranks, GError **error)
{
  g_return_val_if_fail (self ? self->uuid != NULL : lig_ranks_get_rank (ranks) > 0, NULL);
  g_autofree char *uuid = g_strdup (self ? self->uuid : NULL);
  g_autofree char *name = g_strdup (self ? self->name : NULL);
  g_autofree char *document = self ? write_document (self) : NULL;
  if (!lig_ranks_broadcast_text (ranks, &uuid, error) ||
      !lig_ranks_broadcast_text (ranks, &name, error) ||
      !lig_ranks_broadcast_text (ranks, &document, error))
    return NULL;
  return self ? g_object_ref (self) : read_sweep (uuid, name, document, error);
}

/* --- Results ------------------------------------------------------------------------------- */

static void
take_row (LigSweepPoint *point, const LigRunRow *row)
{
  g_free (point->run);
  g_free (point->status);
  g_free (point->message);
  point->run = g_strdup (row->uuid);
  point->status = g_strdup (row->status);
  point->message = *row->message ? g_strdup (row->message) : NULL;
  point->done = MAX (row->last_step, 0);
  point->first_loss = row->first_loss;
  point->loss = row->last_loss;
  point->eval_loss = row->eval_loss;
  point->eval_accuracy = row->eval_accuracy;
  point->step_ms = row->step_ms;
  point->seconds = row->ended ? (double) (row->ended - row->started) * 1e-6 : NAN;
}

/* Of several runs of one point the newest counts, but none replaces one that is done. */
gboolean
lig_sweep_refresh (LigSweep *self, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->store, FALSE);
  const LigRunFilter filter = {.sweep = self->uuid};
  g_autoptr (GPtrArray) rows = lig_store_list_runs (self->store, &filter, error);
  for (guint i = rows ? rows->len : 0; i > 0; i--) {
    const LigRunRow *row = rows->pdata[i - 1];
    if (row->point < 0 || row->point >= self->points->len)
      continue;
    LigSweepPoint *point = get_point (self, (guint) row->point);
    if (g_strcmp0 (point->status, "done") != 0 || g_str_equal (row->status, "done"))
      take_row (point, row);
  }
  return rows != NULL;
}

static gboolean
is_missing (const LigSweepPoint *point)
{
  return !point->status || g_str_equal (point->status, "interrupted") ||
         g_str_equal (point->status, "cancelled");
}

int
lig_sweep_next (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), -1);
  for (guint i = 0; i < self->points->len; i++)
    if (is_missing (get_point (self, i)))
      return (int) i;
  return -1;
}

guint
lig_sweep_count_ended (LigSweep *self)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), 0);
  guint count = 0;
  for (guint i = 0; i < self->points->len; i++) {
    const char *status = get_point (self, i)->status;
    count += g_strcmp0 (status, "done") == 0 || g_strcmp0 (status, "failed") == 0;
  }
  return count;
}

void
lig_sweep_fail (LigSweep *self, guint point, const char *message)
{
  g_return_if_fail (LIG_IS_SWEEP (self) && point < self->points->len && message);
  LigSweepPoint *at = get_point (self, point);
  g_free (at->status);
  g_free (at->message);
  at->status = g_strdup ("failed");
  at->message = g_strdup (message);
}

void
lig_sweep_retry (LigSweep *self)
{
  g_return_if_fail (LIG_IS_SWEEP (self));
  for (guint i = 0; i < self->points->len; i++)
    if (g_strcmp0 (get_point (self, i)->status, "failed") == 0) {
      g_clear_pointer (&get_point (self, i)->status, g_free);
      g_clear_pointer (&get_point (self, i)->run, g_free);
      g_clear_pointer (&get_point (self, i)->message, g_free);
    }
}

/* --- Training ------------------------------------------------------------------------------ */

/* Returns the newest checkpoint among the first `left` artifacts, and lowers their number. */
static char *
take_checkpoint (GPtrArray *artifacts, guint *left)
{
  while (*left > 0) {
    const LigArtifactRow *artifact = artifacts->pdata[--*left];
    if (g_str_equal (artifact->kind, "checkpoint") &&
        g_file_test (artifact->path, G_FILE_TEST_IS_REGULAR))
      return g_strdup (artifact->path);
  }
  return NULL;
}

/* Returns the files of the run of a point that is missing, or NULL if it has no run. */
static GPtrArray *
get_artifacts (LigSweep *self, const LigSweepPoint *at)
{
  return self->store && is_missing (at) && at->run
           ? lig_store_get_artifacts (self->store, at->run, NULL)
           : NULL;
}

char *
lig_sweep_find_checkpoint (LigSweep *self, guint point)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && point < self->points->len, NULL);
  g_autoptr (GPtrArray) artifacts = get_artifacts (self, get_point (self, point));
  guint left = artifacts ? artifacts->len : 0;
  return take_checkpoint (artifacts, &left);
}

/* Continues the run of a point from its newest checkpoint. Returns NULL if that is not possible.
 * All ranks try the files that rank 0 finds. */
static LigRun *
resume (LigSweep *self, const LigSweepPoint *at, LigDevice *device)
{
  g_autoptr (GPtrArray) artifacts = get_artifacts (self, at);
  guint left = artifacts ? artifacts->len : 0;
  for (;;) {
    g_autofree char *path = take_checkpoint (artifacts, &left);
    if (!lig_ranks_broadcast_text (lig_device_get_ranks (device), &path, NULL) || !path)
      return NULL;
    g_autoptr (LigRun) found = lig_run_resume (path, device, NULL, self->store, NULL);
    if (found)
      return g_steal_pointer (&found);
  }
}

/* With another number of ranks the runs could not be compared. */
static gboolean
check_ranks (LigSweep *self, LigDevice *device, GError **error)
{
  int count = lig_device_get_n_ranks (device, LIG_GROUP_ALL);
  if (count == self->ranks)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("ranks: %d, expected %d, those of the sweep %.8s; continue it with as many"),
               count, self->ranks, self->uuid);
  return FALSE;
}

LigSequence *
lig_sweep_get_training (LigSweep *self, guint point, LigRunSettings *settings, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->uuid && point < self->points->len, NULL);
  return lig_sweep_resolve (self, get_point (self, point)->values, settings, error);
}

LigRun *
lig_sweep_prepare (LigSweep *self, guint point, LigDevice *device, GError **error)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self) && self->uuid && point < self->points->len, NULL);
  const LigSweepPoint *at = get_point (self, point);
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sweep_resolve (self, at->values, &settings, error);
  if (!sequence || !check_ranks (self, device, error))
    return NULL;
  g_autoptr (LigRun) run = resume (self, at, device);
  if (!run)
    run = lig_run_new (sequence, device, &settings, self->init, self->store, error);
  gboolean fine = run && (!self->store || lig_store_set_sweep (self->store, lig_run_get_uuid (run),
                                                               self->uuid, point, error));
  return lig_ranks_share_failure (lig_device_get_ranks (device), fine, error)
           ? g_steal_pointer (&run)
           : NULL;
}

/* Returns the samples of a number of steps of a point, to which its time is about proportional. */
static double
weigh (LigSweep *self, const LigSweepPoint *point, gint64 steps)
{
  g_auto (LigRunSettings) settings;
  g_autoptr (LigSequence) sequence = lig_sweep_resolve (self, point->values, &settings, NULL);
  return (double) MAX (steps, 0) * (double) MAX (settings.batch, 1) * (double) settings.accumulate;
}

double
lig_sweep_estimate_left (LigSweep *self, int point, const LigRunProgress *progress)
{
  g_return_val_if_fail (LIG_IS_SWEEP (self), NAN);
  double seconds = 0, samples = 0, left = 0;
  for (guint i = 0; i < self->points->len; i++) {
    const LigSweepPoint *at = get_point (self, i);
    if ((int) i == point && progress) {
      samples += weigh (self, at, progress->step - progress->first_step);
      seconds += progress->seconds;
      left += weigh (self, at, progress->steps - progress->step);
    } else if (g_strcmp0 (at->status, "done") == 0 && isfinite (at->seconds)) {
      samples += weigh (self, at, at->done);
      seconds += at->seconds;
    } else if (is_missing (at)) {
      left += weigh (self, at, at->steps - at->done);
    }
  }
  return left <= 0 ? 0 : samples > 0 && seconds > 0 ? left * seconds / samples : NAN;
}

/* --- Getting ------------------------------------------------------------------------------- */

const char *
lig_sweep_get_uuid (LigSweep *self)
{
  return self->uuid;
}

const char *
lig_sweep_get_name (LigSweep *self)
{
  return self->name;
}

const char *
lig_sweep_get_init (LigSweep *self)
{
  return self->init;
}

const char *
lig_sweep_get_device (LigSweep *self)
{
  return self->device;
}

int
lig_sweep_get_ranks (LigSweep *self)
{
  return self->ranks;
}

const char *
lig_sweep_get_parallel (LigSweep *self)
{
  return self->parallel;
}

LigSequence *
lig_sweep_get_sequence (LigSweep *self)
{
  return self->sequence;
}

const LigRunSettings *
lig_sweep_get_settings (LigSweep *self)
{
  return &self->settings;
}

const LigSweepAxis *
lig_sweep_get_axes (LigSweep *self, guint *count)
{
  *count = self->axes->len;
  return (const LigSweepAxis *) (gpointer) self->axes->data;
}

const LigSweepPoint *
lig_sweep_get_points (LigSweep *self, guint *count)
{
  *count = self->points->len;
  return (const LigSweepPoint *) (gpointer) self->points->data;
}
