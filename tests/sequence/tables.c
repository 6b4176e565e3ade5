/* SPDX-License-Identifier: MIT */
/* Kernels of an embedding program are checked, tables of older and newer headers load, and no
 * compilation overlaps a registration. */
#include "tests/sequence/register-case.h"
#include <ligature/compile.h>
#include <ligature/lowering.h>
#include <ligature/register.h>

#include <sys/mman.h>
#include <unistd.h>

/* --- Kernels of the program ------------------------------------------------------------------ */

static const struct {
  LigKernel kernel;
  const char *message;
} kernels[] = {
#define KERNEL(name_, signature_, work_, types_, ...) \
  { \
    .size = sizeof (LigKernel), .name = name_, .signature = signature_, .work = work_, \
    .types = types_, .functions = { \
      __VA_ARGS__ \
    } \
  }
  {KERNEL (NULL, "x -> y", 1, 1, run_twice), "its kernel is called '', expected at most 60 "
                                             "lower-case letters, digits, - or _ after a letter"},
  {KERNEL ("gelu", "x -> y", 1, 1, run_twice),
   "its kernel gelu: it has the name of a built-in kernel; give it another"},
  {KERNEL ("k", NULL, 1, 1, run_twice),
   "its kernel k: it has the signature '', expected one like 'x weight -> y'"},
  {KERNEL ("k", "x y", 1, 1, run_twice),
   "its kernel k: it has the signature 'x y', expected one like 'x weight -> y'"},
  {KERNEL ("k", "x -> y -> z", 1, 1, run_twice),
   "its kernel k: it has the signature 'x -> y -> z', expected one like 'x weight -> y'"},
  {KERNEL ("k", "x ->", 1, 1, run_twice),
   "its kernel k: it has the signature 'x ->', expected one like 'x weight -> y'"},
  {KERNEL ("k", "x x -> y", 1, 1, run_twice), "its kernel k: it has two operands called x"},
  {KERNEL ("k", "x -> y=x z=y", 1, 1, run_twice),
   "its kernel k: it has an output that shares the memory of 'y', which is not an input"},
  {KERNEL ("k", "x -> y=", 1, 1, run_twice),
   "its kernel k: it has an output that shares the memory of '', which is not an input"},
  {KERNEL ("k", "x=x -> y", 1, 1, run_twice), "its kernel k: it has the operand 'x=x', expected at "
                                              "most 31 lower-case letters, digits or _ after "
                                              "a letter"},
  {KERNEL ("k", "x -> y?", 1, 1, run_twice), "its kernel k: it has the operand 'y?', expected at "
                                             "most 31 lower-case letters, digits or _ after a "
                                             "letter"},
  {KERNEL ("k", "a b c d e f g h i j k l m n o p q r s t -> y", 1, 1, run_twice),
   "its kernel k: it has 21 operands, at most 20 are allowed"},
  {KERNEL ("k", "x -> y", -1, 1, run_twice),
   "its kernel k: it is a matmul and has 1 input, expected at least 2"},
  {KERNEL ("k", "x -> y", -5, 1, run_twice), "its kernel k: its work is -5, expected at least -4"},
  {KERNEL ("k", "x -> y", -4, 1, run_twice),
   "its kernel k: its work follows from its params; set flops"},
  {KERNEL ("k", "x -> y", 1, 0, run_twice),
   "its kernel k: it supports none of fp32, fp16 and bf16; set its types"},
  {KERNEL ("k", "x -> y", 1, 1, NULL), "its kernel k: it has no function for any backend"},
  {{.size = 0, .name = "k"},
   "its kernel has size 0, expected at least 32; set .size = sizeof (LigKernel)"},
};

static void
test_custom_kernels (void)
{
  LigOpInfo info = whole ("twice-custom");
  for (guint i = 0; i < G_N_ELEMENTS (kernels); i++) {
    g_autofree char *message =
      g_strdup_printf ("op twice-custom: its example 'twice-custom @ 4x8': twice-custom at 0: %s",
                       kernels[i].message);
    used = &kernels[i].kernel;
    check_rejection (&info, message);
  }
  used = &kernel;
  check_accepted (&info);
}

