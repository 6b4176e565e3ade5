/* SPDX-License-Identifier: MIT */
/* Measurements on a GPU: the same plan from the same store, never slower than policies none and
 * all, deterministic algorithms, a message if there is no memory to search for one, peak rates of a
 * GPU that was never measured. */
#include "engine/measure/stopwatch.h"
#include "engine/measure/tuning-private.h"
#include "tests/gpu/case.h"
#include "tests/plan/case.h"
#include <ligature/compile.h>
#include <ligature/profile.h>
#include <ligature/store.h>
#include <ligature/tuning.h>

#include <glib/gstdio.h>

/* --- Opening ------------------------------------------------------------------------------- */

/* The module has code for an opened device, reports its devices, and the device has an id that
 * distinguishes it from others of the same model. */
static void
test_opened (void)
{
  const Gpu *gpu = gpu_or_skip ();
  LigBackendFacts facts;
  if (!gpu)
    return;
  gpu->calls->describe (gpu->handle, &facts);
  g_assert_true (g_str_has_prefix (facts.id, "GPU-"));
  g_assert_cmpuint (strlen (facts.id), ==, 40);
  g_assert_cmpstr (lig_device_get_id (gpu->device), ==, facts.id);
  const char *built_for = lig_device_get_built_for (gpu->device);
  g_assert_true (built_for && strstr (built_for, "sm_"));
  g_test_message ("built for %s", built_for);
}

/* Opens the GPU as a program does, with the costs from its description. */
static LigDevice *
open_or_skip (void)
{
  g_autoptr (GError) error = NULL;
  LigDevice *device = gpu_or_skip () ? lig_device_open ("cuda:0", &error) : NULL;
  g_assert_no_error (error);
  return device;
}

/* A GPU with a shipped profile uses that for predictions at once; any other is measured within a
 * moment. */
static void
test_peak_rates (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = open_or_skip ();
  if (!device)
    return;
  if (strstr (lig_device_get_facts (device)->name, "H200")) {
    g_assert_cmpfloat (lig_device_get_facts (device)->copy, >, 4e12);
    g_assert_cmpfloat (lig_device_get_facts (device)->matmul[LIG_BF16], >, 5e14);
  }
  double described = lig_device_get_facts (device)->copy, began = lig_now ();
  g_assert_true (lig_device_measure_quickly (device, &error));
  g_assert_no_error (error);
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  g_test_message ("%.3g s: copies %.3g B/s, bf16 %.3g, fp32 %.3g, a launch %.3g us",
                  lig_now () - began, facts->copy, facts->matmul[LIG_BF16], facts->matmul[LIG_FP32],
                  facts->launch * 1e6);
  g_assert_cmpfloat (lig_now () - began, <, 5);
  g_assert_true (facts->measured);
  g_assert_cmpfloat (facts->matmul[LIG_BF16], >, facts->matmul[LIG_FP32]);
  if (described > 0)
    g_assert_cmpfloat (facts->copy, >, 0.7 * described);
  g_autoptr (LigSequence) sequence = new_sequence ("linear(4096)", "4096x4096:bf16");
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_ALL;
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, device, &options, &error);
  guint count;
  const LigPlanGroup *groups = lig_plan_get_groups (plan, LIG_PASS_FORWARD, &count);
  g_assert_cmpfloat (groups[0].predicted, >, 10 * facts->launch);
}

/* Everything that predictions use is measured: each kind of kernel, attention with cuDNN and with
 * the built-in kernels, and copies from the host. */
static void
test_all_costs (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (LigDevice) device = open_or_skip ();
  if (!device)
    return;
  double began = lig_now ();
  lig_device_measure (device, &error);
  g_assert_no_error (error);
  const LigDeviceFacts *facts = lig_device_get_facts (device);
  g_test_message ("%.3g s: copies from the host %.3g B/s", lig_now () - began, facts->upload);
  g_assert_true (facts->measured && facts->costs.known);
  g_assert_cmpfloat (facts->upload, >, 1e9);
  g_assert_cmpfloat (facts->upload, <, facts->copy);
  for (guint i = 0; i < G_N_ELEMENTS (facts->costs.attention); i++)
    g_assert_cmpfloat (facts->costs.attention[i], >, 0);
}

