/* SPDX-License-Identifier: MIT */
/* Collects every problem of a sequence, for lig_plan_check(): a pass continues after an error with
 * a guess, and errors that may be caused by a guess are omitted. */
#pragma once

#include "engine/graph/graph.h"
#include <ligature/problem-fix.h>

/* The aspects of a value that are guessed. */
enum {
  LIG_UNCERTAIN_FEATURES = 1 << 0, /* its last axis */
  LIG_UNCERTAIN_ROWS = 1 << 1,     /* its other axes, and their number */
  LIG_UNCERTAIN_TYPE = 1 << 2,     /* its type: a reader was rejected for it */
  LIG_UNCERTAIN_SHARDING = 1 << 3, /* its sharding over the tensor-parallel group */
};

typedef struct {
  GError *error;
  int part;         /* expanded index, or -1 */
  GPtrArray *fixes; /* of LigProblemFix: edits that may remove it, best first */
} LigGraphProblem;

LigCollection *lig_collection_new (void);
void lig_collection_free (LigCollection *self);
guint lig_collection_count (const LigCollection *self);
LigGraphProblem *lig_collection_get (const LigCollection *self, guint n);

/* If the graph collects problems, moves the error to them and returns TRUE: the pass continues.
 * Repetitions of a block report a problem once. `part`: the expanded index, or -1. */
gboolean lig_graph_collect_problem (LigGraph *self, int part, GError **error);

/* Suggests an edit that may fix the problem that the last lig_graph_collect_problem() added. Does
 * nothing if it added none. */
void lig_graph_offer (
  LigGraph *self, LigProblemFixKind kind, const char *path, const char *name, const char *value);
