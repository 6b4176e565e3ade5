/* SPDX-License-Identifier: MIT */
/* Launches of attention's deterministic backward pass, with stubs for cuDNN and CUDA: a pass that
 * needs more memory than is provided runs its plan once per part, each with its own offsets. */
#include "kernels/attention-scratch.h"
#include "kernels/cuda/attention/cudnn.h"
#include "kernels/cuda/attention/padding.h"

#include <glib.h>
#include <string.h>

enum { FAILURE = 3000, MAX_TENSORS = 32, MAX_RUNS = 16 };

/* A descriptor of the stub; a pack has the tensors of one execution. */
typedef struct {
  int64_t ids[MAX_TENSORS];
  char *pointers[MAX_TENSORS], *workspace;
  int count;
} Made;

/* The executions, and the surrounding calls for lengths and padding. */
static struct {
  Made runs[MAX_RUNS];
  LigCudnnDescriptor plans[MAX_RUNS];
  const int32_t *lengths[MAX_RUNS];
  int64_t lengths_batch;
  int n_runs, n_lengths, failing; /* the index of the execution that fails, or -1 */
  LigPadded cleared[MAX_RUNS], copied[MAX_RUNS];
  const void *copied_from[MAX_RUNS];
  int n_cleared, n_copied;
  int64_t workspace; /* of a plan */
} fake;

/* --- Stand-ins ----------------------------------------------------------------------------- */

static int
create_handle (LigCudnnHandle *handle)
{
  *handle = &fake;
  return LIG_CUDNN_SUCCESS;
}

static int
destroy_handle (LigCudnnHandle handle)
{
  return LIG_CUDNN_SUCCESS;
}

static int
set_stream (LigCudnnHandle handle, void *stream)
{
  return LIG_CUDNN_SUCCESS;
}

static int
create (int kind, LigCudnnDescriptor *descriptor)
{
  *descriptor = g_new0 (Made, 1);
  return LIG_CUDNN_SUCCESS;
}

static int
destroy (LigCudnnDescriptor descriptor)
{
  g_free (descriptor);
  return LIG_CUDNN_SUCCESS;
}

static int
finalize (LigCudnnDescriptor descriptor)
{
  return LIG_CUDNN_SUCCESS;
}

static int
set (LigCudnnDescriptor descriptor, int attribute, int type, int64_t count, const void *values)
{
  Made *made = descriptor;
  g_assert_cmpint (count, <=, MAX_TENSORS);
  if (attribute == LIG_CUDNN_PACK_IDS)
    memcpy (made->ids, values, (size_t) count * sizeof *made->ids);
  if (attribute == LIG_CUDNN_PACK_POINTERS) {
    memcpy (made->pointers, values, (size_t) count * sizeof *made->pointers);
    made->count = (int) count;
  }
  if (attribute == LIG_CUDNN_PACK_WORKSPACE)
    memcpy (&made->workspace, values, sizeof made->workspace);
  return LIG_CUDNN_SUCCESS;
}

static int
get (
  LigCudnnDescriptor descriptor, int attribute, int type, int64_t max, int64_t *count, void *values)
{
  *count = attribute == LIG_CUDNN_ENGINE_NUMERICAL_NOTES ? 0 : 1;
  if (attribute == LIG_CUDNN_PLAN_WORKSPACE)
    *(int64_t *) values = fake.workspace;
  return LIG_CUDNN_SUCCESS;
}

static int
execute (LigCudnnHandle handle, LigCudnnDescriptor plan, LigCudnnDescriptor pack)
{
  g_assert_cmpint (fake.n_runs, <, MAX_RUNS);
  fake.plans[fake.n_runs] = plan;
  fake.runs[fake.n_runs] = *(const Made *) pack;
  return fake.n_runs++ == fake.failing ? FAILURE : LIG_CUDNN_SUCCESS;
}

static const char *
describe (int status)
{
  return "the stand-in fails";
}

