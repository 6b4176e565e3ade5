/* SPDX-License-Identifier: MIT */
/* Windows over a stream of tokens, split into training and validation. Used by text; tokens makes
 * its windows over files. */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

/* Sets up windows of the input's axis 1 over `tokens`, at least one, which the caller keeps until
 * the dataset is closed. The first `training` tokens are for training. */
gboolean lig_windows_open (
  LigDataset *self, const guint16 *tokens, gsize training, gsize count, GError **error);

/* The `bind` and `read` functions of a kind. */
gboolean lig_windows_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error);
gboolean lig_windows_read (
  const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target, GError **error);

/* Helpers for kinds that store their tokens elsewhere: check the input's shape, check the targets,
 * return the stride between windows, and the number of windows in a row of tokens. */
gboolean lig_windows_check_input (const LigDataset *self, GError **error);
gboolean lig_windows_check_target (const LigDataset *self,
                                   const LigTarget *target,
                                   gint64 size,
                                   GError **error);
gint64 lig_windows_stride (const LigDataset *self, gint64 target_size);
gint64 lig_windows_count (const LigDataset *self, gint64 tokens, gint64 target_size);

/* Rejects data without a training window. */
gboolean lig_windows_check_samples (const LigDataset *self, GError **error);

G_END_DECLS
