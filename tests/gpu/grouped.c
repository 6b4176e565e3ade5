/* SPDX-License-Identifier: MIT */
/* Grouped matmuls and their gradients on the GPU against the CPU: groups of many sizes, empty ones,
 * offsets out of order and out of range; and that nothing of a group, or of a row in no group, has
 * an effect on another one. */
#include "tests/gpu/experts.h"

#include <ligature/params-experts.h>

enum { MOST_GROUPS = 16 };

/* The offsets of groups; the rows of x. */
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
  {"empty first", 3, 200, {0, 0, 70, 200}},
  {"empty middle", 4, 200, {0, 60, 60, 61, 200}},
  {"empty last", 3, 200, {0, 70, 200, 200}},
  {"all empty", 3, 77, {0, 0, 0, 0}},
  {"rows before and after", 3, 400, {40, 100, 101, 330}},
  {"tails", 13, 1300, {0, 1, 16, 32, 49, 112, 176, 241, 368, 496, 625, 880, 1136, 1293}},
  {"out of order", 5, 400, {100, 50, 300, 200, 310, 290}},
  {"out of range", 5, 333, {-7, 50, INT32_MIN, 200, INT32_MAX, 100}},
  {"single rows", 6, 6, {0, 1, 2, 3, 4, 5, 6}},
};

static const int64_t sizes[][2] = {{1, 1},    {5, 3},     {64, 64},   {8, 33},
                                   {72, 136}, {129, 257}, {256, 128}, {1000, 40}};

static const LigDtype pairs[][2] = {{LIG_FP32, LIG_FP32},
                                    {LIG_BF16, LIG_BF16},
                                    {LIG_FP16, LIG_FP16},
                                    {LIG_BF16, LIG_FP32},
                                    {LIG_FP16, LIG_FP32}};

/* A case: x [rows, depth], weight [groups, columns, depth]. */
typedef struct {
  const Split *split;
  int64_t columns, depth;
  LigDtype compute, parameters;
} Case;

/* Returns the first row of group g by the rule with which the kernels read the offsets. */
static int64_t
border (const Split *s, int g)
{
  int64_t border = 0;
  for (int i = 0; i <= g; i++)
    border = MAX (border, s->offsets[i]);
  return MIN (border, s->rows);
}

/* Replaces rows by NaN and infinities. */
static void
poison (float *values, int64_t columns, int64_t first, int64_t end)
{
  for (int64_t i = first * columns; i < end * columns; i++)
    values[i] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
}

/* Returns a matrix of random rows, where those in no group are poisoned, and those of group
 * `poisoned`, unless that is negative. */
static Part
rows_of (const Case *c, int64_t columns, unsigned seed, int poisoned)
{
  const Split *s = c->split;
  float *values = some_numbers (s->rows * columns, seed);
  poison (values, columns, 0, border (s, 0));
  poison (values, columns, border (s, s->groups), s->rows);
  if (poisoned >= 0)
    poison (values, columns, border (s, poisoned), border (s, poisoned + 1));
  return narrowed (c->compute, s->rows, columns, values);
}

/* Returns the matrices of all groups; that of group `poisoned` is poisoned. */
static Part
matrices_of (const Case *c, LigDtype dtype, int64_t rows, int64_t columns, int poisoned)
{
  float *values = some_numbers (c->split->groups * rows * columns, 77);
  if (poisoned >= 0)
    poison (values, columns, poisoned * rows, (poisoned + 1) * rows);
  return narrowed (dtype, c->split->groups * rows, columns, values);
}

static Part
scales_of (const Case *c)
{
  return narrowed (LIG_FP32, 1, c->split->rows, some_numbers (c->split->rows, 5));
}

static Part
offsets_of (const Split *s)
{
  return (Part){LIG_INT32, 1, s->groups + 1, s->offsets};
}

static Problem
linear_of (const Case *c, gboolean bias, gboolean scales, int poisoned)
{
  Problem p = {.kernel = "grouped_linear", .what = what_of (c->split->name, c->columns, c->depth)};
  p.parts[0] = rows_of (c, c->depth, 1, poisoned);
  p.parts[1] = matrices_of (c, c->compute, c->columns, c->depth, poisoned);
  p.parts[2] = offsets_of (c->split);
  if (bias)
    p.parts[3] = matrices_of (c, c->parameters, 1, c->columns, poisoned);
  if (bias && scales)
    p.parts[4] = scales_of (c);
  p.parts[5] = (Part){c->compute, c->split->rows, c->columns, NULL};
  return p;
}

static Problem
input_of (const Case *c, int poisoned)
{
  Problem p = {.kernel = "grouped_backward_input",
               .what = what_of (c->split->name, c->columns, c->depth)};
  p.parts[0] = rows_of (c, c->columns, 2, poisoned);
  p.parts[1] = matrices_of (c, c->compute, c->columns, c->depth, poisoned);
  p.parts[2] = offsets_of (c->split);
  p.parts[3] = (Part){c->compute, c->split->rows, c->depth, NULL};
  return p;
}

