/* SPDX-License-Identifier: MIT */
/* Datasets: batches of inputs and targets, drawn in an order that only the seed decides.
 *
 * A dataset is written `KIND[:PATH][?key=value&...]`; values may hold %XX escapes.
 * lig_dataset_info_nth() lists the kinds with their options, and so does `lig train --help`.
 *
 * The last part of the data, a tenth unless `held-out=FRACTION` says otherwise, is not trained on,
 * and no sample reaches across the cut. The samples of one epoch are a permutation drawn from the
 * seed and the epoch; a batch may span two epochs.
 *
 * text and tokens give windows of T tokens. If every position has a target, windows follow one
 * another without overlap (stride T); if only the token after the window is predicted, one begins
 * at every token (stride 1). A dataset is used by one thread at a time. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* --- Kinds of datasets -------------------------------------------------------------------- */

/**
 * LigDatasetOptionType:
 * @LIG_DATASET_TEXT: any text
 * @LIG_DATASET_PATH: a file
 * @LIG_DATASET_CHOICE: one of the option's choices
 * @LIG_DATASET_BOOLEAN: `true` or `false`
 * @LIG_DATASET_COUNT: a whole number from the minimum to the maximum
 * @LIG_DATASET_FRACTION: a number of at least the minimum and below the maximum
 */
typedef enum {
  LIG_DATASET_TEXT,
  LIG_DATASET_PATH,
  LIG_DATASET_CHOICE,
  LIG_DATASET_BOOLEAN,
  LIG_DATASET_COUNT,
  LIG_DATASET_FRACTION,
} LigDatasetOptionType;

/**
 * LigDatasetChoice:
 * @name: as it is written in a spec
 * @label: for people, translatable
 */
typedef struct {
  const char *name;
  const char *label;
} LigDatasetChoice;

/**
 * LigDatasetOption:
 * @type: of its values
 * @name: the key in `?key=value`
 * @label: a name for people, translatable
 * @help: one sentence without a full stop, translatable
 * @minimum: the least value of a count or a fraction
 * @maximum: the greatest one
 * @initial: the default of a count, a fraction or a boolean (0 or 1)
 * @choices: the values of a choice; ends with a null name
 * @unset: the label of a choice that is left out, translatable
 */
typedef struct {
  LigDatasetOptionType type;
  const char *name, *label, *help;
  double minimum, maximum, initial;
  const LigDatasetChoice *choices;
  const char *unset;
} LigDatasetOption;

typedef enum { LIG_DATASET_NO_PATH, LIG_DATASET_FILE, LIG_DATASET_FILE_OR_FOLDER } LigDatasetPath;

/**
 * LigDatasetInfo:
 * @name: the word before the colon
 * @title: for people, translatable
 * @help: one sentence without a full stop, translatable
 * @path: whether a path follows the name, and to what
 * @files: (nullable): patterns of the names of such files, in small letters: `*.csv *.tsv`
 * @needs_shape: its samples have whatever shape the sequence says, so the sequence must say one
 * @options: its own options; ends with a null name; may be null
 *
 * A kind of dataset as people and programs see it.
 */
typedef struct {
  const char *name, *title, *help;
  LigDatasetPath path;
  const char *files;
  gboolean needs_shape;
  const LigDatasetOption *options;
} LigDatasetInfo;

/**
 * lig_dataset_info_nth:
 * @n: from 0
 *
 * Returns: (nullable) (transfer none): the kinds one by one; %NULL after the last
 */
LIG_API const LigDatasetInfo *lig_dataset_info_nth (guint n);

/**
 * lig_dataset_info_of:
 * @spec: `KIND[:PATH][?key=value&...]`, or its beginning
 *
 * Returns: (nullable) (transfer none): the kind that it names, %NULL where there is none
 */
LIG_API const LigDatasetInfo *lig_dataset_info_of (const char *spec);

/**
 * lig_dataset_shared_options:
 *
 * Returns: (transfer none): the options of every kind; ends with a null name
 */
LIG_API const LigDatasetOption *lig_dataset_shared_options (void);

/**
 * lig_dataset_split:
 * @spec: `KIND[:PATH][?key=value&...]`
 * @path: (out) (transfer full) (nullable): the path
 *
 * Takes a spec apart without a look at the data or at the kind's options.
 *
 * Returns: (transfer full) (array zero-terminated=1): `key`, `value`, `key`, `value`, …, without
 *   escapes
 */
LIG_API GStrv lig_dataset_split (const char *spec, char **path);

/* --- Datasets ------------------------------------------------------------------------------ */

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
 *   T from axis 1, a kind that needs a shape takes it all, the others only the batch (and no shape
 * at all if
 *   @batch is given)
 * @dtype: the input's type in the sequence; only kinds that need a shape use it
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

/**
 * lig_dataset_free:
 * @self: a data set
 *
 * Releases the caller's reference; the memory goes with the last one.
 */
LIG_API void lig_dataset_free (LigDataset *self);

/**
 * lig_dataset_get_input:
 * @self: a data set
 * @shape: (out) (optional): of the inputs of one batch: text and tokens `batch x T`, csv
 *   `batch x features`, idx `batch x pixels`, synthetic as given
 * @dtype: (out) (optional): int32 for text and tokens, fp32 for csv and idx
 */
LIG_API void lig_dataset_get_input (LigDataset *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_dataset_bind:
 * @self: a data set
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
 * @self: a data set
 *
 * Returns: the largest token in the whole of text or tokens; -1 where there are no tokens
 */
LIG_API gint64 lig_dataset_get_largest_token (LigDataset *self);

/**
 * lig_dataset_get_samples:
 * @self: a data set
 *
 * Returns: samples for training, which is one epoch; of text and tokens, before
 *   lig_dataset_bind(), windows with a target at every position
 */
LIG_API gint64 lig_dataset_get_samples (LigDataset *self);

/**
 * lig_dataset_get_held_out_batches:
 * @self: a data set
 *
 * Returns: batches that hold every held-out sample once; 0 if there are none
 */
LIG_API gint64 lig_dataset_get_held_out_batches (LigDataset *self);

/**
 * lig_dataset_next:
 * @self: a data set
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
 * @self: a data set
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
 * @self: a data set
 *
 * Returns: samples given since the start, over all epochs
 */
LIG_API guint64 lig_dataset_get_position (LigDataset *self);

/**
 * lig_dataset_seek:
 * @self: a data set
 * @position: of a dataset with the same spec, seed and target; what follows is identical
 */
LIG_API void lig_dataset_seek (LigDataset *self, guint64 position);

/**
 * lig_dataset_held_out:
 * @self: a data set
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
 * @self: a data set
 * @held_out: the held-out part rather than the one for training
 * @count: (out): tokens in it
 *
 * Returns: (transfer none) (nullable) (array length=count): text's or tokens' raw stream on that
 *   side of the cut, %NULL for other kinds
 */
LIG_API const guint16 *lig_dataset_get_tokens (LigDataset *self, gboolean held_out, gsize *count);

/**
 * lig_dataset_describe:
 * @self: a data set
 *
 * Returns: (transfer none): `text: 3 files, 182,345 bytes, 164,110 for training`
 */
LIG_API const char *lig_dataset_describe (LigDataset *self);

/**
 * lig_dataset_get_content:
 * @self: a data set
 *
 * Returns: a number that differs where the bytes that were read differ; 0 for synthetic data
 */
LIG_API guint64 lig_dataset_get_content (LigDataset *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigDataset, lig_dataset_free)

G_END_DECLS
