/* SPDX-License-Identifier: MIT */
/* The cuDNN graphs of attention, without a GPU: the supported cases, the caller's memory, and, if
 * the library is installed, whether it accepts each graph. Plans need a driver; without one the
 * heuristic has no engine, and the reason must say so. */
#include "kernels/attention-scratch.h"
#include "kernels/cuda/attention/cudnn-case.h"

#include <glib.h>
#include <string.h>

/* A device like those that cuDNN's engines for sm_90 expect. */
static const char h200[] =
  "{\"deviceVer\": 900, \"multiProcessorCount\": 132, \"warpSize\": 32,"
  " \"maxSharedMemoryPerBlock\": 49152, \"maxSharedMemoryPerBlockOptin\": 232448,"
  " \"reservedSharedMemoryPerBlock\": 1024, \"maxRegistersPerSM\": 65536, \"maxCtasPerSM\": 32,"
  " \"maxThreadsPerBlock\": 1024, \"maxThreadsPerSM\": 2048, \"regsPerBlock\": 65536,"
  " \"totalGlobalMem\": 150000000000, \"smClockRateKHz\": 1980000, \"l2CacheSize\": 62914560,"
  " \"maxBlockSize\": [1024, 1024, 64], \"memClockRateKHz\": 3201000,"
  " \"maxGridSize\": [2147483647, 65535, 65535], \"supportCoopLaunch\": 1, \"pciDeviceId\": 0,"
  " \"isTccDriver\": 0, \"cudaDeviceId\": 0, \"driverVer\": 13000,"
  " \"deviceName\": \"NVIDIA H200\"}";

/* One launch: the operands of attention, or of attention_backward, with any addresses. */
typedef struct {
  LigOperand operands[9];
  LigAttentionParams params;
} Launch;

static char anywhere[16];

static LigOperand
operand (int64_t rows, int64_t columns, LigDtype dtype)
{
  return (LigOperand){anywhere, rows * columns, columns, dtype};
}

/* Returns a launch over 4 rows of self attention. */
static Launch
launch_of (bool backward, int length, int heads, int kv_heads, int features, LigDtype dtype)
{
  Launch l = {.params = {.heads = heads,
                         .kv_heads = kv_heads,
                         .features = features,
                         .length = length,
                         .memory_length = length,
                         .scale = 0.125f}};
  int64_t rows = 4 * (int64_t) length, packed = (heads + 2 * kv_heads) * features;
  LigOperand *x = l.operands + (backward ? 1 : 0);
  x[0] = operand (rows, packed, dtype);
  x[4] = operand (rows, heads * features, dtype);
  x[5] = operand (rows, heads, LIG_FP32);
  if (backward) {
    l.operands[0] = x[4];
    x[6] = x[0];
  }
  return l;
}

/* Makes a launch cross-attention, with keys and values of another tensor. */
static void
add_memory (Launch *l, bool backward, int length)
{
  LigOperand *x = l->operands + (backward ? 1 : 0);
  int64_t rows = 4 * (int64_t) l->params.length;
  l->params.memory_length = length;
  x[0] = operand (rows, l->params.heads * l->params.features, x[0].dtype);
  x[1] = operand (4 * (int64_t) length, 2 * l->params.kv_heads * l->params.features, x[0].dtype);
}

static bool
is_taken (const Launch *l, bool backward, LigCudnnCase *one, const char **why)
{
  return lig_cudnn_case (one, l->operands, &l->params, backward, true, why);
}

