/* SPDX-License-Identifier: MIT */
/* The data of a training, and what its plan requires of it. */
#pragma once

#include <ligature/dataset.h>
#include <ligature/program.h>
#include <ligature/run.h>

G_BEGIN_DECLS

/* Fills in the targets that the loss at the end of a plan requires. */
void lig_run_find_target (LigPlan *plan, LigTarget *target);

/* Gets a parameter that a loss over classes may have. Returns FALSE if it has none. */
gboolean lig_run_get_loss_number (LigOp *op, const char *name, gint64 *value);

/* Returns the number of the caller's extra inputs that are documents; the targets follow them. */
guint lig_run_count_documents (LigPlan *plan);

/* Checks that the data has the extra inputs that the plan takes, and that none is left unread. */
gboolean lig_run_check_extras (LigRun *self, LigPlan *plan, GError **error);

/* Gives a batch to a program of this training. */
gboolean lig_run_set_batch (
  LigRun *self, LigProgram *program, LigTensor *input, LigTensor *targets, GError **error);

/* Binds the data again after the number of classes of the loss was set. */
gboolean lig_run_bind_classes (LigRun *self, GError **error);

/* Checks that the tokens of the data are row numbers of the first embedding; the ops before it do
 * not change them. */
gboolean lig_run_check_vocabulary (LigDataset *data, LigPlan *plan, GError **error);

/* Rejects data whose samples are not those of the input that a sequence has; axis 0 is the batch,
 * which a setting may replace. */
gboolean
lig_run_check_input (LigDataset *data, const LigShape *input, LigDtype dtype, GError **error);

/* Makes the paths in the data setting absolute: a training may be resumed from another folder. */
void lig_run_locate_data (LigRunSettings *settings);

G_END_DECLS
