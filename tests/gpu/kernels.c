/* SPDX-License-Identifier: MIT */
/* Every kernel on the GPU against the CPU's on the same bits: all types, odd and aligned shapes,
 * misaligned and absent operands, in place, accumulating, captured, twice with the same bits, and
 * no write outside the outputs. */
#include "tests/gpu/launch.h"

/* --- Selection of cases -------------------------------------------------------------------- */

static const LigDtype types[][2] = {
  {LIG_FP32, LIG_FP32}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_BF16},
  {LIG_BF16, LIG_FP32}, {LIG_FP16, LIG_FP32}, {LIG_FP32, LIG_BF16},
};

typedef struct {
  int64_t rows, columns, outputs;
} Shape;

static const int64_t columns[] = {1, 3, 7, 31, 33, 64, 1000, 4097, 8191, 8192};

static const Shape tall[] = {{257, 1, 57},  {257, 3, 57},    {257, 7, 57},    {257, 31, 57},
                             {257, 33, 57}, {257, 64, 57},   {257, 1000, 57}, {600, 33, 5000},
                             {3, 257, 1},   {20011, 33, 57}, {70001, 3, 57}};
static const Shape large[] = {{257, 4097, 57}, {131, 8192, 57}};
static const Shape matmuls[] = {{1, 1, 1},       {5, 7, 3},      {257, 31, 33}, {64, 64, 64},
                                {257, 1000, 64}, {5, 4097, 33},  {3, 1, 8192},  {1000, 33, 8},
                                {128, 256, 512}, {8, 512, 2048}, {33, 8, 8191}, {512, 768, 1024}};

/* Returns whether the operand may be absent in this type: AdamW needs its moments, and either
 * parameters or master. */
static bool
may_be_absent (const Operands *o, int index)
{
  const char *name = o->names[index];
  if (g_str_equal (name, "norm") || g_str_equal (name, "scaling"))
    return index < o->inputs || g_str_equal (name, "scaling");
  if (family_of (o->kernel->name) == OPTIMIZER)
    return g_str_equal (name, "momentum") || g_str_equal (name, "master");
  return o->optional[index];
}

/* Computes each output in place of each input that the kernel's signature allows. */
static void
run_in_place (const Gpu *gpu, Case c, const Operands *o)
{
  for (c.to = o->inputs; c.to < o->count; c.to++)
    for (c.from = 0; c.from < o->inputs; c.from++) {
      const LigOperand *from = &o->operands[c.from], *to = &o->operands[c.to];
      c.in_place = (lig_signature_places (o->kernel->signature, c.to) >> c.from & 1) &&
                   from->dtype == to->dtype && from->size == to->size;
      for (int i = 0; i < 2 && c.in_place; i++) {
        c.misaligned = i;
        run_case (gpu, c);
      }
    }
}

/* fp32 parameters have no master. */
static unsigned
usually_absent (const Operands *o)
{
  int master = operand_index (o, "master");
  return master >= 0 && o->problem.parameters == LIG_FP32 ? 1u << master : 0;
}

static void
run_absent (const Gpu *gpu, Case c, const Operands *o)
{
  unsigned outputs = 0, usually = c.absent;
  for (int i = o->inputs; i < o->count; i++)
    outputs |= 1u << i;
  for (int i = 0; i < o->count; i++) {
    if (may_be_absent (o, i) && (outputs & ~(usually | 1u << i))) {
      c.absent = usually | 1u << i;
      run_case (gpu, c);
    }
    if (i >= o->inputs && o->count - o->inputs > 2 && family_of (o->kernel->name) != OPTIMIZER) {
      c.absent = outputs & ~(1u << i);
      run_case (gpu, c);
    }
  }
}

/* Runs all variations at one shape. */
static void
run_variants (const Gpu *gpu, Case c, const Operands *o)
{
  run_absent (gpu, c, o);
  Case captured = c, accumulated = c;
  captured.captured = true;
  run_case (gpu, captured);
  for (int i = o->inputs; i < o->count; i++)
    if (is_parameter_gradient (o->names[i])) {
      accumulated.accumulate = true;
      run_case (gpu, accumulated);
      accumulated.misaligned = true;
      run_case (gpu, accumulated);
      break;
    }
  for (int i = 0; i < 3; i++) {
    c.variation = i;
    run_case (gpu, c);
  }
}

static void
run_shape (const Gpu *gpu, const LigKernel *kernel, Shape s, const LigDtype *pair, bool misaligned)
{
  static int number;
  Case c = {.kernel = kernel,
            .problem = {s.rows, s.columns, s.outputs, pair[0], pair[1]},
            .variation = number++ % 2};
  Operands o = operands_for (kernel, c.problem);
  c.absent = usually_absent (&o);
  run_case (gpu, c);
  if (!misaligned)
    return;
  c.misaligned = true;
  run_case (gpu, c);
  run_in_place (gpu, c, &o);
}

static void
run_variants_at (const Gpu *gpu, const LigKernel *kernel, Shape s, const LigDtype *pair)
{
  Case c = {.kernel = kernel, .problem = {s.rows, s.columns, s.outputs, pair[0], pair[1]}};
  Operands o = operands_for (kernel, c.problem);
  c.absent = usually_absent (&o);
  run_variants (gpu, c, &o);
}

/* Runs element-wise kernels on every kind of value: the results must be of the same kind. */
static void
run_edges (const Gpu *gpu, const LigKernel *kernel, const LigDtype *pair)
{
  Family family = family_of (kernel->name);
  Case c = {
    .kernel = kernel, .problem = {18, 34, 1, pair[0], pair[1]}, .edges = true, .variation = 1};
  if (family != POINTWISE && family != GATED)
    return;
  run_case (gpu, c);
  c.problem.columns = 33;
  run_case (gpu, c);
}

