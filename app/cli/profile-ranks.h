/* SPDX-License-Identifier: MIT */
/* Profiles of several ranks. */
#pragma once

#include "app/cli/sequence-options.h"
#include <ligature/profile.h>

G_BEGIN_DECLS

/* Opens the device of this rank with the parallelism of --parallel (nullable), and gives the plans
 * its shard of the batch. */
LigDevice *lig_cli_open_profile_device (const LigSequenceOptions *options,
                                        const char *parallel,
                                        LigSequence *sequence,
                                        GArray *plans,
                                        GError **error);

/* Prints how long the ranks wait for each other, and for each collective; nothing for one rank. */
void lig_cli_print_collectives (const LigProfile *profile, int width);

G_END_DECLS
