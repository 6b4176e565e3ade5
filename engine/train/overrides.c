/* SPDX-License-Identifier: MIT */
/* Settings that are given when a checkpoint is resumed. Some extend the run, some make it a new run
 * with the old one as its parent, and the others contradict the checkpoint. */
#include "engine/train/overrides.h"
#include "engine/data/kind.h"
#include "engine/train/data.h"
#include "engine/train/learning-rate.h"
#include "engine/train/run-private.h"
#include "engine/train/types.h"

#include <glib/gi18n-lib.h>
#include <inttypes.h>
#include <string.h>

/* Returns whether the word is the default, which equals a missing word. */
static gboolean
is_default (const char *name, const char *word)
{
  const LigSetting *setting;
  for (guint i = 0; (setting = lig_run_setting_nth (i)); i++)
    if (g_str_equal (setting->name, name))
      return setting->usual && g_strcmp0 (setting->usual, word) == 0;
  return FALSE;
}

/* Returns whether the same run continues with another value: more steps extend it, the file does
 * not depend on optimizer sharding or bucket size, samples, histograms and loads do not
 * influence training, and the length of the schedule is compared separately. */
static gboolean
is_open (const char *name)
{
  static const char *const open[] = {
    "steps",      "schedule-steps", "shard-optimizer", "bucket-size",
    "vocabulary", "histograms",     "load-every",      NULL};
  return g_strv_contains (open, name) || g_str_has_prefix (name, "sample-");
}

/* Returns whether another value makes it another run for which the checkpoint is sufficient: the
 * optimizer state and the types stay. */
static gboolean
may_differ (const char *name)
{
  static const char *const others[] = {
    "data", "batch", "accumulate",   "lr",         "min-lr",           "schedule",   "warmup",
    "clip", "name",  "eval-batches", "eval-every", "checkpoint-every", "checkpoint", NULL};
  return g_strv_contains (others, name);
}

/* Returns whether another value changes the plan. */
static gboolean
decides_plan (const char *name)
{
  static const char *const names[] = {"data", "batch", "accumulate", NULL};
  return g_strv_contains (names, name);
}

/* Returns the batch size, from the setting or the first axis of the input. */
static char *
describe_batch (LigSequence *sequence, const LigRunSettings *settings)
{
  LigShape shape;
  LigDtype dtype;
  if (settings->batch > 0 || !lig_sequence_has_input (sequence))
    return lig_run_settings_get (settings, "batch");
  lig_sequence_get_input (sequence, &shape, &dtype);
  return g_strdup_printf ("%" PRId64, shape.axes[0]);
}

/* Returns a setting as text; types are those of the run, also if the sequence sets them. */
static char *
describe_setting (LigSequence *sequence, const LigRunSettings *settings, const char *name)
{
  if (g_str_equal (name, "batch"))
    return describe_batch (sequence, settings);
  return g_str_equal (name, "dtype") ? lig_run_describe_types (sequence, settings->dtype)
                                     : lig_run_settings_get (settings, name);
}

/* Makes the paths of the data absolute. By default keeps the validation split. */
static void
locate_again (LigRunSettings *settings, const char *before)
{
  g_autofree char *path = NULL;
  g_auto (GStrv) options = lig_dataset_split (before ? before : "", &path);
  g_autofree char *located = settings->data ? lig_dataset_locate (settings->data) : NULL;
  for (char **key = options; located && *key; key += 2)
    if (strcmp (key[0], LIG_SPLIT) == 0) {
      char *named = lig_dataset_name_split (located, key[1]);
      g_free (located);
      located = named;
    }
  g_free (settings->data);
  settings->data = g_steal_pointer (&located);
  lig_run_locate_data (settings);
}

/* Notes a setting that differs from that of the checkpoint, or rejects it. */
static gboolean
take_difference (LigRun *self,
                 const char *name,
                 const char *old,
                 const char *new,
                 GString *differences,
                 GError **error)
{
  if (!may_differ (name)) {
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_VALUE,
      _ ("%s %s does not match the checkpoint, which has %s; omit it, or start a new run "
         "from its weights (init)"),
      name, new ? new : "''", old ? old : _ ("its default"));
    return FALSE;
  }
  g_string_append_printf (differences, _ ("%s%s %s (was %s)"), differences->len > 0 ? ", " : "",
                          name, new ? new : "''", old ? old : _ ("its default"));
  self->branches = TRUE;
  self->replans |= decides_plan (name);
  self->changes_data |= g_str_equal (name, "data");
  return TRUE;
}

static gboolean
apply (LigRun *self, const char *override, GString *differences, GError **error)
{
  LigRunSettings *settings = &self->settings;
  g_auto (GStrv) parts = g_strsplit (override, "=", 2);
  if (!parts[0] || !parts[1]) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE, _ ("'%s' is not a setting; write name=value"),
                 override);
    return FALSE;
  }
  g_auto (LigRunSettings) before;
  lig_run_settings_copy (settings, &before);
  if (!lig_run_settings_set (settings, parts[0], parts[1], error))
    return FALSE;
  locate_again (settings, before.data);
  g_autofree char *old = describe_setting (self->sequence, &before, parts[0]);
  g_autofree char *new = describe_setting (self->sequence, settings, parts[0]);
  return is_open (parts[0]) || g_strcmp0 (old, new) == 0 || (!old && is_default (parts[0], new)) ||
         take_difference (self, parts[0], old, new, differences, error);
}

/* --- The schedule -------------------------------------------------------------------------- */

/* Reports the following learning rates. A schedule that is extended had lower rates before: a run
 * with this many steps from its beginning would differ. */
static void
remark_schedule (LigRun *self, const LigRunSettings *before, gint64 step)
{
  const LigRunSettings *settings = &self->settings;
  gboolean bends = lig_run_bends_schedule (before, settings);
  gint64 span = lig_run_schedule_steps (settings), was = lig_run_schedule_steps (before);
  if (!lig_run_rate_falls (settings) || step >= settings->steps)
    return;
  if (!bends || step <= settings->warmup) {
    lig_run_remark (self,
                    _ ("cosine schedule to step %" PRId64 ": the rate is %.4g at step %" PRId64),
                    span, lig_run_rate (settings, step + 1), step + 1);
    return;
  }
  lig_run_remark (self,
                  _ ("cosine schedule to step %" PRId64 ", and was to step %" PRId64
                     ": the rate is %.4g at step %" PRId64 " and %.4g at step %" PRId64
                     ", unlike in a single run to step %" PRId64
                     "; to keep the schedule, set schedule-steps=%" PRId64),
                  span, was, lig_run_rate (before, step), step, lig_run_rate (settings, step + 1),
                  step + 1, settings->steps, was);
}

/* --- All ----------------------------------------------------------------------------------- */

gboolean
lig_run_apply_overrides (LigRun *self, const char *const *overrides, gint64 step, GError **error)
{
  g_auto (LigRunSettings) before;
  g_autoptr (GString) differences = g_string_new (NULL);
  lig_run_settings_copy (&self->settings, &before);
  for (; overrides && *overrides; overrides++)
    if (!apply (self, *overrides, differences, error))
      return FALSE;
  if (differences->len > 0)
    lig_run_remark (self, _ ("settings that differ from the checkpoint's: %s"), differences->str);
  self->branches |=
    lig_run_bends_schedule (&before, &self->settings) && step > self->settings.warmup;
  /* The new run must not write to the file of the old one. */
  if (self->branches && g_strcmp0 (before.checkpoint, self->settings.checkpoint) == 0)
    g_clear_pointer (&self->settings.checkpoint, g_free);
  remark_schedule (self, &before, step);
  return TRUE;
}
