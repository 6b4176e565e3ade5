/* SPDX-License-Identifier: MIT */
/* Gradients are averaged over the ranks in buckets, ranges of their array, each as soon as the last
 * step has run that writes any of its gradients. Steps fill the array from its end. If the update
 * is sharded, each rank gets the mean of its part of a bucket, and sends the others its
 * parameters. */
#include "engine/parallel/reduce.h"

#include "engine/graph/step.h"
#include "engine/graph/value.h"
#include "engine/parallel/shares.h"
#include <ligature/params-collective.h>
#include <ligature/params-matmul.h>
#include <ligature/state-arrays.h>

typedef struct {
  LigElements all, own; /* elements of the array: that are reduced, that this rank gets */
  LigRankGroup group;   /* the ranks with the same parameters */
  int after;            /* the last step that writes one of its gradients */
} Bucket;

/* Returns for each parameter the last step that writes its gradient. */
static int *
find_writers (const LigGraph *graph)
{
  int *writers = g_new (int, graph->layout->parameters->len + 1);
  for (guint i = 0; i < graph->layout->parameters->len; i++)
    writers[i] = graph->phases.backward;
  for (int i = graph->phases.backward; i < (int) graph->steps->len; i++) {
    const LigGraphStep *step = lig_step (graph, i);
    for (int j = step->plan.n_inputs; j < step->plan.n_operands; j++) {
      int value = step->values[j];
      if (value >= 0 && lig_value (graph, value)->role == LIG_VALUE_PARAMETER_GRADIENT)
        writers[lig_value (graph, value)->parameter] = i;
    }
  }
  return writers;
}

/* Returns the buckets without their steps. A planned update may be sharded; otherwise each rank
 * gets the means of all gradients. */
static GArray *
list_buckets (LigGraph *graph)
{
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  g_autoptr (GArray) ranges = lig_shard_gradients (graph, graph->request->gradient_dtype);
  gboolean shared = graph->layout->shares->len > 0 && graph->request->options.optimizer;
  for (guint i = 0; i < (shared ? graph->layout->shares->len : ranges->len); i++) {
    Bucket bucket = {.after = graph->phases.backward};
    if (shared) {
      bucket.all = g_array_index (graph->layout->shares, LigShare, i).all;
      bucket.own = g_array_index (graph->layout->shares, LigShare, i).own;
    } else {
      bucket.all = bucket.own = g_array_index (ranges, LigElements, i);
    }
    bucket.group = lig_range_group (graph, bucket.all);
    g_array_append_val (buckets, bucket);
  }
  return buckets;
}

/* Returns the buckets, each with the last step that writes into it. */
static GArray *
fill_buckets (LigGraph *graph)
{
  GArray *buckets = list_buckets (graph);
  g_autofree int *writers = find_writers (graph);
  for (guint i = 0; i < buckets->len; i++) {
    Bucket *bucket = &g_array_index (buckets, Bucket, i);
    for (int j = 0; j < (int) graph->layout->parameters->len; j++) {
      const LigParameter *parameter = lig_parameter (graph, j);
      if (parameter->trained && parameter->offset < bucket->all.end &&
          parameter->offset + lig_shape_size (&parameter->shape) > bucket->all.first)
        bucket->after = MAX (bucket->after, writers[j]);
    }
  }
  return buckets;
}

static int
range_value (LigGraph *graph, int array, LigElements range)
{
  return lig_array_value (graph, array, range.first, range.end - range.first);
}

/* Appends a collective of the ranks with the same parameters, in the communication lane. */
static void
append_beside (LigGraph *graph,
               GArray *steps,
               LigPass pass,
               const char *kernel,
               const int *values,
               LigRankGroup group)
{
  const LigCollectiveParams params = {lig_device_get_n_ranks (graph->request->device, group),
                                      LIG_REDUCE_MEAN, group};
  lig_step_append (graph, steps, pass, -1, kernel, values, &params, sizeof params);
  g_array_index (steps, LigGraphStep, steps->len - 1).plan.lane = LIG_LANE_COMMUNICATION;
}

/* Divides gradients of this rank's experts, to which the rows of all expert ranks contribute, by
 * the number of these ranks: the loss is the mean over all of them. */
