/* SPDX-License-Identifier: MIT */
/* Sends each row to the rank that has its expert, and gets the rows of this rank's experts from all
 * ranks of the group (Lepikhin and others, 2020, GShard). The number of rows that two ranks
 * exchange is fixed, so that no host waits for the counts; the counts are exchanged on the device.
 * On one rank rows only move within memory. */
#include "engine/ops/exchange.h"

#include <inttypes.h>
#include <math.h>

typedef struct {
  LigExchangeParams kernel;
  gint64 experts;
  float capacity;
  int32_t overflow;
} DispatchParams;

enum { OFFSETS, SCALES };
enum { OWN_OFFSETS, OWN_SCALES, SENT, RECEIVED };

#define OUTPUT(slot, name, label, help) \
  { \
    LIG_PARAM_OUTPUT, name, label, help, 0, 0, 0, 0, slot, NULL \
  }

static const LigParam params[] = {
  LIG_FLOAT (DispatchParams,
             capacity,
             "capacity",
             N_ ("Capacity"),
             N_ ("Maximum number of rows that a rank sends to another one: a multiple of the mean"),
             1,
             LIG_MAX_EXPERTS,
             LIG_EXCHANGE_CAPACITY),
  LIG_OVERFLOW_PARAM (DispatchParams, overflow),
  {LIG_PARAM_INPUT, "offsets", N_ ("Offsets"),
   N_ (
     "Channel of the first row of each expert and the end of the last one; default: a tensor from "
     "the caller"),
   0, 0, 0, 0, OFFSETS, NULL},
  {LIG_PARAM_INPUT, "scales", N_ ("Scales"),
   N_ ("Channel of a number for each row that is sent with it; omitted: 1"), 0, 0, 0, 0, SCALES,
   NULL},
  OUTPUT (OWN_OFFSETS,
          "own-offsets",
          N_ ("Own offsets"),
          N_ ("Channel of the first row of each expert of this rank; default: returned to the "
              "caller")),
  OUTPUT (OWN_SCALES,
          "own-scales",
          N_ ("Own scales"),
          N_ ("Channel of the numbers of the rows of this rank's experts; default: returned to the "
              "caller")),
  OUTPUT (SENT,
          "sent",
          N_ ("Sent"),
          N_ ("Channel of the places of the rows that are sent; default: returned to the caller")),
  OUTPUT (RECEIVED,
          "received",
          N_ ("Received"),
          N_ ("Channel of the places of the rows that arrive; default: returned to the caller")),
  {.name = NULL},
};

/* Finds the number of experts, those of the channel's offsets; the caller's are of one expert for
 * each rank. */
static gboolean
find_experts (LigInfer *self, gint64 *experts, GError **error)
{
  const LigShape *given = &self->extra_inputs[OFFSETS];
  const int ranks = self->expert_ranks;
  LigShape wanted;
  *experts = given->n_axes == 1 ? given->axes[0] - 1 : ranks;
  if (*experts < 1 || *experts > LIG_MAX_EXPERTS || *experts % ranks != 0) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
                 _ ("the number of experts is %" PRId64 ", expected a multiple of expert=%d, and "
                    "at most %d"),
                 *experts, ranks, LIG_MAX_EXPERTS);
    return FALSE;
  }
  lig_shape_init (&wanted, 1, *experts + 1);
  return lig_check_extra (self, OFFSETS, "offsets", &wanted, LIG_INT32, error);
}

/* Finds the number of rows of a piece, 0 if there are none. */
static gboolean
find_limit (const LigInfer *self, gint64 rows, gint64 *limit, GError **error)
{
  const DispatchParams *values = self->params;
  const int ranks = self->expert_ranks;
  double mean = (double) rows / ranks;
  *limit = (gint64) MIN (ceil ((double) values->capacity * mean), (double) rows);
  if (*limit <= G_MAXINT32 / ranks)
    return TRUE;
  g_set_error (error, LIG_ERROR, LIG_ERROR_SHAPE,
               _ ("the room for the rows of each rank (expert=%d) is %" PRId64
                  ", expected at most %d; give fewer tokens, or a smaller capacity"),
               ranks, *limit, G_MAXINT32 / ranks);
  return FALSE;
}

static gboolean
infer (LigInfer *self, GError **error)
{
  DispatchParams *values = (DispatchParams *) self->params;
  gint64 experts, limit, rows;
  LigShape each;
  if (!lig_check_has_axis (self, error))
    return FALSE;
  if (self->x_sharding.kind == LIG_SHARDING_EXPERTS)
    return lig_infer_reject_sharding (self, error);
  each = lig_shape_without (&self->x, 1);
  rows = lig_shape_size (&each);
  if (!find_experts (self, &experts, error) || !find_limit (self, rows, &limit, error) ||
      !lig_check_extra (self, SCALES, "scales", &each, LIG_FP32, error) ||
      !lig_check_order (self, SCALES, "scales", error))
    return FALSE;
  values->kernel = (LigExchangeParams){self->expert_ranks, (int32_t) limit, FALSE, 0};
  values->experts = experts;
  self->extra_ranges[OFFSETS] = (LigRange){0, G_MAXINT32, 0};
  lig_shape_init (&self->y, 2, limit * self->expert_ranks, lig_shape_columns (&self->x));
  lig_shape_init (&self->extra_outputs[OWN_OFFSETS], 1, experts / self->expert_ranks + 1);
  lig_shape_init (&self->extra_outputs[OWN_SCALES], 1, self->y.axes[0]);
  self->extra_outputs[SENT] = each;
  lig_shape_init (&self->extra_outputs[RECEIVED], 1, self->y.axes[0]);
  self->extra_output_dtypes[OWN_SCALES] = LIG_FP32;
  self->extra_output_dtypes[OWN_OFFSETS] = self->extra_output_dtypes[SENT] =
    self->extra_output_dtypes[RECEIVED] = LIG_INT32;
  lig_shape_init (&self->kept[0], 1, (gint64) self->expert_ranks);
  if (self->expert_ranks > 1)
    self->y_sharding =
      (LigSharding){.kind = LIG_SHARDING_EXPERTS, .sections = {.count = 1, .lengths = {rows}}};
  return TRUE;
}

