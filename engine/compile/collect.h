/* SPDX-License-Identifier: MIT */
/* Collects every problem of a sequence, for lig_plan_check(): a pass goes on after an error with a
 * guess, and errors that may only follow from a guess are left out. */
#pragma once

#include "engine/compile/draft.h"
#include <ligature/problem-mend.h>

/* The parts of a value's shape that are guessed. */
enum {
  LIG_UNSURE_FEATURES = 1 << 0, /* its last axis */
  LIG_UNSURE_ROWS = 1 << 1,     /* its other axes, and their number */
  LIG_UNSURE_TYPE = 1 << 2,     /* its type: a reader was refused for it */
  LIG_UNSURE_PART = 1 << 3,     /* the part of it that each rank of a tensor group has */
};

typedef struct {
  GError *error;
  int part;         /* expanded index, or -1 */
  GPtrArray *mends; /* of LigProblemMend: edits that may remove it, best first */
} LigDraftProblem;

/* The problems found so far. */
typedef struct _LigCollection LigCollection;

LigCollection *lig_collection_new (void);
void lig_collection_free (LigCollection *self);
guint lig_collection_count (const LigCollection *self);
LigDraftProblem *lig_collection_get (const LigCollection *self, guint n);

/* If the draft collects problems, moves the error to them and returns TRUE: the pass goes on.
 * Repetitions of a block have their problems in common. `part`: the expanded index, or -1. */
gboolean lig_draft_goes_on (LigDraft *self, int part, GError **error);

/* Offers an edit that may remove the problem that the last lig_draft_goes_on() has added. Does
 * nothing if it added none. */
void lig_draft_offer (
  LigDraft *self, LigProblemMendKind kind, const char *path, const char *name, const char *value);

/* Runs the passes and collects all problems. With `shapes` only those up to the shapes. */
void lig_draft_check (LigDraft *self, gboolean shapes);

/* Finds the shapes of a part whose inputs are guessed, or that has an error, which is then
 * collected; the outputs get the marks for what is guessed. */
unsigned lig_guess_shapes (LigDraft *draft, int index, LigInfer *infer);

/* Sets a part's length that follows from the input of its macro. */
gboolean lig_infer_size (LigDraft *draft, int index, GError **error);

/* Does the work of `infer` for one part: presets the shapes, and checks them. */
void lig_infer_prepare (const LigDraft *draft, const LigPart *part, LigInfer *infer);
gboolean
lig_infer_shapes (const LigDraft *draft, const LigPart *part, LigInfer *infer, GError **error);

/* Offers edits for problems with shapes and types, which need the shapes of all parts. */
void lig_propose_mends (LigDraft *draft, LigDraftProblem *problem);

/* Does the part of `fuse` that finds problems: checks forced and forbidden fusions. */
gboolean lig_fuse_check (LigDraft *draft, GError **error);
