/* SPDX-License-Identifier: MIT */
/* The values of a plan, followed across aliases of their memory. */
#include <ligature/plan-flow.h>

struct _LigPlanFlow {
  LigPlan *plan;
  const LigPlanValue *values;
  int *roots;     /* for each value: the one whose memory it shares, or itself */
  gint64 *starts; /* for each value: the offset in bytes into that memory */
  int count;      /* of the values */
  int *first;     /* for each root: the first value in its memory */
  int *next;      /* for each value: the next one in the same memory, or -1 */
};

/* Finds the memory of a value: aliases may refer to earlier or later values. */
static void
find_root (LigPlanFlow *self, int value)
{
  int root = value;
  while (self->values[root].alias >= 0)
    root = self->values[root].alias;
  self->starts[value] = self->values[value].alias_offset;
  self->roots[value] = root;
  self->next[value] = self->first[root];
  self->first[root] = value;
}

LigPlanFlow *
lig_plan_flow_new (LigPlan *plan)
{
  g_return_val_if_fail (plan, NULL);
  guint count;
  LigPlanFlow *self = g_new0 (LigPlanFlow, 1);
  self->plan = lig_plan_ref (plan);
  self->values = lig_plan_get_values (plan, &count);
  self->count = (int) count;
  self->roots = g_new (int, count);
  self->starts = g_new0 (gint64, count);
  self->first = g_new (int, count);
  self->next = g_new (int, count);
  for (guint i = 0; i < count; i++)
    self->first[i] = -1;
  for (int i = (int) count - 1; i >= 0; i--)
    find_root (self, i);
  return self;
}

void
lig_plan_flow_free (LigPlanFlow *self)
{
  if (!self)
    return;
  lig_plan_unref (self->plan);
  g_free (self->roots);
  g_free (self->starts);
  g_free (self->first);
  g_free (self->next);
  g_free (self);
}

int
lig_plan_flow_get_root (LigPlanFlow *self, int value)
{
  g_return_val_if_fail (self && value >= 0 && value < self->count, -1);
  return self->roots[value];
}

static gboolean
overlap (LigPlanFlow *self, int a, int b)
{
  return self->starts[a] < self->starts[b] + self->values[b].bytes &&
         self->starts[b] < self->starts[a] + self->values[a].bytes;
}

static gboolean
reads (const LigPlanValue *value, int step)
{
  for (int i = 0; i < value->n_readers; i++)
    if (value->readers[i] == step)
      return TRUE;
  return FALSE;
}

/* Adds the value's writers before the step, the last one first, up to and including one that also
 * reads the value and thus contains the earlier results. */
static void
add_writers (const LigPlanValue *value, int step, GArray *to)
{
  for (int i = value->n_writers - 1; i >= 0; i--) {
    int writer = value->writers[i];
    if (writer >= step || (i > 0 && value->writers[i - 1] == writer))
      continue;
    g_array_append_val (to, writer);
    if (reads (value, writer))
      return;
  }
}

GArray *
lig_plan_flow_find_writers (LigPlanFlow *self, int value, int step)
{
  g_return_val_if_fail (self && value >= 0 && value < self->count, NULL);
  GArray *writers = g_array_new (FALSE, FALSE, sizeof (int));
  if (self->values[value].n_writers > 0) {
    add_writers (&self->values[value], step, writers);
    return writers;
  }
  for (int other = self->first[self->roots[value]]; other >= 0; other = self->next[other])
    if (overlap (self, value, other))
      add_writers (&self->values[other], step, writers);
  return writers;
}

/* Adds the readers of the value that read the step's result. */
static void
add_readers (LigPlanFlow *self, int value, int step, GArray *to)
{
  const LigPlanValue *of = &self->values[value];
  for (int i = 0; i < of->n_readers; i++) {
    int reader = of->readers[i];
    if (reader <= step || (i > 0 && of->readers[i - 1] == reader))
      continue;
    g_autoptr (GArray) writers = lig_plan_flow_find_writers (self, value, reader);
    for (guint j = 0; j < writers->len; j++)
      if (g_array_index (writers, int, j) == step) {
        g_array_append_val (to, reader);
        break;
      }
  }
}

static int
compare (gconstpointer a, gconstpointer b)
{
  return *(const int *) a - *(const int *) b;
}

GArray *
lig_plan_flow_find_readers (LigPlanFlow *self, int value, int step)
{
  g_return_val_if_fail (self && value >= 0 && value < self->count, NULL);
  GArray *readers = g_array_new (FALSE, FALSE, sizeof (int));
  add_readers (self, value, step, readers);
  for (int other = self->first[self->roots[value]]; other >= 0; other = self->next[other])
    if (other != value && self->values[other].n_writers == 0 && overlap (self, value, other))
      add_readers (self, other, step, readers);
  g_array_sort (readers, compare);
  for (guint i = readers->len; i-- > 1;)
    if (g_array_index (readers, int, i) == g_array_index (readers, int, i - 1))
      g_array_remove_index (readers, i);
  return readers;
}
