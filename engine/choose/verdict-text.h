/* SPDX-License-Identifier: MIT */
/* The sentences of verdicts, and their parts. */
#pragma once

#include "engine/graph/graph.h"
#include "engine/reasons/explain.h"

/* Returns the LigReasonCase of a graph with its ops, without verdicts. The ops are (transfer
 * full). */
LigReasonCase lig_begin_case (LigGraph *graph, LigReasonOp **ops);

LigReasonFusion lig_name_fusion (const LigFusion *fusion);

/* Returns the sentence of a verdict; the graph owns it. */
const char *lig_verdict_text (LigGraph *graph, const LigVerdict *verdict);
