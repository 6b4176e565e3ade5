/* SPDX-License-Identifier: MIT */
#pragma once

#include <ligature/sequence.h>

/* Returns a number that is unique in this process, even after the sequence is freed. */
guint64 lig_sequence_get_serial (LigSequence *self);

/* Returns (transfer full) an input of the kind that the first op takes, as an example for messages:
 * `64x256`, for an op that reads integers `32x128:int32`. */
char *lig_sequence_suggest_input (LigSequence *self);

/* Sets the number of classes of the loss at the end, if it is 0. Returns whether the sequence has
 * changed. */
gboolean lig_sequence_set_classes (LigSequence *self, gint64 classes);
