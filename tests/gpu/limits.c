/* SPDX-License-Identifier: MIT */
/* The limits of kernels on the GPU: more than 2^31 elements, unsupported types, integers that
 * are not a row, losses of infinite logits, squares that exceed the range of fp32. */
#include "tests/gpu/launch.h"

/* A launch on operands in device memory. */
static LigStatus
launch_kernel (const Gpu *gpu, const Case *c, const LigOperand *operands, const char **where)
{
  Memory *m = memory_of (gpu);
  LigLaunch launch = {.operands = operands,
                      .params = params_for (c->kernel->name, c->variation),
                      .tick = m->tick,
                      .workspace = m->device_workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .autotune = c->kernel->work < 0};
  LigStatus status = c->kernel->functions[LIG_BACKEND_CUDA](&launch);
  *where = launch.where;
  return status;
}

/* --- More than 2^31 elements --------------------------------------------------------------- */

/* The rows that are compared, the last ones; those before them are zero. */
enum { LAST = 9 };

static const struct {
  const char *kernel;
  LigDtype compute, parameters;
} vast[] = {
  {"convert", LIG_BF16, LIG_FP32},
  {"add", LIG_BF16, LIG_BF16},
  {"scale", LIG_BF16, LIG_BF16},
  {"bias", LIG_BF16, LIG_FP32},
  {"gelu", LIG_BF16, LIG_BF16},
  {"silu_backward", LIG_FP16, LIG_FP16},
  {"bias_gelu", LIG_BF16, LIG_BF16},
  {"bias_gelu_backward", LIG_BF16, LIG_BF16},
  {"swiglu", LIG_BF16, LIG_BF16},
  {"swiglu_backward", LIG_BF16, LIG_BF16},
  {"bias_geglu", LIG_BF16, LIG_BF16},
  {"bias_swiglu_backward", LIG_BF16, LIG_BF16},
  {"layer_norm", LIG_BF16, LIG_BF16},
  {"layer_norm_backward", LIG_BF16, LIG_BF16},
  {"add_rms_norm", LIG_BF16, LIG_BF16},
  {"rms_norm_backward_add", LIG_BF16, LIG_BF16},
  {"l2_normalization", LIG_BF16, LIG_BF16},
  {"cross_entropy", LIG_BF16, LIG_BF16},
  {"cross_entropy_backward", LIG_BF16, LIG_BF16},
  {"embedding", LIG_BF16, LIG_BF16},
  {"adamw", LIG_BF16, LIG_BF16},
  {"linear", LIG_BF16, LIG_BF16},
  {"linear_backward_input", LIG_BF16, LIG_BF16},
};

/* Solves the problem of the last rows on the CPU. */
static void
solve_last (Layout *l, Memory *m, const LigTick *tick)
{
  LigLaunch launch = {.operands = l->o.operands,
                      .params = params_for (l->o.kernel->name, 0),
                      .tick = tick,
                      .workspace = m->workspace};
  memset (m->before, 0xff, l->bytes);
  place (l, NULL, m->before);
  for (int i = 0; i < l->o.count; i++)
    if (i < l->o.inputs || is_updated (&l->o, i))
      fill_operand (&l->o, i);
  fill_derived (&l->o);
  copy_image (m->cpu, m->before, l->bytes);
  place (l, NULL, m->cpu);
  if (l->o.kernel->functions[LIG_BACKEND_CPU](&launch) != LIG_OK)
    g_error ("%s on the CPU: %s", l->o.kernel->name, launch.where);
}

/* Allocates a whole operand, whose end is that of the image. */
static void
place_whole (const Gpu *gpu, LigOperand *whole, const Layout *l, int i, const Memory *m)
{
  size_t bytes = operand_bytes (whole), last = operand_bytes (&l->o.operands[i]);
  bool old = i < l->o.inputs || is_updated (&l->o, i);
  whole->data = gpu_memory (gpu, bytes);
  gpu_fill (gpu, whole->data, old ? 0 : 0xff, bytes);
  gpu_copy (gpu, (char *) whole->data + bytes - last, m->before + l->offsets[i], last);
}

static void
check_last (const Gpu *gpu, const Case *c, const LigOperand *whole, const Layout *l, int i)
{
  Memory *m = memory_of (gpu);
  size_t bytes = operand_bytes (whole), last = operand_bytes (&l->o.operands[i]);
  if (bytes == last)
    return; /* a sum over all rows */
  gpu_copy (gpu, m->gpu + l->offsets[i], (char *) whole->data + bytes - last, last);
  gpu_wait (gpu, c->kernel->name);
  check_output (c, l, i, m, 64);
}

