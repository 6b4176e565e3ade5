/* SPDX-License-Identifier: MIT */
/* Weights of other programs: sharded files, and the names and layouts of GPT-2 and Llama-like
 * models as Hugging Face's libraries write them. lig_state_load() recognizes such files.
 *
 * A parameter is identified by its place in the sequence: the first matrices are the token and
 * position embeddings, a macro with a part `qkv` is a layer's attention, and the final norm and the
 * head follow the last layer. data/names/NAME.json lists the tensors that make up each of them.
 * Rotary pairs in these files are the two halves of a head, as with `rotary-interleaved=false`;
 * rows are never reordered, and a sequence with interleaved pairs is rejected. A `config.json` next
 * to the weights is compared with the ops: heads, epsilons, activation, rotary base and scaling. */
#pragma once

#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/* The metadata of weights trained on tabular data: mean, std and labels as JSON. */
#define LIG_WEIGHTS_TABLE "ligature.table"

/**
 * lig_weights_open:
 * @path: (type filename): a safetensors file; a folder with `model.safetensors`, or with
 *   `model.safetensors.index.json` and the files that it names; or such an index
 *
 * Opens weights in one or several files as if they were one file. The files of an index are in its
 * folder. A tensor that the index names but no file has is an error, and so is a tensor in two
 * files.
 *
 * Returns: (transfer full): the tensors, or %NULL with the error of lig_tensor_file_load() or
 *   %LIG_ERROR_FORMAT (the index) set
 */
LIG_API LigTensorFile *lig_weights_open (const char *path,
                                         GError **error) G_GNUC_WARN_UNUSED_RESULT;

/**
 * lig_weights_names_nth:
 * @n: an index from 0
 *
 * Returns: (transfer none) (nullable): the name of a table of names, `gpt2`; %NULL after the last
 */
LIG_API const char *lig_weights_names_nth (guint n);

/**
 * lig_weights_export:
 * @file: parameters by their paths, as lig_state_store() adds them; optimizer state and the scales
 *   and histories of quantizers are omitted
 * @names: (nullable): the name of a table of names; %NULL: the paths are kept
 * @vocabulary: the number of rows of the embedding and of the head to write, 0 for all
 * @dtype: a #LigDtype for all tensors, -1 to keep each tensor's type
 *
 * Makes the tensors that another program expects, with the metadata of tabular data. Loading them
 * with lig_state_load() gives the same parameters, except for rows past @vocabulary, which become
 * zero.
 *
 * Returns: (transfer full): the tensors, or %NULL with %LIG_ERROR_SHAPE (parameters without a
 *   counterpart, or with other numbers of rows; the message names them) or %LIG_ERROR_VALUE
 *   (unknown names) set
 */
LIG_API LigTensorFile *lig_weights_export (LigTensorFile *file,
                                           const char *names,
                                           gint64 vocabulary,
                                           int dtype,
                                           GError **error) G_GNUC_WARN_UNUSED_RESULT;

G_END_DECLS