/* --- One store ----------------------------------------------------------------------------- */

static const struct {
  const char *expression, *input;
} wholes[] = {
  {"layer-norm ! linear(4096) ! gelu ! linear(1024)", "2048x1024:bf16"},
  {"make-extra-output(to=r) ! rms-norm ! linear(4096, bias=false) ! swiglu ! linear(1024) ! "
   "add-extra-input(from=r)",
   "1024x1024:bf16"},
  {"block(3) { make-extra-output(to=r) ! layer-norm ! linear(2048) ! gelu ! linear(512) ! "
   "add-extra-input(from=r) }",
   "512x512:bf16"},
  {"linear(256) ! relu ! linear(64) ! bias ! silu", "128x64:fp32"},
};

static char *
choose_from (const Gpu *gpu, LigStore *store, guint which, double *seconds)
{
  g_autoptr (GError) error = NULL;
  LigTuning tuning;
  LigPlanOptions options = LIG_PLAN_OPTIONS_INIT;
  options.policy = LIG_POLICY_MEASURED;
  options.input_gradient = TRUE;
  lig_tuning_init (&tuning, store);
  options.tuning = &tuning;
  g_autoptr (LigSequence) sequence = new_sequence (wholes[which].expression, wholes[which].input);
  *seconds = lig_now ();
  g_autoptr (LigPlan) plan = lig_plan_compile (sequence, gpu->device, &options, &error);
  *seconds = lig_now () - *seconds;
  g_assert_no_error (error);
  return lig_plan_get_choices (plan);
}

static void
test_one_store (void)
{
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  const Gpu *gpu = gpu_or_skip ();
  g_autoptr (GError) error = NULL;
  double seconds, again;
  if (!gpu)
    return;
  g_autofree char *folder = g_dir_make_tmp ("lig-gpu-XXXXXX", &error);
  g_autofree char *path = g_build_filename (folder, "store.db", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (wholes); i++) {
    LigStore *store = lig_store_open (path, &error);
    g_assert_no_error (error);
    g_autofree char *first = choose_from (gpu, store, i, &seconds);
    g_test_message ("%s: %s after %.1f s", wholes[i].expression, first, seconds);
    g_object_unref (store);
    for (int j = 0; j < 4; j++) {
      store = lig_store_open (path, &error);
      g_autofree char *next = choose_from (gpu, store, i, &again);
      g_assert_cmpstr (next, ==, first);
      g_assert_cmpfloat (again, <, MAX (0.2 * seconds, 0.2));
      g_object_unref (store);
    }
  }
  for (guint i = 0; i < G_N_ELEMENTS (suffixes); i++) {
    g_autofree char *name = g_strconcat (path, suffixes[i], NULL);
    g_unlink (name);
  }
  g_rmdir (folder);
}

/* --- Against none and all ------------------------------------------------------------------ */

static const struct {
  const char *expression, *input;
} large[] = {
  {"layer-norm ! linear(16384) ! gelu ! linear(4096)", "8192x4096:bf16"},
  {"rms-norm ! linear(28672, bias=false) ! swiglu ! linear(4096, bias=false)", "16384x4096:bf16"},
  {"make-extra-output(to=r) ! layer-norm ! linear(3072) ! gelu ! linear(768) ! "
   "add-extra-input(from=r)",
   "4096x768:bf16"},
};

