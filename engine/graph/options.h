/* SPDX-License-Identifier: MIT */
/* The options of a plan, as an embedding program gives them. */
#pragma once

#include <ligature/plan-options.h>

/* Reads options at this library's struct size; missing fields, or all if they are null, have their
 * defaults. */
gboolean
lig_plan_options_read (const LigPlanOptions *options, LigPlanOptions *whole, GError **error);
