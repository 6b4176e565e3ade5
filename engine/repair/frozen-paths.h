/* SPDX-License-Identifier: MIT */
/* The setting `freeze` of a sequence's `train` object names parameters by patterns of their paths.
 * An edit that replaces an op by others changes the paths, and the patterns follow. */
#pragma once

#include <ligature/sequence.h>

/* Called before such an edit of the sequence, which may be a block's.
 * Returns: (transfer full) (nullable): the paths of all parameters; null if nothing is frozen */
GPtrArray *lig_frozen_paths_list (LigSequence *edited);

/* Called after the edit, which kept the order of the parameters: the patterns match the same
 * parameters as before. @before: (nullable) */
void lig_frozen_paths_follow (LigSequence *edited, const GPtrArray *before);
