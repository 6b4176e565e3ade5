/* SPDX-License-Identifier: MIT */
/* Datasets: batches of inputs and targets in an order that depends only on the seed.
 *
 * A dataset is written `KIND[:PATH][?key=value&...]`; values may contain %XX escapes.
 * lig_dataset_info_nth() lists the kinds with their options, and so does `lig train --help`.
 *
 * A validation part, by default a tenth of the data (`validation=FRACTION`), is held out from
 * training, and no sample overlaps both parts; `validation=FILE` validates on a separate file. For
 * csv and idx, `split=` chooses the validation rows: `random`, the same for every seed;
 * `stratified`, the same fraction of each class; or the `end` of the file. For the other kinds it
 * is always the end. The order of an epoch is a permutation that depends on the seed and the epoch
 * number; a batch may span two epochs.
 *
 * Samples of text and tokens are windows of T tokens. If every position has a target, windows do
 * not overlap (stride T); if only the token after the window is predicted, a window begins at every
 * token (stride 1). A window of the kind tokens never spans two files. A dataset may be used by one
 * thread at a time.
 *
 * The path of tokens is a .bin file, a folder of such files, or a pattern with *, ? or []; all are
 * sorted by their names. If the files have more than 256 MiB in total, they are read window by
 * window instead of when they are opened, and their tokens are checked as they are read. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

/* --- Kinds of datasets -------------------------------------------------------------------- */

/**
 * LigDatasetOptionType:
 * @LIG_DATASET_TEXT: any text
 * @LIG_DATASET_PATH: a file, or a path of the same form as the dataset's
 * @LIG_DATASET_CHOICE: one of the option's choices
 * @LIG_DATASET_BOOLEAN: `true` or `false`
 * @LIG_DATASET_COUNT: a whole number from the minimum to the maximum
 * @LIG_DATASET_FRACTION: a number of at least the minimum and below the maximum
 * @LIG_DATASET_FRACTION_OR_FILE: a number like %LIG_DATASET_FRACTION, or the path of a file
 */
typedef enum {
  LIG_DATASET_TEXT,
  LIG_DATASET_PATH,
  LIG_DATASET_CHOICE,
  LIG_DATASET_BOOLEAN,
  LIG_DATASET_COUNT,
  LIG_DATASET_FRACTION,
  LIG_DATASET_FRACTION_OR_FILE,
} LigDatasetOptionType;

/**
 * LigDatasetChoice:
 * @name: the value as it is written in a spec
 * @label: the displayed name, translatable
 *
 * A possible value of an option.
 */
typedef struct {
  const char *name;
  const char *label;
} LigDatasetChoice;

/**
 * LigDatasetOption:
 * @type: the type of the values
 * @name: the key in `?key=value`
 * @label: the displayed name, translatable
 * @help: one sentence without a full stop, translatable
 * @minimum: the minimum of a count, a fraction or a part
 * @maximum: the maximum of a count, a fraction or a part
 * @initial: the default of a count, a fraction, a part or a boolean (0 or 1)
 * @choices: the values of a choice; ends with a null name
 * @unset: the label of an omitted choice, translatable
 *
 * An option of a kind of dataset.
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
 * @title: the displayed name, translatable
 * @help: one sentence without a full stop, translatable
 * @path: the kind of path that follows the name, if any
 * @files: (nullable): patterns for the names of such files, in lower case: `*.csv *.tsv`
 * @needs_shape: whether samples have the shape of the sequence's input, which must then be set
 * @options: (nullable): the options of this kind only; ends with a null name
 *
 * The description of a kind of dataset.
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
 * @n: an index from 0
 *
 * Returns: (nullable) (transfer none): a kind of dataset; %NULL after the last
 */
LIG_API const LigDatasetInfo *lig_dataset_info_nth (guint n);

/**
 * lig_dataset_info_of:
 * @spec: `KIND[:PATH][?key=value&...]`, or its beginning
 *
 * Returns: (nullable) (transfer none): the kind that @spec names, %NULL if there is none
 */
LIG_API const LigDatasetInfo *lig_dataset_info_of (const char *spec);

/**
 * lig_dataset_shared_options:
 *
 * Returns: (transfer none): the options that all kinds have; ends with a null name
 */
LIG_API const LigDatasetOption *lig_dataset_shared_options (void);

/**
 * lig_dataset_split:
 * @spec: `KIND[:PATH][?key=value&...]`
 * @path: (out) (transfer full) (nullable): the path
 *
 * Splits a spec into its parts without reading the data or checking the options of the kind.
 *
 * Returns: (transfer full) (array zero-terminated=1): `key`, `value`, `key`, `value`, …, without
 *   escapes
 */
