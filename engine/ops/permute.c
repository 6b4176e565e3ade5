/* SPDX-License-Identifier: MIT */
/* Copies each row to the experts that a router selected for it, so that the rows of an expert are
 * neighbours. The order is that of the rows, so that all later sums are in a fixed order. */
#include "engine/ops/experts.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
  LigPermuteParams kernel;
  gint64 groups, align;
  float capacity;
} PermuteParams;

enum { EXPERTS, WEIGHTS };
enum { OFFSETS, PLACES, SCALES };
enum { DROPPED };

#define OUTPUT(slot, name, label, help) \
  { \
    LIG_PARAM_OUTPUT, name, label, help, 0, 0, 0, 0, slot, NULL \
  }

static const LigParam params[] = {
  LIG_INT (PermuteParams,
           groups,
           "groups",
           N_ ("Groups"),
           N_ ("Number of experts"),
           1,
           LIG_MAX_EXPERTS,
           0,
           LIG_PARAM_REQUIRED | LIG_PARAM_POSITIONAL),
  LIG_INT (PermuteParams,
           align,
           "align",
           N_ ("Align"),
           N_ ("The rows of each expert begin at a multiple of this number; those between are 0"),
           1,
           4096,
           1,
           0),
  LIG_FLOAT (PermuteParams,
             capacity,
             "capacity",
             N_ ("Capacity"),
             N_ ("Maximum number of rows of an expert: a multiple of the mean; later rows are "
                 "dropped; 0: no maximum"),
             0,
             1000,
             0),
  {LIG_PARAM_INPUT, "experts", N_ ("Experts"),
   N_ ("Channel of the numbers of the experts of each row; default: a tensor from the caller"), 0,
   0, 0, 0, EXPERTS, NULL},
  {LIG_PARAM_INPUT, "weights", N_ ("Weights"),
   N_ ("Channel of the weights that become the scales of the rows"), 0, 0, 0, 0, WEIGHTS, NULL},
  OUTPUT (OFFSETS,
          "offsets",
          N_ ("Offsets"),
          N_ ("Channel of the first row of each expert; default: returned to the caller")),
  OUTPUT (PLACES,
          "places",
          N_ ("Places"),
          N_ ("Channel of the places to which each row is copied; default: returned to the "
              "caller")),
  OUTPUT (SCALES,
          "scales",
          N_ ("Scales"),
          N_ ("Channel of the weights, in the order of y; default: returned to the caller")),
  {.name = NULL},
};

/* Sets the number of rows of y: of all choices, and of the padding that may follow the rows of each
 * expert. */
static gboolean
count_rows (LigInfer *self, PermuteParams *values, gint64 choices, GError **error)
{
  gint64 align = values->align, groups = values->groups, rows = choices;
  values->kernel = (LigPermuteParams){(int32_t) groups, (int32_t) align, 0};
  if (choices > G_MAXINT32 - groups * align - align) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("it copies rows to %" PRId64 " places, expected at most %d"), choices,
                 (int) (G_MAXINT32 - groups * align - align));
    return FALSE;
  }
  if (align > 1)
    rows = (choices + groups * (align - 1)) / align * align;
  if (values->capacity > 0) {
    double limit = ceil ((double) values->capacity * (double) choices / (double) groups);
    values->kernel.limit = MAX ((gint64) MIN (limit, (double) G_MAXINT32), 1);
    gint64 each = (values->kernel.limit + align - 1) / align * align;
    rows = MIN (rows, groups * each);
  }
  lig_shape_init (&self->y, 2, rows, lig_shape_columns (&self->x));
  return TRUE;
}

/* Checks the experts of a channel, all of which must have rows. */
static gboolean
check_channel (const LigInfer *self, const PermuteParams *values, GError **error)
{
  const LigRange *range = &self->channel_ranges[EXPERTS];
  const char *name = lig_infer_param_name (self, "groups");
  if (range->max == G_MAXINT32 || range->max == values->groups - 1)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_VALUE,
               _ ("%s is %" PRId64 ", the number of experts of its channel is %d; give both the "
                  "same number"),
               name, values->groups, range->max + 1);
  return lig_infer_suggest (self, "groups", (gint64) range->max + 1, error);
}

static gboolean
infer (LigInfer *self, GError **error)
{
  PermuteParams *values = (PermuteParams *) self->params;
  LigShape chosen = self->extra_inputs[EXPERTS];
  if (!lig_check_has_axis (self, error) || !check_channel (self, values, error))
    return FALSE;
  /* The caller's: one expert for each row. */
  gint64 top_k = chosen.n_axes < 0 ? 1 : lig_shape_columns (&chosen);
  chosen = self->x;
  chosen.axes[chosen.n_axes - 1] = top_k;
  if (!lig_check_extra (self, EXPERTS, "experts", &chosen, LIG_INT32, error) ||
      !lig_check_extra (self, WEIGHTS, "weights", &chosen, LIG_FP32, error) ||
      !lig_check_order (self, EXPERTS, "experts", error) ||
      !lig_check_order (self, WEIGHTS, "weights", error) ||
      !lig_shape_check (&chosen, LIG_FP32, error) ||
      !count_rows (self, values, lig_shape_size (&chosen), error))
    return FALSE;
  self->extra_ranges[EXPERTS] = (LigRange){0, (gint32) values->groups - 1, 0};
  lig_shape_init (&self->extra_outputs[OFFSETS], 1, values->groups + 1);
  self->extra_outputs[PLACES] = chosen;
  lig_shape_init (&self->extra_outputs[SCALES], 1, self->y.axes[0]);
  self->extra_output_dtypes[OFFSETS] = self->extra_output_dtypes[PLACES] = LIG_INT32;
  self->extra_output_dtypes[SCALES] = LIG_FP32;
  self->y_order = LIG_ORDER_OWN;
  self->extra_output_orders[OFFSETS] = LIG_ORDER_BATCH;
  self->extra_output_orders[PLACES] = self->x_order;
  self->n_kept = values->capacity > 0;
  lig_shape_init (&self->kept[DROPPED], 1, (gint64) 1);
  return TRUE;
}

/* Later rows of the batch do not change earlier ones, but they have other positions. */
static LigPositions
positions (const void *values, const LigShape *x, const LigShape *y, const char **reason)
{
  (void) x;
  (void) y;
  if (((const PermuteParams *) values)->capacity <= 0)
    return LIG_POSITIONS_EACH;
  *reason = N_ ("whether a row is dropped depends on the other rows of the batch");
  return LIG_POSITIONS_ALL;
}

LIG_DEFINE_OP (permute) = {
  LIG_OP_INFO_SIZES,
  .name = "permute",
  .title = N_ ("Permute"),
  .category = N_ ("Experts"),
  .summary = N_ ("Sorts rows by their experts, each row once for every expert"),
  .formula = "y[places[t, j]] = x[t], scales[places[t, j]] = weights[t, j]",
  .example = "permute (4) @ 6x8",
  .params = params,
  .params_size = sizeof (PermuteParams),
  .kernel_params_size = sizeof (LigPermuteParams),
  .extra_inputs = "experts weights?",
  .extra_outputs = "offsets places scales",
  .computes = "dropped",
  .saves = "places",
  .watches = "dropped",
  .infer = infer,
  .forward = "permute",
  .backward = "permute_backward",
  .shardings = LIG_COMPUTES_ROWS,
  .positions = positions,
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