static Problem
weight_of (const Case *c, gboolean bias, gboolean scales, int poisoned)
{
  Problem p = {.kernel = "grouped_backward_weight",
               .what = what_of (c->split->name, c->columns, c->depth)};
  p.parts[0] = rows_of (c, c->columns, 2, poisoned);
  p.parts[1] = rows_of (c, c->depth, 1, poisoned);
  p.parts[2] = offsets_of (c->split);
  if (scales) {
    p.parts[3] = matrices_of (c, c->parameters, 1, c->columns, poisoned);
    p.parts[4] = scales_of (c);
    p.parts[7] = (Part){LIG_FP32, 1, c->split->rows, NULL};
  }
  p.parts[5] = (Part){c->parameters, c->split->groups * c->columns, c->depth, NULL};
  if (bias)
    p.parts[6] = (Part){c->parameters, c->split->groups, c->columns, NULL};
  return p;
}

/* Runs the three kernels with and without their optional operands. */
static void
run_against_cpu (const Gpu *gpu, const Case *c)
{
  for (int i = 0; i < 4; i++) {
    Problem linear = linear_of (c, i > 0, i > 1, -1), input = input_of (c, -1);
    Problem weight = weight_of (c, i > 0, i > 1, -1);
    linear.misaligned = input.misaligned = weight.misaligned = i == 3;
    weight.accumulate = i % 2;
    run_problem (gpu, &linear);
    run_problem (gpu, &input);
    run_problem (gpu, &weight);
    keep (NULL);
  }
}

static void
test_split (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (pairs); j++) {
      Case c = {data, sizes[i][0], sizes[i][1], pairs[j][0], pairs[j][1]};
      if (!quick () || i == 5)
        run_against_cpu (gpu, &c);
    }
}

/* Compares some rows of an output of two runs bit by bit. */
static void
compare_rows (const Problem *p, int index, const char *a, const char *b, int64_t first, int64_t end)
{
  size_t bytes = (size_t) p->parts[index].columns * lig_dtype_size (p->parts[index].dtype);
  size_t at = place_of (p, index) + (size_t) first * bytes;
  if (first < end && memcmp (a + at, b + at, (size_t) (end - first) * bytes) != 0)
    g_test_fail_printf ("%s: %s: operand %d depends on another group in rows %ld to %ld", p->kernel,
                        p->what, index, (long) first, (long) end);
}

/* Runs a problem with and without poison in a group, and compares the results of the others:
 * `each` rows per group, or if that is 0 the rows of the groups. */
static void
compare_poisoned (const Gpu *gpu,
                  const Case *c,
                  Problem *clean,
                  Problem *dirty,
                  int index,
                  int64_t each,
                  int poisoned)
{
  Arena *a = arena_of (gpu);
  const Split *s = c->split;
  run_on_gpu (gpu, clean, a->gpu);
  run_on_gpu (gpu, dirty, a->again);
  for (int g = 0; g < s->groups; g++)
    if (g != poisoned && each > 0)
      compare_rows (clean, index, a->gpu, a->again, g * each, (g + 1) * each);
    else if (g != poisoned)
      compare_rows (clean, index, a->gpu, a->again, border (s, g), border (s, g + 1));
}

/* A poisoned group changes nothing in the others. */
static void
test_neighbours (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  const Split *s = data;
  for (guint j = 0; j < G_N_ELEMENTS (pairs); j++)
    for (int g = 0; g < s->groups; g++) {
      Case c = {s, 136, 72, pairs[j][0], pairs[j][1]};
      Problem linear[] = {linear_of (&c, TRUE, FALSE, -1), linear_of (&c, TRUE, FALSE, g)};
      Problem input[] = {input_of (&c, -1), input_of (&c, g)};
      Problem weight[] = {weight_of (&c, TRUE, TRUE, -1), weight_of (&c, TRUE, TRUE, g)};
      compare_poisoned (gpu, &c, &linear[0], &linear[1], 5, 0, g);
      compare_poisoned (gpu, &c, &input[0], &input[1], 3, 0, g);
      compare_poisoned (gpu, &c, &weight[0], &weight[1], 5, c.columns, g);
      compare_poisoned (gpu, &c, &weight[0], &weight[1], 6, 1, g);
      keep (NULL);
      if (quick ())
        break;
    }
}

/* Many rows and groups: sums of many parts, several tiles of each group. */
static void
test_large (void)
{
  static const Split large = {"large", 4, 5000, {0, 3000, 3001, 4100, 4999}};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("it is large");
    return;
  }
  for (guint j = 0; j < G_N_ELEMENTS (pairs); j++) {
    Case c = {&large, 520, 264, pairs[j][0], pairs[j][1]};
    Problem linear = linear_of (&c, TRUE, TRUE, -1), input = input_of (&c, -1);
    Problem weight = weight_of (&c, TRUE, TRUE, -1);
    run_problem (gpu, &linear);
    run_problem (gpu, &input);
    run_problem (gpu, &weight);
    keep (NULL);
  }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (splits); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/grouped/split/%s", splits[i].name);
    g_autofree char *other = g_strdup_printf ("/gpu/grouped/neighbours/%s", splits[i].name);
    g_test_add_data_func (path, &splits[i], test_split);
    g_test_add_data_func (other, &splits[i], test_neighbours);
  }
  g_test_add_func ("/gpu/grouped/large", test_large);
  return g_test_run ();
}
