/* SPDX-License-Identifier: MIT */
/* Parameters of the loss, and the part of a vocabulary that a rank has. See <ligature/params.h> for
 * the rules of all parameters. */
#pragma once

#include <stdint.h>

/**
 * LigVocabularyPart:
 * @first: the first row of the vocabulary that this rank of a tensor group has, or its first class
 * @count: the number of all ranks' rows or classes; 0: this rank has all
 *
 * The part of a vocabulary that is divided among ranks; it is as long as the table, or as the rows
 * of logits. Parameters of embedding and embedding_backward: other rows of the table count as
 * zeros, which add up to the whole over the ranks, and their gradients are left to the other ranks.
 */
typedef struct {
  int64_t first, count;
} LigVocabularyPart;

/**
 * LigCrossEntropyParams:
 * @ignored: the target of rows that are not counted; default -100
 * @label_smoothing: the probability that is spread evenly over all classes, in [0, 1); default 0
 * @part: the classes that the logits are of
 * @classes: the number of classes of all ranks; logits from there on are padding, which counts as
 *   minus infinity whatever it is, and has no gradient; 0: there is none
 *
 * Parameters of cross_entropy, cross_entropy_backward, accuracy, and the kernels of their parts.
 * accuracy uses @ignored and @classes alone, cross_entropy and accuracy need logits of all classes.
 */
typedef struct {
  int64_t ignored;
  float label_smoothing;
  LigVocabularyPart part;
  int64_t classes;
} LigCrossEntropyParams;
