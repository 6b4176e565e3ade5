/* SPDX-License-Identifier: MIT */
/* The overrides of a sequence: fusions that are forced at an op, or forbidden at an op or
 * everywhere. Overrides of ops inside folded blocks are included. */
#pragma once

#include "ui/document/document.h"

G_BEGIN_DECLS

/**
 * LigOverride:
 * @forced: TRUE: the fusion is forced; FALSE: it is forbidden
 * @path: (nullable): the path of the op, in the form of rows' paths; null: everywhere
 * @fusion: the name of the fusion
 */
typedef struct {
  gboolean forced;
  char *path, *fusion;
} LigOverride;

/* Returns: (transfer full) (element-type LigOverride): first the overrides that apply everywhere,
 * then those of each op in order. */
GPtrArray *lig_document_list_overrides (LigDocument *self);

/* Removes an override from a sequence, such as a copy for a preview. Returns FALSE if it lacks the
 * override.
 * @path: (nullable): as in LigOverride */
gboolean
lig_override_remove (LigSequence *sequence, gboolean forced, const char *path, const char *fusion);

/* Removes an override as one edit. Does nothing if there is no such override. */
void lig_document_drop_override (LigDocument *self,
                                 gboolean forced,
                                 const char *path,
                                 const char *fusion);

G_END_DECLS
