/* SPDX-License-Identifier: MIT */
/* Checks which characters are safe on one line of a terminal. */
#pragma once

#include <ligature/printable.h>

/* Returns whether lig_printable() leaves the character unchanged. */
gboolean lig_is_printable (gunichar character);
