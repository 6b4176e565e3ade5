/* SPDX-License-Identifier: MIT */
/* Sums the rows of each token's experts, each times its weight: the inverse of permute. */
#include "engine/ops/define.h"

enum { PLACES, WEIGHTS };

static const LigParam params[] = {
  {LIG_PARAM_INPUT, "places", N_ ("Places"),
   N_ ("Channel of the places of each token's rows; default: a tensor from the caller"), 0, 0, 0, 0,
   PLACES, NULL},
  {LIG_PARAM_INPUT, "weights", N_ ("Weights"),
   N_ ("Channel of the weights of each token's rows; omitted: 1"), 0, 0, 0, 0, WEIGHTS, NULL},
  {.name = NULL},
};

static gboolean
infer (LigInfer *self, GError **error)
{
  LigShape *places = &self->extra_inputs[PLACES];
  gint64 features;
  if (!lig_check_has_axis (self, error))
    return FALSE;
  features = lig_shape_columns (&self->x);
  LigShape wanted = *places;
  self->y_order = wanted.n_axes < 0 ? LIG_ORDER_BATCH : self->extra_orders[PLACES];
  if (wanted.n_axes < 0) { /* the caller's: one row for each token */
    wanted = self->x;
    wanted.axes[wanted.n_axes - 1] = 1;
  }
  if (wanted.n_axes < 1) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE, _ ("places has 0 axes, expected at least 1"));
    return FALSE;
  }
  if (!lig_check_extra (self, PLACES, "places", &wanted, LIG_INT32, error) ||
      !lig_check_extra (self, WEIGHTS, "weights", &wanted, LIG_FP32, error))
    return FALSE;
  self->extra_ranges[PLACES] =
    (LigRange){0, (gint32) MIN (lig_shape_size (&self->x) / features, G_MAXINT32) - 1, -1};
  self->y = wanted;
  self->y.axes[wanted.n_axes - 1] = features;
  return TRUE;
}

LIG_DEFINE_OP (unpermute) = {
  LIG_OP_INFO_SIZES,
  .name = "unpermute",
  .title = N_ ("Unpermute"),
  .category = N_ ("Experts"),
  .summary = N_ ("Sums the rows of each token's experts, times their weights"),
  .formula = "y[t] = sum over j of weights[t, j] x[places[t, j]]",
  .example = "unpermute @ 4x8",
  .params = params,
  .extra_inputs = "places weights?",
  .saves = "x places weights",
  .infer = infer,
  .forward = "unpermute",
  .backward = "unpermute_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
