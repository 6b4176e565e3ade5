/* SPDX-License-Identifier: MIT */
/* Attention through cuDNN against the built-in kernels and the CPU, in each supported
 * configuration: results, the same bits twice and in a captured graph, in parts if the memory of
 * deterministic gradients requires it, and the choice between the two by time. */
#include "tests/gpu/cudnn-case.h"

/* Returns the device; null after it marked the test as skipped, with the library that is missing.
 */
static const Gpu *
cudnn_or_skip (void)
{
  LigLibrary library;
  const Gpu *gpu = gpu_or_skip ();
  for (guint n = 0; gpu && lig_backend_get_library ("cuda", n, &library); n++)
    if (g_str_equal (library.name, "cuDNN") && !*library.version) {
      g_autofree char *text = lig_library_to_text (&library);
      g_test_skip (text);
      return NULL;
    }
  return gpu;
}

/* --- Comparing ----------------------------------------------------------------------------- */

/* Returns ||a - b|| / ||b|| over some columns; infinite if a value is NaN. */
static double
distance (const LigOperand *a, const LigOperand *b, int64_t first, int64_t end)
{
  double difference = 0, length = 0;
  for (int64_t i = 0; i < a->size; i++) {
    size_t at = (size_t) i * lig_dtype_size (a->dtype);
    float got, want;
    if (i % a->columns < first || i % a->columns >= end)
      continue;
    lig_widen (a->dtype, (const char *) a->data + at, &got, 1);
    lig_widen (b->dtype, (const char *) b->data + at, &want, 1);
    if (!isfinite (got))
      return INFINITY;
    difference += ((double) got - want) * ((double) got - want);
    length += (double) want * want;
  }
  return length > 0 ? sqrt (difference / length) : sqrt (difference);
}

static void
check_part (const char *name,
            const char *what,
            const LigOperand *a,
            const LigOperand *b,
            int64_t first,
            int64_t end)
{
  double limit = a->dtype == LIG_BF16 ? 1.6e-2 : a->dtype == LIG_FP16 ? 2e-3 : 1e-3;
  double found = distance (a, b, first, end);
  if (found <= limit)
    return;
  g_test_fail ();
  g_test_message ("FAILED %s: %s differs by %g of its length, at most %g", name, what, found,
                  limit);
}

/* Compares the outputs of a pass, separately for query, key and value. */
static void
check_outputs (const char *name, const Tensors *got, const Tensors *want, bool backward)
{
  const LigOperand *a = got->tensors, *b = want->tensors;
  int64_t queries = (int64_t) got->params.heads * got->params.features;
  int64_t keys = (int64_t) got->params.kv_heads * got->params.features;
  if (!backward) {
    check_part (name, "y", &a[Y], &b[Y], 0, queries);
    check_part (name, "lse", &a[LSE], &b[LSE], 0, got->params.heads);
    return;
  }
  int pairs = a[DMEMORY].data ? DMEMORY : DX;
  int64_t aside = pairs == DX ? queries : 0;
  /* The weight of a single visible key is 1 whatever its score is: both gradients are 0, and the
   * computed values are the rounding errors of the output. */
  if (got->params.window != 1) {
    check_part (name, "dq", &a[DX], &b[DX], 0, queries);
    check_part (name, "dk", &a[pairs], &b[pairs], aside, aside + keys);
  }
  check_part (name, "dv", &a[pairs], &b[pairs], aside + keys, aside + 2 * keys);
}

/* Copies the outputs of a pass to the host. */
static void
fetch (const Gpu *gpu, const Placed *p, const Tensors *to, bool backward)
{
  for (int i = backward ? DX : Y; i <= (backward ? DMEMORY : LSE); i++)
    if (to->tensors[i].data)
      gpu_copy (gpu, to->tensors[i].data, p->on.tensors[i].data, tensor_bytes (&to->tensors[i]));
  gpu_wait (gpu, "attention");
}

static bool
same_bits (const Tensors *a, const Tensors *b, bool backward)
{
  bool same = true;
  for (int i = backward ? DX : Y; i <= (backward ? DMEMORY : LSE); i++)
    if (a->tensors[i].data)
      same =
        same && memcmp (a->tensors[i].data, b->tensors[i].data, tensor_bytes (&a->tensors[i])) == 0;
  return same;
}

/* --- Configurations ------------------------------------------------------------------------ */

