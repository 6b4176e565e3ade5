/* SPDX-License-Identifier: MIT */
/* Tests the memory of timed steps: values that are in use at the same time share no byte, values
 * that are read before any step writes them have their own memory, and a whole step needs hardly
 * more than its plan. */
#include "tests/plan/case.h"

#include "engine/choose/timed-memory.h"
#include "engine/compile/compilation.h"

/* The location of a value in a set, and the steps that use it. */
typedef struct {
  gsize begin, end;
  int first, last;
  gboolean early; /* a step reads it before any writes it */
} Use;

static void
note_use (LigTimedMemory *memory, GHashTable *uses, const LigGraphStep *step, int index, int j)
{
  int value = step->values[j];
  gpointer key = GINT_TO_POINTER (value + 1);
  Use *use = g_hash_table_lookup (uses, key);
  if (!use) {
    use = g_new0 (Use, 1);
    use->begin = lig_timed_memory_offset (memory, 0, value);
    use->end = use->begin + (gsize) lig_value (memory->graph, value)->bytes;
    use->first = index;
    use->early = j < step->plan.n_inputs;
    g_hash_table_insert (uses, key, use);
  }
  use->last = index;
}

static GPtrArray *
find_uses (LigTimedMemory *memory, GHashTable *uses)
{
  GArray *steps = memory->graph->steps;
  GHashTableIter iter;
  gpointer use;
  GPtrArray *list = g_ptr_array_new ();
  for (int i = 0; i < (int) steps->len; i++) {
    const LigGraphStep *step = &g_array_index (steps, LigGraphStep, i);
    for (int j = 0; j < step->plan.n_operands; j++)
      if (step->values[j] >= 0)
        note_use (memory, uses, step, i, j);
  }
  g_hash_table_iter_init (&iter, uses);
  while (g_hash_table_iter_next (&iter, NULL, &use))
    g_ptr_array_add (list, use);
  return list;
}

static void
check_uses (LigTimedMemory *memory)
{
  g_autoptr (GHashTable) uses = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  g_autoptr (GPtrArray) list = find_uses (memory, uses);
  g_assert_cmpuint (list->len, >, 4);
  for (guint i = 0; i < list->len; i++) {
    const Use *a = list->pdata[i];
    g_assert_cmpuint (a->end, <=, memory->bytes);
    for (guint j = 0; j < i; j++) {
      const Use *b = list->pdata[j];
      gboolean together = a->early || b->early || (a->first <= b->last && b->first <= a->last);
      g_assert_true (!together || a->end <= b->begin || b->end <= a->begin);
    }
  }
}

static const char *const sequences[] = {
  "linear(32) ! gelu ! linear(16) ! layer-norm ! linear(16) ! mean-squared-error",
  "block(6) { transformer-layer(2, hidden-dropout=0.1) } ! layer-norm ! linear(8) ! "
  "mean-squared-error",
};

static LigGraph *
graph_of (const char *expression)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigSequence) sequence =
    new_sequence (expression, strstr (expression, "transformer") ? "2x8x16" : "16x16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  options.training = TRUE;
  LigGraph *graph = lig_graph_new (sequence, cpu_device (), &options, 0, &error);
  g_assert_no_error (error);
  lig_graph_compile (graph, &error);
  g_assert_no_error (error);
  return graph;
}

static void
test_places (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sequences); i++)
    for (int whole = 0; whole < 2; whole++) {
      g_autoptr (LigGraph) graph = graph_of (sequences[i]);
      LigTimedMemory memory;
      lig_timed_memory_init (&memory, graph, &graph->steps, 1, whole);
      check_uses (&memory);
      lig_timed_memory_clear (&memory);
    }
}

/* The scratch memory of a lane is that of its largest step, after all values. */
static void
test_sizes (void)
{
  g_autoptr (LigGraph) graph = graph_of (sequences[1]);
  LigTimedMemory apart, whole;
  lig_timed_memory_init (&apart, graph, &graph->steps, 1, FALSE);
  lig_timed_memory_init (&whole, graph, &graph->steps, 1, TRUE);
  g_test_message ("apart %zu, whole %zu, arena %" G_GINT64_FORMAT, apart.bytes, whole.bytes,
                  graph->arena_bytes);
  g_assert_cmpuint (whole.bytes, <, apart.bytes);
  g_assert_cmpuint (whole.min, ==, apart.min);
  g_assert_cmpuint (whole.scratch_at[0], <=, whole.scratch_at[1]);
  g_assert_cmpuint (whole.scratch_at[1], <=, whole.bytes);
  lig_timed_memory_clear (&apart);
  lig_timed_memory_clear (&whole);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/compile/timed-memory/places", test_places);
  g_test_add_func ("/compile/timed-memory/sizes", test_sizes);
  return g_test_run ();
}
