/* SPDX-License-Identifier: MIT */
/* `lig fuse --device A,B`: the plans for several devices beside each other. */
#pragma once

#include "app/cli/sequence-options.h"

/* Compiles the sequence for each device and prints the plans beside each other. Returns an exit
 * code. */
int lig_fuse_devices (LigSequence *sequence, LigSequenceOptions *options, GStrv devices);
