/* SPDX-License-Identifier: MIT */
/* Numbers with any units, in the format of <ligature/units.h>. */
#pragma once

#include <ligature/units.h>

/* Returns (transfer full) a number with its unit, from units that are each a thousand times the
 * previous one: three significant digits, more if the last unit needs them, fewer for a whole
 * number of the first unit, and the unit after a space; no space before an empty unit. */
char *lig_units_scale (double value, const char *const *units, guint count);
