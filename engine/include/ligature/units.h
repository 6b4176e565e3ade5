/* SPDX-License-Identifier: MIT */
/* Figures as text, with three significant digits and a unit: `1.40 ms`, `12.3 GB`. Whole numbers of
 * the smallest unit are written without decimals, `16 B`; figures that are not finite are `∞` or
 * `-`. The decimal point follows the locale's LC_NUMERIC. The functions may be called from any
 * thread.
 */
#pragma once

#include <ligature/error.h>

G_BEGIN_DECLS

/**
 * lig_units_bytes:
 * @bytes: a size, or a rate per second
 *
 * Returns: (transfer full): the size with its unit, `1.20 GB`, in powers of a thousand
 */
LIG_API char *lig_units_bytes (double bytes);

/**
 * lig_units_count:
 * @count: a number, for example of floating-point operations
 *
 * Returns: (transfer full): the number with its unit, `1.20 M`, in powers of a thousand
 */
LIG_API char *lig_units_count (double count);

/**
 * lig_units_time:
 * @seconds: a duration
 *
 * Returns: (transfer full): the duration with its unit, `1.40 ms`, from nanoseconds to seconds
 */
LIG_API char *lig_units_time (double seconds);

G_END_DECLS