/* The variants that kernels and library define differently are rejected with a reason. */
static void
test_cases (void)
{
  LigCudnnCase one, other;
  const char *why;
  Launch plain = launch_of (false, 128, 4, 2, 64, LIG_BF16), l = plain;
  g_assert_true (is_taken (&plain, false, &one, &why));
  g_assert_null (why);
  g_assert_cmpint (one.batch, ==, 4);
  g_assert_cmpint (one.keys, ==, 128);

  l.params.mask = LIG_MASK_CAUSAL_BOTTOM_RIGHT;
  g_assert_true (is_taken (&l, false, &other, &why));
  g_assert_cmpmem (&one, sizeof one, &other, sizeof other);
  l.params.window = 128;
  g_assert_true (is_taken (&l, false, &other, &why));
  g_assert_cmpint (other.window, ==, 0);
  l.params.window = 127;
  g_assert_true (is_taken (&l, false, &other, &why));
  g_assert_cmpint (other.window, ==, 127);

#define REJECTED(change, word) \
  do { \
    l = plain; \
    change; \
    g_assert_false (is_taken (&l, false, &other, &why)); \
    g_assert_nonnull (strstr (why, word)); \
  } while (0)
  REJECTED (l.params.dropout = 0.1f, "dropout");
  REJECTED (l.params.softcap = 30, "softcap");
  REJECTED (l.params.alibi = 1, "ALiBi");
  REJECTED (l.params.features = 60, "multiple of 8");
  REJECTED (l.params.features = 264, "at most 256");
  REJECTED (l.operands[0].dtype = LIG_FP32, "bf16 or fp16");
  REJECTED (l.operands[3].data = anywhere, "documents");
  /* More queries than keys: the first queries of a bottom-right mask see no key, and neither do the
   * last ones of a window. */
  REJECTED ((add_memory (&l, false, 64), l.params.mask = LIG_MASK_CAUSAL_BOTTOM_RIGHT), "no key");
  REJECTED ((add_memory (&l, false, 64), l.params.window = 16), "no key");
  REJECTED ((add_memory (&l, false, 64), l.params.window = 100), "no more queries");
  REJECTED ((add_memory (&l, false, 256), l.operands[2].data = anywhere, l.params.window = 16),
            "no key");
  /* As many keys as queries, except for their lengths. */
  REJECTED ((add_memory (&l, false, 128), l.operands[2].data = anywhere,
             l.params.mask = LIG_MASK_CAUSAL_BOTTOM_RIGHT),
            "no key");
#undef REJECTED
  l = launch_of (true, 1, 4, 4, 64, LIG_BF16);
  g_assert_false (is_taken (&l, true, &other, &why));
  g_assert_nonnull (strstr (why, "one query"));
}

/* Returns the bytes that the formula provides for a plan's workspace. */
static int64_t
workspace_of (const LigCudnnCase *one)
{
  LigAttentionParams params = {.heads = one->heads,
                               .kv_heads = one->kv_heads,
                               .features = one->features,
                               .length = one->length,
                               .memory_length = one->keys};
  if (!one->backward)
    return LIG_ATTENTION_PLAN;
  return LIG_ATTENTION_PLAN + lig_attention_shared (one->batch, &params) +
         (one->ordered ? lig_attention_dscores (one->batch, &params) : 0);
}

