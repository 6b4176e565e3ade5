/* SPDX-License-Identifier: MIT */
/* Settings that are given when a checkpoint is resumed. */
#pragma once

#include <ligature/run.h>

G_BEGIN_DECLS

/* Applies the settings that are given when a checkpoint after `step` is resumed; self->settings has
 * those of the checkpoint. Sets `branches` and `replans`, and adds remarks on the changes. */
gboolean
lig_run_apply_overrides (LigRun *self, const char *const *overrides, gint64 step, GError **error);

G_END_DECLS
