/* SPDX-License-Identifier: MIT */
/* The wishes of a sequence: fusions forced at an op, and fusions forbidden at an op or everywhere,
 * including those of ops inside folded blocks. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * LigWish:
 * @forced: FALSE: it is forbidden
 * @path: (nullable): of its op, in the form of rows' paths; null: everywhere
 * @fusion: its name
 */
typedef struct {
  gboolean forced;
  char *path, *fusion;
} LigWish;

/* Returns: (transfer full) (element-type LigWish): everywhere first, then in the order of the ops.
 */
GPtrArray *lig_document_list_wishes (LigDocument *self);

/* Removes a wish from a sequence, such as a copy for a preview, and returns whether it had the
 * wish.
 * @path: (nullable): as in LigWish */
gboolean
lig_wish_remove (LigSequence *sequence, gboolean forced, const char *path, const char *fusion);

/* Removes a wish as one edit. Does nothing if there is no such wish. */
void
lig_document_drop_wish (LigDocument *self, gboolean forced, const char *path, const char *fusion);

G_END_DECLS