/* 1 %, and half a percent for the uncertainty of this measurement. */
static void
test_not_slower (gconstpointer data)
{
  guint which = GPOINTER_TO_UINT (data);
  const Gpu *gpu = gpu_or_skip ();
  g_autoptr (GError) error = NULL;
  LigPlanOptions options[3];
  LigTuning tuning;
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("LIGATURE_QUICK is set");
    return;
  }
  lig_tuning_init (&tuning, NULL);
  for (int i = 0; i < 3; i++) {
    options[i] = (LigPlanOptions) LIG_PLAN_OPTIONS_INIT;
    options[i].policy = (LigPolicy) i;
    options[i].input_gradient = TRUE;
    options[i].tuning = &tuning;
  }
  g_autoptr (LigSequence) sequence = new_sequence (large[which].expression, large[which].input);
  g_autoptr (GPtrArray) profiles =
    lig_profile_measure (sequence, gpu->device, options, 3, 40, NULL, &error);
  g_assert_no_error (error);
  double steps[3];
  for (int i = 0; i < 3; i++)
    steps[i] = ((const LigProfile *) profiles->pdata[i])->step;
  g_test_message ("none %.1f us, all %.1f us, measured %.1f us", steps[0] * 1e6, steps[1] * 1e6,
                  steps[2] * 1e6);
  g_assert_cmpfloat (steps[2], <=, 1.015 * MIN (steps[0], steps[1]));
}

/* --- Algorithms ---------------------------------------------------------------------------- */

typedef struct {
  gint64 rows, columns, depth;
  LigOperand operands[3];
  char *memory, *workspace;
} Matmul;

static Matmul
matmul_new (const Gpu *gpu, gint64 rows, gint64 columns, gint64 depth, LigDtype dtype)
{
  g_autoptr (GError) error = NULL;
  Matmul matmul = {.rows = rows, .columns = columns, .depth = depth};
  gint64 sizes[] = {rows * depth, depth * columns, rows * columns};
  gint64 widths[] = {depth, depth, columns};
  gsize bytes = 0;
  for (int i = 0; i < 3; i++)
    bytes += ((gsize) sizes[i] * lig_dtype_size (dtype) + 255) / 256 * 256;
  matmul.memory = lig_device_allocate (gpu->device, bytes, &error);
  matmul.workspace = lig_device_allocate (gpu->device, LIG_WORKSPACE_SIZE, &error);
  g_assert_no_error (error);
  char *at = matmul.memory;
  for (int i = 0; i < 3; i++) {
    matmul.operands[i] = (LigOperand){at, sizes[i], widths[i], dtype};
    if (i < 2)
      lig_fill_random (gpu->device, at, sizes[i], dtype, &error);
    at += ((gsize) sizes[i] * lig_dtype_size (dtype) + 255) / 256 * 256;
  }
  g_assert_no_error (error);
  return matmul;
}

static void
matmul_clear (const Gpu *gpu, Matmul *matmul)
{
  lig_device_release (gpu->device, matmul->memory);
  lig_device_release (gpu->device, matmul->workspace);
}

static LigStatus
multiply (const Gpu *gpu, Matmul *matmul)
{
  LigLaunch launch = {.operands = matmul->operands,
                      .workspace = matmul->workspace,
                      .stream = gpu->stream,
                      .device = gpu->handle,
                      .autotune = true};
  LigStatus status = lig_kernel_find ("linear")->functions[LIG_BACKEND_CUDA](&launch);
  if (status != LIG_OK)
    g_test_message ("%s", launch.where ? launch.where : "rejected");
  return status;
}

static char *
multiply_bits (const Gpu *gpu, Matmul *matmul)
{
  g_autoptr (GError) error = NULL;
  const LigOperand *y = &matmul->operands[2];
  gsize bytes = (gsize) y->size * lig_dtype_size (y->dtype);
  char *bits = g_malloc (bytes);
  g_assert_cmpint (multiply (gpu, matmul), ==, LIG_OK);
  g_assert_true (lig_device_download (gpu->device, bits, y->data, bytes, &error));
  g_assert_no_error (error);
  return bits;
}

