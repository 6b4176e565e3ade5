/* SPDX-License-Identifier: MIT */
/* Exports a plan's graph with its weights to an ONNX file, which other programs run.
 *
 * The file has the forward pass: the plan's ops, with blocks and macros expanded, in the operators
 * of opset 18. The names of weights are the paths of parameters (`1.weight`), those of values that
 * ops compute are the plan's (`#5.y`); inputs are `input` and `extra.N`, outputs `output` and
 * `output.extra.N`.
 *
 * Threads: an export belongs to the calling thread. */
#pragma once

#include <ligature/plan.h>
#include <ligature/tensor-file.h>

G_BEGIN_DECLS

/**
 * LigOnnxOptions:
 * @path: (nullable) (type filename): the path that the file will have, for the second one
 *   PATH.data with the weights; %NULL: no second file can be written
 * @external: whether the weights are in the second file; they are in any case if they have more
 *   than 1.9 GB, because the format limits the first file to 2 GB
 * @sequence: (nullable): the sequence as JSON, for the metadata of the file
 * @run: (nullable): the UUID of the run that trained the weights, for the metadata
 *
 * How a plan is exported.
 */
typedef struct {
  const char *path;
  gboolean external;
  const char *sequence, *run;
} LigOnnxOptions;

/**
 * LigOnnxCounts:
 * @nodes: the number of nodes
 * @weights: the number of tensors with weights
 * @weight_bytes: their bytes
 * @external: whether they are in FILE.data
 *
 * The result of an export.
 */
typedef struct {
  guint nodes, weights;
  gint64 weight_bytes;
  gboolean external;
} LigOnnxCounts;

/**
 * lig_onnx_is_built:
 *
 * Returns: whether this build can export: it needs protobuf-c
 */
LIG_API gboolean lig_onnx_is_built (void);

/**
 * lig_onnx_why_not: (skip)
 * @info: the table of an op
 *
 * Returns: (transfer none) (nullable): why the op has no form in ONNX, a translated clause; %NULL
 *   if it is exported, itself or as its parts
 */
LIG_API const char *lig_onnx_why_not (const LigOpInfo *info);

/**
 * lig_onnx_check: (skip)
 * @plan: a plan
 * @error: (out) (optional): the error
 *
 * Checks that all ops of a plan have a form in ONNX, before weights are read.
 *
 * Returns: %FALSE with %LIG_ERROR_OP set; the error has the path of the op
 */
LIG_API gboolean lig_onnx_check (LigPlan *plan, GError **error);

/**
 * lig_onnx_export: (skip)
 * @plan: a plan of one rank without a backward pass; if its sequence ends with a loss, with the
 *   option `before_loss`
 * @weights: a file with a tensor for each parameter, by its path
 * @options: (nullable): options
 * @counts: (out caller-allocates) (optional): what was written
 * @error: (out) (optional): the error
 *
 * Makes the file of a plan's graph, and writes the second file if there is one, which is replaced
 * only when it is complete. lig_report_save() writes the first one.
 *
 * Returns: (transfer full): the contents of the file; %NULL with %LIG_ERROR_OP (an op has no form
 *   in ONNX; the error has its path), %LIG_ERROR_FILE or another error set
 */
LIG_API GBytes *lig_onnx_export (LigPlan *plan,
                                 LigTensorFile *weights,
                                 const LigOnnxOptions *options,
                                 LigOnnxCounts *counts,
                                 GError **error);

G_END_DECLS
