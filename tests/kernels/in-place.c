/* SPDX-License-Identifier: MIT */
/* Each CPU kernel gives the same bits in place, for all combinations that its signature allows, as
 * with separate memory. */
#include "tests/gpu/operands.h"

static const LigDtype types[] = {LIG_FP32, LIG_FP16, LIG_BF16};
static const int64_t shapes[][2] = {{1, 1}, {5, 33}, {257, 64}, {3, 1030}, {64, 2100}};

static char *workspace;

static void
run (Operands *o)
{
  LigLaunch launch = {.operands = o->operands,
                      .params = params_for (o->kernel->name, 1),
                      .tick = &test_tick,
                      .workspace = workspace};
  LigStatus status = o->kernel->functions[LIG_BACKEND_CPU](&launch);
  if (status != LIG_OK)
    g_error ("%s: %s", o->kernel->name, launch.where);
}

/* Returns the operands of a case with their values, each in separate memory. */
static Operands
make (const LigKernel *kernel, Problem problem)
{
  Operands o = operands_for (kernel, problem);
  for (int i = 0; i < o.count; i++) {
    o.operands[i].data = g_aligned_alloc0 (operand_bytes (&o.operands[i]) + 64, 1, 64);
    memset (o.operands[i].data, 0xff, operand_bytes (&o.operands[i]));
    if (i < o.inputs)
      fill_operand (&o, i);
  }
  fill_derived (&o);
  return o;
}

static gboolean
may_take (const Operands *o, int to, int from)
{
  const LigOperand *a = &o->operands[from], *b = &o->operands[to];
  return (lig_signature_places (o->kernel->signature, to) >> from & 1) && a->dtype == b->dtype &&
         a->size == b->size;
}

/* Checks the kernel with `to` in the memory of `from`, and `other` in that of `second` unless
 * `second` is -1. */
static void
check (const Operands *separate, int to, int from, int other, int second)
{
  Operands o = make (separate->kernel, separate->problem);
  void *memory[LIG_MAX_OPERANDS];
  for (int i = 0; i < o.count; i++)
    memory[i] = o.operands[i].data;
  o.operands[to].data = memory[from];
  if (second >= 0)
    o.operands[other].data = memory[second];
  run (&o);
  for (int i = o.inputs; i < o.count; i++)
    if (memcmp (o.operands[i].data, separate->operands[i].data, operand_bytes (&o.operands[i])) !=
        0)
      g_error ("%s, %ld x %ld %s: %s differs with %s in the memory of %s", o.kernel->name,
               (long) o.problem.rows, (long) o.problem.columns, lig_dtype_name (o.problem.compute),
               o.names[i], o.names[to], o.names[from]);
  for (int i = 0; i < o.count; i++)
    g_aligned_free (memory[i]);
}

/* Checks each output computed in place, then each pair of outputs. */
static guint
check_all (const LigKernel *kernel, Problem problem)
{
  Operands separate = make (kernel, problem);
  guint count = 0;
  run (&separate);
  for (int to = separate.inputs; to < separate.count; to++)
    for (int from = 0; from < separate.inputs; from++) {
      if (!may_take (&separate, to, from))
        continue;
      check (&separate, to, from, 0, -1);
      count++;
      for (int other = to + 1; other < separate.count; other++)
        for (int second = 0; second < separate.inputs; second++)
          if (second != from && may_take (&separate, other, second))
            check (&separate, to, from, other, second);
    }
  for (int i = 0; i < separate.count; i++)
    g_aligned_free (separate.operands[i].data);
  return count;
}

static void
test_kernel (gconstpointer data)
{
  guint count = 0;
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (types); j++)
      count += check_all (data, (Problem){shapes[i][0], shapes[i][1], 7, types[j], types[j]});
  g_assert_cmpuint (count, >=, G_N_ELEMENTS (shapes) * G_N_ELEMENTS (types));
}

static void
test_signatures (void)
{
  char name[32];
  const char *signature = "dy  branch? x weight -> dx=dy|x  dweight sum=xx|branch";
  int inputs;
  g_assert_cmpint (lig_signature_count (signature, &inputs), ==, 7);
  g_assert_cmpint (inputs, ==, 4);
  g_assert_true (lig_signature_name (signature, 1, name));
  g_assert_cmpstr (name, ==, "branch");
  g_assert_true (lig_signature_name (signature, 4, name));
  g_assert_cmpstr (name, ==, "dx");
  g_assert_false (lig_signature_name (signature, 0, name));
  g_assert_cmphex (lig_signature_places (signature, 4), ==, 1 << 0 | 1 << 2);
  g_assert_cmphex (lig_signature_places (signature, 5), ==, 0);
  g_assert_cmphex (lig_signature_places (signature, 6), ==, 1 << 1);
  g_assert_cmphex (lig_signature_places (signature, 1), ==, 0);
  g_assert_cmphex (lig_signature_places ("x=y -> y", 0), ==, 0);
  g_assert_cmphex (lig_signature_places (signature, 7), ==, 0);
}

int
main (int argc, char **argv)
{
  const LigKernel *kernel;
  g_test_init (&argc, &argv, NULL);
  workspace = g_aligned_alloc0 (LIG_WORKSPACE_SIZE, 1, 256);
  g_test_add_func ("/kernels/in-place/signatures", test_signatures);
  for (int i = 0; (kernel = lig_kernel_nth (i)); i++) {
    g_autofree char *path = g_strconcat ("/kernels/in-place/", kernel->name, NULL);
    unsigned places = 0;
    for (int output = 0; output < LIG_MAX_OPERANDS; output++)
      places |= lig_signature_places (kernel->signature, output);
    if (places && !is_shaped (kernel->name))
      g_test_add_data_func (path, kernel, test_kernel);
  }
  return g_test_run ();
}
