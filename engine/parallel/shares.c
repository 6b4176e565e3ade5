/* SPDX-License-Identifier: MIT */
/* Shards the update of parameters over the ranks that have the same ones. Every range that is
 * communicated at once is split evenly, by elements and not by parameters: each rank then sends,
 * sums and updates as much as any other, for all parameter sizes, and a range takes one
 * reduce-scatter and one all-gather, which together transfer as much as an all-reduce. */
#include "engine/parallel/shares.h"

#include "engine/graph/value.h"
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

/* The alignment of a share in elements, the same as a parameter's. */
#define SHARE_ALIGNMENT 64

/* Returns the number of ranks that have the same parameters. */
static gint64
count_replicas (const LigGraph *graph)
{
  return lig_device_get_n_ranks (graph->request->device,
                                 lig_device_get_replicas (graph->request->device));
}

static gboolean
shards_optimizer (const LigGraph *graph)
{
  return graph->request->options.shard_optimizer && count_replicas (graph) > 1;
}

gint64
lig_share_unit (const LigGraph *graph)
{
  return shards_optimizer (graph) ? SHARE_ALIGNMENT * count_replicas (graph) : 1;
}

/* Returns the range of the parameters of divided experts; without them it is empty. */
static LigElements
find_experts (const LigGraph *graph)
{
  const LigElements *experts = graph->layout->ranges[LIG_PARAMETER_EXPERT];
  gboolean any =
    experts[TRUE].first < experts[TRUE].end || experts[FALSE].first < experts[FALSE].end;
  return any ? (LigElements){experts[TRUE].first, experts[FALSE].end} : (LigElements){0, 0};
}

LigRankGroup
lig_range_group (const LigGraph *graph, LigElements range)
{
  LigElements experts = find_experts (graph);
  return range.first >= experts.first && range.end <= experts.end && experts.first < experts.end
           ? LIG_GROUP_EXPERT_REPLICAS
           : lig_device_get_replicas (graph->request->device);
}

/* Returns whether parameters of another kind begin at an element. */
static gboolean
is_edge (const LigGraph *graph, gint64 element)
{
  LigElements experts = find_experts (graph);
  return (element == graph->layout->decayed && element < graph->layout->elements) ||
         (experts.first < experts.end && (element == experts.first || element == experts.end));
}

/* The parameters without weight decay are few and come after the others: a range of both would wait
 * for the whole backward pass. */
GArray *
lig_shard_gradients (const LigGraph *graph, LigDtype dtype)
{
  gint64 max = graph->request->options.bucket_bytes / (gint64) lig_dtype_size (dtype);
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (LigElements));
  g_autoptr (GArray) order = lig_parameters_by_offset (graph);
  gint64 end = graph->layout->elements, unit = lig_share_unit (graph);
  for (guint i = order->len; i-- > 0;) {
    const LigParameter *parameter = lig_parameter (graph, g_array_index (order, int, i));
    gint64 base = parameter->offset < graph->layout->decayed ? 0 : graph->layout->decayed;
    gint64 first = base + (parameter->offset - base + unit - 1) / unit * unit;
    LigElements *last = ranges->len ? &g_array_index (ranges, LigElements, ranges->len - 1) : NULL;
    if (!parameter->trained || first >= end)
      continue;
    if (last && !is_edge (graph, end) && last->end - last->first < max) {
      last->first = first;
    } else {
      LigElements range = {first, end};
      g_array_append_val (ranges, range);
    }
    end = first;
  }
  return ranges;
}

/* Plans with and without gradients of their own type have the same shares, so that one state serves
 * both: the parameters' type decides. */
gboolean
lig_find_shares (LigGraph *graph, GError **error)
{
  graph->layout->kept_elements = graph->layout->elements;
  if (!shards_optimizer (graph))
    return TRUE;
  if (graph->request->fp8_parameters) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("shard-optimizer shards the masters of all parameters, and with parameters "
                    "in fp8 each rank needs all masters; choose parameters in %s, or omit it"),
                 lig_dtype_name (graph->request->compute));
    return lig_error_set_setting (error, "shard-optimizer");
  }
  g_autoptr (GArray) ranges = lig_shard_gradients (graph, graph->request->parameter_dtype);
  graph->layout->kept_elements = 0;
  for (guint i = 0; i < ranges->len; i++) {
    LigElements all = g_array_index (ranges, LigElements, i);
    LigRankGroup group = lig_range_group (graph, all);
    gint64 each = (all.end - all.first) / lig_device_get_n_ranks (graph->request->device, group);
    gint64 first = all.first + lig_device_get_rank (graph->request->device, group) * each;
    LigShare share = {all, {first, first + each}, group, graph->layout->kept_elements};
    graph->layout->kept_elements += each;
    g_array_append_val (graph->layout->shares, share);
  }
  return TRUE;
}

GArray *
lig_own_ranges (const LigGraph *graph, LigElements of)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (LigElements));
  if (graph->layout->shares->len == 0 && of.first < of.end)
    g_array_append_val (ranges, of);
  for (guint i = 0; i < graph->layout->shares->len; i++) {
    LigElements own = g_array_index (graph->layout->shares, LigShare, i).own;
    own = (LigElements){MAX (own.first, of.first), MIN (own.end, of.end)};
    if (own.first < own.end)
      g_array_append_val (ranges, own);
  }
  return ranges;
}

gint64
lig_kept_place (const LigGraph *graph, gint64 element)
{
  for (guint i = 0; i < graph->layout->shares->len; i++) {
    const LigShare *share = &g_array_index (graph->layout->shares, LigShare, i);
    if (element >= share->own.first && element < share->own.end)
      return share->kept + element - share->own.first;
  }
  return element;
}
