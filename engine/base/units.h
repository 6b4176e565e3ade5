/* SPDX-License-Identifier: MIT */
/* Figures with any units, in the form of <ligature/units.h>. */
#pragma once

#include <ligature/units.h>

/* Returns (transfer full) a figure with its unit, from units of which each is a thousand times the
 * one before: three significant digits, more if the last unit needs them, fewer for a whole number
 * of the first unit, and the unit after a space; no space before an empty unit. */
char *lig_units_scale (double value, const char *const *units, guint count);
