/* SPDX-License-Identifier: MIT */
/* Grouped matmuls with gated units on the GPU against the CPU: groups of many sizes, all units,
 * with and without factors and kept sums; and that nothing of a group, or of a row in no group, has
 * an effect on another one. */
#include "tests/gpu/experts.h"

#include "kernels/functions.h"
#include <ligature/params-grouped.h>

enum { MOST_GROUPS = 16 };

typedef struct {
  const char *name;
  int groups;
  int64_t rows;
  int32_t offsets[MOST_GROUPS + 1];
} Split;

static const Split splits[] = {
  {"one", 1, 100, {0, 100}},
  {"even", 4, 256, {0, 64, 128, 192, 256}},
  {"one takes all", 4, 300, {0, 0, 300, 300, 300}},
  {"empty middle", 4, 200, {0, 60, 60, 61, 200}},
  {"all empty", 3, 77, {0, 0, 0, 0}},
  {"rows before and after", 3, 400, {40, 100, 101, 330}},
  {"tails", 13, 1300, {0, 1, 16, 32, 49, 112, 176, 241, 368, 496, 625, 880, 1136, 1293}},
  {"out of order", 5, 400, {100, 50, 300, 200, 310, 290}},
  {"single rows", 6, 6, {0, 1, 2, 3, 4, 5, 6}},
};

/* The depth of the first matmul, and the columns of a half; the last ones do not suit TMA, or have
 * blocks of another length. */
static const int64_t sizes[][3] = {{8, 32, 32},   {64, 96, 32}, {136, 128, 32}, {264, 224, 32},
                                   {512, 64, 32}, {33, 64, 32}, {64, 20, 4},    {72, 40, 0}};

/* A case: two matmuls with a gated unit between them. */
typedef struct {
  const Split *split;
  int64_t depth, half, block;
  LigDtype dtype;
  int unit;
  gboolean scaled, kept;
} Case;

static gboolean
has_scaled (int unit)
{
  return unit == LIG_FUNCTION_swiglu || unit == LIG_FUNCTION_clamped_swiglu ||
         unit == LIG_FUNCTION_situ_glu;
}

/* Returns the first row of group g by the rule with which the kernels read the offsets. */
static int64_t
border (const Split *s, int g)
{
  int64_t border = 0;
  for (int i = 0; i <= g; i++)
    border = MAX (border, s->offsets[i]);
  return MIN (border, s->rows);
}

static void
poison (float *values, int64_t columns, int64_t first, int64_t end)
{
  for (int64_t i = first * columns; i < end * columns; i++)
    values[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
}

/* Returns rows of random numbers, where those in no group are poisoned, and those of a group. */
static Part
rows_of (const Split *s, LigDtype dtype, int64_t columns, unsigned seed, int poisoned)
{
  float *values = some_numbers (s->rows * columns, seed);
  poison (values, columns, 0, border (s, 0));
  poison (values, columns, border (s, s->groups), s->rows);
  if (poisoned >= 0)
    poison (values, columns, border (s, poisoned), border (s, poisoned + 1));
  return columns == 1 ? narrowed (dtype, 1, s->rows, values)
                      : narrowed (dtype, s->rows, columns, values);
}

static LigGroupedGatedParams *
params_of (const Case *c)
{
  LigGroupedGatedParams params = {.gated = {1.5f, 1.25f, 0.5f, 2, 3, c->block}, .unit = c->unit};
  LigGroupedGatedParams *kept = g_memdup2 (&params, sizeof params);
  keep (kept);
  return kept;
}

static Problem
forward_of (const Case *c, int poisoned)
{
  const Split *s = c->split;
  int64_t columns = 2 * c->half, all = s->groups * columns;
  Problem p = {.kernel = "grouped_linear_gated",
               .params = params_of (c),
               .what = what_of (s->name, c->depth, c->half)};
  p.parts[0] = rows_of (s, c->dtype, c->depth, 1, poisoned);
  p.parts[1] = narrowed (c->dtype, all, c->depth, some_numbers (all * c->depth, 77));
  p.parts[2] = (Part){LIG_INT32, 1, s->groups + 1, s->offsets};
  if (c->scaled) {
    p.parts[3] = narrowed (LIG_FP32, s->groups, columns, some_numbers (all, 78));
    p.parts[4] = rows_of (s, LIG_FP32, 1, 79, poisoned);
    p.parts[5] = rows_of (s, LIG_FP32, 1, 80, poisoned);
  }
  if (c->kept)
    p.parts[6] = (Part){c->dtype, s->rows, columns, NULL};
  p.parts[7] = (Part){c->dtype, s->rows, c->half, NULL};
  return p;
}

static Problem
backward_of (const Case *c, int poisoned)
{
  const Split *s = c->split;
  int64_t all = s->groups * c->depth;
  Problem p = {.kernel = "grouped_gated_backward_input",
               .params = params_of (c),
               .what = what_of (s->name, c->depth, c->half)};
  p.parts[0] = rows_of (s, c->dtype, c->depth, 2, poisoned);
  p.parts[1] = narrowed (c->dtype, all, c->half, some_numbers (all * c->half, 81));
  p.parts[2] = (Part){LIG_INT32, 1, s->groups + 1, s->offsets};
  p.parts[3] = rows_of (s, c->dtype, 2 * c->half, 3, poisoned);
  if (c->scaled) {
    p.parts[4] = rows_of (s, LIG_FP32, 1, 80, poisoned);
    p.parts[6] = (Part){LIG_FP32, 1, s->rows, NULL};
  }
  p.parts[5] = (Part){c->dtype, s->rows, 2 * c->half, NULL};
  return p;
}

static void
run_case (const Gpu *gpu, const Case *c)
{
  Problem forward = forward_of (c, -1), backward = backward_of (c, -1);
  run_problem (gpu, &forward);
  run_problem (gpu, &backward);
  keep (NULL);
}

/* Each unit in turn, with and without factors and the sum; all units at one size. */
static void
test_split (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  int n = 0;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (floats); j++)
      for (int unit = 0; unit < LIG_N_GATED; unit++, n++) {
        Case c = {data, sizes[i][0], sizes[i][1], sizes[i][2], floats[j], unit, FALSE, FALSE};
        c.scaled = has_scaled (unit) && n % 4 != 3;
        c.kept = n % 3 != 2;
        if (unit == LIG_FUNCTION_swiglu || i == 1 || (!quick () && n % 5 == 0))
          run_case (gpu, &c);
      }
}

