/* SPDX-License-Identifier: MIT */
/* The wishes of a sequence: fusions that are forced at an op, and fusions that are forbidden at an
 * op or everywhere, those of ops inside folded blocks included. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * LigWish:
 * @forced: else it is forbidden
 * @path: (nullable): of its op, as rows have it; null: everywhere
 * @fusion: its name
 */
typedef struct {
  gboolean forced;
  char *path, *fusion;
} LigWish;

/* Returns: (transfer full) (element-type LigWish): everywhere first, then in the order of the ops.
 */
GPtrArray *lig_document_list_wishes (LigDocument *self);

/* Removes a wish from a sequence, for a preview of a copy, and returns whether it had it.
 * @path: (nullable): as LigWish has it */
gboolean
lig_wish_remove (LigSequence *sequence, gboolean forced, const char *path, const char *fusion);

/* Releases a force or allows a fusion again, as one edit. Does nothing where there is no such
 * wish. */
void
lig_document_drop_wish (LigDocument *self, gboolean forced, const char *path, const char *fusion);

G_END_DECLS
