/* SPDX-License-Identifier: MIT */
/* The paths of the data in a sequence's `train` object, of its validation data and tokenizer. A
 * file stores them relative to its own folder if they exist below it, so that all can be moved
 * together; a loaded sequence has paths that work anywhere. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _LigSequence LigSequence;

/* Makes relative paths absolute if the data exists in the folder of the file that was loaded.
 * Otherwise it is relative to the working folder. */
void lig_data_path_resolve (LigSequence *sequence, const char *file);

/* Makes absolute paths relative to the folder of the file that is saved if the data exists below
 * it. */
void lig_data_path_relate (LigSequence *sequence, const char *file);

G_END_DECLS
