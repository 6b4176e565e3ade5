/* SPDX-License-Identifier: MIT */
/* A second attention, with half as many key heads as query heads: other files recognize it only by
 * its kernels and by how it computes with parts of its input. */
#include "engine/ops/define.h"
#include <ligature/params-attention.h>

#include <math.h>

typedef struct {
  LigAttentionParams kernel;
  gint64 heads;
} FocusParams;

static const LigParam params[] = {
  LIG_HEADS (FocusParams, heads),
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  FocusParams *values = (FocusParams *) self->params;
  LigAttentionParams *kernel = &values->kernel;
  LigHeads packed;
  LigShape heads = lig_shape_without (&self->x, 2);
  if (!lig_infer_heads (self, values->heads, MAX (values->heads / 2, 1), FALSE, &packed, error))
    return FALSE;
  *kernel = (LigAttentionParams){
    .heads = packed.heads,
    .kv_heads = packed.kv_heads,
    .features = packed.features,
    .length = packed.length,
    .memory_length = packed.length,
    .scale = 1 / sqrtf ((float) packed.features),
  };
  if (self->x_sharding.kind == LIG_SHARDING_COLUMNS) {
    kernel->all_heads = (int32_t) values->heads;
    kernel->first_head = self->rank * packed.heads;
    self->y_sharding.sections = (LigSections){1, {values->heads * packed.features}};
  }
  self->y.axes[self->y.n_axes - 1] = (gint64) packed.heads * packed.features;
  heads.axes[heads.n_axes++] = packed.heads;
  heads.axes[heads.n_axes++] = packed.length;
  heads.axes[0] *= 2;
  self->kept[0] = heads;
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "attention", "memory=- lengths=- documents=-", NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "attention_backward", "memory=- lengths=- documents=- dmemory=-",
                    NULL, 0);
}

/* If ranks shard the sequence, keys and values are sent from rank to rank. */
static void
expand_positions (LigOp *self, LigParts *parts, gint64 length)
{
  const FocusParams *values = lig_op_get_params (self);
  LigOp *ring = lig_op_new ("ring-attention", NULL);
  if (ring)
    g_object_set (ring, "heads", values->heads, "kv-heads", MAX (values->heads / 2, 1), NULL);
  lig_parts_add (parts, NULL, ring);
}

LIG_DEFINE_OP (focus) = {
  LIG_OP_INFO_SIZES,
  .name = "focus",
  .title = N_ ("Focus"),
  .category = N_ ("Attention"),
  .summary = N_ ("Averages the values of the tokens up to its own"),
  .formula = "y = softmax (q k^T / sqrt(head dim)) v for each head of x = [q, k, v]",
  .example = "focus (4) @ 2x5x32",
  .params = params,
  .params_size = sizeof (FocusParams),
  .kernel_params_size = sizeof (LigAttentionParams),
  .computes = "lse",
  .saves = "x y lse",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS | LIG_COMPUTES_COLUMNS,
  .expand_positions = expand_positions,
};
