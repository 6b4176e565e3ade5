/* SPDX-License-Identifier: MIT */
/* `lig fuse --device A,B`: the plans for several devices next to each other. */
#pragma once

#include "app/cli/sequence-options.h"

/* Checks that the names are different devices. Returns FALSE with a G_OPTION_ERROR set. */
gboolean lig_fuse_check_devices (GStrv devices, GError **error);

/* Returns the LigPlan of each device; (transfer full), NULL with an error set. */
GPtrArray *lig_fuse_compile_devices (LigSequence *sequence,
                                     LigSequenceOptions *options,
                                     GStrv devices,
                                     GError **error);

/* Compiles the sequence for each device and prints the plans next to each other. Returns an exit
 * code: it fails if one of the plans does not fit in the memory of its device. */
int lig_fuse_devices (LigSequence *sequence, LigSequenceOptions *options, GStrv devices);