static void
append_division (LigGraph *graph, GArray *steps, int value)
{
  int ranks = lig_device_get_n_ranks (graph->request->device, LIG_GROUP_EXPERT);
  const LigScaleParams params = {.factor = 1 / (float) ranks};
  lig_step_append (graph, steps, LIG_PASS_BACKWARD, -1, "scale", (const int[]){value, value},
                   &params, sizeof params);
  g_array_index (steps, LigGraphStep, steps->len - 1).plan.reduces = TRUE;
}

static void
append_reduction (LigGraph *graph, GArray *steps, const Bucket *bucket)
{
  gboolean whole = bucket->own.first == bucket->all.first && bucket->own.end == bucket->all.end;
  int from = range_value (graph, LIG_STATE_GRADIENTS, bucket->all);
  int to = whole ? from : range_value (graph, LIG_STATE_GRADIENTS, bucket->own);
  if (bucket->group == LIG_GROUP_EXPERT_REPLICAS)
    append_division (graph, steps, from);
  if (lig_device_get_n_ranks (graph->request->device, bucket->group) == 1)
    return;
  append_beside (graph, steps, LIG_PASS_BACKWARD, whole ? "all_reduce" : "reduce_scatter",
                 (const int[]){from, to}, bucket->group);
  g_array_index (steps, LigGraphStep, steps->len - 1).plan.reduces = TRUE;
}

void
lig_gather_parameters (LigGraph *graph, const LigShare *share)
{
  int from = range_value (graph, LIG_STATE_PARAMETERS, share->own);
  int to = range_value (graph, LIG_STATE_PARAMETERS, share->all);
  if (lig_device_get_n_ranks (graph->request->device, share->group) > 1)
    append_beside (graph, graph->steps, LIG_PASS_UPDATE, "all_gather", (const int[]){from, to},
                   share->group);
}

static void
append_collective (LigGraph *graph,
                   const char *kernel,
                   const int *values,
                   LigCollectiveParams params)
{
  params.peers = lig_device_get_n_ranks (graph->request->device, (LigRankGroup) params.group);
  if (params.peers > 1)
    lig_step_append (graph, graph->steps, LIG_PASS_UPDATE, -1, kernel, values, &params,
                     sizeof params);
}

void
lig_reduce_amaxes (LigGraph *graph, int quantizers)
{
  const int values[] = {quantizers, quantizers};
  append_collective (graph, "all_reduce", values,
                     (LigCollectiveParams){.reduction = LIG_REDUCE_MAX, .group = LIG_GROUP_ALL});
}

void
lig_gather_norms (LigGraph *graph, int norm, int norms, LigRankGroup group)
{
  const int values[] = {norm, norms};
  append_collective (graph, "all_gather", values, (LigCollectiveParams){.group = (gint32) group});
}

void
lig_reduce_summed (LigGraph *graph)
{
  for (int decays = FALSE; decays <= TRUE; decays++) {
    g_autoptr (GArray) own =
      lig_own_ranges (graph, graph->layout->ranges[LIG_PARAMETER_SUMMED][decays]);
    for (guint i = 0; i < own->len; i++) {
      int value = range_value (graph, LIG_STATE_GRADIENTS, g_array_index (own, LigElements, i));
      const int values[] = {value, value};
      append_collective (graph, "all_reduce", values,
                         (LigCollectiveParams){.group = LIG_GROUP_TENSOR});
    }
  }
}

void
lig_schedule_reductions (LigGraph *graph)
{
  if (lig_device_get_n_ranks (graph->request->device,
                              lig_device_get_replicas (graph->request->device)) == 1 ||
      !graph->request->options.training || graph->layout->elements == 0)
    return;
  g_autoptr (GArray) buckets = fill_buckets (graph);
  g_autoptr (GArray) steps = g_array_new (FALSE, TRUE, sizeof (LigGraphStep));
  for (int i = graph->phases.backward; i < (int) graph->steps->len; i++) {
    g_array_append_val (steps, *lig_step (graph, i));
    for (guint j = 0; j < buckets->len; j++)
      if (g_array_index (buckets, Bucket, j).after == i)
        append_reduction (graph, steps, &g_array_index (buckets, Bucket, j));
  }
  g_array_set_size (graph->steps, (guint) graph->phases.backward);
  g_array_append_vals (graph->steps, steps->data, steps->len);
}
