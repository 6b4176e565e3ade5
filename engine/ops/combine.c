/* SPDX-License-Identifier: MIT */
/* Returns the rows of this rank's experts to the ranks that sent them: the inverse of dispatch, and
 * its gradient. Rows that dispatch did not send are 0. */
#include "engine/ops/exchange.h"

#include <inttypes.h>

enum { SENT, RECEIVED };

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "sent", N_ ("Sent"),
   N_ ("Channel of the places of the rows that were sent; default: a tensor from the caller"), 0, 0,
   0, 0, SENT, NULL},
  {LIG_PARAM_INPUT, "received", N_ ("Received"),
   N_ ("Channel of the places of the rows that arrived; default: a tensor from the caller"), 0, 0,
   0, 0, RECEIVED, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  LigExchangeParams *values = (LigExchangeParams *) self->params;
  LigShape own, given = self->extra_inputs[SENT];
  const int ranks = self->expert_ranks;
  if (ranks > 1 && self->x_sharding.kind != LIG_SHARDING_EXPERTS) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("its input is not from dispatch (expert=%d); put dispatch before it"), ranks);
    return FALSE;
  }
  if (!lig_check_has_axis (self, error))
    return FALSE;
  own = lig_shape_without (&self->x, 1);
  gint64 rows = lig_shape_size (&own), features = lig_shape_columns (&self->x);
  if (rows % ranks != 0 || rows > G_MAXINT32) {
    g_autofree char *shape = lig_shape_to_string (&self->x);
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("input is %s, expected the rows of dispatch, a multiple of expert=%d"), shape,
                 ranks);
    return FALSE;
  }
  given = given.n_axes >= 0 ? given : own; /* the caller's: as many rows return as arrived */
  if (given.n_axes >= LIG_MAX_AXES) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of axes of sent is %d, expected at most %d"), given.n_axes,
                 LIG_MAX_AXES - 1);
    return FALSE;
  }
  if (!lig_check_extra (self, SENT, "sent", &given, LIG_INT32, error) ||
      !lig_check_extra (self, RECEIVED, "received", &own, LIG_INT32, error))
    return FALSE;
  *values = (LigExchangeParams){ranks, (int32_t) (rows / ranks), FALSE, 0};
  self->extra_ranges[SENT] = self->extra_ranges[RECEIVED] = (LigRange){0, (gint32) rows - 1, -1};
  self->y = given;
  self->y.axes[self->y.n_axes++] = features;
  self->y_sharding = (LigSharding){.kind = LIG_SHARDING_NONE};
  return TRUE;
}

static void
lower_forward (LigLowering *lowering)
{
  lig_lower_value_like (lowering, "pieces", "x");
  lig_lower_value_like (lowering, "arrived", "x");
  lig_lower_exchange (lowering, lig_lower_params (lowering, 0), "x", "received", "sent", "y");
}

static void
lower_backward (LigLowering *lowering)
{
  lig_lower_value_like (lowering, "pieces", "dx");
  lig_lower_value_like (lowering, "arrived", "dx");
  lig_lower_exchange (lowering, lig_lower_params (lowering, 0), "dy", "sent", "received", "dx");
}

LIG_DEFINE_OP (combine) = {
  LIG_OP_INFO_SIZES,
  .name = "combine",
  .title = N_ ("Combine"),
  .category = N_ ("Experts"),
  .summary = N_ ("Returns rows from the ranks that have their experts"),
  .formula = "y[i] = pieces of all ranks [sent[i]], pieces[received[i]] = x[i]",
  .example = "combine @ 4x8",
  .params = params,
  .params_size = sizeof (LigExchangeParams),
  .kernel_params_size = sizeof (LigExchangeParams),
  .extra_inputs = "sent received",
  .saves = "sent received",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