/* Emits the kernel that sets a number of each row that has a place, and 0 of the others. */
static void
set_numbers (LigLowering *lowering, const char *bindings, float number)
{
  LigExchangeParams all = *(const LigExchangeParams *) lig_lower_params (lowering, 0);
  all.absent = number;
  lig_lower_kernel (lowering, "exchange_numbers", bindings, &all, sizeof all);
}

/* Emits the kernels that exchange a number of each row. */
static void
exchange_numbers (
  LigLowering *lowering, const char *from, const char *sent, const char *received, const char *to)
{
  const LigExchangeParams *kernel = lig_lower_params (lowering, 0);
  LigExchangeParams scatter = *kernel;
  g_autofree char *before = g_strdup_printf ("x=%s places=%s y=numbers", from, sent);
  g_autofree char *after = g_strdup_printf ("x=arrived_numbers places=%s y=%s", received, to);
  scatter.scatter = TRUE;
  lig_lower_kernel (lowering, "exchange_numbers", before, &scatter, sizeof scatter);
  lig_lower_all_to_all (lowering, kernel, "x=numbers y=arrived_numbers");
  lig_lower_kernel (lowering, "exchange_numbers", after, kernel, sizeof *kernel);
}

static void
lower_forward (LigLowering *lowering)
{
  const DispatchParams *values = lig_lower_params (lowering, 0);
  LigShape sizes;
  lig_shape_init (&sizes, 1, values->experts);
  lig_lower_value (lowering, "sizes", &sizes, LIG_INT32);
  lig_lower_value (lowering, "arrived_sizes", &sizes, LIG_INT32);
  lig_lower_value_like (lowering, "pieces", "y");
  lig_lower_value_like (lowering, "arrived", "y");
  lig_lower_kernel (lowering, "exchange_sent", "places=sent", NULL, 0);
  lig_lower_all_to_all (lowering, &values->kernel, "x=sizes y=arrived_sizes");
  lig_lower_kernel (lowering, "exchange_received",
                    "sizes=arrived_sizes places=received offsets=own_offsets", NULL, 0);
  lig_lower_exchange (lowering, &values->kernel, "x", "sent", "received", "y");
  if (!lig_lower_has (lowering, "scales"))
    set_numbers (lowering, "x=- places=received y=own_scales", 1);
  if (!lig_lower_has (lowering, "scales") || !lig_lower_has (lowering, "own_scales"))
    return;
  lig_lower_value_like (lowering, "numbers", "own_scales");
  lig_lower_value_like (lowering, "arrived_numbers", "own_scales");
  exchange_numbers (lowering, "scales", "sent", "received", "own_scales");
}

/* Rows return the way that they came. */
static void
lower_backward (LigLowering *lowering)
{
  const LigExchangeParams *kernel = lig_lower_params (lowering, 0);
  if (lig_lower_has (lowering, "dx") && lig_lower_has (lowering, "dy")) {
    lig_lower_value_like (lowering, "pieces", "dy");
    lig_lower_value_like (lowering, "arrived", "dy");
    lig_lower_exchange (lowering, kernel, "dy", "received", "sent", "dx");
  }
  if (!lig_lower_has (lowering, "dscales"))
    return;
  if (!lig_lower_has (lowering, "down_scales")) {
    set_numbers (lowering, "x=- places=sent y=dscales", 0);
  } else {
    lig_lower_value_like (lowering, "numbers", "down_scales");
    lig_lower_value_like (lowering, "arrived_numbers", "down_scales");
    exchange_numbers (lowering, "down_scales", "received", "sent", "dscales");
  }
}

LIG_DEFINE_OP (dispatch) = {
  LIG_OP_INFO_SIZES,
  .name = "dispatch",
  .title = N_ ("Dispatch"),
  .category = N_ ("Experts"),
  .summary = N_ ("Sends rows to the ranks that have their experts"),
  .formula = "y[i] = pieces of all ranks [received[i]], pieces[sent[i]] = x[i]",
  .example = "dispatch @ 6x8",
  .params = params,
  .params_size = sizeof (DispatchParams),
  .kernel_params_size = sizeof (LigExchangeParams),
  .extra_inputs = "offsets scales?",
  .extra_outputs = "own_offsets own_scales sent received",
  .computes = "overflow",
  .watches = "overflow",
  .saves = "sent received",
  .infer = infer,
  .lower_forward = lower_forward,
  .lower_backward = lower_backward,
  .shardings = LIG_COMPUTES_ROWS,
  .no_onnx =
    N_ ("works on rows that are routed to experts, for which ONNX has no grouped operators"),
};