LIG_API GStrv lig_dataset_split (const char *spec, char **path);

/* --- Datasets ------------------------------------------------------------------------------ */

/* The value of an integer target whose row the loss ignores, unless it ignores another one. */
#define LIG_IGNORED_TARGET (-100)

typedef struct LigDataset LigDataset;

#define LIG_TYPE_DATASET (lig_dataset_get_type ())
LIG_API GType lig_dataset_get_type (void);

/**
 * LigTarget:
 * @dtype: int32 for classes, else a floating type
 * @shape: the shape of the targets of one batch: `batch`, `batch x T` or `batch*T` for classes, the
 *   prediction's shape for values
 * @classes: the number of classes, with targets from 0 to classes - 1; 0 for values
 *
 * The targets that the loss requires.
 */
typedef struct {
  LigDtype dtype;
  LigShape shape;
  gint64 classes;
} LigTarget;

/**
 * lig_dataset_check:
 * @spec: `KIND[:PATH][?key=value&...]`
 * @error: the kind or the option that is unknown, or the invalid value
 *
 * Checks the syntax of a dataset spec without reading any file.
 *
 * Returns: whether lig_dataset_open() accepts the spec
 */
LIG_API gboolean lig_dataset_check (const char *spec, GError **error);

/**
 * lig_dataset_open:
 * @spec: `KIND[:PATH][?key=value&...]`
 * @input: (nullable): the shape of the sequence's input; axis 0 is the batch. text and tokens use T
 *   from axis 1, kinds that need a shape use the whole shape, other kinds only the batch (and
 *   accept no shape if @batch is given)
 * @dtype: the type of the sequence's input; only kinds that need a shape use it
 * @batch: the number of samples in a batch; 0: axis 0 of @input; without @input, 32, or the number
 *   of training samples if that is smaller
 * @seed: the seed of the order, and of the values of synthetic data
 *
 * Reads the data and checks everything that does not depend on the loss.
 *
 * Returns: (transfer full): the dataset, or %NULL with %LIG_ERROR_FILE, _FORMAT (damaged; the
 *   message contains the file and the line or offset), _SHAPE, _DTYPE, _VALUE (an option) or
 *   _MEMORY set
 */
