/* SPDX-License-Identifier: MIT */
/* A run on several ranks: compares their inputs, and makes common decisions. */
#include "engine/data/training.h"
#include "engine/device/device-private.h"
#include "engine/measure/shared-choices.h"
#include "engine/ranks/messages.h"
#include "engine/train/ranks.h"
#include "engine/train/run-private.h"
#include <ligature/kernels.h>
#include <ligature/ranks.h>

#include <glib/gi18n-lib.h>
#include <inttypes.h>

LigRanks *
lig_run_ranks (LigRun *self)
{
  return lig_device_get_ranks (self->device);
}

gboolean
lig_run_writes (LigRun *self)
{
  return lig_ranks_get_rank (lig_run_ranks (self)) == 0;
}

char *
lig_run_describe_layout (LigRun *self)
{
  const LigLayout *layout = lig_device_get_layout (self->device);
  return layout ? lig_layout_to_string (layout) : NULL;
}

/* Returns the settings without those that concern only rank 0. */
static char *
describe_settings (LigRun *self)
{
  LigRunSettings settings = self->settings;
  settings.checkpoint = settings.name = NULL;
  return lig_run_settings_to_json (&settings);
}

/* A rank with another file or version would silently train another model. */
gboolean
lig_run_compare_ranks (LigRun *self, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  if (!ranks)
    return TRUE;
  g_autofree char *sequence = lig_sequence_to_json (self->sequence);
  g_autofree char *settings = describe_settings (self);
  g_autofree char *data =
    g_strdup_printf ("%s, %016" G_GINT64_MODIFIER "x", lig_dataset_describe (self->data),
                     lig_dataset_get_content (self->data));
  g_autofree char *step = g_strdup_printf ("%" PRId64, self->first_step);
  return lig_ranks_agree (ranks, _ ("the version"), LIG_VERSION, error) &&
         lig_ranks_agree (ranks, _ ("the instructions"), lig_cpu_level (), error) &&
         lig_ranks_agree (ranks, _ ("the sequence"), sequence, error) &&
         lig_ranks_agree (ranks, _ ("the settings"), settings, error) &&
         lig_ranks_agree (ranks, _ ("the data"), data, error) &&
         lig_ranks_agree (ranks, _ ("the first step"), step, error) &&
         lig_ranks_agree (ranks, _ ("the initial parameters"), self->weights ? self->weights : "",
                          error);
}

gboolean
lig_run_share_batch (LigRun *self, GError **error)
{
  LigRanks *ranks = lig_run_ranks (self);
  LigShape shape;
  if (!ranks)
    return TRUE;
  if (!lig_dataset_share (self->data, lig_device_get_rank (self->device, LIG_GROUP_DATA),
                          lig_device_get_n_ranks (self->device, LIG_GROUP_DATA), error) ||
      !lig_dataset_share_positions (
        self->data, lig_device_get_rank (self->device, LIG_GROUP_CONTEXT),
        lig_device_get_n_ranks (self->device, LIG_GROUP_CONTEXT), error))
    return FALSE;
  lig_dataset_get_input (self->data, &shape, NULL);
  self->train_options.batch = self->eval_options.batch = shape.axes[0];
  return TRUE;
}

gboolean
lig_run_share_failure (LigRun *self, gboolean fine, GError **error)
{
  if (lig_ranks_share_failure (lig_run_ranks (self), fine, error))
    return TRUE;
  self->together = TRUE;
  return FALSE;
}

gboolean
lig_run_share_choices (LigRun *self, char **choices, GError **error)
{
  return lig_choices_share (self->device, &self->tuning, choices, error);
}

gboolean
lig_run_share_request (LigRun *self, LigRunRequest *request, GError **error)
{
  gint32 code = (gint32) *request;
  if (!lig_device_check_ranks (self->device, error) ||
      !lig_ranks_broadcast (lig_run_ranks (self), &code, sizeof code, error))
    return FALSE;
  *request = (LigRunRequest) code;
  return TRUE;
}
