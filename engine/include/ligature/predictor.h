/* SPDX-License-Identifier: MIT */
/* Predicts rows with a trained model. A predictor may be used by one thread at a time. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct _LigSequence LigSequence;
typedef struct _LigState LigState;
typedef struct _LigPlan LigPlan;
typedef struct _LigPlanOptions LigPlanOptions;

typedef struct _LigPredictor LigPredictor;

#define LIG_TYPE_PREDICTOR (lig_predictor_get_type ())
LIG_API GType lig_predictor_get_type (void);

/**
 * LigPredictorProgress:
 * @share: the share of the rows that is done, from 0 to 1
 * @data: the data of lig_predictor_set_progress()
 *
 * Returns: whether to continue
 */
typedef gboolean (*LigPredictorProgress) (double share, gpointer data);

/**
 * LigPredictorFigures:
 * @rows: the number of rows that were predicted
 * @counted: the number of targets in the loss: without missing and ignored ones
 * @loss: the mean loss over these; NaN if there are none
 * @accuracy: the share of them whose largest logit is that of the target; NaN if targets are
 *   numbers
 *
 * How well the predictions fit the targets.
 */
typedef struct {
  gint64 rows;
  double counted, loss, accuracy;
} LigPredictorFigures;

/**
 * lig_predictor_new:
 * @sequence: a sequence with an input, whose first axis is the number of rows that are predicted at
 *   once; a loss at its end is omitted
 * @state: its parameters
 * @options: (nullable): options of its plans; passes, batch and accuracy are set by the predictor
 * @error: set if a plan cannot be compiled, or takes inputs from the caller besides the main one
 *   and targets (%LIG_ERROR_CHANNEL)
 *
 * Returns: (transfer full): a predictor, or %NULL with @error set
 */
LIG_API LigPredictor *lig_predictor_new (LigSequence *sequence,
                                         LigState *state,
                                         const LigPlanOptions *options,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_predictor_free:
 * @self: (nullable) (transfer full): a predictor
 *
 * Frees it with its programs.
 */
LIG_API void lig_predictor_free (LigPredictor *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigPredictor, lig_predictor_free)

/**
 * lig_predictor_set_progress:
 * @self: a predictor
 * @progress: (nullable) (scope forever): a function that is called after each batch
 * @data: its last argument
 */
LIG_API void
lig_predictor_set_progress (LigPredictor *self, LigPredictorProgress progress, gpointer data);

/**
 * lig_predictor_get_plan:
 * @self: a predictor
 *
 * Returns: (transfer none): the plan of a full batch
 */
LIG_API LigPlan *lig_predictor_get_plan (LigPredictor *self);

/**
 * lig_predictor_get_classes:
 * @self: a predictor
 *
 * Returns: the number of classes, which are the first of the output's columns; 0 if the sequence
 *   does not end with a loss over classes
 */
LIG_API gint64 lig_predictor_get_classes (LigPredictor *self);

/**
 * lig_predictor_run:
 * @self: a predictor
 * @input: the rows: axis 0 counts them, and each has as many elements as a row of the sequence's
 *   input; floating types are converted
 *
 * Computes the outputs of all rows, batch by batch; the last batch has a plan of its own size, or
 * is padded if the sequence does not accept that size.
 *
 * Returns: (transfer full): fp32: the output's shape with as many rows as @input; %NULL with
 *   %LIG_ERROR_SHAPE, _DTYPE, _MEMORY or an error of the device set, or %G_IO_ERROR_CANCELLED if
 *   the progress function returned %FALSE
 */
LIG_API LigTensor *lig_predictor_run (LigPredictor *self,
                                      const LigTensor *input,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_predictor_evaluate:
 * @self: a predictor of a sequence with a loss
 * @input: the rows, see lig_predictor_run()
 * @targets: fp32: for each row the targets of the loss; NaN: missing, so that the row is
 *   not counted. Classes are whole numbers; -1 and -100 are ignored
 * @figures: (out caller-allocates): the loss and the accuracy
 *
 * Computes the loss of the rows like an evaluation in training.
 *
 * Returns: %FALSE with the errors of lig_predictor_run() set, or %LIG_ERROR_VALUE for a target that
 *   the loss does not have
 */
LIG_API gboolean lig_predictor_evaluate (LigPredictor *self,
                                         const LigTensor *input,
                                         const LigTensor *targets,
                                         LigPredictorFigures *figures,
                                         GError **error);

/**
 * lig_predictor_get_influence:
 * @self: a predictor
 * @row: one row, as for lig_predictor_run(); not integers
 * @column: the index of an output of the row, such as that of the predicted class
 *
 * Computes the contribution of each number of the row to an output, before any softmax: the
 * gradient of the output times the number. In a linear model the output is the sum of these
 * products and the bias. Dropout is not applied.
 *
 * Returns: (transfer full): fp32: a product for each number of the row; %NULL with the errors of
 *   lig_predictor_run() set, or %LIG_ERROR_INDEX if the row has no such output
 */
LIG_API LigTensor *lig_predictor_get_influence (LigPredictor *self,
                                                const LigTensor *row,
                                                gint64 column,
                                                GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
