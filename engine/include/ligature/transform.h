/* SPDX-License-Identifier: MIT */
/* The preprocessing of a model that was trained on tables or images: which columns are features,
 * how their numbers are scaled, and the names of the classes. A training run stores it with its
 * weights; other files are read by it in the same way. The functions may
 * be called from any thread. */
#pragma once

#include <ligature/tensor.h>

G_BEGIN_DECLS

typedef struct _LigTransform LigTransform;

#define LIG_TYPE_TRANSFORM (lig_transform_get_type ())
LIG_API GType lig_transform_get_type (void);

/**
 * LigRows:
 * @count: the number of rows
 * @input: the scaled features, fp32, `count x features`
 * @targets: (nullable): fp32, `count x targets`: numbers, or for classes their indices; NaN where
 *   the cell is missing. %NULL if the file has no target columns
 * @ignored: the number of columns that are neither features nor targets
 * @lines: (nullable) (element-type utf8): for a table the names of its columns, then each row, as
 *   lines of csv without an end
 *
 * The rows of a file.
 */
typedef struct {
  gint64 count;
  LigTensor *input;
  LigTensor *targets;
  guint ignored;
  GPtrArray *lines;
} LigRows;

#define LIG_TYPE_ROWS (lig_rows_get_type ())
LIG_API GType lig_rows_get_type (void);

/**
 * lig_transform_parse:
 * @json: the metadata %LIG_WEIGHTS_TABLE of weights
 *
 * Returns: (transfer full): the preprocessing, or %NULL with %LIG_ERROR_FORMAT set if the text
 *   describes none
 */
LIG_API LigTransform *lig_transform_parse (const char *json,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_transform_free:
 * @self: (nullable) (transfer full): a transform
 *
 * Frees it.
 */
LIG_API void lig_transform_free (LigTransform *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigTransform, lig_transform_free)

/**
 * lig_transform_get_n_features:
 * @self: a transform
 *
 * Returns: the number of features of a row; pixels, for images
 */
LIG_API guint lig_transform_get_n_features (const LigTransform *self);

/**
 * lig_transform_has_header:
 * @self: a transform
 *
 * Returns: whether columns have names; otherwise their order identifies them
 */
LIG_API gboolean lig_transform_has_header (const LigTransform *self);

/**
 * lig_transform_get_feature:
 * @self: a transform
 * @n: an index from 0
 *
 * Returns: (transfer none) (nullable): the name of a feature's column, or its number from 1 if the
 *   columns have no names; %NULL after the last, and for images
 */
LIG_API const char *lig_transform_get_feature (const LigTransform *self, guint n);

/**
 * lig_transform_get_target:
 * @self: a transform
 * @n: an index from 0
 *
 * Returns: (transfer none) (nullable): the name of a target's column; %NULL after the last
 */
LIG_API const char *lig_transform_get_target (const LigTransform *self, guint n);

/**
 * lig_transform_get_class:
 * @self: a transform
 * @n: a class from 0
 *
 * Returns: (transfer none) (nullable): its label in the training data; %NULL if classes are numbers
 *   there, or after the last
 */
LIG_API const char *lig_transform_get_class (const LigTransform *self, guint n);

/**
 * lig_transform_get_statistics:
 * @self: a transform
 * @n: the index of a feature from 0
 * @mean: (out) (optional): the mean of the training rows; 0 if it is not subtracted
 * @std: (out) (optional): their standard deviation; 1 if it does not divide
 *
 * Reads the statistics that scale a feature: the model reads (x - mean) / std.
 *
 * Returns: whether the feature is scaled
 */
LIG_API gboolean lig_transform_get_statistics (const LigTransform *self,
                                               guint n,
                                               double *mean,
                                               double *std);

/**
 * lig_transform_get_image:
 * @self: a transform
 * @rows: (out): the number of rows of pixels
 * @columns: (out): the number of columns of pixels
 *
 * Returns: whether the rows are images; otherwise nothing is set
 */
LIG_API gboolean lig_transform_get_image (const LigTransform *self, gint64 *rows, gint64 *columns);

/**
 * lig_transform_read_feature:
 * @self: a transform of a table
 * @n: the index of a feature from 0
 * @text: (nullable): the cell in the units of the file; %NULL counts as missing
 * @scaled: (out): the number that the model reads
 *
 * Reads a single cell as lig_transform_read() does.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT set, naming the column, if the cell is not a number, or
 *   missing in a model whose training had no missing cells
 */
LIG_API gboolean lig_transform_read_feature (
  const LigTransform *self, guint n, const char *text, float *scaled, GError **error);

/**
 * lig_transform_read_target:
 * @self: a transform of a table
 * @n: the index of a target from 0
 * @text: (nullable): the cell: a number or the label of a class; %NULL counts as missing
 * @target: (out): the number, or the index of the class; NaN if the cell is missing
 *
 * Reads a single target as lig_transform_read() does.
 *
 * Returns: %FALSE with %LIG_ERROR_FORMAT set if the cell is not a number, or with %LIG_ERROR_VALUE
 *   if the training data lacks the label
 */
LIG_API gboolean lig_transform_read_target (
  const LigTransform *self, guint n, const char *text, float *target, GError **error);

/**
 * lig_transform_read:
 * @self: a transform
 * @path: (type filename): a csv file with the same column names in any order, or, if the training
 *   data had no names, with the same order of columns; for images an idx file, whose labels are
 *   read if they lie next to it
 *
 * Reads rows, and scales them by the statistics of the training data. Other columns are ignored.
 *
 * Returns: (transfer full): the rows, or %NULL with %LIG_ERROR_FILE, _FORMAT (a missing column, a
 *   cell that is not a number; the message contains the file and the line), _VALUE (a label that
 * the training data lacks), _SHAPE (images of another size) or _MEMORY set
 */
LIG_API LigRows *lig_transform_read (const LigTransform *self,
                                     const char *path,
                                     GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_rows_free:
 * @self: (nullable) (transfer full): rows
 *
 * Frees them with their tensors.
 */
LIG_API void lig_rows_free (LigRows *self);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (LigRows, lig_rows_free)

G_END_DECLS