static void
last_message (char *message, size_t size)
{
  message[0] = '\0';
}

const LigCudnn *
lig_cudnn (const void *beside)
{
  static const LigCudnn library = {.version = 91900,
                                   .create_handle = create_handle,
                                   .destroy_handle = destroy_handle,
                                   .set_stream = set_stream,
                                   .create = create,
                                   .destroy = destroy,
                                   .finalize = finalize,
                                   .set = set,
                                   .get = get,
                                   .execute = execute,
                                   .describe = describe,
                                   .last_message = last_message};
  return &library;
}

size_t cublasLtGetVersion (void);

size_t
cublasLtGetVersion (void)
{
  return 0;
}

cudaError_t
cudaGetLastError (void)
{
  return cudaSuccess;
}

/* Only the forward pass clears a part of lse. */
cudaError_t
cudaMemsetAsync (void *data, int value, size_t bytes, cudaStream_t stream)
{
  g_assert_not_reached ();
}

cudaError_t
cudaStreamIsCapturing (cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

LigStatus
lig_cuda_status (LigBackendDevice *device, cudaError_t error, const char *text)
{
  return error == cudaSuccess ? LIG_OK : LIG_FAILED;
}

cudaError_t
lig_attention_lengths (const int32_t *lengths,
                       int64_t batch,
                       int32_t length,
                       int32_t keys,
                       bool memory,
                       int32_t *query_lengths,
                       int32_t *key_lengths,
                       cudaStream_t stream)
{
  /* The lengths of a part are read by its own execution. */
  g_assert_cmpint (fake.n_lengths, ==, fake.n_runs);
  fake.lengths_batch = batch;
  fake.lengths[fake.n_lengths++] = lengths;
  return cudaSuccess;
}

cudaError_t
lig_attention_clear (const LigPadded *padded, const int32_t *lengths, cudaStream_t stream)
{
  fake.cleared[fake.n_cleared++] = *padded;
  return cudaSuccess;
}

cudaError_t
lig_attention_copy (const LigPadded *padded,
                    const void *from,
                    const int32_t *lengths,
                    cudaStream_t stream)
{
  fake.copied[fake.n_copied] = *padded;
  fake.copied_from[fake.n_copied++] = from;
  return cudaSuccess;
}

/* --- Launches ------------------------------------------------------------------------------ */

/* A pass, by kernel-list.h: dy x memory lengths documents y lse -> dx dmemory. */
enum { DY, X, MEMORY, LENGTHS, DOCUMENTS, Y, LSE, DX, DMEMORY, N_OPERANDS };

typedef struct {
  LigAttentionParams params;
  LigOperand operands[N_OPERANDS];
  LigBackendDevice device;
  LigLaunch launch;
  int64_t batch, row, pairs; /* bytes of a row of x, and of its keys and values */
} Pass;

/* Addresses far apart, which are never read. */
static char *
address (int operand)
{
  return (char *) ((uintptr_t) (operand + 1) << 40);
}

/* Fills in a pass over a batch; `keys` is the length of a memory, or 0. */
static void
begin (Pass *p, int64_t batch, int heads, int kv_heads, int features, int length, int keys)
{
  int64_t rows = batch * length, queries = heads * features, pairs = 2 * kv_heads * features;
  int64_t columns[N_OPERANDS] = {queries, keys ? queries : queries + pairs, pairs, 1, 1, queries,
                                 heads};
  columns[DX] = columns[X];
  columns[DMEMORY] = pairs;
  memset (p, 0, sizeof *p);
  memset (&fake, 0, sizeof fake);
  fake.failing = -1;
  p->params = (LigAttentionParams){.heads = heads,
                                   .kv_heads = kv_heads,
                                   .features = features,
                                   .length = length,
                                   .memory_length = keys ? keys : length,
                                   .scale = 0.125f};
  for (int i = 0; i < N_OPERANDS; i++) {
    bool of_memory = i == MEMORY || i == DMEMORY;
    int64_t size = columns[i] * (of_memory ? batch * keys : rows);
    if ((of_memory && !keys) || i == LENGTHS || i == DOCUMENTS)
      continue;
    p->operands[i] = (LigOperand){address (i), size, columns[i], i == LSE ? LIG_FP32 : LIG_BF16};
  }
  p->batch = batch;
  p->row = 2 * columns[X];
  p->pairs = 2 * pairs;
  p->device.capability = 90;
  p->launch = (LigLaunch){.operands = p->operands,
                          .params = &p->params,
                          .workspace = address (N_OPERANDS),
                          .scratch = address (N_OPERANDS + 1),
                          .device = &p->device};
}

/* Runs the pass with plans that use all the memory provided for a part. */
static LigStatus
run (Pass *p)
{
  const char *why = NULL;
  fake.workspace = lig_attention_scratch (p->batch, &p->params, false) -
                   lig_attention_rounded (4 * p->params.heads * p->params.length * p->batch, 256);
  fake.workspace = MAX (fake.workspace, 17 << 20);
  g_assert_true (lig_cudnn_attention_can (&p->launch, true, &why));
  return lig_cudnn_attention_backward (&p->launch);
}

static void
end (Pass *p)
{
  lig_attention_free (p->device.attention);
}

/* Returns the address of a tensor in an execution. */
static char *
place_of (int n, LigCudnnTensorId id)
{
  for (int i = 0; i < fake.runs[n].count; i++)
    if (fake.runs[n].ids[i] == (int64_t) id)
      return fake.runs[n].pointers[i];
  return NULL;
}

/* Returns the address at which an operand is read: operands with lengths are copied. */
static const char *
source_of (int operand)
{
  for (int i = 0; i < fake.n_copied; i++)
    if (fake.copied_from[i] == address (operand))
      return fake.copied[i].data;
  return address (operand);
}

static void
check_place (int n, LigCudnnTensorId id, int operand, int64_t offset)
{
  g_assert_cmpint (place_of (n, id) - source_of (operand), ==, offset);
  g_assert_cmpint (offset % 16, ==, 0);
}

/* Checks execution `n`, whose part begins at a row of the batch and at a key head. */
static void
check_run (const Pass *p, int n, int64_t row, int group)
{
  const LigAttentionParams *params = &p->params;
  int64_t head = 2 * params->features, first = group * (params->heads / params->kv_heads);
  int64_t queries = params->heads * head, at = row * params->length;
  bool memory = p->operands[MEMORY].data;
  int64_t key = memory ? row * params->memory_length * p->pairs : at * p->row + queries;
  check_place (n, LIG_CUDNN_QUERY, X, at * p->row + first * head);
  check_place (n, LIG_CUDNN_DQUERY, DX, at * p->row + first * head);
  check_place (n, LIG_CUDNN_KEY, memory ? MEMORY : X, key + group * head);
  check_place (n, LIG_CUDNN_DKEY, memory ? DMEMORY : DX, key + group * head);
  key += p->pairs / 2 + group * head;
  check_place (n, LIG_CUDNN_VALUE, memory ? MEMORY : X, key);
  check_place (n, LIG_CUDNN_DVALUE, memory ? DMEMORY : DX, key);
  check_place (n, LIG_CUDNN_RESULT, Y, at * queries + first * head);
  check_place (n, LIG_CUDNN_DRESULT, DY, at * queries + first * head);
  check_place (n, LIG_CUDNN_LSE, LSE, 4 * (row * params->heads + first) * params->length);
  /* All parts have the same scratch memory and the same plan. */
  g_assert_true (place_of (n, LIG_CUDNN_SUMS) == p->launch.scratch);
  g_assert_true (fake.runs[n].workspace == fake.runs[0].workspace);
  g_assert_true (fake.plans[n] == fake.plans[0]);
}

/* Checks that a pass runs in parts of that many rows and key heads. */
static void
check_parts (Pass *p, int64_t rows, int groups)
{
  int n = 0;
  g_assert_cmpint (run (p), ==, LIG_OK);
  for (int64_t row = 0; row < p->batch; row += rows)
    for (int group = 0; group < p->params.kv_heads; group += groups)
      check_run (p, n++, row, group);
  g_assert_cmpint (fake.n_runs, ==, n);
}

static void
test_whole (void)
{
  Pass p;
  begin (&p, 64, 12, 12, 64, 1024, 0);
  check_parts (&p, 64, 12);
  end (&p);
}

static void
test_parts (void)
{
  Pass p;
  begin (&p, 2, 32, 8, 128, 8192, 0);
  check_parts (&p, 1, 4);
  g_assert_cmpint (fake.n_runs, ==, 4);
  end (&p);
  begin (&p, 12, 12, 12, 64, 4096, 0);
  check_parts (&p, 6, 12);
  end (&p);
  begin (&p, 2, 16, 4, 64, 8192, 16384);
  check_parts (&p, 1, 2);
  end (&p);
}

static void
test_lengths (void)
{
  Pass p;
  begin (&p, 3, 12, 12, 64, 12288, 0);
  p.operands[LENGTHS] = (LigOperand){address (LENGTHS), 3, 1, LIG_INT32};
  check_parts (&p, 1, 6);
  g_assert_cmpint (fake.n_lengths, ==, 6);
  g_assert_cmpint (fake.lengths_batch, ==, 1);
  for (int i = 0; i < 6; i++)
    g_assert_true (fake.lengths[i] == (const int32_t *) address (LENGTHS) + i / 2);
  /* The operands with lengths are copied as a whole, after the memory of a part. */
  g_assert_cmpint (fake.n_copied, ==, 2);
  g_assert_true (fake.copied_from[0] == address (X) && fake.copied_from[1] == address (DY));
  g_assert_cmpint (fake.copied[0].rows, ==, p.params.length);
  g_assert_cmpint (fake.copied[0].bytes, ==, p.row);
  g_assert_true ((char *) fake.copied[0].data > (char *) fake.runs[0].workspace);
  g_assert_cmpint ((char *) fake.copied[1].data - (char *) fake.copied[0].data, >=,
                   p.row * p.params.length * p.batch);
  /* The gradient is cleared as a whole. */
  g_assert_cmpint (fake.n_cleared, ==, 1);
  g_assert_true (fake.cleared[0].data == address (DX));
  g_assert_cmpint (fake.cleared[0].batch, ==, 3);
  g_assert_cmpint (fake.cleared[0].bytes, ==, p.row);
  end (&p);
}

static void
test_failure (void)
{
  Pass p;
  begin (&p, 2, 32, 8, 128, 8192, 0);
  fake.failing = 1;
  g_assert_cmpint (run (&p), ==, LIG_FAILED);
  g_assert_cmpint (fake.n_runs, ==, 2);
  g_assert_nonnull (strstr (p.launch.where, "the stand-in fails"));
  end (&p);
}

/* One head of one row needs more than is provided. */
static void
test_too_large (void)
{
  const char *why = NULL;
  Pass p;
  begin (&p, 1, 8, 8, 64, 65536, 0);
  g_assert_false (lig_cudnn_attention_can (&p.launch, true, &why));
  g_assert_cmpstr (why, ==, "deterministic gradients need more memory than is provided");
  end (&p);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cudnn-parts/whole", test_whole);
  g_test_add_func ("/cudnn-parts/parts", test_parts);
  g_test_add_func ("/cudnn-parts/lengths", test_lengths);
  g_test_add_func ("/cudnn-parts/failure", test_failure);
  g_test_add_func ("/cudnn-parts/too-large", test_too_large);
  return g_test_run ();
}
