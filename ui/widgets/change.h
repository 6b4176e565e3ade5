/* SPDX-License-Identifier: MIT */
/* Differences of two plans as people read them. All texts are (transfer full). */
#pragma once

#include <ligature/comparison.h>

G_BEGIN_DECLS

/* `+4.8 µs`, `−12 µs`, `no difference`; nothing where one is not known. Bytes: `−12.6 MB`. */
char *lig_change_time (double before, double after);
char *lig_change_bytes (double before, double after);

/* Returns 1 where the second side takes longer, -1 where it is faster, 0 where neither is, or where
 * one is not known. */
int lig_change_sign (double before, double after);

/* `189.9 µs`, with ≈ where it is predicted. */
char *lig_change_total (const LigPlanChange *total);

/* `step ≈ 190 µs (+4.8 µs)`; without times by bytes, and by groups if there are no bytes either. */
char *lig_change_describe_step (LigPlanComparison *comparison);

G_END_DECLS
