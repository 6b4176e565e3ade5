/* SPDX-License-Identifier: MIT */
/* Windows over a stream of tokens, cut in two: what text and tokens have in common. */
#pragma once

#include "engine/data/kind.h"

G_BEGIN_DECLS

/* Takes T from the input's shape. `tokens`, at least one, stay with the caller. */
gboolean lig_windows_open (LigDataset *self, const guint16 *tokens, gsize count, GError **error);

/* The other functions of a kind. */
gboolean lig_windows_bind (LigDataset *self, const LigTarget *target, gint64 size, GError **error);
void
lig_windows_read (const LigDataset *self, LigSplit part, gint64 sample, void *input, void *target);

G_END_DECLS
