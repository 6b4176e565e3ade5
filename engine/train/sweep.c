/* SPDX-License-Identifier: MIT */
/* Sweeps. */
#include "engine/train/sweep-private.h"
#include "engine/train/swept.h"
#include <ligature/device.h>
#include <ligature/sequence.h>

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
