/* SPDX-License-Identifier: MIT */
/* The load of experts that the newest training run of a document's sequence recorded, read on a
 * thread. The document's signal `timed` announces another one. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef struct _LigDocument LigDocument;

/* Reads the loads of the current plan and, from the first call on, of each later one. Called again
 * after a run has recorded some. */
void lig_document_read_loads (LigDocument *self);

/* Returns: (nullable) (transfer none) (element-type LigLoadSeries): the loads of the routers of the
 *   current plan; null if there are none, and while they are not known. */
GPtrArray *lig_document_get_loads (LigDocument *self);

G_END_DECLS