LIG_API LigDataset *lig_dataset_open (const char *spec,
                                      const LigShape *input,
                                      LigDtype dtype,
                                      gint64 batch,
                                      guint64 seed,
                                      GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_dataset_free:
 * @self: a dataset
 *
 * Releases the caller's reference. The dataset is freed with the last one.
 */
LIG_API void lig_dataset_free (LigDataset *self);

/**
 * lig_dataset_get_input:
 * @self: a dataset
 * @shape: (out) (optional): the shape of the inputs of one batch: text and tokens `batch x T`, csv
 *   `batch x features`, idx `batch x pixels`, synthetic as given
 * @dtype: (out) (optional): int32 for text and tokens, fp32 for csv and idx, as given for synthetic
 *
 * Reads the shape and type of the inputs.
 */
LIG_API void lig_dataset_get_input (LigDataset *self, LigShape *shape, LigDtype *dtype);

/**
 * lig_dataset_bind:
 * @self: a dataset
 * @target: the targets that the loss requires
 *
 * Sets the type and shape of the targets. May be called again; the position is unchanged.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE, _DTYPE, _VALUE (a class out of range; the message contains
 *   its line or offset) or _FORMAT set if the data has no such targets
 */
LIG_API gboolean lig_dataset_bind (LigDataset *self, const LigTarget *target, GError **error);

/**
 * lig_dataset_get_largest_token:
 * @self: a dataset
 *
 * Returns: the largest token in the data of text or tokens; -1 for other kinds, and for token files
 *   that are read window by window
 */
LIG_API gint64 lig_dataset_get_largest_token (LigDataset *self);

/**
 * lig_dataset_get_samples:
 * @self: a dataset
 *
 * Returns: the number of training samples, that is, of one epoch; for text and tokens before
 *   lig_dataset_bind(), the number of windows with a target at every position
 */
LIG_API gint64 lig_dataset_get_samples (LigDataset *self);

/**
 * lig_dataset_get_validation_batches:
 * @self: a dataset
 *
 * Returns: the number of batches that contain every validation sample once; 0 if there are none
 */
LIG_API gint64 lig_dataset_get_validation_batches (LigDataset *self);

/**
 * lig_dataset_next:
 * @self: a dataset
 * @input: the tensor to fill, with the size and type from lig_dataset_get_input()
 * @targets: (nullable): the tensor to fill, with the size and type of the bound target
 *
 * Copies the next training batch and advances the position by its number of samples. Allocates
 * nothing.
 *
 * Returns: %FALSE with %LIG_ERROR_SHAPE or _DTYPE set if a tensor has another size or type; with
 *   %LIG_ERROR_VALUE (a token out of range; the message contains its file and offset) or _FILE for
 *   tokens that are read window by window
 */
LIG_API gboolean lig_dataset_next (LigDataset *self,
                                   LigTensor *input,
                                   LigTensor *targets,
                                   GError **error);

/**
 * lig_dataset_preview:
 * @self: a dataset
 * @rows: the maximum number of rows
 * @columns: (out): the number of columns of the table
 *
 * Makes a table of the first rows, lines, tokens or images that shows the user how the data was
 * interpreted.
 *
 * Returns: (transfer full) (array zero-terminated=1): the cells row by row, beginning with the
 *   column titles
 */
LIG_API GStrv lig_dataset_preview (LigDataset *self, guint rows, guint *columns);

/**
 * lig_dataset_get_position:
 * @self: a dataset
 *
 * Returns: the number of samples used since the start, over all epochs
 */
LIG_API guint64 lig_dataset_get_position (LigDataset *self);

/**
 * lig_dataset_seek:
 * @self: a dataset
 * @position: a position of a dataset with the same spec, seed and target
 *
 * Sets the position. The batches that follow are identical to those of the other dataset.
 */
LIG_API void lig_dataset_seek (LigDataset *self, guint64 position);

/**
 * lig_dataset_validation:
 * @self: a dataset
 * @batch_index: an index from 0 to lig_dataset_get_validation_batches() - 1
 * @input: the tensor to fill
 * @targets: (nullable): the tensor to fill
 * @valid: (out) (optional): the number of valid samples in this batch
 *
 * Copies a batch of validation samples in the order of the data; the position is unchanged. The
 * last batch is padded with the first validation samples, whose integer targets are set to the
 * value that the loss ignores.
 *
 * Returns: %FALSE with %LIG_ERROR_INDEX, _SHAPE or _DTYPE set, or an error of lig_dataset_next()
 */
LIG_API gboolean lig_dataset_validation (LigDataset *self,
                                         gint64 batch_index,
                                         LigTensor *input,
                                         LigTensor *targets,
                                         gint64 *valid,
                                         GError **error);

/**
 * lig_dataset_get_tokens:
 * @self: a dataset
 * @validation: whether to return the validation part instead of the training part
 * @count: (out): the number of tokens
 *
 * Returns: (transfer none) (nullable) (array length=count): the tokens of this part of text, or of
 *   tokens from a single uint16 file that was read when it was opened; %NULL otherwise
 */
LIG_API const guint16 *lig_dataset_get_tokens (LigDataset *self, gboolean validation, gsize *count);

/**
 * lig_dataset_describe:
 * @self: a dataset
 *
 * Returns: (transfer none): a description, `text: 3 files, 182,345 bytes, 164,110 for training`
 */
LIG_API const char *lig_dataset_describe (LigDataset *self);

/**
 * lig_dataset_get_content:
 * @self: a dataset
 *
 * Returns: a hash of the bytes that were read, which checkpoints record as `ligature.content`; 0
 *   for synthetic data
 */
LIG_API guint64 lig_dataset_get_content (LigDataset *self);

/**
 * lig_dataset_describe_table:
 * @self: a dataset
 *
 * Describes the preprocessing that a model of a table or of images needs besides its parameters:
 * `{"kind": "csv", "standardized": true, "header": true, "missing": "reject", "features": [{"name":
 * "a", "column": 1, "mean": 5.8, "std": 0.8}], "targets": [{"name": "y", "column": 2}], "classes":
 * ["x", "y"]}` or `{"kind": "idx", "rows": 28, "columns": 28}`. A mean is taken over the training
 * rows, in the units of the file; it replaces missing cells or, with `std`, is subtracted before
 * the division by `std`. Features without them are used unchanged.
 *
 * Returns: (transfer full) (nullable): JSON for lig_transform_parse(); %NULL for other kinds
 */
LIG_API char *lig_dataset_describe_table (LigDataset *self);

/**
 * lig_dataset_get_warning:
 * @self: a dataset that is bound
 *
 * Returns: (transfer none) (nullable): a sentence that names the classes in the validation part
 * without a training sample, and the remedy; %NULL if there are none
 */
LIG_API const char *lig_dataset_get_warning (LigDataset *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigDataset, lig_dataset_free)

G_END_DECLS
