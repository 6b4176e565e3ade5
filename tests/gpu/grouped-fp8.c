/* SPDX-License-Identifier: MIT */
/* Matmuls of groups of quantized rows on the GPU against the CPU: groups of many sizes, empty ones,
 * offsets out of order, all kinds of scales; NaN in another group and in rows of no group; and the
 * quantized copies of several matrices, bit by bit. */
#include "tests/gpu/experts.h"

#include <ligature/params-matmul.h>
#include <ligature/params-quantize.h>
#include <ligature/scales.h>

enum { MOST_GROUPS = 16 };

/* The offsets of groups; the rows of a. */
typedef struct {
  const char *name;
  int groups;
  int64_t rows;
  int32_t offsets[MOST_GROUPS + 1];
} Split;

static const Split splits[] = {
  {"one", 1, 100, {0, 100}},
  {"even", 4, 1024, {0, 256, 512, 768, 1024}},
  {"one takes all", 4, 300, {0, 0, 300, 300, 300}},
  {"empty middle", 4, 200, {0, 60, 60, 61, 200}},
  {"all empty", 3, 77, {0, 0, 0, 0}},
  {"rows before and after", 3, 400, {40, 100, 101, 330}},
  {"tails", 13, 1300, {0, 1, 16, 32, 49, 112, 176, 241, 368, 496, 625, 880, 1136, 1293}},
  {"out of order", 5, 400, {100, 50, 300, 200, 310, 290}},
  {"single rows", 6, 6, {0, 1, 2, 3, 4, 5, 6}},
  {"large", 4, 5000, {0, 3000, 3001, 4100, 4999}},
};

/* Columns and depth. */
static const int64_t sizes[][2] = {{16, 16}, {256, 128}, {144, 272}, {272, 528}, {7, 5}};

/* The scales of both sides, the format of the left one, and whether sums may be less precise. */
typedef struct {
  LigScales left, right;
  LigDtype format;
  gboolean fast;
} Kind;

static const Kind kinds[] = {
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E4M3, FALSE},
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E5M2, FALSE},
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E4M3, TRUE},
  {LIG_SCALES_ROW, LIG_SCALES_ROW, LIG_FP8_E5M2, TRUE},
  {LIG_SCALES_BLOCK, LIG_SCALES_TILE, LIG_FP8_E4M3, FALSE},
  {LIG_SCALES_TENSOR, LIG_SCALES_TENSOR, LIG_FP8_E4M3, FALSE},
};

typedef struct {
  const Split *split;
  const int64_t *size;
  const Kind *kind;
  LigDtype dtype;
  gboolean bias, scaled;
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

/* Returns the positive scales of `count` matrices. */
static Part
scales_of (LigScales kind, int64_t count, int64_t rows, int64_t columns, unsigned seed)
{
  int64_t down = 1, across = 1, blocks = (columns + 127) / 128;
  if (kind == LIG_SCALES_ROW)
    across = count * rows;
  else if (kind == LIG_SCALES_BLOCK) {
    down = blocks;
    across = rows;
  } else if (kind == LIG_SCALES_TILE) {
    down = count * ((rows + 127) / 128);
    across = (blocks + 3) / 4 * 4;
  } else
    down = count;
  float *values = some_numbers (down * across, seed);
  for (int64_t i = 0; i < down * across; i++)
    values[i] = 0.01f + fabsf (values[i]);
  return narrowed (LIG_FP32, down, across, values);
}

/* Returns random rows; those in no group, and those of group `poisoned`, are NaN. */
static Part
rows_of (const Case *c, int poisoned)
{
  const Split *s = c->split;
  int64_t depth = c->size[1];
  float *values = some_numbers (s->rows * depth, 3);
  int64_t begins[] = {0, border (s, s->groups), poisoned < 0 ? 0 : border (s, poisoned)};
  int64_t ends[] = {border (s, 0), s->rows, poisoned < 0 ? 0 : border (s, poisoned + 1)};
  for (int k = 0; k < 3; k++)
    for (int64_t i = begins[k] * depth; i < ends[k] * depth; i++)
      values[i] = NAN;
  return narrowed (c->kind->format, s->rows, depth, values);
}

/* Returns the problem; the matrix and the rows of group `poisoned` are NaN. */
static Problem
problem_of (const Case *c, int poisoned)
{
  static LigGroupedFp8Params params[G_N_ELEMENTS (kinds)];
  const Split *s = c->split;
  const Kind *kind = c->kind;
  int64_t columns = c->size[0], depth = c->size[1], groups = s->groups;
  LigGroupedFp8Params *own = &params[kind - kinds];
  own->fp8 = (LigFp8Params){1.5f, (int32_t) kind->left, (int32_t) kind->right, kind->fast};
  Problem p = {.kernel = "grouped_fp8", .params = own, .what = what_of (s->name, columns, depth)};
  float *values = some_numbers (groups * columns * depth, 4);
  for (int64_t i = 0; poisoned >= 0 && i < columns * depth; i++)
    values[poisoned * columns * depth + i] = NAN;
  p.parts[0] = rows_of (c, poisoned);
  p.parts[1] = narrowed (LIG_FP8_E4M3, groups * columns, depth, values);
  p.parts[2] = scales_of (kind->left, 1, s->rows, depth, 5);
  p.parts[3] = scales_of (kind->right, groups, columns, depth, 6);
  p.parts[4] = (Part){LIG_INT32, 1, groups + 1, s->offsets};
  if (c->bias)
    p.parts[5] = narrowed (LIG_FP32, groups, columns, some_numbers (groups * columns, 7));
  if (c->bias && c->scaled)
    p.parts[6] = narrowed (LIG_FP32, 1, s->rows, some_numbers (s->rows, 8));
  p.parts[7] = (Part){c->dtype, s->rows, columns, NULL};
  return p;
}

static void
test_split (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  int n = 0;
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (kinds); j++, n++) {
      Case c = {data,  sizes[i],  &kinds[j], n % 3 ? LIG_BF16 : n % 2 ? LIG_FP16 : LIG_FP32,
                n % 2, n % 4 == 3};
      /* The CPU takes most of the time: only sizes that the fast kernel takes have all kinds. */
      if (quick () ? i != 2 : i == 2 || i == 3 ? c.split->rows > 2000 && i == 3 : j != i)
        continue;
      for (int type = 0; type < (i == 2 && j % 4 == 0 ? 3 : 1); type++) {
        c.dtype = i == 2 && j % 4 == 0 ? floats[type] : i == 2 ? LIG_BF16 : c.dtype;
        Problem p = problem_of (&c, -1);
        run_problem (gpu, &p);
        keep (NULL);
      }
    }
}