/* --- Tables of other headers ----------------------------------------------------------------- */

/* Returns a copy of a struct that ends directly before a page that cannot be read. */
static gpointer
cut (gconstpointer table, gsize bytes)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  char *pages = mmap (NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  g_assert_true (pages != MAP_FAILED);
  g_assert_cmpint (mprotect (pages + page, page, PROT_NONE), ==, 0);
  return memcpy (pages + page - bytes, table, bytes);
}

static gboolean
never (const LigOpaqueCall *call, GError **error)
{
  g_assert_not_reached ();
}

/* The structs of the op and its arrays are shorter, as if compiled before the last fields were
 * added. */
static void
test_older_op (void)
{
  LigOpInfo info = whole ("twice-older");
  gsize size = G_STRUCT_OFFSET (LigOpInfo, opaque_forward);
  info.size = size;
  info.opaque_forward = never;
  info.opaque_data = &info;
  const LigOpInfo *older = cut (&info, size);
  check_accepted (older);
  check_twice ("twice-older");
  const LigOpInfo *known = lig_op_info_find ("twice-older");
  g_assert_cmpuint (known->size, ==, sizeof (LigOpInfo));
  g_assert_null (known->opaque_forward);
  g_assert_null (known->opaque_data);
  /* Array elements that are longer than this library's structs. */
  struct {
    LigParam row;
    gint64 newer[3];
  } long_rows[3] = {{params[0], {1, 2, 3}}, {params[1], {4, 5, 6}}, {{.name = NULL}, {0}}};
  info = whole ("twice-newer");
  info.params = &long_rows[0].row;
  info.param_size = sizeof long_rows[0];
  struct {
    LigOpInfo table;
    gpointer newer[2];
  } newer = {info, {&info, &info}};
  newer.table.size = sizeof newer;
  check_accepted (&newer.table);
  check_twice ("twice-newer(count=3)");
}

static void
check_size (const LigOpInfo *info, const char *what, gsize min)
{
  g_autofree char *message = g_strdup_printf (
    "%s has size 0, expected at least %" G_GSIZE_FORMAT "; set LIG_OP_INFO_SIZES", what, min);
  check_rejection (info, message);
}

static void
test_sizeless_op (void)
{
  LigOpInfo info = whole ("twice-sizeless");
  LigParameterInfo trained[] = {{.name = "a"}, {.name = NULL}};
  info.size = 0;
  check_size (&info, "the table of an op", G_STRUCT_OFFSET (LigOpInfo, infer));
  info = whole ("twice-sizeless");
  info.param_size = 0;
  check_size (&info, "the LigParam of an op", G_STRUCT_OFFSET (LigParam, offset) + sizeof (gsize));
  info = whole ("twice-sizeless");
  info.parameters = trained;
  info.parameter_size = 0;
  check_size (&info, "the LigParameterInfo of an op",
              G_STRUCT_OFFSET (LigParameterInfo, matmul) + sizeof (gboolean));
}

static void
lower_pair (LigLowering *lowering)
{
  lig_lower_kernel (lowering, "bias_silu", "x=0.x bias=0.bias sum=1.x y=1.y", NULL, 0);
}

static void
test_older_fusion (void)
{
  g_autoptr (GError) error = NULL;
  LigFusion fusion = {.name = "forward-older",
                      .pass = LIG_PASS_FORWARD,
                      .summary = "Older",
                      .pattern = "bias silu",
                      .lower = lower_pair,
                      .lower_backward = lower_pair,
                      .saves = "not a port"};
  fusion.size = G_STRUCT_OFFSET (LigFusion, lower_backward);
  const LigFusion *older = cut (&fusion, fusion.size);
  g_assert_true (lig_register_fusion (older, TRUE, &error));
  g_assert_no_error (error);
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! silu", "4x8");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_true (find_verdict (plan, "forward-older", 0)->taken);
}

static void
test_older_kernel (void)
{
  LigOpInfo info = whole ("twice-older-kernel");
  LigKernel whole_kernel = kernel;
  whole_kernel.name = "register-twice-older";
  whole_kernel.size = G_STRUCT_OFFSET (LigKernel, functions) + sizeof (LigKernelFunc);
  used = cut (&whole_kernel, whole_kernel.size);
  check_accepted (&info);
  check_twice ("twice-older-kernel");
  used = &kernel;
}

