/* SPDX-License-Identifier: MIT */
/* Datasets: batches of inputs and targets, drawn in an order that only the seed decides.
 *
 * A dataset is written `KIND[:PATH][?key=value&...]`; values may hold %XX escapes.
 * text: a file, or all regular files below a folder, sorted by path and joined (links to files
 *   are followed, links to folders are not); every byte is a token.
 * tokens: a .bin of llm.c: 256 int32 (20240520, 1, number of tokens), then uint16 tokens.
 * csv: a table of numbers, fields separated by `,`, `;` or tab, quoted where they need it; if no
 *   field of the first row is a number, it names the columns (`header=true|false` overrides).
 *   `target=COLUMN[,COLUMN]`: names or 1-based numbers, by default the last; the other columns are
 *   features. `task=class|value`: by default class where the loss wants classes. Labels that are
 *   text are numbered in sorted order. `standardize=true` gives each feature mean 0 and variance 1
 *   over the training rows.
 * idx: unsigned bytes in the format of MNIST; `labels=PATH`, by default the path of the images
 *   with `labels-idx1` for `images-idx3`. Pixels are scaled to 0..1.
 * synthetic: random, no path; `samples=N` (65536), and `vocabulary=N` (256) for integer inputs.
 *
 * All take `held-out=FRACTION` (0.1): the last tenth of the bytes, tokens, rows or samples is not
 * trained on, and no sample reaches across the cut. The samples of one epoch are a permutation
 * drawn from the seed and the epoch; a batch may span two epochs.
 *
 * text and tokens give windows of T tokens. Where every position has a target, windows follow one
 * another without overlap (stride T); where only the token after the window is predicted, one
 * begins at every token (stride 1). A dataset is used by one thread at a time. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* The value of an integer target whose row does not count. */
#define LIG_IGNORED_TARGET (-100)

typedef struct LigDataset LigDataset;

#define LIG_TYPE_DATASET (lig_dataset_get_type ())
LIG_API GType lig_dataset_get_type (void);

/**
 * LigTarget:
 * @dtype: int32 for classes, else a floating type
 * @shape: of the targets of one batch: `batch`, `batch x T` or `batch*T` for classes, the
 *   prediction's shape for values
 * @classes: targets lie in 0 to classes - 1; 0 for values
 *
 * What a loss wants.
 */
typedef struct {
  LigDtype dtype;
  LigShape shape;
  gint64 classes;
} LigTarget;

/**
 * lig_dataset_open:
 * @spec: `KIND[:PATH][?key=value&...]`
 * @input: (nullable): the input's shape in the sequence; axis 0 is the batch. text and tokens take
 *   T from axis 1, synthetic takes it all, the others only the batch (and no shape at all if
 *   @batch is given)
 * @dtype: the input's type in the sequence; only synthetic heeds it
 * @batch: samples per batch; 0: axis 0 of @input
 * @seed: of the order, and of synthetic's values
 *
 * Reads and checks everything there is to check without knowing the loss.
 *
 * Returns: (transfer full): the dataset, or %NULL with %LIG_ERROR_FILE, _FORMAT (damaged; says
 *   file and line or offset), _SHAPE, _DTYPE, _VALUE (an option) or _MEMORY set
 */
LIG_API LigDataset *lig_dataset_open (const char *spec,
                                      const LigShape *input,
                                      LigDtype dtype,
                                      gint64 batch,
                                      guint64 seed,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

LIG_API void lig_dataset_free (LigDataset *self);

/**
 * lig_dataset_get_input:
 * @shape: (out) (optional): of the inputs of one batch: text and tokens `batch x T`, csv
 *   `batch x features`, idx `batch x pixels`, synthetic as given
 * @dtype: (out) (optional): int32 for text and tokens, fp32 for csv and idx
 */
LIG_API void lig_dataset_get_input (LigDataset *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_dataset_bind:
 * @target: what the loss wants
 *
 * Settles what the targets are. May be called again; the position stays.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE, _DTYPE, _VALUE (a class beyond the classes; names its
 *   line or offset) or _FORMAT set if the data cannot give that
 */
LIG_API gboolean lig_dataset_bind (LigDataset *self, const LigTarget *target, GError **error);

/**
 * lig_dataset_get_largest_token:
 *
 * Returns: the largest token in the whole of text or tokens; -1 where there are no tokens
 */
LIG_API gint64 lig_dataset_get_largest_token (LigDataset *self);

/**
 * lig_dataset_get_samples:
 *
 * Returns: samples for training, which is one epoch; of text and tokens, before
 *   lig_dataset_bind(), windows with a target at every position
 */
LIG_API gint64 lig_dataset_get_samples (LigDataset *self);

/**
 * lig_dataset_get_held_out_batches:
 *
 * Returns: batches that hold every held-out sample once; 0 if there are none
 */
LIG_API gint64 lig_dataset_get_held_out_batches (LigDataset *self);

/**
 * lig_dataset_next:
 * @input: filled; of lig_dataset_get_input()'s size and type
 * @targets: (nullable): filled; of the bound target's size and type
 *
 * Gives the next training batch and advances the position by it. Allocates nothing.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE or _DTYPE set if a tensor does not fit
 */
LIG_API gboolean lig_dataset_next (LigDataset *self,
                                   LigTensor *input,
                                   LigTensor *targets,
                                   GError **error);

/**
 * lig_dataset_preview:
 * @rows: the most of them
 * @columns: (out): of the table
 *
 * What was understood of the data, for people: a table of the first rows, lines, tokens or images.
 *
 * Returns: (transfer full) (array zero-terminated=1): its texts row by row, titles first
 */
LIG_API GStrv lig_dataset_preview (LigDataset *self, guint rows, guint *columns);

/**
 * lig_dataset_get_position:
 *
 * Returns: samples given since the start, over all epochs
 */
LIG_API guint64 lig_dataset_get_position (LigDataset *self);

/**
 * lig_dataset_seek:
 * @position: of a dataset with the same spec, seed and target; what follows is identical
 */
LIG_API void lig_dataset_seek (LigDataset *self, guint64 position);

/**
 * lig_dataset_held_out:
 * @batch_index: from 0 to lig_dataset_get_held_out_batches() - 1
 * @input: filled
 * @targets: (nullable): filled
 * @valid: (out) (optional): samples in this batch that count
 *
 * Gives held-out samples in the order of the data; the position stays. The last batch is filled up
 * from the first held-out samples; their integer targets are %LIG_IGNORED_TARGET.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX, _SHAPE or _DTYPE set
 */
LIG_API gboolean lig_dataset_held_out (LigDataset *self,
                                       gint64 batch_index,
                                       LigTensor *input,
                                       LigTensor *targets,
                                       gint64 *valid,
                                       GError **error);

/**
 * lig_dataset_get_tokens:
 * @held_out: the held-out part rather than the one for training
 * @count: (out): tokens in it
 *
 * Returns: (transfer none) (nullable) (array length=count): text's or tokens' raw stream on that
 *   side of the cut, %NULL for other kinds
 */
LIG_API const guint16 *lig_dataset_get_tokens (LigDataset *self, gboolean held_out, gsize *count);

/**
 * lig_dataset_describe:
 *
 * Returns: (transfer none): `text: 3 files, 182,345 bytes, 164,110 for training`
 */
LIG_API const char *lig_dataset_describe (LigDataset *self);

/**
 * lig_dataset_get_content:
 *
 * Returns: a number that differs where the bytes that were read differ; 0 for synthetic data
 */
LIG_API guint64 lig_dataset_get_content (LigDataset *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigDataset, lig_dataset_free)

G_END_DECLS