/* A poisoned group changes nothing in the others. */
static void
test_neighbours (gconstpointer data)
{
  const Gpu *gpu = gpu_or_skip ();
  const Split *s = data;
  if (!gpu)
    return;
  Arena *a = arena_of (gpu);
  for (guint j = 0; j < G_N_ELEMENTS (kinds); j += 2)
    for (int poisoned = 0; poisoned < s->groups; poisoned += 1 + s->groups / 4) {
      Case c = {s, sizes[2], &kinds[j], LIG_BF16, TRUE, FALSE};
      Problem clean = problem_of (&c, -1), dirty = problem_of (&c, poisoned);
      run_on_gpu (gpu, &clean, a->gpu);
      run_on_gpu (gpu, &dirty, a->again);
      for (int g = 0; g < s->groups; g++) {
        size_t row = (size_t) c.size[0] * sizeof (uint16_t), first = (size_t) border (s, g) * row;
        size_t end = (size_t) border (s, g + 1) * row, at = place_of (&clean, 7) + first;
        if (g != poisoned && memcmp (a->gpu + at, a->again + at, end - first) != 0)
          g_test_fail_printf ("%s: group %d depends on group %d", clean.what, g, poisoned);
      }
      keep (NULL);
      if (quick ())
        break;
    }
}

/* Quantized copies of several matrices have the CPU's bits. */
static void
test_matrices (void)
{
  static const LigScales pairs[][2] = {{LIG_SCALES_TENSOR, LIG_SCALES_TENSOR},
                                       {LIG_SCALES_ROW, LIG_SCALES_ROW},
                                       {LIG_SCALES_TILE, LIG_SCALES_TILE}};
  static const int64_t shapes[][2] = {{16, 16}, {144, 272}, {256, 384}, {33, 70}, {1040, 528}};
  enum { COUNT = 5 };
  const Gpu *gpu = gpu_or_skip ();
  int n = 0;
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (guint j = 0; j < G_N_ELEMENTS (shapes); j++)
      for (guint k = 0; k < G_N_ELEMENTS (floats); k++, n++) {
        int64_t rows = shapes[j][0], columns = shapes[j][1];
        const LigQuantizeParams params = {LIG_FP8_E4M3, (int32_t) pairs[i][0],
                                          (int32_t) pairs[i][1], n % 2, COUNT};
        Problem p = {.kernel = "quantize",
                     .params = &params,
                     .what = what_of (lig_dtype_name (floats[k]), rows, columns)};
        p.parts[0] =
          narrowed (floats[k], COUNT * rows, columns, some_numbers (COUNT * rows * columns, 9));
        p.parts[2] = (Part){LIG_FP8_E4M3, COUNT * rows, columns, NULL};
        p.parts[3] = scales_of (pairs[i][0], COUNT, rows, columns, 1);
        p.parts[4] = (Part){LIG_FP8_E4M3, COUNT * columns, rows, NULL};
        p.parts[5] = scales_of (pairs[i][1], COUNT, columns, rows, 1);
        p.parts[3].values = p.parts[5].values = NULL;
        run_exact (gpu, &p, 0x3c);
        keep (NULL);
      }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (splits); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/grouped-fp8/split/%s", splits[i].name);
    g_autofree char *other = g_strdup_printf ("/gpu/grouped-fp8/neighbours/%s", splits[i].name);
    g_test_add_data_func (path, &splits[i], test_split);
    g_test_add_data_func (other, &splits[i], test_neighbours);
  }
  g_test_add_func ("/gpu/grouped-fp8/matrices", test_matrices);
  return g_test_run ();
}
