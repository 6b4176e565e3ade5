/* SPDX-License-Identifier: MIT */
/* First fit, larger extents first, without comparing each extent with every one placed before.
 *
 * A segment tree over time. Each node has two unions of memory ranges: those taken during its whole
 * span, and those taken at some step of it. A lifetime consists of a few nodes. Memory is free if
 * it is taken neither at any step of these nodes nor during the whole span of a node above them.
 * Adjacent ranges merge, so the search skips many extents at once. */
#include "engine/graph/place.h"

typedef struct {
  gint64 begin, end;
} Range;

/* Two unions, sorted arrays of Range, or null if nothing is taken. */
typedef struct {
  GArray *through, *sometime;
} Span;

typedef struct {
  Span *spans; /* the first is the whole time; span n halves into 2 n + 1 and 2 n + 2 */
  int length;  /* of the whole time, a power of two */
  GPtrArray *met;
} Tree;

#define range(set, i) (&g_array_index (set, Range, i))

/* Returns the first range that ends after `at`, or if `inclusive` the first that ends at or after
 * it. */
static guint
find (const GArray *set, gint64 at, gboolean inclusive)
{
  guint low = 0, high = set->len;
  while (low < high) {
    guint middle = low + (high - low) / 2;
    gint64 end = range (set, middle)->end;
    if (end > at || (inclusive && end == at))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static void
take (GArray **set, Range added)
{
  if (!*set)
    *set = g_array_new (FALSE, FALSE, sizeof (Range));
  guint first = find (*set, added.begin, TRUE), end = first;
  for (; end < (*set)->len && range (*set, end)->begin <= added.end; end++) {
    added.begin = MIN (added.begin, range (*set, end)->begin);
    added.end = MAX (added.end, range (*set, end)->end);
  }
  if (end == first) {
    g_array_insert_val (*set, first, added);
    return;
  }
  *range (*set, first) = added;
  if (end - first > 1)
    g_array_remove_range (*set, first + 1, end - first - 1);
}

/* Returns the lowest offset from `at` on at which the union leaves that many bytes free. */
static gint64
fit (const GArray *set, gint64 at, gint64 bytes)
{
  for (guint i = find (set, at, FALSE); i < set->len && range (set, i)->begin < at + bytes; i++)
    at = range (set, i)->end;
  return at;
}

/* Marks the range as taken in the spans of a lifetime; number, begin and length describe one
 * span. */
static void
occupy (Tree *tree, int number, int begin, int length, const LigExtent *life, Range taken)
{
  Span *span = &tree->spans[number];
  if (life->last < begin || life->first >= begin + length)
    return;
  take (&span->sometime, taken);
  if (life->first <= begin && life->last >= begin + length - 1) {
    take (&span->through, taken);
    return;
  }
  occupy (tree, 2 * number + 1, begin, length / 2, life, taken);
  occupy (tree, 2 * number + 2, begin + length / 2, length / 2, life, taken);
}

/* Collects the unions that intersect a lifetime. */
static void
meet (Tree *tree, int number, int begin, int length, const LigExtent *life)
{
  const Span *span = &tree->spans[number];
  if (!span->sometime || life->last < begin || life->first >= begin + length)
    return;
  if (life->first <= begin && life->last >= begin + length - 1) {
    g_ptr_array_add (tree->met, span->sometime);
    return;
  }
  if (span->through)
    g_ptr_array_add (tree->met, span->through);
  meet (tree, 2 * number + 1, begin, length / 2, life);
  meet (tree, 2 * number + 2, begin + length / 2, length / 2, life);
}

static gint64
find_place (Tree *tree, const LigExtent *extent)
{
  gint64 at = 0;
  guint agreed = 0;
  g_ptr_array_set_size (tree->met, 0);
  meet (tree, 0, 0, tree->length, extent);
  for (guint i = 0; agreed < tree->met->len; i = (i + 1) % tree->met->len) {
    gint64 next = fit (tree->met->pdata[i], at, extent->bytes);
    agreed = next == at ? agreed + 1 : 1;
    at = next;
  }
  return at;
}

static int
by_size (gconstpointer a, gconstpointer b)
{
  const LigExtent *x = *(LigExtent *const *) a, *y = *(LigExtent *const *) b;
  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->first != y->first ? (x->first < y->first ? -1 : 1) : (x < y ? -1 : x > y);
}

static gint64
place_all (Tree *tree, GPtrArray *order)
{
  gint64 top = 0;
  for (guint i = 0; i < order->len; i++) {
    LigExtent *extent = order->pdata[i];
    extent->offset = find_place (tree, extent);
    if (extent->offset > G_MAXINT64 / 4 - extent->bytes)
      return -1;
    Range taken = {extent->offset, extent->offset + extent->bytes};
    occupy (tree, 0, 0, tree->length, extent, taken);
    top = MAX (top, taken.end);
  }
  return top;
}

gint64
lig_place (LigExtent *extents, guint count, int steps)
{
  g_autoptr (GPtrArray) order = g_ptr_array_new ();
  Tree tree = {.length = 1, .met = g_ptr_array_new ()};
  while (tree.length <= steps)
    tree.length *= 2;
  tree.spans = g_new0 (Span, 2 * tree.length);
  for (guint i = 0; i < count; i++) {
    extents[i].offset = 0;
    if (extents[i].bytes > 0)
      g_ptr_array_add (order, &extents[i]);
  }
  g_ptr_array_sort (order, by_size);
  gint64 top = place_all (&tree, order);
  for (int i = 0; i < 2 * tree.length; i++) {
    g_clear_pointer (&tree.spans[i].through, g_array_unref);
    g_clear_pointer (&tree.spans[i].sometime, g_array_unref);
  }
  g_free (tree.spans);
  g_ptr_array_unref (tree.met);
  return top;
}
