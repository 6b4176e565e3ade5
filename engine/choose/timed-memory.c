/* SPDX-License-Identifier: MIT */
/* Values that a list reads before it writes them, and those that outlive a step, have their own
 * memory. In whole steps all others live from their first use to their last one. */
#include "engine/choose/timed-memory.h"
#include "engine/device/device-private.h"

#include "engine/graph/lifetimes.h"
#include "engine/graph/place.h"
#include "engine/graph/step.h"
#include "engine/measure/stopwatch.h"

enum { ALIGNMENT = 256 };

static gsize
slot_bytes (const LigTimedMemory *self, int value)
{
  return ((gsize) lig_value (self->graph, value)->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static gpointer
key_of (int value)
{
  return GINT_TO_POINTER (value + 1);
}

/* Gives a value its own memory. */
static void
give_place (LigTimedMemory *self, int value)
{
  if (g_hash_table_contains (self->common, key_of (value)))
    return;
  g_hash_table_insert (self->common, key_of (value), GSIZE_TO_POINTER (self->bytes / ALIGNMENT));
  self->bytes += slot_bytes (self, value);
}

/* Returns whether the value outlives a step, or has contents that kernels rely on. */
static gboolean
lasts (const LigTimedMemory *self, int value)
{
  const LigPlanValue *one = lig_value (self->graph, value);
  return !lig_value_in_arena (one) ||
         !lig_dtype_has (one->dtype, LIG_DTYPE_COMPUTES | LIG_DTYPE_QUANTIZED);
}

/* Returns whether a step needs the previous contents of its operand `j`. */
static gboolean
reads (const LigGraphStep *step, int j)
{
  return j < step->plan.n_inputs || (step->code.added >> (j - step->plan.n_inputs) & 1);
}

/* Gives values of a list their own memory: all of them, or those that cannot share memory. Sums the
 * bytes of its values. */
static void
place_common (LigTimedMemory *self, GArray *list, gboolean whole)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gsize bytes = 0;
  for (guint i = 0; i < list->len; i++) {
    const LigGraphStep *step = &g_array_index (list, LigGraphStep, i);
    for (int j = 0; j < step->plan.n_operands; j++) {
      int value = step->values[j];
      if (value < 0 || !g_hash_table_add (seen, key_of (value)))
        continue;
      bytes += slot_bytes (self, value);
      if (!whole || reads (step, j) || lasts (self, value))
        give_place (self, value);
    }
  }
  self->min = MIN (self->min, bytes);
}

/* Returns the last step during which the operands of a step are in use. A step that overlaps others
 * may run until the next one of its lane. */
static int
end_of (GArray *list, int index)
{
  LigLane lane = lig_timed_lane (&g_array_index (list, LigGraphStep, index));
  while (lane != LIG_LANE_MAIN && index + 1 < (int) list->len &&
         lig_timed_lane (&g_array_index (list, LigGraphStep, index + 1)) != lane)
    index++;
  return index;
}

/* Finds the lifetimes of a list's other values; `numbers` gets value + 1 -> the index of its
 * extent. */
static GArray *
find_extents (const LigTimedMemory *self, GArray *list, GHashTable *numbers)
{
  GArray *extents = g_array_new (FALSE, FALSE, sizeof (LigExtent));
  for (guint i = 0; i < list->len; i++) {
    const LigGraphStep *step = &g_array_index (list, LigGraphStep, i);
    for (int j = 0; j < step->plan.n_operands; j++) {
      gpointer found, key = key_of (step->values[j]);
      if (step->values[j] < 0 || g_hash_table_contains (self->common, key))
        continue;
      if (!g_hash_table_lookup_extended (numbers, key, NULL, &found)) {
        LigExtent extent = {.bytes = (gint64) slot_bytes (self, step->values[j]), .first = (int) i};
        found = GUINT_TO_POINTER (extents->len);
        g_hash_table_insert (numbers, key, found);
        g_array_append_val (extents, extent);
      }
      LigExtent *extent = &g_array_index (extents, LigExtent, GPOINTER_TO_UINT (found));
      extent->last = MAX (extent->last, end_of (list, (int) i));
    }
  }
  return extents;
}

/* Places a list's other values after the common ones, and returns their end. */
static gsize
place_own (LigTimedMemory *self, GArray *list)
{
  GHashTable *places = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) extents = find_extents (self, list, numbers);
  LigExtent *first = (LigExtent *) (gpointer) extents->data;
  gint64 end = lig_place (first, extents->len, (int) list->len);
  GHashTableIter iter;
  gpointer key, number;
  g_ptr_array_add (self->own, places);
  g_hash_table_iter_init (&iter, numbers);
  while (g_hash_table_iter_next (&iter, &key, &number)) {
    gsize offset = self->bytes + (gsize) first[GPOINTER_TO_UINT (number)].offset;
    g_hash_table_insert (places, key, GSIZE_TO_POINTER (offset / ALIGNMENT));
  }
  /* More than all memory: the allocation fails, as it does for every size that is too large. */
  return self->bytes + (end < 0 ? (gsize) 1 << 61 : (gsize) end);
}

/* Gives each lane the scratch memory that its largest step needs. */
static void
place_scratch (LigTimedMemory *self, GArray *const *lists, guint count)
{
  gint64 max[2] = {0, 0};
  for (guint i = 0; i < count; i++)
    for (guint j = 0; j < lists[i]->len; j++) {
      const LigGraphStep *step = &g_array_index (lists[i], LigGraphStep, j);
      max[lig_timed_lane (step)] = MAX (max[lig_timed_lane (step)], step->scratch_bytes);
    }
  for (int lane = 0; lane < 2; lane++) {
    self->scratch_at[lane] = self->bytes;
    self->bytes += ((gsize) max[lane] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}

void
lig_timed_memory_init (
  LigTimedMemory *self, LigGraph *graph, GArray *const *lists, guint count, gboolean whole)
{
  *self = (LigTimedMemory){
    .graph = graph,
    .common = g_hash_table_new (NULL, NULL),
    .own = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref),
    .min = G_MAXSIZE,
  };
  gsize end = 0;
  for (guint i = 0; i < count; i++)
    place_common (self, lists[i], whole);
  for (guint i = 0; i < count; i++)
    end = MAX (end, place_own (self, lists[i]));
  self->bytes = MAX (self->bytes, end);
  place_scratch (self, lists, count);
}

void
lig_timed_memory_clear (LigTimedMemory *self)
{
  g_clear_pointer (&self->common, g_hash_table_unref);
  g_clear_pointer (&self->own, g_ptr_array_unref);
}

gsize
lig_timed_memory_offset (const LigTimedMemory *self, guint list, int value)
{
  gpointer found;
  if (!g_hash_table_lookup_extended (self->common, key_of (value), NULL, &found))
    found = g_hash_table_lookup (self->own->pdata[list], key_of (value));
  return GPOINTER_TO_SIZE (found) * ALIGNMENT;
}

gboolean
lig_timed_memory_fill (const LigTimedMemory *self, LigDevice *device, char *set, GError **error)
{
  GHashTableIter iter;
  gpointer key, place;
  g_hash_table_iter_init (&iter, self->common);
  while (g_hash_table_iter_next (&iter, &key, &place)) {
    const LigPlanValue *value = lig_value (self->graph, GPOINTER_TO_INT (key) - 1);
    if (!lig_fill_random (device, set + GPOINTER_TO_SIZE (place) * ALIGNMENT,
                          lig_shape_size (&value->shape), value->dtype, error))
      return FALSE;
  }
  return TRUE;
}
