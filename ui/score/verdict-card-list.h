/* SPDX-License-Identifier: MIT */
/* Words of the verdict card: places, gains, and labels of fixes. All are (transfer full). */
#pragma once

#include "ui/document/document.h"
#include <ligature/plan.h>

G_BEGIN_DECLS

/* Names an op by the row that shows it: `Linear at 2`. @index: expanded */
char *lig_card_row_name (LigPlan *plan, int index);

/* Returns the label of a fix: `Remove the fence`. */
char *lig_card_fix_label (const LigFix *fix, gboolean costs);

/* Returns a gain: `≈ 10.8 µs, 25.2 MB less`. @gain: microseconds, or NaN; @bytes: bytes, or NaN;
 * null if both are unknown. (nullable) */
char *lig_card_gain (double gain, double bytes, gboolean measured);

/* Returns whether a time is large enough to count as a gain. @gain: microseconds, or NaN */
gboolean lig_card_is_gain (double gain);

/* Returns only the time, for a button: `≈ 10.8 µs less`; null if there is none. (nullable) */
char *lig_card_time_gain (double gain, gboolean measured);

G_END_DECLS
