/* SPDX-License-Identifier: MIT */
/* Finds values that are computed again in vain: saved, they would live while the other values leave
 * enough room below the peak. The bytes that live at each step are a tree of intervals. */
#include "engine/compile/place.h"
#include "engine/compile/recompute.h"

typedef struct {
  int root, unit, writer;
  int first, last; /* steps at which it would be saved */
  gint64 bytes;
} Chosen;

typedef struct {
  int length;           /* a power of two */
  gint64 *most, *added; /* by node: the most bytes below it; bytes added to all of it */
} Curve;

static void
curve_init (Curve *self, const gint64 *bytes, int count)
{
  for (self->length = 1; self->length < count;)
    self->length *= 2;
  self->most = g_new0 (gint64, 2 * (gsize) self->length);
  self->added = g_new0 (gint64, 2 * (gsize) self->length);
  for (int i = 0; i < count; i++)
    self->most[self->length + i] = bytes[i];
  for (int i = self->length - 1; i > 0; i--)
    self->most[i] = MAX (self->most[2 * i], self->most[2 * i + 1]);
}

/* Adds bytes to the steps from `first` to `last` that the node covers, `begin` to `end` - 1.
 * Returns the most bytes at one of these steps. */
static gint64
curve_add (Curve *self, int node, int begin, int end, int first, int last, gint64 bytes)
{
  if (last < begin || first >= end)
    return G_MININT64;
  if (first <= begin && end - 1 <= last) {
    self->added[node] += bytes;
    return self->most[node] += bytes;
  }
  int middle = begin + (end - begin) / 2;
  gint64 left = curve_add (self, 2 * node, begin, middle, first, last, bytes);
  gint64 right = curve_add (self, 2 * node + 1, middle, end, first, last, bytes);
  self->most[node] = MAX (self->most[2 * node], self->most[2 * node + 1]) + self->added[node];
  return MAX (left, right) + self->added[node];
}

/* Adds the bytes of a value to the steps between its last use in the forward pass and its copy, or
 * with the factor -1 takes them back. Returns the most bytes at one of these steps. If the last use
 * is in place, another value has its memory already in that step. */
static gint64
bridge (Curve *curve, const Chosen *chosen, int factor)
{
  return curve_add (curve, 1, 0, curve->length, chosen->first, chosen->last,
                    factor * chosen->bytes);
}

/* The last values of the forward pass are the first to be dropped; a unit counts as a whole. */
static int
from_last (gconstpointer a, gconstpointer b)
{
  const Chosen *x = a, *y = b;
  if (x->unit != y->unit)
    return x->unit > y->unit ? -1 : 1;
  return x->writer != y->writer ? (x->writer > y->writer ? -1 : 1) : x->root - y->root;
}

static GArray *
list_chosen (const LigRecomputation *self, const GArray *extents, const int *numbers)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (Chosen));
  for (int i = 0; i < self->n_sources; i++) {
    if (!self->sources[i].again || self->copies[i] < 0 || numbers[i] < 0)
      continue;
    const LigValue *value = lig_value (self->draft, i);
    gboolean shared = g_array_index (extents, LigExtent, numbers[i]).last > value->last_step;
    Chosen chosen = {i,
                     self->sources[i].unit,
                     self->sources[i].writer,
                     value->last_step + (shared ? 0 : 1),
                     lig_value (self->draft, self->copies[i])->first_step - 1,
                     value->bytes};
    g_array_append_val (list, chosen);
  }
  g_array_sort (list, from_last);
  return list;
}

gboolean
lig_drop_repeated (LigRecomputation *self)
{
  gint64 peak;
  gboolean any = FALSE;
  Curve curve;
  g_autofree int *numbers = g_new (int, self->draft->values->len);
  g_autoptr (GArray) extents = lig_find_extents (self->draft, numbers);
  g_autofree gint64 *bytes = lig_sum_extents (self->draft, extents, &peak);
  g_autoptr (GArray) list = list_chosen (self, extents, numbers);
  const Chosen *all = (const Chosen *) (gpointer) list->data;
  curve_init (&curve, bytes, (int) self->draft->steps->len + 1);
  for (guint i = 0, end; i < list->len; i = end) {
    gint64 most = G_MININT64;
    for (end = i;
         end < list->len && (end == i || (all[i].unit >= 0 && all[end].unit == all[i].unit)); end++)
      most = MAX (most, bridge (&curve, &all[end], 1));
    for (guint k = i; k < end; k++)
      if (most > peak)
        bridge (&curve, &all[k], -1);
      else
        self->sources[all[k].root].dropped = any = TRUE;
  }
  g_free (curve.most);
  g_free (curve.added);
  return any;
}