static void
run_matmuls (const Gpu *gpu, const LigKernel *kernel, const LigDtype *pair)
{
  size_t count = quick () ? 3 : G_N_ELEMENTS (matmuls);
  for (size_t i = quick () ? 1 : 0; i < count; i++)
    run_shape (gpu, kernel, matmuls[i], pair, i < 5);
  if (quick ())
    return;
  run_variants_at (gpu, kernel, matmuls[2], pair);
  run_variants_at (gpu, kernel, matmuls[8], pair);
}

static void
run_rows (const Gpu *gpu, const LigKernel *kernel, const LigDtype *pair)
{
  static const Shape few[] = {{5, 33, 57}, {3, 1000, 57}};
  static const Shape varied[] = {{5, 33, 57}, {257, 64, 57}, {33, 1000, 57}, {3, 8192, 57}};
  if (quick ()) {
    for (size_t i = 0; i < G_N_ELEMENTS (few); i++)
      run_shape (gpu, kernel, few[i], pair, true);
    return;
  }
  for (size_t i = 0; i < G_N_ELEMENTS (columns); i++) {
    run_shape (gpu, kernel, (Shape){1, columns[i], 57}, pair, false);
    run_shape (gpu, kernel, (Shape){5, columns[i], 57}, pair, true);
  }
  for (size_t i = 0; i < G_N_ELEMENTS (tall); i++)
    run_shape (gpu, kernel, tall[i], pair, false);
  for (size_t i = 0; i < G_N_ELEMENTS (large) && pair[0] == pair[1] && pair[0] != LIG_FP16; i++)
    run_shape (gpu, kernel, large[i], pair, false);
  for (size_t i = 0; i < G_N_ELEMENTS (varied); i++)
    run_variants_at (gpu, kernel, varied[i], pair);
  run_edges (gpu, kernel, pair);
}

/* Returns whether different types of operands and parameters give another case than equal types.
 * They do not if a kernel has no parameters, or nothing else. */
static bool
is_new (const LigKernel *kernel, const LigDtype *pair)
{
  Operands o = operands_for (kernel, (Problem){2, 2, 2, pair[0], pair[1]});
  Operands alike = operands_for (kernel, (Problem){2, 2, 2, pair[0], pair[0]});
  bool differs = pair[0] == pair[1];
  for (int i = 0; i < o.count; i++)
    differs |= o.operands[i].dtype != alike.operands[i].dtype;
  return differs && (pair[0] == pair[1] || family_of (kernel->name) != OPTIMIZER);
}

static void
test_kernel (gconstpointer data)
{
  const LigKernel *kernel = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  failures = 0;
  if (!kernel->functions[LIG_BACKEND_CUDA]) {
    g_test_fail_printf ("the module has no such kernel");
    return;
  }
  gint64 begin = g_get_monotonic_time ();
  for (size_t i = 0; i < G_N_ELEMENTS (types); i++)
    if (!is_new (kernel, types[i]))
      continue;
    else if (kernel->work < 0)
      run_matmuls (gpu, kernel, types[i]);
    else
      run_rows (gpu, kernel, types[i]);
  char guard[GUARD];
  gpu_copy (gpu, guard, memory_of (gpu)->device_workspace + LIG_WORKSPACE_SIZE, GUARD);
  gpu_wait (gpu, kernel->name);
  for (int i = 0; i < GUARD; i++)
    if (guard[i] != 0x5a) {
      g_test_fail_printf ("the memory after the workspace was written to");
      return;
    }
  if (failures > 0)
    g_test_message ("%d failures", failures);
  g_test_message ("%.2f s", 1e-6 * (double) (g_get_monotonic_time () - begin));
}

/* The built-in matmuls, even where the library would win: tiles that cross each edge, so many that
 * each threadblock processes several, and few rows. */
static void
test_built_in_matmul (gconstpointer data)
{
  static const Shape shapes[] = {
    {512, 768, 1024}, {1000, 200, 776}, {130, 1544, 8}, {20011, 64, 1544}, {20011, 1544, 64},
    {1, 4096, 1000},  {5, 776, 203},    {9, 8, 64},     {17, 4104, 72},    {32, 520, 2048}};
  static const LigDtype pairs[][2] = {
    {LIG_BF16, LIG_BF16}, {LIG_FP16, LIG_FP16}, {LIG_BF16, LIG_FP32}};
  const LigKernel *kernel = data;
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  failures = 0;
  g_setenv ("LIGATURE_SEARCH", "built-in", TRUE);
  for (size_t i = 0; i < G_N_ELEMENTS (pairs); i++)
    for (size_t j = 0; j < G_N_ELEMENTS (shapes); j++)
      run_shape (gpu, kernel, shapes[j], pairs[i], false);
  g_unsetenv ("LIGATURE_SEARCH");
  if (failures > 0)
    g_test_message ("%d failures", failures);
}

int
main (int argc, char **argv)
{
  const LigKernel *kernel;
  gpu_test_init (argc, argv);
  for (int i = 0; (kernel = lig_kernel_nth (i)); i++) {
    if (is_shaped (kernel->name))
      continue;
    g_autofree char *path = g_strconcat ("/gpu/kernels/", kernel->name, NULL);
    g_test_add_data_func (path, kernel, test_kernel);
    if (kernel->work < 0) {
      g_autofree char *own = g_strconcat ("/gpu/kernels/own/", kernel->name, NULL);
      g_test_add_data_func (own, kernel, test_built_in_matmul);
    }
  }
  return g_test_run ();
}
