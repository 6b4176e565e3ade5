/* SPDX-License-Identifier: MIT */
/* Settings that are given when a checkpoint is continued. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Applies the settings that are given when a checkpoint after `step` is continued; self->settings
 * has those of the checkpoint. Sets `branches` and `replans`, and remarks what changes. */
gboolean
lig_run_apply_overrides (LigRun *self, const char *const *overrides, gint64 step, GError **error);

G_END_DECLS
