/* SPDX-License-Identifier: MIT */
/* The parts of a plan's JSON document that other documents contain, too. */
#pragma once

#include "engine/report/verdicts.h"

#include <json-glib/json-glib.h>

/* Returns (transfer full) the edits that would save most, which the first lines of
 * lig_plan_to_rails() list: at most three, first those that can be made together. Unless times were
 * measured, their gains are those of a plan compiled with the edit. Each is an object with the
 * members `number`, `kind`, `text`, `gain_us`, null if unknown, `gain_bytes`, `measured`, and
 * `together`, false for an edit that replaces one before it. */
JsonNode *lig_plan_fixes_to_json (LigPlan *self);

/* Adds the verdict of a plan as an object. */
void
lig_report_add_verdict (JsonBuilder *builder, LigRemedies *remedies, const LigVerdict *verdict);

/* Adds a range of ops as `ops`, their expanded indexes, and `paths`. */
void lig_report_add_ops (JsonBuilder *builder, LigPlan *plan, int first, int count);
