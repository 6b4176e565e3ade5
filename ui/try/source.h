/* SPDX-License-Identifier: MIT */
/* The models that can be tried: training runs of the store with a checkpoint, and files. */
#pragma once

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

/* @model: as `lig generate` takes it: a uuid, or a file
 * @title: `gpt2-tiny, step 12 000`; @subtitle: its losses and its age
 * @rows: whether it reads rows of numbers
 * @missing: (nullable): the file of its checkpoint, if that is missing: it cannot be tried
 * @own: whether it was trained on the ops of the document */
typedef struct {
  char *model, *title, *subtitle, *missing;
  gboolean rows, own;
} LigTrySource;

void lig_try_source_free (LigTrySource *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTrySource, lig_try_source_free)

/* Returns: (transfer full): a file that a run wrote. */
LigTrySource *lig_try_source_new_file (const char *path);

/* Looks for the newest runs with a checkpoint on a thread. The result is an array of LigTrySource,
 * newest first; (transfer full) (nullable). */
void lig_try_source_find (LigDocument *document,
                          GCancellable *cancellable,
                          GAsyncReadyCallback callback,
                          gpointer data);
GPtrArray *lig_try_source_find_finish (GAsyncResult *result);

/* Returns: (transfer none) (nullable): the newest run of the document that can be tried, else the
 * newest that can be. */
const LigTrySource *lig_try_source_get_initial (GPtrArray *sources);

/* Returns: (transfer none) (nullable): the source of a model. */
const LigTrySource *lig_try_source_lookup (GPtrArray *sources, const char *model);

/* Returns: (transfer full) (nullable): why the newest run of the document is not the one that
 * @source, which may be null, is of. @title: the document's */
char *lig_try_source_explain (GPtrArray *sources, const LigTrySource *source, const char *title);

G_END_DECLS