static const Configuration configurations[] = {
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 64, 1024, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 64, 1024, 0, false, true},
  {LIG_FP16, LIG_MASK_CAUSAL, 0, 4, 4, 64, 1000, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 128, 1000, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 8, 2, 128, 512, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 8, 2, 128, 512, 0, false, true},
  {LIG_FP16, LIG_MASK_CAUSAL, 0, 6, 1, 64, 77, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 100, 4, 4, 64, 1000, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 1, 4, 4, 64, 130, 0, false, false},
  {LIG_FP16, LIG_MASK_CAUSAL, 100, 4, 2, 64, 1000, 0, false, true},
  {LIG_BF16, LIG_MASK_NONE, 0, 4, 4, 64, 1000, 0, false, false},
  {LIG_BF16, LIG_MASK_NONE, 64, 4, 4, 64, 512, 0, false, false},
  {LIG_BF16, LIG_MASK_NONE, 0, 4, 2, 64, 300, 500, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 2, 64, 300, 500, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 0, 4, 4, 64, 300, 500, false, false},
  {LIG_FP16, LIG_MASK_CAUSAL_BOTTOM_RIGHT, 50, 4, 4, 64, 300, 500, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 64, 500, 0, true, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 2, 64, 500, 0, true, true},
  {LIG_BF16, LIG_MASK_NONE, 0, 4, 4, 64, 500, 0, true, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 40, 4, 4, 64, 500, 0, true, false},
  {LIG_BF16, LIG_MASK_NONE, 0, 4, 4, 64, 200, 500, true, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 80, 1025, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 16, 17, 0, false, false},
  {LIG_BF16, LIG_MASK_CAUSAL, 0, 4, 4, 64, 2, 0, false, false},
};

/* Launches a pass, repeats it, and captures it. Checks that cuDNN ran if it was requested, in these
 * parts if they are given. */
static void
check_pass (Opened *opened,
            const char *name,
            const Configuration *c,
            const Tensors *cpu,
            bool backward,
            const char *parts)
{
  const Gpu *gpu = &opened->gpu;
  Tensors got = tensors_of (c), again = tensors_of (c);
  Placed p = place (gpu, cpu, backward);
  void *graph = NULL;
  opened->put[0] = opened->key[0] = '\0';
  LigStatus status = launch_on (gpu, &p, backward, c->any_order, true);
  g_assert_cmpint (status, ==, LIG_OK);
  fetch (gpu, &p, &got, backward);
  if (g_str_has_prefix (opened->forced, "cuDNN") && (!opened->key[0] || opened->put[0])) {
    g_test_fail ();
    g_test_message ("FAILED %s: cuDNN did not run: %s", name, opened->put);
  }
  if (parts)
    g_assert_nonnull (strstr (opened->key, parts));
  check_outputs (name, &got, cpu, backward);
  if (backward && c->any_order)
    goto end;
  launch_on (gpu, &p, backward, c->any_order, false);
  fetch (gpu, &p, &again, backward);
  g_assert_true (same_bits (&got, &again, backward));
  gpu_check (gpu, gpu->calls->capture (gpu->handle, gpu->stream), "capture");
  launch_on (gpu, &p, backward, c->any_order, true);
  gpu_check (gpu, gpu->calls->capture_end (gpu->handle, gpu->stream, &graph), "captured");
  for (int i = backward ? DX : Y; i <= (backward ? DMEMORY : LSE); i++)
    if (p.on.tensors[i].data)
      gpu_fill (gpu, p.on.tensors[i].data, 0xff, tensor_bytes (&p.on.tensors[i]));
  gpu_check (gpu, gpu->calls->replay (gpu->handle, graph, gpu->stream), "replay");
  fetch (gpu, &p, &again, backward);
  g_assert_true (same_bits (&got, &again, backward));
  gpu->calls->graph_free (gpu->handle, graph);
end:
  release (gpu, &p);
  free_tensors (&got);
  free_tensors (&again);
}

static void
test_configuration (gconstpointer data)
{
  const Configuration *c = data;
  const Gpu *gpu = cudnn_or_skip ();
  if (!gpu)
    return;
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  Tensors cpu = tensors_of (c);
  fill_tensors (&cpu, random);
  compute_on_cpu (&cpu, false);
  compute_on_cpu (&cpu, true);
  static const char *const names[] = {"own", "cuDNN"}, *const forced[] = {"own: ", "cuDNN: "};
  for (int i = 0; i < 2; i++)
    for (int backward = 0; backward < 2; backward++) {
      Opened *opened = open_again (gpu, forced[i]);
      g_autofree char *name =
        g_strdup_printf ("%s %s", names[i], backward ? "backward" : "forward");
      check_pass (opened, name, c, &cpu, backward, NULL);
      close_again (opened);
    }
  free_tensors (&cpu);
}