/* The workspaces that plans of cuDNN 9.19 reported for an H200, in bytes. */
static void
test_space (void)
{
  static const struct {
    int64_t batch;
    int heads, kv_heads, features, length, keys;
    bool ordered;
    int64_t bytes;
  } measured[] = {
    {64, 12, 12, 64, 1024, 1024, true, 1610612992}, {64, 12, 12, 64, 1024, 1024, false, 256},
    {4, 12, 4, 64, 1024, 1024, false, 12583168},    {4, 12, 4, 128, 1024, 1024, false, 25166080},
    {8, 32, 8, 128, 2048, 2048, true, 2415919360},  {2, 12, 1, 64, 77, 77, true, 1259776},
  };
  for (size_t i = 0; i < G_N_ELEMENTS (measured); i++) {
    LigCudnnCase one = {.batch = measured[i].batch,
                        .heads = measured[i].heads,
                        .kv_heads = measured[i].kv_heads,
                        .features = measured[i].features,
                        .length = measured[i].length,
                        .keys = measured[i].keys,
                        .backward = 1,
                        .ordered = measured[i].ordered};
    g_assert_cmpint (workspace_of (&one), ==, measured[i].bytes);
  }
  /* A deterministic gradient that is too large is computed in parts. */
  LigAttentionParams llama = {
    .heads = 32, .kv_heads = 8, .features = 128, .length = 8192, .memory_length = 8192};
  LigAttentionParams half = llama;
  half.heads = 16;
  half.kv_heads = 4;
  g_assert_cmpint (lig_attention_dscores (2, &llama), >, LIG_ATTENTION_MAX_ORDERED);
  g_assert_cmpint (lig_attention_scratch (2, &llama, false), ==, lig_attention_ordered (1, &half));
  g_assert_cmpint (lig_attention_ordered (1, &half), <, LIG_ATTENTION_MAX_ORDERED);
  g_assert_cmpint (lig_attention_scratch (2, &llama, true), >, lig_attention_dquery (2, &llama));
  g_assert_cmpint (lig_attention_scratch (2, &llama, true), <, LIG_ATTENTION_MAX_ORDERED);
  /* Eight rows of a quarter of that length fit. */
  llama.length = llama.memory_length = 2048;
  g_assert_cmpint (lig_attention_scratch (8, &llama, false), >, lig_attention_dscores (8, &llama));
}

static void
expect_parts (
  int64_t batch, int heads, int kv_heads, int length, int64_t batch_parts, int32_t head_parts)
{
  LigAttentionParams params = {.heads = heads,
                               .kv_heads = kv_heads,
                               .features = 64,
                               .length = length,
                               .memory_length = length};
  LigAttentionParts parts = lig_attention_parts (batch, &params);
  g_assert_cmpint (parts.batch, ==, batch_parts);
  g_assert_cmpint (parts.heads, ==, head_parts);
  g_assert_true ((lig_attention_scratch (batch, &params, false) > 0) == (batch_parts > 0));
}

/* The parts are equal, as few as possible, and 16-byte aligned. */
static void
test_parts (void)
{
  expect_parts (64, 12, 12, 1024, 1, 1);
  expect_parts (2, 32, 8, 8192, 2, 2);
  expect_parts (8, 32, 8, 4096, 4, 1);
  expect_parts (7, 32, 8, 4096, 7, 1);
  expect_parts (2, 16, 4, 12288, 2, 2);
  expect_parts (1, 12, 3, 32768, 0, 0);
  expect_parts (1, 12, 12, 32768, 1, 12);
  expect_parts (0, 12, 12, 1024, 0, 0);
  /* Odd lengths: halves of the batch would be misaligned, thirds are not. */
  expect_parts (2, 3, 3, 20001, 0, 0);
  expect_parts (6, 6, 6, 9001, 3, 1);
}

/* A case in parts describes one part; its text and its strides are those of the whole. */
static void
test_split (void)
{
  LigCudnnCase one, whole;
  LigCudnnAxes axes, all;
  char words[256];
  const char *why;
  Launch l = launch_of (true, 8192, 32, 8, 128, LIG_BF16);
  g_assert_true (lig_cudnn_case (&whole, l.operands, &l.params, true, false, &why));
  g_assert_true (is_taken (&l, true, &one, &why));
  g_assert_cmpint (one.batch_parts, ==, 4);
  g_assert_cmpint (one.head_parts, ==, 2);
  g_assert_cmpint (one.batch, ==, 1);
  g_assert_cmpint (one.heads, ==, 16);
  g_assert_cmpint (one.kv_heads, ==, 4);
  lig_cudnn_case_words (&one, words, sizeof words);
  g_assert_nonnull (strstr (words, "rows 4 x 8192 to 8192 | heads 32/8 x 128 |"));
  g_assert_true (g_str_has_suffix (words, " in 8 parts"));
  lig_cudnn_axes (&axes, &one);
  lig_cudnn_axes (&all, &whole);
  g_assert_cmpmem (axes.query_strides, sizeof axes.query_strides, all.query_strides,
                   sizeof all.query_strides);
  g_assert_cmpmem (axes.key_strides, sizeof axes.key_strides, all.key_strides,
                   sizeof all.key_strides);
  g_assert_cmpmem (axes.result_strides, sizeof axes.result_strides, all.result_strides,
                   sizeof all.result_strides);
  g_assert_cmpint (axes.query[1], ==, 16);
  g_assert_cmpint (axes.key[1], ==, 4);
  LigCudnnCase together = lig_cudnn_case_whole (&one);
  together.ordered = 0;
  g_assert_cmpmem (&together, sizeof together, &whole, sizeof whole);
}

