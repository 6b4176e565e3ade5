/* SPDX-License-Identifier: MIT */
/* The tensors of a file matched against the inputs that a plan expects; for `lig apply`. */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

/* A tensor that the plan takes. */
typedef struct {
  char *name;
  LigShape shape;
  LigDtype dtype;
  gboolean optional;
} LigSlot;

/* Return the slots called `main` and `extra.N`. Only floating outputs have gradients. */
GArray *lig_apply_input_slots (LigPlan *plan);
GArray *lig_apply_gradient_slots (LigPlan *plan);

/* Compares the file with the slots. The error names every tensor that is missing, surplus, or
 * of another shape or kind. */
gboolean lig_apply_check (LigTensorFile *file, const char *path, GArray *slots, GError **error);

/* Copy the file's tensors into the program. */
gboolean lig_apply_set_inputs (LigProgram *program, LigTensorFile *file, GError **error);
gboolean lig_apply_set_gradients (LigProgram *program, LigTensorFile *file, GError **error);

/* Add `output` and `extra.N`; `grad.input`, `grad.extra.N` and `grad.PATH.NAME`. */
gboolean lig_apply_read_outputs (LigProgram *program, LigTensorFile *file, GError **error);
gboolean lig_apply_read_gradients (LigProgram *program, LigTensorFile *file, GError **error);

G_END_DECLS
