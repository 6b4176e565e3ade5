/* SPDX-License-Identifier: MIT */
/* The properties of a sequence that are known after shape inference, before fusions are chosen:
 * enough to create a state. */
#pragma once

#include "engine/graph/layout.h"
#include <ligature/plan-options.h>
#include <ligature/plan-tables.h>

typedef struct _LigGraph LigGraph;

typedef struct {
  LigStateLayout *layout;
  LigDtype gradient_dtype;
  LigShape input;
  GArray *ops;     /* of LigPlanOp, with their params, without ports, shapes and figures */
  LigGraph *graph; /* that owns what the ops refer to */
} LigInferred;

/* Runs the passes up to the shapes; `options` may be null. If it fails, there is nothing to free.
 */
gboolean lig_inferred_init (LigInferred *self,
                            LigSequence *sequence,
                            LigDevice *device,
                            const LigPlanOptions *options,
                            GError **error);

/* Frees what the caller has not taken. */
void lig_inferred_clear (LigInferred *self);
