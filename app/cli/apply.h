/* SPDX-License-Identifier: MIT */
/* What the files of `lig apply` share: tensors of a file matched against the caller's slots. */
#pragma once

#include <ligature/program.h>

G_BEGIN_DECLS

/* One tensor that the plan takes. */
typedef struct {
  char *name;
  LigShape shape;
  LigDtype dtype;
  gboolean optional;
} LigSlot;

/* Slots that go by `main` and `extra.N`. Gradients exist of floating outputs alone. */
GArray *lig_apply_input_slots (LigPlan *plan);
GArray *lig_apply_gradient_slots (LigPlan *plan);

/* Names every tensor of the file that is missing, surplus or of another shape or kind. */
gboolean lig_apply_check (LigTensorFile *file, const char *path, GArray *slots, GError **error);

/* Copies the file's tensors into the program. */
gboolean lig_apply_set_inputs (LigProgram *program, LigTensorFile *file, GError **error);
gboolean lig_apply_set_gradients (LigProgram *program, LigTensorFile *file, GError **error);

/* Adds `output` and `extra.N`; then `grad.input`, `grad.extra.N` and `grad.PATH.NAME`. */
gboolean lig_apply_read_outputs (LigProgram *program, LigTensorFile *file, GError **error);
gboolean lig_apply_read_gradients (LigProgram *program, LigTensorFile *file, GError **error);

G_END_DECLS
