/* SPDX-License-Identifier: MIT */
/* Gradients are averaged over the ranks in buckets, ranges of their array, each as soon as the last
 * step has run that writes any of its gradients. Steps fill the array from its end. */
#include "engine/compile/reduce.h"

#include "engine/compile/lower.h"
#include "engine/compile/share.h"
#include "engine/compile/update.h"
#include <ligature/params.h>
#include <ligature/state-arrays.h>

/* A smaller exchange is bound by its latency; a larger one begins later. */
#define BUCKET_BYTES (25 << 20)

typedef struct {
  gint64 first, end; /* elements of the array */
  int after;         /* the last step that writes one of its gradients */
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

static int
by_offset (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 x = get (data, *(const int *) a)->offset, y = get (data, *(const int *) b)->offset;
  return x > y ? -1 : x < y;
}

/* Returns the numbers of the trained parameters, the last in the array first. */
static GArray *
sort_parameters (LigDraft *draft)
{
  GArray *numbers = g_array_new (FALSE, FALSE, sizeof (int));
  for (int i = 0; i < (int) draft->parameters->len; i++)
    if (get (draft, i)->trained)
      g_array_append_val (numbers, i);
  g_array_sort_with_data (numbers, by_offset, draft);
  return numbers;
}

/* Divides the array into buckets. The parameters without weight decay lie behind the others and are
 * few: a bucket of both would wait for the whole backward pass. */
static GArray *
fill_buckets (LigDraft *draft)
{
  GArray *buckets = g_array_new (FALSE, FALSE, sizeof (Bucket));
  g_autoptr (GArray) numbers = sort_parameters (draft);
  g_autofree int *writers = find_writers (draft);
  const gint64 most = BUCKET_BYTES / (gint64) lig_dtype_size (draft->gradient_dtype);
  gint64 end = draft->elements;
  for (guint i = 0; i < numbers->len; i++) {
    int number = g_array_index (numbers, int, i);
    gint64 first = get (draft, number)->offset;
    Bucket *last = buckets->len ? &g_array_index (buckets, Bucket, buckets->len - 1) : NULL;
    gboolean other = end == draft->decayed && draft->decayed < draft->elements;
    if (last && !other && last->end - last->first < most) {
      last->first = first;
      last->after = MAX (last->after, writers[number]);
    } else {
      Bucket bucket = {first, end, writers[number]};
      g_array_append_val (buckets, bucket);
    }
    end = first;
  }
  return buckets;
}

LigRankGroup
lig_gradient_group (const LigDraft *draft)
{
  return lig_device_get_n_ranks (draft->device, LIG_GROUP_CONTEXT) > 1 ? LIG_GROUP_REPLICAS
                                                                       : LIG_GROUP_DATA;
}

static void
append_reduction (LigDraft *draft, GArray *steps, const Bucket *bucket)
{
  LigRankGroup group = lig_gradient_group (draft);
  const LigCollectiveParams params = {lig_device_get_n_ranks (draft->device, group),
                                      LIG_REDUCE_MEAN, group};
  int value =
    lig_array_value (draft, LIG_STATE_GRADIENTS, bucket->first, bucket->end - bucket->first);
  const int values[] = {value, value};
  lig_lower_plain (draft, steps, LIG_PASS_BACKWARD, -1, "all_reduce", values, &params,
                   sizeof params);
  LigDraftStep *step = &g_array_index (steps, LigDraftStep, steps->len - 1);
  step->lane = LIG_LANE_COMMUNICATION;
  step->reduces = TRUE;
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
lig_gather_norms (LigDraft *draft, int norm, int norms)
{
  const int values[] = {norm, norms};
  append_exchange (draft, "all_gather", values, (LigCollectiveParams){.group = LIG_GROUP_TENSOR});
}

void
lig_reduce_summed (LigDraft *draft)
{
  for (int decays = FALSE; decays <= TRUE; decays++) {
    LigDraftRange range = draft->ranges[LIG_PARAMETER_SUMMED][decays];
    if (range.first == range.end)
      continue;
    int value = lig_array_value (draft, LIG_STATE_GRADIENTS, range.first, range.end - range.first);
    const int values[] = {value, value};
    append_exchange (draft, "all_reduce", values, (LigCollectiveParams){.group = LIG_GROUP_TENSOR});
  }
}

void
lig_schedule_reductions (LigDraft *draft)
{
  if (lig_device_get_n_ranks (draft->device, lig_gradient_group (draft)) == 1 ||
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