static void
test_vast (gconstpointer data)
{
  int index = GPOINTER_TO_INT (data);
  const Gpu *gpu = gpu_or_skip ();
  size_t unused, total;
  const char *where;
  if (!gpu)
    return;
  gpu_check (gpu, gpu->calls->free_memory (gpu->handle, &unused, &total), "room");
  if (quick () || unused < (size_t) 48 << 30) {
    g_test_skip (quick () ? "LIGATURE_QUICK is set" : "48 GiB of the device's memory are not free");
    return;
  }
  failures = 0;
  Memory *m = memory_of (gpu);
  int64_t columns = 1024, rows = ((int64_t) 1 << 31) / columns + 1037;
  Problem problem = {LAST, columns, 64, vast[index].compute, vast[index].parameters};
  Case c = {.kernel = lig_kernel_find (vast[index].kernel), .problem = problem};
  Layout l = lay_out (&c);
  solve_last (&l, m, &test_tick);
  problem.rows = rows;
  Operands whole = operands_for (c.kernel, problem);
  for (int i = 0; i < whole.count; i++)
    place_whole (gpu, &whole.operands[i], &l, i, m);
  LigStatus status = launch_kernel (gpu, &c, whole.operands, &where);
  gpu_wait (gpu, c.kernel->name);
  if (status != LIG_OK)
    complain (&c, "status", where ? where : "rejected");
  for (int i = whole.inputs; i < whole.count && status == LIG_OK; i++)
    check_last (gpu, &c, &whole.operands[i], &l, i);
  for (int i = 0; i < whole.count; i++)
    gpu->calls->release (gpu->handle, whole.operands[i].data);
}

/* --- Rejections ------------------------------------------------------------------------------ */

/* Integers that the CPU does not support are rejected by the GPU as well, instead of being read as
 * floats. */
static void
test_types (void)
{
  const Gpu *gpu = gpu_or_skip ();
  const LigKernel *kernel;
  const char *where;
  if (!gpu)
    return;
  Memory *m = memory_of (gpu);
  failures = 0;
  for (int n = 0; (kernel = lig_kernel_nth (n)); n++) {
    if (is_shaped (kernel->name))
      continue;
    Case c = {.kernel = kernel, .problem = {4, 8, 8, LIG_INT32, LIG_FP32}};
    Layout l = lay_out (&c);
    fill (&c, &l, m);
    if (run_on_cpu (&c, &l, m))
      continue;
    gpu_copy (gpu, m->device, m->before, l.bytes);
    place (&l, NULL, m->device);
    LigStatus status = launch_kernel (gpu, &c, l.o.operands, &where);
    gpu_wait (gpu, kernel->name);
    if (status != LIG_UNSUPPORTED)
      complain (&c, "status", "integers are not rejected");
    else if (!where)
      complain (&c, "status", "rejected, and does not say where");
  }
}

/* Targets and tokens come from files: invalid ones are rejected or have no effect. */
static void
test_outside (void)
{
  static const char *const kernels[] = {"cross_entropy", "cross_entropy_backward", "accuracy",
                                        "embedding", "embedding_backward"};
  static const int32_t wrong[] = {57, -1, INT32_MAX, INT32_MIN, 1 << 30};
  const Gpu *gpu = gpu_or_skip ();
  const char *where;
  if (!gpu)
    return;
  Memory *m = memory_of (gpu);
  failures = 0;
  for (size_t n = 0; n < G_N_ELEMENTS (kernels); n++)
    for (int t = 0; t < 3; t++) {
      static const LigDtype dtypes[] = {LIG_FP32, LIG_FP16, LIG_BF16};
      Case c = {.kernel = lig_kernel_find (kernels[n]),
                .problem = {40, 57, 57, dtypes[t], dtypes[t]}};
      Layout l = lay_out (&c);
      fill (&c, &l, m);
      for (int i = 0; i < l.o.inputs; i++)
        for (int64_t j = 0; j < l.o.operands[i].size && l.o.operands[i].dtype == LIG_INT32; j += 3)
          ((int32_t *) l.o.operands[i].data)[j] = wrong[j % (int64_t) G_N_ELEMENTS (wrong)];
      gpu_copy (gpu, m->device, m->before, l.bytes);
      place (&l, NULL, m->device);
      LigStatus status = launch_kernel (gpu, &c, l.o.operands, &where);
      gpu_copy (gpu, m->gpu, m->device, l.bytes);
      gpu_wait (gpu, c.kernel->name);
      if (status != LIG_OK && status != LIG_FAILED)
        complain (&c, "status", where ? where : "neither done nor failed");
      check_untouched (&c, &l, m);
    }
}

