/* SPDX-License-Identifier: MIT */
/* Gradients are averaged over the ranks in buckets, ranges of their array, each as soon as the last
 * step has run that writes any of its gradients. Steps fill the array from its end. If ranks share
 * the update, each gets the mean of its part of a bucket, and gives the others its parameters. */
#include "engine/compile/reduce.h"

#include "engine/compile/lower.h"
#include "engine/compile/owned.h"
#include "engine/compile/share.h"
#include "engine/compile/update.h"
#include <ligature/params-collective.h>
#include <ligature/state-arrays.h>

typedef struct {
  LigDraftRange all, own; /* elements of the array: that are reduced, that this rank gets */
  int after;              /* the last step that writes one of its gradients */
} Bucket;

static const LigDraftParameter *
get (const LigDraft *draft, int number)
{
  return &g_array_index (draft->parameters, LigDraftParameter, number);
}

/* Returns for each parameter the last step that writes its gradient. */
static int *
find_writers (const LigDraft *draft)
{
  int *writers = g_new (int, draft->parameters->len + 1);
  for (guint i = 0; i < draft->parameters->len; i++)
    writers[i] = draft->first_backward;
  for (int i = draft->first_backward; i < (int) draft->steps->len; i++) {
    const LigDraftStep *step = lig_step (draft, i);
    for (int j = step->n_inputs; j < step->n_operands; j++) {
      int value = step->values[j];
      if (value >= 0 && lig_value (draft, value)->role == LIG_VALUE_PARAMETER_GRADIENT)
        writers[lig_value (draft, value)->parameter] = i;
    }
  }
  return writers;
}

/* Returns the buckets without their steps. Ranks share an update that is planned; else each gets
 * the means of all gradients. */
static GArray *
list_buckets (LigDraft *draft)
{
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  g_autoptr (GArray) ranges = lig_divide_gradients (draft, draft->gradient_dtype);
  gboolean shared = draft->shares->len > 0 && draft->options.optimizer;
  for (guint i = 0; i < (shared ? draft->shares->len : ranges->len); i++) {
    Bucket bucket = {.after = draft->first_backward};
    if (shared) {
      bucket.all = g_array_index (draft->shares, LigShare, i).all;
      bucket.own = g_array_index (draft->shares, LigShare, i).own;
    } else {
      bucket.all = bucket.own = g_array_index (ranges, LigDraftRange, i);
    }
    g_array_append_val (buckets, bucket);
  }
  return buckets;
}

/* Returns the buckets, each with the last step that writes into it. */
static GArray *
fill_buckets (LigDraft *draft)
{
  GArray *buckets = list_buckets (draft);
  g_autofree int *writers = find_writers (draft);
  for (guint i = 0; i < buckets->len; i++) {
    Bucket *bucket = &g_array_index (buckets, Bucket, i);
    for (int j = 0; j < (int) draft->parameters->len; j++) {
      const LigDraftParameter *parameter = get (draft, j);
      if (parameter->trained && parameter->offset < bucket->all.end &&
          parameter->offset + lig_shape_size (&parameter->shape) > bucket->all.first)
        bucket->after = MAX (bucket->after, writers[j]);
    }
  }
  return buckets;
}

static int
range_value (LigDraft *draft, int array, LigDraftRange range)
{
  return lig_array_value (draft, array, range.first, range.end - range.first);
}

/* Appends an exchange of the ranks with the same parameters, in the communication lane. */
static void
append_beside (LigDraft *draft, GArray *steps, LigPass pass, const char *kernel, const int *values)
{
  LigRankGroup group = lig_device_get_replicas (draft->device);
  const LigCollectiveParams params = {lig_device_get_n_ranks (draft->device, group),
                                      LIG_REDUCE_MEAN, group};
  lig_lower_plain (draft, steps, pass, -1, kernel, values, &params, sizeof params);
  g_array_index (steps, LigDraftStep, steps->len - 1).lane = LIG_LANE_COMMUNICATION;
}

static void
append_reduction (LigDraft *draft, GArray *steps, const Bucket *bucket)
{
  gboolean whole = bucket->own.first == bucket->all.first && bucket->own.end == bucket->all.end;
  int from = range_value (draft, LIG_STATE_GRADIENTS, bucket->all);
  int to = whole ? from : range_value (draft, LIG_STATE_GRADIENTS, bucket->own);
  append_beside (draft, steps, LIG_PASS_BACKWARD, whole ? "all_reduce" : "reduce_scatter",
                 (const int[]){from, to});
  g_array_index (steps, LigDraftStep, steps->len - 1).reduces = TRUE;
}

void
lig_gather_parameters (LigDraft *draft, const LigShare *share)
{
  int from = range_value (draft, LIG_STATE_PARAMETERS, share->own);
  int to = range_value (draft, LIG_STATE_PARAMETERS, share->all);
  append_beside (draft, draft->steps, LIG_PASS_UPDATE, "all_gather", (const int[]){from, to});
}

static void
append_exchange (LigDraft *draft, const char *kernel, const int *values, LigCollectiveParams params)
{
  params.peers = lig_device_get_n_ranks (draft->device, (LigRankGroup) params.group);
  if (params.peers > 1)
    lig_lower_plain (draft, draft->steps, LIG_PASS_UPDATE, -1, kernel, values, &params,
                     sizeof params);
}

void
lig_reduce_amaxes (LigDraft *draft, int quantizers)
{
  const int values[] = {quantizers, quantizers};
  append_exchange (draft, "all_reduce", values,
                   (LigCollectiveParams){.reduction = LIG_REDUCE_MAX, .group = LIG_GROUP_ALL});
}

void
lig_gather_norms (LigDraft *draft, int norm, int norms, LigRankGroup group)
{
  const int values[] = {norm, norms};
  append_exchange (draft, "all_gather", values, (LigCollectiveParams){.group = (gint32) group});
}

void
lig_reduce_summed (LigDraft *draft)
{
  for (int decays = FALSE; decays <= TRUE; decays++) {
    g_autoptr (GArray) own = lig_own_ranges (draft, draft->ranges[LIG_PARAMETER_SUMMED][decays]);
    for (guint i = 0; i < own->len; i++) {
      int value = range_value (draft, LIG_STATE_GRADIENTS, g_array_index (own, LigDraftRange, i));
      const int values[] = {value, value};
      append_exchange (draft, "all_reduce", values,
                       (LigCollectiveParams){.group = LIG_GROUP_TENSOR});
    }
  }
}

void
lig_schedule_reductions (LigDraft *draft)
{
  if (lig_device_get_n_ranks (draft->device, lig_device_get_replicas (draft->device)) == 1 ||
      !draft->options.training || draft->elements == 0)
    return;
  g_autoptr (GArray) buckets = fill_buckets (draft);
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigDraftStep));
  for (int i = draft->first_backward; i < (int) draft->steps->len; i++) {
    g_array_append_val (steps, *lig_step (draft, i));
    for (guint j = 0; j < buckets->len; j++)
      if (g_array_index (buckets, Bucket, j).after == i)
        append_reduction (draft, steps, &g_array_index (buckets, Bucket, j));
  }
  g_array_set_size (draft->steps, (guint) draft->first_backward);
  g_array_append_vals (draft->steps, steps->data, steps->len);
  lig_find_step_groups (draft);
}
