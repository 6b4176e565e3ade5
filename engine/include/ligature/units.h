/* SPDX-License-Identifier: MIT */
/* Figures for people: three digits and a unit, `1.4 ms`, `12.3 GB`; `∞` and `-` where a figure is
 * not finite. Digits follow the locale's LC_NUMERIC. Any thread. */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_units_scale:
 * @value: in the first unit
 * @units: (array length=count): each a thousand times the one before
 * @count: how many units there are, at least one
 *
 * Returns: (transfer full): three significant digits, more where the last unit needs them, and the
 *   unit after a space; no space before a unit that is empty
 */
LIG_API char *lig_units_scale (double value, const char *const *units, guint count);

/**
 * lig_units_bytes:
 * @bytes: a size, or a rate per second
 *
 * Returns: (transfer full): `1.2 GB`, in powers of a thousand
 */
LIG_API char *lig_units_bytes (double bytes);

/**
 * lig_units_count:
 * @count: a number of things, floating-point operations for example
 *
 * Returns: (transfer full): `1.2 M`, in powers of a thousand
 */
LIG_API char *lig_units_count (double count);

/**
 * lig_units_time:
 * @seconds: a duration
 *
 * Returns: (transfer full): `1.4 ms`, from nanoseconds to seconds
 */
LIG_API char *lig_units_time (double seconds);

G_END_DECLS
