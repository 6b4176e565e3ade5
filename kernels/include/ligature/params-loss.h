/* SPDX-License-Identifier: MIT */
/* Parameters of the loss, and the shard of a vocabulary that a rank has. See <ligature/params.h>
 * for the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigVocabularyPart:
 * @first: the first row of the vocabulary, or the first class, of this rank of a tensor parallel
 *   group
 * @count: the total number of rows or classes of all ranks; 0: the vocabulary is not sharded
 *
 * The shard of a vocabulary that is sharded over ranks; its size is that of the table, or of a row
 * of logits. Parameters of embedding and embedding_backward: rows of other shards count as zeros,
 * so that the sum over the ranks is the whole output, and the other ranks compute their gradients.
 */
typedef struct {
  int64_t first, count;
} LigVocabularyPart;

/**
 * LigCrossEntropyParams:
 * @ignored: the target that marks rows to ignore; default -100
 * @label_smoothing: the probability mass that is spread evenly over all classes, in [0, 1); default
 *   0
 * @part: the classes of the logits
 * @classes: the number of classes of all ranks; logits from there on are padding, which counts as
 *   minus infinity whatever its value, and has no gradient; 0: there is no padding
 *
 * Parameters of cross_entropy, cross_entropy_backward, accuracy, and the kernels of their parts.
 * accuracy uses only @ignored and @classes; cross_entropy and accuracy need the logits of all
 * classes.
 */
typedef struct {
  int64_t ignored;
  float label_smoothing;
  LigVocabularyPart part;
  int64_t classes;
} LigCrossEntropyParams;