/* --- Parts -------------------------------------------------------------------------------- */

/* Deterministic passes that need more memory than is provided: parts of the batch, then of the
 * heads, over 2 rows. */
static const struct {
  Configuration c;
  const char *parts;
} divided[] = {
  {{LIG_BF16, LIG_MASK_CAUSAL, 0, 16, 4, 64, 8192, 0, false, false}, " in 2 parts"},
  {{LIG_BF16, LIG_MASK_CAUSAL, 0, 16, 4, 64, 12288, 0, false, false}, " in 4 parts"},
  {{LIG_BF16, LIG_MASK_CAUSAL, 0, 12, 12, 64, 12288, 0, true, false}, " in 4 parts"},
  {{LIG_BF16, LIG_MASK_NONE, 0, 8, 2, 128, 8192, 16384, false, false}, " in 2 parts"},
};

/* Compares the parts with the built-in kernel, which computes all at once. */
static void
test_parts (gconstpointer data)
{
  const Gpu *gpu = cudnn_or_skip ();
  const Configuration *c = &divided[GPOINTER_TO_UINT (data)].c;
  if (!gpu)
    return;
  if (quick ()) {
    g_test_skip ("it takes long");
    return;
  }
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  Tensors own = tensors_of (c);
  fill_tensors (&own, random);
  Opened *opened = open_again (gpu, "own: ");
  for (int backward = 0; backward < 2; backward++) {
    Placed p = place (&opened->gpu, &own, backward);
    g_assert_cmpint (launch_on (&opened->gpu, &p, backward, false, true), ==, LIG_OK);
    fetch (&opened->gpu, &p, &own, backward);
    release (&opened->gpu, &p);
  }
  close_again (opened);
  opened = open_again (gpu, "cuDNN: ");
  check_pass (opened, "parts", c, &own, true, divided[GPOINTER_TO_UINT (data)].parts);
  close_again (opened);
  free_tensors (&own);
}

/* --- The choice ---------------------------------------------------------------------------- */

/* Without a stored choice the two are compared and timed, and the winner and both times are
 * stored. */
static void
test_choice (void)
{
  const Gpu *gpu = cudnn_or_skip ();
  const Configuration gpt = {LIG_BF16, LIG_MASK_CAUSAL, 0, 12, 12, 64, 1024, 0, false, true};
  LigBackendFacts facts;
  if (!gpu)
    return;
  gpu->calls->describe (gpu->handle, &facts);
  g_test_message ("%s", facts.libraries);
  g_autoptr (GRand) random = g_rand_new_with_seed (7);
  Tensors cpu = tensors_of (&gpt);
  fill_tensors (&cpu, random);
  for (int backward = 0; backward < 2; backward++)
    for (int any_order = 0; any_order < 2; any_order++) {
      Opened *opened = open_again (gpu, "neither");
      Placed p = place (&opened->gpu, &cpu, backward);
      g_assert_cmpint (launch_on (&opened->gpu, &p, backward, any_order, true), ==, LIG_OK);
      gpu_wait (&opened->gpu, "attention");
      g_test_message ("%s: %s", opened->key, opened->put);
      g_assert_nonnull (strstr (opened->put, " ns, own "));
      release (&opened->gpu, &p);
      close_again (opened);
    }
  free_tensors (&cpu);
}

int
main (int argc, char **argv)
{
  gpu_test_init (argc, argv);
  for (guint i = 0; i < G_N_ELEMENTS (configurations); i++) {
    const Configuration *c = &configurations[i];
    g_autofree char *path = g_strdup_printf (
      "/gpu/cudnn/%s/mask-%d/window-%d/%d-of-%d-x-%d/%d-%d%s%s", lig_dtype_name (c->dtype), c->mask,
      c->window, c->heads, c->kv_heads, c->features, c->length, c->memory,
      c->padded ? "/lengths" : "", c->any_order ? "/any-order" : "");
    g_test_add_data_func (path, c, test_configuration);
  }
  for (guint i = 0; i < G_N_ELEMENTS (divided); i++) {
    g_autofree char *path = g_strdup_printf ("/gpu/cudnn/parts/%u", i);
    g_test_add_data_func (path, GUINT_TO_POINTER (i), test_parts);
  }
  g_test_add_func ("/gpu/cudnn/choice", test_choice);
  return g_test_run ();
}