/* Fields that shorter options lack have the values of LIG_PLAN_OPTIONS_INIT, not zero. */
static void
test_older_options (void)
{
  g_autoptr (GError) error = NULL;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4) ! gelu", "4x8:bf16");
  options.size = G_STRUCT_OFFSET (LigPlanOptions, compute);
  const LigPlanOptions *older = cut (&options, options.size);
  g_autoptr (LigPlan) plan = compile (sequence, older);
  g_assert_cmpint (lig_plan_get_compute (plan), ==, LIG_BF16);
  g_autoptr (LigState) state = lig_state_new (sequence, cpu_device (), older, 1, &error);
  g_assert_no_error (error);
  g_autoptr (LigPlan) kept = lig_state_plan (state, sequence, older, &error);
  g_assert_no_error (error);
  options.size = 0;
  check_rejected (
    sequence, &options, LIG_ERROR_VALUE,
    "LigPlanOptions has size 0, expected at least 12; set it by LIG_PLAN_OPTIONS_INIT");
}

/* --- Threads ---------------------------------------------------------------------------------- */

static gpointer
compile_many (gpointer data)
{
  g_autoptr (LigSequence) sequence = new_sequence ("bias ! relu ! bias ! relu", "4x8");
  g_autoptr (LigDevice) device = lig_device_open ("null", NULL);
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  for (int i = 0; i < 200; i++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
    guint count;
    g_assert_no_error (error);
    const LigVerdict *verdicts = lig_plan_get_verdicts (plan, &count);
    /* A list that changes during a compilation would repeat or skip a fusion's verdict. */
    for (guint j = 1; j < count; j++)
      g_assert_true (verdicts[j].fusion != verdicts[j - 1].fusion ||
                     verdicts[j].first > verdicts[j - 1].first);
  }
  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[3];
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("compile", compile_many, NULL);
  for (int i = 0; i < 150; i++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *name = g_strdup_printf ("forward-thread-%d", i);
    g_autofree char *op = g_strdup_printf ("twice-thread-%d", i);
    LigFusion fusion = {.size = sizeof fusion,
                        .name = g_intern_string (name),
                        .pass = LIG_PASS_FORWARD,
                        .summary = "Never fits",
                        .pattern = "bias silu silu",
                        .lower = lower_pair};
    LigOpInfo info = whole (op);
    g_assert_true (lig_register_fusion (&fusion, TRUE, &error));
    g_assert_no_error (error);
    check_accepted (&info);
  }
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static char *inner_message;

static gboolean
infer_registering (LigInfer *self, GError **error)
{
  g_autoptr (GError) local = NULL;
  LigOpInfo other = whole ("twice-within");
  g_assert_false (lig_register_op (&other, &local));
  g_free (inner_message);
  inner_message = g_strdup (local->message);
  return TRUE;
}

/* Registering during a compilation or registration would deadlock, so it is rejected. */
static void
test_within (void)
{
  static const char *const message =
    "an op cannot be registered while this thread compiles or registers; do it before";
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  LigOpInfo info = whole ("twice-registering");
  info.infer = infer_registering;
  check_accepted (&info);
  g_assert_cmpstr (inner_message, ==, message);
  g_clear_pointer (&inner_message, g_free);
  g_autoptr (LigSequence) sequence = new_sequence ("twice-registering", "4x8");
  g_autoptr (LigPlan) plan = compile (sequence, &options);
  g_assert_cmpstr (inner_message, ==, message);
  g_clear_pointer (&inner_message, g_free);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/tables/custom-kernels", test_custom_kernels);
  g_test_add_func ("/tables/older-op", test_older_op);
  g_test_add_func ("/tables/sizeless-op", test_sizeless_op);
  g_test_add_func ("/tables/older-fusion", test_older_fusion);
  g_test_add_func ("/tables/older-kernel", test_older_kernel);
  g_test_add_func ("/tables/older-options", test_older_options);
  g_test_add_func ("/tables/threads", test_threads);
  g_test_add_func ("/tables/within", test_within);
  return g_test_run ();
}
