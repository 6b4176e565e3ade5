/* SPDX-License-Identifier: MIT */
/* The sentence of a verdict. */
#include "engine/choose/verdict-text.h"

#include <ligature/fusion.h>

#include <math.h>

/* Returns the LigReasonCase of a graph with its ops, without verdicts. The ops are (transfer
 * full). */
LigReasonCase
lig_begin_case (LigGraph *graph, LigReasonOp **ops)
{
  *ops = g_new (LigReasonOp, MAX (graph->parts->len, 1));
  for (int i = 0; i < (int) graph->parts->len; i++) {
    const LigPart *part = lig_part (graph, i);
    (*ops)[i] = (LigReasonOp){
      (double) lig_value (graph, part->y)->bytes, part->plan.path, part->plan.title,
      lig_plan_op_get_part (&part->plan),         part->plan.info, part->plan.implicit};
  }
  return (LigReasonCase){.ops = *ops, .n_ops = graph->parts->len, .strings = graph->strings};
}

LigReasonFusion
lig_name_fusion (const LigFusion *fusion)
{
  return (LigReasonFusion){
    .name = fusion->name, .summary = fusion->summary, .gradients = fusion->gradients};
}

const char *
lig_verdict_text (LigGraph *graph, const LigVerdict *verdict)
{
  g_autofree LigReasonOp *ops = NULL;
  LigReasonCase the = lig_begin_case (graph, &ops);
  LigVerdict written = *verdict;
  written.gain = written.fused = written.present = NAN;
  LigReasonFusion fusion = lig_name_fusion (verdict->fusion);
  lig_reasons_write (&the, &written, &fusion);
  return written.text;
}
