/* SPDX-License-Identifier: MIT */
#pragma once

#include <ligature/sequence.h>

/* Returns a number that, unlike an address, no other sequence of this process ever has. */
guint64 lig_sequence_get_serial (LigSequence *self);
