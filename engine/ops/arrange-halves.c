/* SPDX-License-Identifier: MIT */
/* Puts the gathered tokens of a context-parallel group in sequence order: y ends with this rank's
 * first block, the extra output with its second. */
#include "engine/ops/define.h"
#include <ligature/params-positions.h>

#include <inttypes.h>

typedef struct {
  LigArrangeParams kernel;
  bool causal;
} ArrangeHalvesParams;

static const LigParam params[] = {
  LIG_BOOLEAN (ArrangeHalvesParams,
               causal,
               "causal",
               N_ ("Causal"),
               N_ ("Each output ends with the rank's own block, as a causal mask requires"),
               TRUE),
  {LIG_PARAM_OUTPUT, "second", N_ ("Second"),
   N_ ("Channel of the tokens for the second block; default: returned to the caller"), 0, 0, 0, 0,
   0, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  ArrangeHalvesParams *values = (ArrangeHalvesParams *) self->params;
  int ranks = self->n_ranks[LIG_GROUP_CONTEXT], rank = self->places[LIG_GROUP_CONTEXT];
  gint64 length = lig_count_positions (self);
  if (!lig_check_halves (self, error))
    return FALSE;
  if (self->x.axes[0] % ranks != 0 || self->x.n_axes < 3 || length > LIG_MAX_POSITIONS / ranks) {
    g_autofree char *shape = lig_shape_to_string (&self->x);
    g_set_error (
      error, LIG_ERROR, LIG_ERROR_SHAPE,
      _ ("input is %s, expected the rows of all ranks, a multiple of %d, with at most %d "
         "positions in all"),
      shape, ranks, LIG_MAX_POSITIONS);
    return FALSE;
  }
  values->kernel = (LigArrangeParams){length, ranks, rank, values->causal};
  self->y.axes[0] /= ranks;
  self->extra_outputs[0] = self->y;
  gint64 *first = &self->y.axes[self->y.n_axes - 2],
         *second = &self->extra_outputs[0].axes[self->y.n_axes - 2];
  *first = length / 2 * (values->causal ? rank + 1 : 2 * ranks);
  *second = length / 2 * (values->causal ? 2 * ranks - rank : 2 * ranks);
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "arrange_halves", NULL, NULL, 0);
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "arrange_halves_backward", NULL, NULL, 0);
}

LIG_DEFINE_OP (arrange_halves) = {
  LIG_OP_INFO_SIZES,
  .name = "arrange-halves",
  .title = N_ ("Arrange halves"),
  .category = N_ ("Ranks"),
  .summary = N_ ("Puts the gathered tokens of all ranks in sequence order"),
  .formula = "y, second = the tokens up to the end of each of this rank's blocks",
  .example = "arrange-halves @ 2x4x6",
  .params = params,
  .params_size = sizeof (ArrangeHalvesParams),
  .kernel_params_size = sizeof (LigArrangeParams),
  .extra_outputs = "second",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_POSITIONS | LIG_COMPUTES_COLUMNS,
  .no_onnx = N_ ("works on a sequence that several ranks share, while an ONNX graph runs on one; "
                 "export the plan of one rank"),
};
