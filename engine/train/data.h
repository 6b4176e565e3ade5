/* SPDX-License-Identifier: MIT */
/* The data of a run, and the requirements of its plan. */
#pragma once

#include <ligature/dataset.h>
#include <ligature/program.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Fills in the targets that the loss at the end of a plan requires. */
void lig_run_find_target (LigPlan *plan, LigTarget *target);

/* Gets an optional parameter of a loss over classes. Returns FALSE if the loss lacks it. */
gboolean lig_run_get_loss_number (LigOp *op, const char *name, gint64 *value);

/* Returns how many of the caller's extra inputs are documents; the targets follow them. */
guint lig_run_count_documents (LigPlan *plan);

/* Checks that the data has the extra inputs of the plan, and that the plan reads all of them. */
gboolean lig_run_check_extras (LigRun *self, LigPlan *plan, GError **error);

/* Passes a batch to a program of this run. */
gboolean lig_run_set_batch (
  LigRun *self, LigProgram *program, LigTensor *input, LigTensor *targets, GError **error);

/* Rebinds the data after the number of classes of the loss was set. */
gboolean lig_run_bind_classes (LigRun *self, GError **error);

/* Checks that the tokens of the data are row indices of the first embedding; the ops before it do
 * not change them. */
gboolean lig_run_check_vocabulary (LigDataset *data, LigPlan *plan, GError **error);

/* Rejects data with samples that do not match the input of a sequence; axis 0 is the batch, which a
 * setting may override. */
gboolean
lig_run_check_input (LigDataset *data, const LigShape *input, LigDtype dtype, GError **error);

/* Makes the paths in the data setting absolute: a run may be resumed from another folder. */
void lig_run_locate_data (LigRunSettings *settings);

G_END_DECLS
