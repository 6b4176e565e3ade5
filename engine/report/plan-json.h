/* SPDX-License-Identifier: MIT */
/* The parts of a plan's JSON document that other documents contain, too. */
#pragma once

#include <ligature/plan.h>

#include <json-glib/json-glib.h>

/* Adds the verdict as an object. */
void lig_report_add_verdict (JsonBuilder *builder, const LigVerdict *verdict);
