/* SPDX-License-Identifier: MIT */
#pragma once

#include <ligature/sequence.h>

/* A number that no other sequence of this process has or had, unlike its address. */
guint64 lig_sequence_get_serial (LigSequence *self);
