/* SPDX-License-Identifier: MIT */
/* Divides parameters among the ranks that have the same. Every range that is exchanged at once is
 * divided evenly, by elements and not by parameters: each rank then sends, sums and updates as much
 * as any other, whatever the sizes of parameters are, and a range takes one reduce-scatter and one
 * all-gather, which together transfer what an all-reduce does. */
#include "engine/compile/owned.h"

#include "engine/compile/parameters.h"
#include <ligature/state-arrays.h>

#include <glib/gi18n-lib.h>

/* The elements that the start of a share is a multiple of, as that of a parameter. */
#define SHARE_ALIGNMENT 64

/* Returns the number of ranks that have the same parameters. */
static gint64
count_replicas (const LigDraft *draft)
{
  return lig_device_get_n_ranks (draft->device, lig_device_get_replicas (draft->device));
}

static gboolean
divides (const LigDraft *draft)
{
  return draft->options.shard_optimizer && count_replicas (draft) > 1;
}

gint64
lig_share_unit (const LigDraft *draft)
{
  return divides (draft) ? SHARE_ALIGNMENT * count_replicas (draft) : 1;
}

/* The parameters without weight decay lie behind the others and are few: a range of both would wait
 * for the whole backward pass. */
GArray *
lig_divide_gradients (const LigDraft *draft, LigDtype dtype)
{
  gint64 most = draft->options.bucket_bytes / (gint64) lig_dtype_size (dtype);
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (LigDraftRange));
  g_autoptr (GArray) order = lig_parameters_by_offset (draft);
  gint64 end = draft->elements, unit = lig_share_unit (draft);
  for (guint i = order->len; i-- > 0;) {
    const LigDraftParameter *parameter =
      &g_array_index (draft->parameters, LigDraftParameter, g_array_index (order, int, i));
    gint64 base = parameter->offset < draft->decayed ? 0 : draft->decayed;
    gint64 first = base + (parameter->offset - base + unit - 1) / unit * unit;
    LigDraftRange *last =
      ranges->len ? &g_array_index (ranges, LigDraftRange, ranges->len - 1) : NULL;
    if (!parameter->trained || first >= end)
      continue;
    gboolean other = end == draft->decayed && draft->decayed < draft->elements;
    if (last && !other && last->end - last->first < most) {
      last->first = first;
    } else {
      LigDraftRange range = {first, end};
      g_array_append_val (ranges, range);
    }
    end = first;
  }
  return ranges;
}

/* Plans with and without gradients of their own type have the same shares, so that one state serves
 * both: the parameters' type decides. */
gboolean
lig_find_shares (LigDraft *draft, GError **error)
{
  draft->kept_elements = draft->elements;
  if (!divides (draft))
    return TRUE;
  if (draft->fp8_parameters) {
    g_set_error (error, LIG_ERROR, LIG_ERROR_DTYPE,
                 _ ("shard-optimizer divides the masters of all parameters, and with parameters in "
                    "fp8 each rank needs all masters; choose parameters in %s, or omit it"),
                 lig_dtype_name (draft->compute));
    return lig_error_set_setting (error, "shard-optimizer");
  }
  gint64 ranks = count_replicas (draft);
  gint64 rank = lig_device_get_rank (draft->device, lig_device_get_replicas (draft->device));
  g_autoptr (GArray) ranges = lig_divide_gradients (draft, draft->parameter_dtype);
  draft->kept_elements = 0;
  for (guint i = 0; i < ranges->len; i++) {
    LigDraftRange all = g_array_index (ranges, LigDraftRange, i);
    gint64 each = (all.end - all.first) / ranks;
    LigShare share = {
      all, {all.first + rank * each, all.first + (rank + 1) * each}, draft->kept_elements};
    draft->kept_elements += each;
    g_array_append_val (draft->shares, share);
  }
  return TRUE;
}

GArray *
lig_own_ranges (const LigDraft *draft, LigDraftRange of)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (LigDraftRange));
  if (draft->shares->len == 0 && of.first < of.end)
    g_array_append_val (ranges, of);
  for (guint i = 0; i < draft->shares->len; i++) {
    LigDraftRange own = g_array_index (draft->shares, LigShare, i).own;
    own = (LigDraftRange){MAX (own.first, of.first), MIN (own.end, of.end)};
    if (own.first < own.end)
      g_array_append_val (ranges, own);
  }
  return ranges;
}

gint64
lig_kept_place (const LigDraft *draft, gint64 element)
{
  for (guint i = 0; i < draft->shares->len; i++) {
    const LigShare *share = &g_array_index (draft->shares, LigShare, i);
    if (element >= share->own.first && element < share->own.end)
      return share->kept + element - share->own.first;
  }
  return element;
}

gint64
lig_array_elements (const LigDraft *draft, int array)
{
  return array == LIG_STATE_PARAMETERS  ? draft->stored_elements
         : array == LIG_STATE_GRADIENTS ? draft->elements
                                        : draft->kept_elements;
}