/* Compares some rows of an output of two runs bit by bit; those in no group are 0. */
static void
compare_rows (const Problem *p, int index, const Split *s, int except)
{
  size_t bytes = (size_t) (p->parts[index].rows * p->parts[index].columns / s->rows) *
                 lig_dtype_size (p->parts[index].dtype);
  g_autofree char *zeros = g_malloc0 (bytes);
  for (int64_t row = 0; row < s->rows; row++) {
    gboolean none = row < border (s, 0) || row >= border (s, s->groups);
    const char *a = arena_of (NULL)->gpu + place_of (p, index) + (size_t) row * bytes;
    const char *b = arena_of (NULL)->again + place_of (p, index) + (size_t) row * bytes;
    if (row >= border (s, except) && row < border (s, except + 1))
      continue;
    if (memcmp (a, none ? zeros : b, bytes) != 0 || (none && memcmp (b, zeros, bytes) != 0))
      g_test_fail_printf ("%s: %s: operand %d depends on another group in row %ld", p->kernel,
                          p->what, index, (long) row);
  }
}

/* A poisoned group changes nothing in the others. */
static void
test_neighbours (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  const Split *s = data;
  for (guint j = 0; j < G_N_ELEMENTS (floats); j++)
    for (int g = 0; g < s->groups; g++) {
      Case c = {s, 136, 160, 32, floats[j], LIG_FUNCTION_swiglu, TRUE, TRUE};
      Problem forward[] = {forward_of (&c, -1), forward_of (&c, g)};
      Problem backward[] = {backward_of (&c, -1), backward_of (&c, g)};
      run_on_gpu (gpu, &forward[0], arena_of (gpu)->gpu);
      run_on_gpu (gpu, &forward[1], arena_of (gpu)->again);
      compare_rows (&forward[0], 6, s, g);
      compare_rows (&forward[0], 7, s, g);
      run_on_gpu (gpu, &backward[0], arena_of (gpu)->gpu);
      run_on_gpu (gpu, &backward[1], arena_of (gpu)->again);
      compare_rows (&backward[0], 5, s, g);
      compare_rows (&backward[0], 6, s, g);
      keep (NULL);
      if (quick ())
        break;
    }
}

/* Many rows: several tiles of each group, of different widths and heights. */
static void
test_large (void)
{
  static const Split large = {"large", 4, 5000, {0, 3000, 3001, 4100, 4999}};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  for (guint j = 0; j < G_N_ELEMENTS (floats); j++)
    for (int kept = 0; kept < 2; kept++) {
      Case c = {&large, 264, 544, 32, floats[j], LIG_FUNCTION_clamped_swiglu, TRUE, kept};
      if (!quick () || j == 2)
        run_case (gpu, &c);
    }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (splits); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/grouped-gated/split/%s", splits[i].name);
    g_autofree char *other = g_strdup_printf ("/gpu/grouped-gated/neighbours/%s", splits[i].name);
    g_test_add_data_func (path, &splits[i], test_split);
    g_test_add_data_func (other, &splits[i], test_neighbours);
  }
  g_test_add_func ("/gpu/grouped-gated/large", test_large);
  return g_test_run ();
}
