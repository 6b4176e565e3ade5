/* SPDX-License-Identifier: MIT */
/* The examples of ops. */
#pragma once

#include <ligature/plan.h>

G_BEGIN_DECLS

/* Splits an op's example into an expression and an input; (transfer full), NULL if the op has no
 * example. */
GStrv lig_ops_split_example (const LigOpInfo *info);

/* Returns an unfused training plan of the op's example; NULL if the op has no example. */
LigPlan *lig_ops_plan_example (const LigOpInfo *info);

G_END_DECLS
