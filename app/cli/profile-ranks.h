/* SPDX-License-Identifier: MIT */
/* Profiles by several ranks. */
#pragma once

#include "app/cli/sequence-options.h"
#include <ligature/profile.h>

G_BEGIN_DECLS

/* Opens the device of this rank, among others that --parallel (nullable) divides, and gives the
 * plans its part of the batch. */
LigDevice *lig_cli_open_profile_device (const LigSequenceOptions *options,
                                        const char *parallel,
                                        LigSequence *sequence,
                                        GArray *plans,
                                        GError **error);

/* Prints how long the ranks wait for one another, and for each collective; nothing for one rank. */
void lig_cli_print_collectives (const LigProfile *profile, int width);

G_END_DECLS