/* --- Numbers ------------------------------------------------------------------------------- */

/* Runs a kernel on both devices and compares all outputs. */
static void
check_both (const Gpu *gpu, const Case *c, Layout *l)
{
  Memory *m = memory_of (gpu);
  const char *where;
  if (!run_on_cpu (c, l, m))
    g_error ("%s on the CPU", c->kernel->name);
  gpu_copy (gpu, m->device, m->before, l->bytes);
  place (l, c, m->device);
  LigStatus status = launch_kernel (gpu, c, l->o.operands, &where);
  gpu_copy (gpu, m->gpu, m->device, l->bytes);
  gpu_wait (gpu, c->kernel->name);
  if (status != LIG_OK)
    complain (c, "status", where ? where : "rejected");
  for (int i = l->o.inputs; i < l->o.count; i++)
    check_output (c, l, i, m, 64);
}

/* A logit of minus infinity contributes nothing; if no row is counted, y and dx are 0. */
static void
test_entropy (void)
{
  static const char *const kernels[] = {"cross_entropy", "cross_entropy_backward", "accuracy"};
  static const int64_t widths[] = {5, 64, 1000, 50304};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Memory *m = memory_of (gpu);
  failures = 0;
  for (size_t n = 0; n < G_N_ELEMENTS (kernels) * G_N_ELEMENTS (widths); n++)
    for (int ignored = 0; ignored < 2; ignored++) {
      Case c = {.kernel = lig_kernel_find (kernels[n % 3]),
                .problem = {16, widths[n / 3], 1, LIG_FP32, LIG_FP32}};
      c.variation = 1;
      Layout l = lay_out (&c);
      fill (&c, &l, m);
      float *x = l.o.operands[operand_index (&l.o, "x")].data;
      int32_t *targets = l.o.operands[operand_index (&l.o, "targets")].data;
      int count = operand_index (&l.o, "count");
      for (int64_t row = 0; row < 16; row++) {
        x[row * widths[n / 3] + 4] = -INFINITY;
        targets[row] = ignored ? -100 : (int32_t) (row % 4);
      }
      fill_derived (&l.o);
      if (ignored && count < l.o.inputs)
        fill_number (&l.o.operands[count], 0);
      check_both (gpu, &c, &l);
    }
}

/* The norm of gradients is exact even if their squares overflow or underflow in fp32. */
static void
test_gradient_norm (void)
{
  static const float sizes[] = {3e30f, 1e-30f, 1};
  static const int64_t counts[] = {1, 2, 1000, 300001};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Memory *m = memory_of (gpu);
  failures = 0;
  for (size_t n = 0; n < G_N_ELEMENTS (sizes) * G_N_ELEMENTS (counts); n++) {
    int64_t count = counts[n / 3];
    Case c = {.kernel = lig_kernel_find ("gradient_norm"),
              .problem = {1, count, 1, LIG_FP32, LIG_FP32}};
    Layout l = lay_out (&c);
    fill (&c, &l, m);
    for (int64_t i = 0; i < count; i++)
      ((float *) l.o.operands[0].data)[i] = sizes[n % 3] * (float) (i % 3 + 1);
    check_both (gpu, &c, &l);
    float got, want;
    memcpy (&got, m->gpu + l.offsets[1], sizeof got);
    memcpy (&want, m->cpu + l.offsets[1], sizeof want);
    if (!(fabsf (got - want) <= 1e-5f * want))
      complain (&c, "norm", "the squares do not fit");
  }
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/limits/types", test_types);
  g_test_add_func ("/gpu/limits/outside", test_outside);
  g_test_add_func ("/gpu/limits/entropy", test_entropy);
  g_test_add_func ("/gpu/limits/gradient-norm", test_gradient_norm);
  for (int i = 0; i < (int) G_N_ELEMENTS (vast); i++) {
    g_autofree char *path = g_strconcat ("/gpu/limits/vast/", vast[i].kernel, NULL);
    g_test_add_data_func (path, GINT_TO_POINTER (i), test_vast);
  }
  return g_test_run ();
}
