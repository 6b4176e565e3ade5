/* SPDX-License-Identifier: MIT */
/* Windows over a stream of tokens, split into training and held-out parts; shared by text and
 * tokens. */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

/* Sets up windows of the input's axis 1 over `tokens`, of which there is at least one and which the
 * caller keeps until the dataset is closed. */
gboolean lig_windows_open (LigDataset *self, const guint16 *tokens, gsize count, GError **error);

/* The `bind` and `read` functions of a kind. */
gboolean lig_windows_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error);
void
lig_windows_read (const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target);

G_END_DECLS
