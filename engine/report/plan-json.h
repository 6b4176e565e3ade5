/* SPDX-License-Identifier: MIT */
/* The parts of a plan's JSON document that other documents contain, too. */
#pragma once

#include "engine/report/verdicts.h"

#include <json-glib/json-glib.h>

/* Adds the verdict of a plan as an object. */
void
lig_report_add_verdict (JsonBuilder *builder, LigRemedies *remedies, const LigVerdict *verdict);

/* Adds a range of ops as `ops`, their expanded indexes, and `paths`. */
void lig_report_add_ops (JsonBuilder *builder, LigPlan *plan, int first, int count);
