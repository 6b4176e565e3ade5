/* SPDX-License-Identifier: MIT */
/* Fused LM head and cross-entropy in chunks of rows, so that the full logits are never
 * materialized. The gradients are computed with the loss, while a chunk's logits exist, and divided
 * by the number of rows in the backward pass. */
#include "engine/fusions/define.h"

static gboolean
allows (LigLowering *match, LigRejection *rejection)
{
  gboolean bias = lig_lower_op (match, 1) != NULL;
  if (lig_fusion_reject_parts (match, "2.x", rejection))
    return FALSE;
  double share = lig_lower_share (match, bias ? "1.y" : "0.y");
  if (share >= LIG_LARGE_SHARE || lig_lower_is_forced (match) || lig_lower_is_measured (match))
    return TRUE;
  rejection->reason = LIG_REASON_SHAPE;
  rejection->unless_forced = TRUE;
  rejection->observed_value = share;
  rejection->required_value = LIG_LARGE_SHARE;
  rejection->unit = "of the memory";
  rejection->observed =
    share < 0.001 ? g_strdup ("small: the logits take less than 0.1 % of the memory")
                  : g_strdup_printf ("small: the logits take %.3g %% of the memory", 100 * share);
  rejection->required = g_strdup_printf (
    "at least %.3g %%, or policy measured on an available device", 100 * LIG_LARGE_SHARE);
  return FALSE;
}

static void
lower (LigLowering *lowering)
{
  gboolean bias = lig_lower_op (lowering, 1) != NULL;
  const char *own = lig_lower_own_mean (lowering);
  g_autofree char *bindings = g_strdup_printf (
    "x=0.x weight=0.weight targets=2.targets gx=gx gweight=gweight %s %s",
    bias ? "bias=1.bias gbias=gbias" : "bias=- gbias=-", own ? own : "y=2.y count=2.count");
  lig_lower_kernel (lowering, "linear_cross_entropy", bindings, lig_lower_params (lowering, 2),
                    lig_lower_params_size (lowering, 2));
  if (own)
    lig_lower_join_means (lowering, "2.y", "2.count");
}

static void
lower_backward (LigLowering *lowering)
{
  gboolean bias = lig_lower_op (lowering, 1) != NULL;
  lig_lower_kernel (lowering, "linear_cross_entropy_backward",
                    bias ? "dy=2.dy count=2.count gx=gx gweight=gweight gbias=gbias dx=0.dx "
                           "dweight=0.dweight dbias=1.dbias"
                         : "dy=2.dy count=2.count gx=gx gweight=gweight gbias=- dx=0.dx "
                           "dweight=0.dweight dbias=-",
                    NULL, 0);
}

LIG_DEFINE_FUSION (joint_linear_cross_entropy) = {
  .size = sizeof (LigFusion),
  .name = "joint-linear-cross-entropy",
  .pass = LIG_PASS_JOINT,
  .summary = N_ ("Fused LM head and cross-entropy; never materializes the full logits"),
  .pattern = "basic-linear [bias] cross-entropy",
  .allows = allows,
  .lower = lower,
  .lower_backward = lower_backward,
  .saves = "2.count",
  .computes = "gx=0.dx gweight=0.dweight:fp32 gbias=1.dbias:fp32",
};