/* The axes of packed rows: a wrong stride would read another head. */
static void
test_axes (void)
{
  LigCudnnCase one;
  LigCudnnAxes axes;
  const char *why;
  Launch l = launch_of (true, 100, 6, 2, 64, LIG_FP16);
  g_assert_true (is_taken (&l, true, &one, &why));
  lig_cudnn_axes (&axes, &one);
  g_assert_cmpint (axes.type, ==, LIG_CUDNN_FP16);
  g_assert_cmpint (axes.query_strides[0], ==, 100 * 640);
  g_assert_cmpint (axes.query_strides[1], ==, 64);
  g_assert_cmpint (axes.query_strides[2], ==, 640);
  g_assert_cmpint (axes.key[1], ==, 2);
  g_assert_cmpint (axes.key_strides[2], ==, 640);
  g_assert_cmpint (axes.result_strides[2], ==, 384);
  add_memory (&l, true, 300);
  g_assert_true (is_taken (&l, true, &one, &why));
  lig_cudnn_axes (&axes, &one);
  g_assert_cmpint (axes.query_strides[2], ==, 384);
  g_assert_cmpint (axes.key[2], ==, 300);
  g_assert_cmpint (axes.key_strides[0], ==, 300 * 256);
  g_assert_cmpint (axes.key_strides[2], ==, 256);
  g_assert_cmpint (axes.scores_strides[1], ==, 100 * 300);
}

/* Returns the number of nodes of a case's graph, which the library must accept. */
static int
count_nodes (const LigCudnn *cudnn, const LigCudnnCase *one)
{
  g_autofree LigCudnnScheme *graph = g_new (LigCudnnScheme, 1);
  lig_cudnn_scheme_init (graph, cudnn);
  if (one->backward)
    lig_cudnn_backward (graph, one);
  else
    lig_cudnn_forward (graph, one);
  if (!lig_cudnn_scheme_finish (graph, NULL))
    g_error ("%s", graph->why);
  int count = graph->n_nodes;
  lig_cudnn_scheme_clear (graph);
  return count;
}

/* Returns the nodes that masks add to a graph. */
static int
expected_masks (const LigCudnnCase *one)
{
  int count = one->padded ? 6 : 0;
  if (one->mask != LIG_MASK_NONE || one->window)
    count += one->mask == LIG_MASK_CAUSAL_BOTTOM_RIGHT ? 6 : one->mask == LIG_MASK_NONE ? 5 : 4;
  return count + (one->window ? 5 : 0);
}

static int
expected_nodes (const LigCudnnCase *one)
{
  if (!one->backward)
    return 10 + expected_masks (one);
  return 17 + expected_masks (one) + (one->ordered ? 0 : 1) + (one->heads != one->kv_heads ? 2 : 0);
}

/* Splits a case into one part per row, and half of the key heads. */
static LigCudnnCase
divided (LigCudnnCase one)
{
  one.batch_parts = one.batch;
  one.batch = 1;
  one.head_parts = 2;
  one.heads /= 2;
  one.kv_heads /= 2;
  return one;
}

/* Calls a function for each kind of case, with the library or null. Deterministic ones are also
 * tested in parts. */
