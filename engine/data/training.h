/* SPDX-License-Identifier: MIT */
/* Functions of datasets for training runs: the shard of a rank, the documents of a batch,
 * and the targets that count. */
#pragma once

#include <ligature/dataset.h>

G_BEGIN_DECLS

/* Makes a dataset that is not bound yet give only this rank's rows of each batch: 1 / `count` of
 * them. The input's first axis becomes that much shorter. The error is LIG_ERROR_SHAPE if `count`
 * does not divide the batch size. */
gboolean lig_dataset_share (LigDataset *self, int rank, int count, GError **error);

/* Makes a dataset that is not bound yet give only this rank's tokens of each sample: of 2 `count`
 * equal blocks of the sequence, blocks `rank` and 2 `count` - 1 - `rank`, concatenated. The input's
 * second axis becomes that much shorter. The error is LIG_ERROR_SHAPE if the samples have no
 * sequence axis, or if 2 `count` does not divide its length. */
gboolean lig_dataset_share_positions (LigDataset *self, int rank, int count, GError **error);

/* Returns the token that ends a document, the option `separator` of text and tokens; -1 without
 * one.
 */
gint64 lig_dataset_get_separator (LigDataset *self);

/* Numbers the documents of each row of the inputs from 0. Both tensors are int32. The separator,
 * which the dataset must have, is the last token of its document. */
void lig_dataset_number_documents (LigDataset *self, const LigTensor *input, LigTensor *documents);

/* Sets the integer target that the loss ignores; LIG_IGNORED_TARGET by default. */
void lig_dataset_set_ignored (LigDataset *self, gint32 ignored);

/* Returns how many targets of a batch the loss counts: all except the ignored ones. The loss of a
 * batch is a mean over these, so a mean over batches is weighted by this number. */
gint64 lig_dataset_count_targets (LigDataset *self, LigTensor *targets);

/* Returns whether a batch of the training part may have targets that the loss ignores; if not,
 * lig_dataset_count_targets() is the same for all. */
gboolean lig_dataset_may_ignore (LigDataset *self);

G_END_DECLS