/* Every algorithm that was kept is deterministic. */
static void
test_repeats (void)
{
  static const gint64 shapes[][3] = {
    {64, 64, 4096}, {128, 1024, 8192}, {512, 512, 2048}, {1000, 776, 520}, {2048, 4096, 1024}};
  static const LigDtype dtypes[] = {LIG_BF16, LIG_FP16, LIG_FP32};
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    for (guint j = 0; j < G_N_ELEMENTS (dtypes); j++) {
      Matmul matmul = matmul_new (gpu, shapes[i][0], shapes[i][1], shapes[i][2], dtypes[j]);
      g_autofree char *first = multiply_bits (gpu, &matmul);
      gsize bytes = (gsize) matmul.operands[2].size * lig_dtype_size (dtypes[j]);
      for (int again = 0; again < 8; again++) {
        g_autofree char *next = multiply_bits (gpu, &matmul);
        g_assert_cmpmem (next, bytes, first, bytes);
      }
      matmul_clear (gpu, &matmul);
    }
}

/* Matmuls that take no longer than a launch are not searched for: the first result comes at
 * once. */
static void
test_tiny (void)
{
  const Gpu *gpu = gpu_or_skip ();
  if (!gpu)
    return;
  Matmul warm = matmul_new (gpu, 16, 16, 16, LIG_FP32);
  g_autofree char *ready = multiply_bits (gpu, &warm);
  matmul_clear (gpu, &warm);
  Matmul matmul = matmul_new (gpu, 8, 64, 64, LIG_FP32);
  double began = lig_now ();
  g_autofree char *bits = multiply_bits (gpu, &matmul);
  g_test_message ("%.3f s", lig_now () - began);
  g_assert_cmpfloat (lig_now () - began, <, 0.2);
  matmul_clear (gpu, &matmul);
}

static guint starved;

static void
count_starved (void *guard, const char *what)
{
  g_test_message ("no memory for %s", what);
  g_assert_cmpstr (what, ==, "8192 x 8192 x 8192");
  starved++;
}

static void
test_no_memory (void)
{
  const Gpu *gpu = gpu_or_skip ();
  gsize unused, total;
  void *rest = NULL;
  if (!gpu)
    return;
  Matmul matmul = matmul_new (gpu, 8192, 8192, 8192, LIG_BF16);
  LigChoices choices = {.no_memory = count_starved};
  gpu->calls->keep_choices (gpu->handle, &choices);
  gpu_check (gpu, gpu->calls->free_memory (gpu->handle, &unused, &total), "room");
  for (gsize left = (gsize) 128 << 20; !rest && left < (gsize) 400 << 20; left += 32 << 20)
    if (gpu->calls->allocate (gpu->handle, unused - left, &rest) != LIG_OK)
      rest = NULL;
  g_assert_nonnull (rest);
  starved = 0;
  g_assert_cmpint (multiply (gpu, &matmul), ==, LIG_OK);
  g_assert_cmpuint (starved, ==, 1);
  g_assert_cmpint (multiply (gpu, &matmul), ==, LIG_OK);
  g_assert_cmpuint (starved, ==, 1);
  gpu->calls->release (gpu->handle, rest);
  gpu->calls->keep_choices (gpu->handle, NULL);
  matmul_clear (gpu, &matmul);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  g_test_add_func ("/gpu/measured/opened", test_opened);
  g_test_add_func ("/gpu/measured/no-memory", test_no_memory);
  g_test_add_func ("/gpu/measured/repeats", test_repeats);
  g_test_add_func ("/gpu/measured/tiny", test_tiny);
  g_test_add_func ("/gpu/measured/peak-rates", test_peak_rates);
  g_test_add_func ("/gpu/measured/all-costs", test_all_costs);
  g_test_add_func ("/gpu/measured/one-store", test_one_store);
  for (guint i = 0; i < G_N_ELEMENTS (large); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/measured/not-slower/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_not_slower);
  }
  return g_test_run ();
}