static void
each_case (void (*check) (const LigCudnn *cudnn, const LigCudnnCase *one), const LigCudnn *cudnn)
{
  for (int bits = 0; bits < 1 << 7; bits++) {
    bool backward = bits & 1, memory = bits & 16, window = bits & 32;
    LigCudnnCase one;
    const char *why;
    Launch l = launch_of (backward, 136, 4, bits & 2 ? 2 : 4, bits & 4 ? 128 : 64,
                          bits & 8 ? LIG_FP16 : LIG_BF16);
    l.operands[backward ? 3 : 2].data = bits & 64 ? anywhere : NULL;
    if (memory)
      add_memory (&l, backward, 200);
    l.params.window = window ? 33 : 0;
    for (l.params.mask = 0; l.params.mask < 3; l.params.mask++)
      for (int ordered = 0; ordered < (backward ? 2 : 1); ordered++)
        if (lig_cudnn_case (&one, l.operands, &l.params, backward, ordered, &why)) {
          check (cudnn, &one);
          one = divided (one);
          if (ordered)
            check (cudnn, &one);
        }
  }
}

static void
check_graph (const LigCudnn *cudnn, const LigCudnnCase *one)
{
  g_assert_cmpint (count_nodes (cudnn, one), ==, expected_nodes (one));
}

/* Returns the library; null after it marked the test as skipped. */
static const LigCudnn *
library_or_skip (void)
{
#ifdef __SANITIZE_ADDRESS__
  g_test_skip ("the library's parts keep memory when they are unloaded, which counts as leaked");
  return NULL;
#else
  const LigCudnn *cudnn = lig_cudnn (NULL);
  if (!cudnn->version)
    g_test_skip (cudnn->why);
  return cudnn->version ? cudnn : NULL;
#endif
}

static void
test_graphs (void)
{
  const LigCudnn *cudnn = library_or_skip ();
  if (cudnn)
    each_case (check_graph, cudnn);
}

/* Returns a finished description of an H200. */
static LigCudnnDescriptor
describe_device (const LigCudnn *cudnn)
{
  LigCudnnDescriptor device = NULL;
  g_assert_cmpint (cudnn->create (LIG_CUDNN_DEVICE_DESCRIPTOR, &device), ==, 0);
  g_assert_cmpint (
    cudnn->set (device, LIG_CUDNN_DEVICE_JSON, LIG_CUDNN_TYPE_CHAR, (int64_t) strlen (h200), h200),
    ==, 0);
  g_assert_cmpint (cudnn->finalize (device), ==, 0);
  return device;
}

/* A plan is created within the memory provided for it, or the reason says why not. */
static void
test_plans (void)
{
  const LigCudnn *cudnn = library_or_skip ();
  if (!cudnn)
    return;
  LigCudnnDescriptor device = describe_device (cudnn);
  for (int backward = 0; backward < 2; backward++) {
    LigCudnnCase one;
    char reason[320] = "";
    const char *why;
    Launch l = launch_of (backward, 1000, 4, 2, 64, LIG_BF16);
    g_assert_true (is_taken (&l, backward, &one, &why));
    LigCudnnPlan *plan = lig_cudnn_plan_new (cudnn, NULL, device, &one, reason, sizeof reason);
    g_assert_true (plan || reason[0]);
    if (plan)
      g_assert_cmpint (plan->space.workspace, <=, workspace_of (&one));
    else
      g_test_message ("no plan: %s", reason);
    lig_cudnn_plan_free (plan);
  }
  cudnn->destroy (device);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cudnn/cases", test_cases);
  g_test_add_func ("/cudnn/space", test_space);
  g_test_add_func ("/cudnn/parts", test_parts);
  g_test_add_func ("/cudnn/split", test_split);
  g_test_add_func ("/cudnn/axes", test_axes);
  g_test_add_func ("/cudnn/graphs", test_graphs);
  g_test_add_func ("/cudnn/plans", test_plans);
  return g_test_run ();
}
