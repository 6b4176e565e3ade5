/* SPDX-License-Identifier: MIT */
/* Trainings ask more of a dataset than batches: the part of a rank, the documents of a batch, the
 * targets that count, and the content that checkpoints record. */
#pragma once

#include <ligature/dataset.h>

G_BEGIN_DECLS

/* Lets a dataset that is not bound yet give this rank's rows of each batch alone: a `count`-th of
 * it. The input's first axis becomes that much shorter. The error is LIG_ERROR_SHAPE if `count`
 * does not divide the batch size. */
gboolean lig_dataset_share (LigDataset *self, int rank, int count, GError **error);

/* Lets a dataset that is not bound yet give this rank's positions of each sample alone: of 2
 * `count` equal blocks number `rank` and number 2 `count` - 1 - `rank`, one behind the other. The
 * input's second axis becomes that much shorter. The error is LIG_ERROR_SHAPE if the samples have
 * no axis of positions, or if 2 `count` does not divide it. */
gboolean lig_dataset_share_positions (LigDataset *self, int rank, int count, GError **error);

/* Returns the token that ends a document, the option `separator` of text and tokens; -1 without
 * one.
 */
gint64 lig_dataset_get_separator (LigDataset *self);

/* Numbers the documents of each row of the inputs from 0, both tensors being int32; the separator,
 * which the dataset must have, is the last token of its document. */
void lig_dataset_number_documents (LigDataset *self, const LigTensor *input, LigTensor *documents);

/* Sets the integer target that the loss ignores, LIG_IGNORED_TARGET until then. */
void lig_dataset_set_ignored (LigDataset *self, gint32 ignored);

/* Returns how many targets of a batch the loss counts: all but the ignored ones. The mean over
 * several batches, whose losses are means over what they count, weighs each by this number. */
gint64 lig_dataset_count_targets (LigDataset *self, LigTensor *targets);

/* Returns whether a batch of the training part may have targets that the loss ignores; if not,
 * lig_dataset_count_targets() is the same for all. */
gboolean lig_dataset_may_ignore (LigDataset *self);

/* Returns (transfer full) (nullable) what a model of a table needs besides its parameters:
 * `{"standardized": true, "features": [{"name": "a", "mean": 5.8, "std": 0.8}], "classes": ["x",
 * "y"]}`. A mean is that of the rows for training, in the units of the file; it replaces missing
 * cells or, with `std`, is subtracted before the division by `std`. Without them features are read
 * as they are. NULL if the numbers are read as they are and targets are no labels. */
char *lig_dataset_describe_table (LigDataset *self);

/* Returns a hash of the bytes that were read; 0 for synthetic data. */
guint64 lig_dataset_get_content (LigDataset *self);

G_END_DECLS
